local math_floor = math.floor
local ____exports = {}
--- Half a thousand columns tell a share of 1 % from noise; the sketch is 8 kB.
local COLUMNS = 512
--- The next flush halves all counts from so many on: some thousands of picks matter, hundreds of a key at 10 %.
local WINDOW = 4096
--- Below so many counted picks no key is hot: of 512, a key with 10 % has 51 ± 7.
local MIN_TOTAL = 512
function ____exports.newHotKeys()
    local hot = {counts = {}, total = 0}
    do
        local k = 0
        while k < 2 * COLUMNS do
            hot.counts[k + 1] = 0
            k = k + 1
        end
    end
    return hot
end
--- Makes old traffic fade. Flush: in a pick it would be the only loop.
function ____exports.fadeKeys(hot)
    if hot.total < WINDOW then
        return
    end
    do
        local k = 0
        while k < 2 * COLUMNS do
            hot.counts[k + 1] = hot.counts[k + 1] / 2
            k = k + 1
        end
    end
    hot.total = hot.total / 2
end
--- Counts one pick of a key.
-- 
-- @param key 0 .. 2^32-1, well mixed: its bits are taken as two independent hashes
-- @returns the key's share of the picks counted, 0..1; 0 while too few are
function ____exports.noteKey(hot, key)
    local first = key % COLUMNS
    local second = COLUMNS + math_floor(key / COLUMNS) % COLUMNS
    local counts = hot.counts
    local a = counts[first + 1] + 1
    local b = counts[second + 1] + 1
    counts[first + 1] = a
    counts[second + 1] = b
    local total = hot.total + 1
    hot.total = total
    if total < MIN_TOTAL then
        return 0
    end
    return (a < b and a or b) / total
end
return ____exports
