local math_floor = math.floor
-- Lua Library inline imports
local function __TS__ArraySlice(self, first, last)
    local len = #self
    first = first or 0
    if first < 0 then
        first = len + first
        if first < 0 then
            first = 0
        end
    else
        if first > len then
            first = len
        end
    end
    last = last or len
    if last < 0 then
        last = len + last
        if last < 0 then
            last = 0
        end
    else
        if last > len then
            last = len
        end
    end
    local out = {}
    first = first + 1
    last = last + 1
    local n = 1
    while first < last do
        out[n] = self[first]
        first = first + 1
        n = n + 1
    end
    return out
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
-- End of Lua Library inline imports
local ____exports = {}
local scaled, parseNumbers, COUNT_SCALE, ZERO, NINE
local ____histogram = require("resty.ax.core.histogram")
local addSparse = ____histogram.addSparse
local cleanSparse = ____histogram.cleanSparse
local toSparse = ____histogram.toSparse
local ____windows = require("resty.ax.core.windows")
local emptyTally = ____windows.emptyTally
local judged = ____windows.judged
function scaled(count)
    return math_floor(count * COUNT_SCALE)
end
function parseNumbers(text)
    local numbers = {}
    local length = #text
    local count = 0
    local number = 0
    local in_number = false
    do
        local i = 0
        while i < length do
            local byte = __TS__StringCharCodeAt(text, i)
            local is_digit = byte >= ZERO and byte <= NINE
            if is_digit then
                number = number * 10 + (byte - ZERO)
            elseif in_number then
                numbers[count + 1] = number
                count = count + 1
                number = 0
            end
            in_number = is_digit
            i = i + 1
        end
    end
    if in_number then
        numbers[count + 1] = number
    end
    return numbers
end
COUNT_SCALE = 8
--- Share of a long window's counts that is taken over. They come back as one slot, as if all were new; with
-- a reload every few seconds they would never age out. Halved each time, they are outweighed instead.
local TAKEOVER_SHARE = 0.5
--- Windows with fewer samples than this many times `min_samples` are taken over whole, so that they can still speak.
local PLENTY = 2
--- A long window as text: "picks,ok,err,fail,aborted,sum_ms,bucket,count,bucket,count,…", counts times 8.
-- Not JSON numbers, which take an encoder several times as long, for a thousand nodes at a time.
function ____exports.tallyText(tally)
    local sparse = toSparse(tally.hist)
    do
        local i = 1
        while i < #sparse do
            sparse[i + 1] = scaled(sparse[i + 1])
            i = i + 2
        end
    end
    local head = (((((tostring(scaled(tally.picks)) .. ",") .. tostring(scaled(tally.ok))) .. ",") .. tostring(scaled(tally.err))) .. ",") .. tostring(scaled(tally.fail))
    return (((((head .. ",") .. tostring(scaled(tally.aborted))) .. ",") .. tostring(scaled(tally.sum_ms))) .. ",") .. table.concat(sparse, ",")
end
---
-- @param text from tallyText; what is not a number in it is passed over
-- @param min_samples decides how much of it is taken over
-- @returns what a new collector starts from
function ____exports.parseTally(text, min_samples)
    local numbers = parseNumbers(text)
    local tally = emptyTally()
    do
        local i = #numbers
        while i < 6 do
            numbers[i + 1] = 0
            i = i + 1
        end
    end
    local samples = (numbers[2] + numbers[3] + numbers[4]) / COUNT_SCALE
    local share = (samples > PLENTY * min_samples and TAKEOVER_SHARE or 1) / COUNT_SCALE
    tally.picks = numbers[1] * share
    tally.ok = numbers[2] * share
    tally.err = numbers[3] * share
    tally.fail = numbers[4] * share
    tally.aborted = numbers[5] * share
    tally.sum_ms = numbers[6] * share
    if judged(tally) > 0 then
        addSparse(
            tally.hist,
            cleanSparse(__TS__ArraySlice(numbers, 6)),
            share
        )
    end
    return tally
end
ZERO = 48
NINE = 57
return ____exports
