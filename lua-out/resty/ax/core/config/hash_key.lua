-- Lua Library inline imports
local function __TS__StringCharAt(self, pos)
    if pos ~= pos then
        pos = 0
    end
    if pos < 0 then
        return ""
    end
    return string.sub(self, pos + 1, pos + 1)
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

local function __TS__StringIncludes(self, searchString, position)
    if not position then
        position = 1
    else
        position = position + 1
    end
    local index = string.find(self, searchString, position, true)
    return index ~= nil
end

local function __TS__StringStartsWith(self, searchString, position)
    if position == nil or position < 0 then
        position = 0
    end
    return string.sub(self, position + 1, #searchString + position) == searchString
end

local function __TS__StringSlice(self, start, ____end)
    if start == nil or start ~= start then
        start = 0
    end
    if ____end ~= ____end then
        ____end = 0
    end
    if start >= 0 then
        start = start + 1
    end
    if ____end ~= nil and ____end < 0 then
        ____end = ____end - 1
    end
    return string.sub(self, start, ____end)
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

local __TS__StringSplit
do
    local sub = string.sub
    local find = string.find
    function __TS__StringSplit(source, separator, limit)
        if limit == nil then
            limit = 4294967295
        end
        if limit == 0 then
            return {}
        end
        local result = {}
        local resultIndex = 1
        if separator == nil or separator == "" then
            for i = 1, #source do
                result[resultIndex] = sub(source, i, i)
                resultIndex = resultIndex + 1
            end
        else
            local currentPos = 1
            while resultIndex <= limit do
                local startPos, endPos = find(source, separator, currentPos, true)
                if not startPos then
                    break
                end
                result[resultIndex] = sub(source, currentPos, startPos - 1)
                resultIndex = resultIndex + 1
                currentPos = endPos + 1
            end
            if resultIndex <= limit then
                result[resultIndex] = sub(source, currentPos)
            end
        end
        return result
    end
end
-- End of Lua Library inline imports
local ____exports = {}
local ____problems = require("resty.ax.core.config.problems")
local keyPath = ____problems.keyPath
local report = ____problems.report
local ____show = require("resty.ax.core.config.show")
local isAbsent = ____show.isAbsent
local showValue = ____show.showValue
local ____suggest = require("resty.ax.core.config.suggest")
local suggest = ____suggest.suggest
--- What is taken, for messages.
____exports.HASH_KEY_FORMS = "\"$variable\", \"header:Name\", \"cookie:name\", \"arg:name\", or in a Lua table a function that returns a string,"
--- What comes before the colon, and how nginx's variables for it begin.
local KINDS = {"header", "cookie", "arg"}
local PREFIXES = {header = "http_", cookie = "cookie_", arg = "arg_"}
--- Beside letters, digits, "-" and "_": what may stand in the name of a cookie or an argument.
local OTHER_CHARS = "!#%'*+.^`|~[]"
local function isNameOf(kind, name)
    do
        local i = 0
        while i < #name do
            local char = __TS__StringCharAt(name, i)
            local code = __TS__StringCharCodeAt(name, i)
            local letter = code >= 65 and code <= 90 or code >= 97 and code <= 122
            local plain = letter or code >= 48 and code <= 57 or char == "_"
            local more = kind ~= "variable" and (char == "-" or kind ~= "header" and __TS__StringIncludes(OTHER_CHARS, char))
            if not plain and not more then
                return false
            end
            i = i + 1
        end
    end
    return name ~= ""
end
--- Reads a source given as text.
function ____exports.parseKeySource(text)
    if __TS__StringStartsWith(text, "$") then
        local name = string.sub(text, 2)
        return isNameOf("variable", name) and ({variable = string.lower(name)}) or ({wrong = "is not the name of a variable"})
    end
    local colon = (string.find(text, ":", nil, true) or 0) - 1
    if colon < 0 then
        local hint = isNameOf("variable", text) and ("; did you mean \"$" .. text) .. "\"?" or ""
        return {wrong = (("is not a source of keys; " .. ____exports.HASH_KEY_FORMS) .. " is needed") .. hint}
    end
    local kind = __TS__StringSlice(text, 0, colon)
    local name = __TS__StringSlice(text, colon + 1)
    if not __TS__ArrayIncludes(KINDS, kind) then
        local near = suggest(kind, KINDS)
        local hint = near == nil and "" or ((("; did you mean \"" .. near) .. ":") .. name) .. "\"?"
        return {wrong = (("is not a source of keys; " .. ____exports.HASH_KEY_FORMS) .. " is needed") .. hint}
    end
    if not isNameOf(kind, name) then
        return {wrong = "does not name " .. (kind == "arg" and "an argument" or "a " .. kind)}
    end
    local lower = string.lower(name)
    return {variable = PREFIXES[kind] .. (kind == "header" and table.concat(
        __TS__StringSplit(lower, "-"),
        "_"
    ) or lower)}
end
--- Checks `hash_key` of one upstream.
function ____exports.checkHashKey(record, path, problems)
    local value = record.hash_key
    if isAbsent(value) or type(value) == "function" then
        return
    end
    local key_path = keyPath(path, "hash_key")
    if type(value) ~= "string" then
        report(
            problems,
            key_path,
            ((showValue(value) .. " is given; ") .. ____exports.HASH_KEY_FORMS) .. " is needed"
        )
        return
    end
    local wrong = ____exports.parseKeySource(value).wrong
    if wrong ~= nil then
        report(
            problems,
            key_path,
            (showValue(value) .. " ") .. wrong
        )
    end
end
return ____exports
