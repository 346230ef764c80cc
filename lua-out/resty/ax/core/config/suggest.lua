local math_abs = math.abs
local math_floor = math.floor
local math_huge = math.huge
local math_max = math.max
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

local function __TS__StringIncludes(self, searchString, position)
    if not position then
        position = 1
    else
        position = position + 1
    end
    local index = string.find(self, searchString, position, true)
    return index ~= nil
end
-- End of Lua Library inline imports
local ____exports = {}
--- Longer words are not compared: nobody mistypes that much, and the work grows with the square.
local MAX_LENGTH = 64
--- Past this many edits a suggestion is a guess. 3 still finds a forgotten "_ms".
local MAX_EDITS = 3
--- Letters a word must have per edit allowed.
local LETTERS_PER_EDIT = 3
--- The word's letters as codes: lower case, without "-" and "_".
local function letters(word)
    local codes = {}
    do
        local i = 0
        while i < #word do
            local code = __TS__StringCharCodeAt(word, i)
            if code >= 65 and code <= 90 then
                codes[#codes + 1] = code + 32
            elseif code ~= 45 and code ~= 95 then
                codes[#codes + 1] = code
            end
            i = i + 1
        end
    end
    return codes
end
---
-- @param limit from where on the number does not matter: then the result may be anything from there up
local function distanceOf(a, b, limit)
    if math_abs(#a - #b) >= limit then
        return limit
    end
    local before = {}
    local last = {}
    do
        local j = 0
        while j <= #b do
            last[#last + 1] = j
            j = j + 1
        end
    end
    do
        local i = 1
        while i <= #a do
            local row = {i}
            local least = i
            do
                local j = 1
                while j <= #b do
                    local same = a[i] == b[j]
                    local edits = last[j] + (same and 0 or 1)
                    if last[j + 1] + 1 < edits then
                        edits = last[j + 1] + 1
                    end
                    if row[j] + 1 < edits then
                        edits = row[j] + 1
                    end
                    local swapped = i > 1 and j > 1 and a[i] == b[j - 2 + 1] and a[i - 2 + 1] == b[j]
                    if swapped and before[j - 2 + 1] + 1 < edits then
                        edits = before[j - 2 + 1] + 1
                    end
                    row[#row + 1] = edits
                    if edits < least then
                        least = edits
                    end
                    j = j + 1
                end
            end
            if least > limit then
                return limit
            end
            before = last
            last = row
            i = i + 1
        end
    end
    return last[#b + 1]
end
---
-- @returns edits between two words, ignoring case, "-" and "_"
function ____exports.distance(a, b)
    return distanceOf(
        letters(a),
        letters(b),
        math_huge
    )
end
--- The word's parts between "_" and "-", with bars around each: "|eject|rate|".
local function parts(word)
    local barred = "|"
    do
        local i = 0
        while i < #word do
            local char = __TS__StringCharAt(word, i)
            barred = barred .. ((char == "_" or char == "-") and "|" or char)
            i = i + 1
        end
    end
    return barred .. "|"
end
--- Whether every part of the one occurs in the other; false for a word of one part.
local function hasParts(written, candidate)
    local start = 0
    local count = 0
    do
        local i = 1
        while i < #written do
            do
                if __TS__StringCharAt(written, i) ~= "|" then
                    goto __continue26
                end
                if not __TS__StringIncludes(
                    candidate,
                    __TS__StringSubstring(written, start, i + 1)
                ) then
                    return false
                end
                start = i
                count = count + 1
            end
            ::__continue26::
            i = i + 1
        end
    end
    return count > 1
end
--- The shortest known word with all the parts of the written one: "eject_rate" for "eject_error_rate".
local function suggestByParts(word, known)
    local written = parts(word)
    local shortest
    do
        local i = 0
        while i < #known do
            local longer = shortest ~= nil and #known[i + 1] >= #shortest
            if not longer and hasParts(
                written,
                parts(known[i + 1])
            ) then
                shortest = known[i + 1]
            end
            i = i + 1
        end
    end
    return shortest
end
---
-- @param word what was written
-- @param known what could have been meant; of equally near ones the first wins
-- @returns the nearest known word, or undefined when none is near enough to be a likely slip
function ____exports.suggest(word, known)
    if #word == 0 or #word > MAX_LENGTH then
        return nil
    end
    local written = letters(word)
    local nearest
    local least = MAX_EDITS + 1
    do
        local i = 0
        while i < #known do
            local candidate = letters(known[i + 1])
            local longest = #written > #candidate and #written or #candidate
            local allowed = math_max(
                1,
                math_floor(longest / LETTERS_PER_EDIT)
            )
            local edits = distanceOf(written, candidate, least)
            if edits <= allowed and edits < longest and edits < least then
                least = edits
                nearest = known[i + 1]
            end
            i = i + 1
        end
    end
    local ____temp_0
    if nearest == nil then
        ____temp_0 = suggestByParts(word, known)
    else
        ____temp_0 = nearest
    end
    return ____temp_0
end
return ____exports
