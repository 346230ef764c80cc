-- Lua Library inline imports
local function __TS__StringStartsWith(self, searchString, position)
    if position == nil or position < 0 then
        position = 0
    end
    return string.sub(self, position + 1, #searchString + position) == searchString
end

local function __TS__StringCharCodeAt(self, index)
    if index ~= index then
        index = 0
    end
    if index < 0 then
        return 0 / 0
    end
    return string.byte(self, index + 1) or 0 / 0
end

local function __TS__StringCharAt(self, pos)
    if pos ~= pos then
        pos = 0
    end
    if pos < 0 then
        return ""
    end
    return string.sub(self, pos + 1, pos + 1)
end

local function __TS__StringIncludes(self, searchString, position)
    if not position then
        position = 1
    else
        position = position + 1
    end
    local index = string.find(self, searchString, position, true)
    return index ~= nil
end

local function __TS__ArrayIncludes(self, searchElement, fromIndex)
    if fromIndex == nil then
        fromIndex = 0
    end
    local len = #self
    local k = fromIndex
    if fromIndex < 0 then
        k = len + fromIndex
    end
    if k < 0 then
        k = 0
    end
    for i = k + 1, len do
        if self[i] == searchElement then
            return true
        end
    end
    return false
end
-- End of Lua Library inline imports
local ____exports = {}
--- Longest path, header value and the like: what fits in one line of what servers take.
local MAX_TEXT = 1024
---
-- @returns whether a byte may stand in a request line or a header's value
local function isVisible(code)
    return code > 32 and code < 127
end
---
-- @returns what is wrong with the path of a request
function ____exports.checkPath(text)
    if not __TS__StringStartsWith(text, "/") then
        return "does not start with \"/\"; a path like \"/healthz\" is needed"
    end
    if #text > MAX_TEXT then
        return ((("is too long (" .. tostring(#text)) .. "); at most ") .. tostring(MAX_TEXT)) .. " bytes are allowed"
    end
    do
        local i = 0
        while i < #text do
            local code = __TS__StringCharCodeAt(text, i)
            if code == 32 then
                return "has a space in it; write it as \"%20\""
            end
            if code == 35 then
                return "has a \"#\" in it, which is no part of a request; leave out what follows it"
            end
            if not isVisible(code) then
                return "has characters that a request line must not have; write them as %XX"
            end
            i = i + 1
        end
    end
    return nil
end
---
-- @returns what is wrong with a Host header
function ____exports.checkHost(text)
    if text == "" then
        return "is empty; leave the option out instead"
    end
    if #text > 255 then
        return ("is too long (" .. tostring(#text)) .. "); at most 255 bytes are allowed"
    end
    do
        local i = 0
        while i < #text do
            local char = __TS__StringCharAt(text, i)
            if not isVisible(__TS__StringCharCodeAt(text, i)) or __TS__StringIncludes("/@?#", char) then
                return "is no host; a name or address is needed, perhaps with a port: \"app.internal\", \"10.0.0.1:8080\""
            end
            i = i + 1
        end
    end
    return nil
end
---
-- @returns what is wrong with a name for SNI
function ____exports.checkServerName(text)
    local wrong = ____exports.checkHost(text)
    if wrong ~= nil then
        return wrong
    end
    return __TS__StringIncludes(text, ":") and "has a colon in it; a name without a port is needed" or nil
end
--- Beside letters and digits: what a header's name may have (RFC 9110 5.6.2).
local TOKEN_SIGNS = "!#$%&'*+-.^_`|~"
--- They say where the message ends; a check has no body, and its connection is not used again.
local OWN_HEADERS = {"connection", "content-length", "transfer-encoding"}
---
-- @returns what is wrong with the name of a header
function ____exports.checkHeaderName(text)
    do
        local i = 0
        while i < #text do
            local code = __TS__StringCharCodeAt(text, i)
            local letter = code >= 97 and code <= 122 or code >= 65 and code <= 90
            local digit = code >= 48 and code <= 57
            if not letter and not digit and not __TS__StringIncludes(
                TOKEN_SIGNS,
                __TS__StringCharAt(text, i)
            ) then
                return "is no header's name; letters, digits and - are needed"
            end
            i = i + 1
        end
    end
    if text == "" or #text > 255 then
        return "is no header's name; 1..255 characters are needed"
    end
    if string.lower(text) == "host" then
        return "cannot be set here; use host"
    end
    return __TS__ArrayIncludes(
        OWN_HEADERS,
        string.lower(text)
    ) and "cannot be set: the check needs its own" or nil
end
---
-- @returns what is wrong with the value of a header
function ____exports.checkHeaderValue(text)
    if #text > MAX_TEXT then
        return ((("is too long (" .. tostring(#text)) .. "); at most ") .. tostring(MAX_TEXT)) .. " bytes are allowed"
    end
    do
        local i = 0
        while i < #text do
            local code = __TS__StringCharCodeAt(text, i)
            if code < 32 and code ~= 9 or code == 127 then
                return "has control characters; only printable ones are allowed"
            end
            i = i + 1
        end
    end
    return nil
end
---
-- @returns what is wrong with a regular expression, without compiling it
function ____exports.checkRegexText(text)
    if text == "" then
        return "is empty: it matches anything; leave the option out instead"
    end
    return #text > MAX_TEXT and ((("is too long (" .. tostring(#text)) .. "); at most ") .. tostring(MAX_TEXT)) .. " bytes are allowed" or nil
end
return ____exports
