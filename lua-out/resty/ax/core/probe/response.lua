local math_huge = math.huge
local math_max = math.max
local math_min = math.min
local tonumber = tonumber
-- Lua Library inline imports
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

local function __TS__StringStartsWith(self, searchString, position)
    if position == nil or position < 0 then
        position = 0
    end
    return string.sub(self, position + 1, #searchString + position) == searchString
end

local function __TS__StringSubstring(self, start, ____end)
    if ____end ~= ____end then
        ____end = 0
    end
    if ____end ~= nil and start > ____end then
        start, ____end = ____end, start
    end
    if start >= 0 then
        start = start + 1
    else
        start = 1
    end
    if ____end ~= nil and ____end < 0 then
        ____end = 0
    end
    return string.sub(self, start, ____end)
end

local function __TS__Number(value)
    local valueType = type(value)
    if valueType == "number" then
        return value
    elseif valueType == "string" then
        local numberValue = tonumber(value)
        if numberValue then
            return numberValue
        end
        if value == "Infinity" then
            return math_huge
        end
        if value == "-Infinity" then
            return -math_huge
        end
        local stringWithoutSpaces = string.gsub(value, "%s", "")
        if stringWithoutSpaces == "" then
            return 0
        end
        return 0 / 0
    elseif valueType == "boolean" then
        return value and 1 or 0
    else
        return 0 / 0
    end
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

local function __TS__StringTrim(self)
    local result = string.gsub(self, "^[%s ﻿]*(.-)[%s ﻿]*$", "%1")
    return result
end

local function __TS__StringEndsWith(self, searchString, endPosition)
    if endPosition == nil or endPosition > #self then
        endPosition = #self
    end
    return string.sub(self, endPosition - #searchString + 1, endPosition) == searchString
end
-- End of Lua Library inline imports
local ____exports = {}
--- Longest status line and headers together, those of 1xx answers included: what nginx itself takes by default is 8 kB.
____exports.MAX_HEAD_BYTES = 16384
--- Longest line that tells a chunk's size: 8 hex digits and some extensions.
local MAX_CHUNK_LINE = 256
--- The headers that mean something to a check.
local WANTED = {
    "content-length",
    "transfer-encoding",
    "x-ax-watermark",
    "x-ax-queue-depth",
    "endpoint-load-metrics",
    "endpoint-load-metrics-json"
}
---
-- @param head_only the answer to HEAD: it has no body whatever its headers say
-- @param max_body_bytes more of a body is not waited for
function ____exports.newAnswerReader(head_only, max_body_bytes)
    return {
        done = false,
        status = 0,
        headers = {},
        body = "",
        body_pieces = {},
        body_bytes = 0,
        line_pieces = {},
        line_bytes = 0,
        head_bytes = 0,
        part = 0,
        left = 0,
        max_body_bytes = max_body_bytes,
        head_only = head_only
    }
end
local function fail(reader, problem)
    reader.done = true
    reader.problem = problem
    reader.part = 7
end
local function complete(reader)
    reader.done = true
    reader.body = table.concat(reader.body_pieces, "")
    reader.part = 7
end
--- The first bytes of what is no HTTP, as far as they can be shown.
local function shown(text)
    local out = ""
    do
        local i = 0
        while i < #text and i < 24 do
            local code = __TS__StringCharCodeAt(text, i)
            out = out .. (code >= 32 and code < 127 and __TS__StringCharAt(text, i) or ".")
            i = i + 1
        end
    end
    return out
end
local function digitsOnly(text)
    do
        local i = 0
        while i < #text do
            local code = __TS__StringCharCodeAt(text, i)
            if code < 48 or code > 57 then
                return false
            end
            i = i + 1
        end
    end
    return text ~= ""
end
--- "HTTP/1.1 200 OK"
-- 
-- @returns 0 when it is no status line
local function parseStatus(line)
    if not __TS__StringStartsWith(line, "HTTP/1.") then
        return 0
    end
    local code = __TS__StringSubstring(line, 9, 12)
    local after = __TS__StringSubstring(line, 12, 13)
    local plain = __TS__StringSubstring(line, 8, 9) == " " and digitsOnly(__TS__StringSubstring(line, 7, 8)) and digitsOnly(code)
    if not plain or after ~= "" and after ~= " " then
        return 0
    end
    local status = __TS__Number(code)
    return status >= 100 and status <= 599 and status or 0
end
local function takeStatusLine(reader, line)
    local status = parseStatus(line)
    if status == 0 then
        fail(
            reader,
            ("no HTTP answer: it begins with \"" .. shown(line)) .. "\""
        )
    end
    reader.status = status
    if status ~= 0 then
        reader.part = 1
    end
end
local function takeHeader(reader, line)
    local colon = (string.find(line, ":", nil, true) or 0) - 1
    if colon <= 0 then
        if colon < 0 and not __TS__StringStartsWith(line, " ") and not __TS__StringStartsWith(line, "\t") then
            fail(
                reader,
                ("a header that is none: \"" .. shown(line)) .. "\""
            )
        end
        return
    end
    local name = string.lower(__TS__StringSubstring(line, 0, colon))
    if not __TS__ArrayIncludes(WANTED, name) then
        return
    end
    local value = __TS__StringTrim(__TS__StringSubstring(line, colon + 1))
    local before = reader.headers[name]
    reader.headers[name] = before == nil and value or (before .. ", ") .. value
end
--- The empty line after the headers: what comes next.
local function endHead(reader)
    local ____reader_0 = reader
    local status = ____reader_0.status
    local headers = ____reader_0.headers
    if status < 200 then
        reader.headers = {}
        reader.part = 0
        if status == 101 then
            fail(reader, "HTTP 101, which was not asked for")
        end
        return
    end
    local encoding = headers["transfer-encoding"]
    local length = headers["content-length"]
    if reader.head_only or status == 204 or status == 304 then
        complete(reader)
    elseif encoding ~= nil and __TS__StringEndsWith(
        string.lower(encoding),
        "chunked"
    ) then
        reader.part = 3
    elseif encoding ~= nil or length == nil then
        reader.left = math_huge
        reader.part = 2
    elseif not digitsOnly(length) or #length > 15 then
        fail(
            reader,
            ("Content-Length \"" .. shown(length)) .. "\""
        )
    else
        reader.left = __TS__Number(length)
        reader.part = 2
        if reader.left == 0 then
            complete(reader)
        end
    end
    if not reader.done and reader.max_body_bytes == 0 then
        complete(reader)
    end
end
local HEX = "0123456789abcdef"
---
-- @returns the size a chunk's line tells; undefined when it tells none
local function chunkSize(line)
    local size = 0
    local digits = 0
    while digits < #line do
        local value = (string.find(
            HEX,
            string.lower(__TS__StringCharAt(line, digits)),
            nil,
            true
        ) or 0) - 1
        if value < 0 then
            break
        end
        size = size * 16 + value
        digits = digits + 1
    end
    local after = __TS__StringCharAt(line, digits)
    local ends = after == "" or after == ";" or after == " " or after == "\t"
    return digits > 0 and digits <= 8 and ends and size or nil
end
local function takeChunkSize(reader, line)
    local size = chunkSize(line)
    if size == nil then
        fail(
            reader,
            ("a chunk of the size \"" .. shown(line)) .. "\""
        )
    elseif size == 0 then
        reader.part = 6
    else
        reader.left = size
        reader.part = 4
    end
end
--- Takes bytes of the body.
-- 
-- @returns where the rest of the data begins
local function takeBody(reader, data, from)
    local room = reader.max_body_bytes - reader.body_bytes
    local count = math_min(reader.left, #data - from, room)
    reader.body_pieces[#reader.body_pieces + 1] = __TS__StringSubstring(data, from, from + count)
    reader.body_bytes = reader.body_bytes + count
    reader.left = reader.left - count
    if reader.body_bytes >= reader.max_body_bytes then
        complete(reader)
    elseif reader.left == 0 and reader.part == 2 then
        complete(reader)
    elseif reader.left == 0 then
        reader.part = 5
    end
    return from + count
end
local function takeLine(reader, line)
    local part = reader.part
    if part == 0 then
        takeStatusLine(reader, line)
    elseif part == 1 and line == "" then
        endHead(reader)
    elseif part == 1 then
        takeHeader(reader, line)
    elseif part == 3 then
        takeChunkSize(reader, line)
    elseif part == 5 and line == "" then
        reader.part = 3
    elseif part == 5 then
        fail(reader, "a chunk longer than it says")
    elseif line == "" then
        complete(reader)
    end
end
local function inBody(reader)
    return reader.part == 2 or reader.part == 4
end
---
-- @returns how long a line may be without its end
local function lineRoom(reader)
    local is_chunk = reader.part == 3 or reader.part == 5
    return is_chunk and MAX_CHUNK_LINE or ____exports.MAX_HEAD_BYTES - reader.head_bytes
end
--- Adds to the line that has begun.
-- 
-- @returns whether there is room for it
local function extendLine(reader, piece)
    reader.line_pieces[#reader.line_pieces + 1] = piece
    reader.line_bytes = reader.line_bytes + #piece
    if reader.line_bytes <= lineRoom(reader) then
        return true
    end
    fail(
        reader,
        reader.status == 0 and reader.head_bytes == 0 and ("no HTTP answer: it begins with \"" .. shown(table.concat(reader.line_pieces, ""))) .. "\"" or ("more than " .. tostring(____exports.MAX_HEAD_BYTES)) .. " bytes of headers"
    )
    return false
end
--- Takes a line, or what there is of it.
-- 
-- @returns where the rest of the data begins
local function readLine(reader, data, from)
    local ____end = (string.find(
        data,
        "\n",
        math_max(from + 1, 1),
        true
    ) or 0) - 1
    if not extendLine(
        reader,
        __TS__StringSubstring(data, from, ____end < 0 and #data or ____end)
    ) or ____end < 0 then
        return #data
    end
    local line = table.concat(reader.line_pieces, "")
    if reader.part <= 1 or reader.part == 6 then
        reader.head_bytes = reader.head_bytes + (reader.line_bytes + 1)
    end
    reader.line_pieces = {}
    reader.line_bytes = 0
    takeLine(
        reader,
        __TS__StringEndsWith(line, "\r") and __TS__StringSubstring(line, 0, #line - 1) or line
    )
    return ____end + 1
end
--- Takes in what was received.
-- 
-- @param data bytes (Lua), or one character a byte (JavaScript)
function ____exports.feed(reader, data)
    local at = 0
    while not reader.done and at < #data do
        at = inBody(reader) and takeBody(reader, data, at) or readLine(reader, data, at)
    end
end
--- The other side has closed the connection: nothing more will come.
function ____exports.finish(reader)
    if reader.done then
        return
    end
    local nothing_came = reader.head_bytes == 0 and reader.line_bytes == 0
    if reader.part == 2 and reader.left == math_huge then
        complete(reader)
    elseif nothing_came then
        fail(reader, "the connection was closed without an answer")
    else
        fail(reader, "the connection was closed in the middle of the answer")
    end
end
return ____exports
