local bit_arshift = bit.arshift
local bit_band = bit.band
local bit_bor = bit.bor
local bit_lshift = bit.lshift
local math_floor = math.floor
local math_huge = math.huge
local math_max = math.max
local math_min = math.min
local ____exports = {}
local fromBelow, fromAbove, inside, isPair, EXACT_MS, OVERFLOW_MS
---
-- @param bucket 0 .. BUCKETS-1
-- @returns the smallest whole number of milliseconds in the bucket
function ____exports.lowerBoundMs(bucket)
    if bucket < EXACT_MS then
        return bucket
    end
    return (8 + bit_band(bucket - EXACT_MS, 7)) * ____exports.widthMs(bucket)
end
---
-- @param bucket 0 .. BUCKETS-1; the overflow bucket counts as one of the next power of two
-- @returns how many whole milliseconds fall into the bucket
function ____exports.widthMs(bucket)
    if bucket < EXACT_MS then
        return 1
    end
    return bit_lshift(
        2,
        bit_arshift(bucket - EXACT_MS, 3)
    )
end
function fromBelow(counts, rank)
    local n = #counts
    local before = 0
    local last = 0
    do
        local bucket = 0
        while bucket < n do
            local count = counts[bucket + 1]
            if count > 0 then
                if before + count >= rank then
                    return inside(
                        bucket,
                        math_max(0, rank - before) / count
                    )
                end
                before = before + count
                last = bucket
            end
            bucket = bucket + 1
        end
    end
    return inside(last, 1)
end
function fromAbove(counts, total, rank)
    local upto = total
    local last = 0
    do
        local bucket = #counts - 1
        while bucket >= 0 do
            local count = counts[bucket + 1]
            if count > 0 then
                local before = upto - count
                if before < rank then
                    return inside(bucket, (rank - before) / count)
                end
                upto = before
                last = bucket
            end
            bucket = bucket - 1
        end
    end
    return inside(last, 0)
end
function inside(bucket, position)
    if bucket >= ____exports.BUCKETS - 1 then
        return OVERFLOW_MS
    end
    return math_max(
        0,
        ____exports.lowerBoundMs(bucket) - 0.5 + ____exports.widthMs(bucket) * position
    )
end
function isPair(bucket, count)
    if type(bucket) ~= "number" or type(count) ~= "number" then
        return false
    end
    return bucket >= 0 and bucket < ____exports.BUCKETS and math_floor(bucket) == bucket and count > 0 and count < math_huge
end
EXACT_MS = 16
OVERFLOW_MS = 131072
--- Number of buckets: 16 exact ones, 13 powers of two with 8 each, one for the overflow.
____exports.BUCKETS = 121
--- The bucket of a latency. Log phase of every request: no branches past the exact range (so that a JIT
-- trace serves all latencies), no tables, no logarithm. The position of the highest bit is counted by
-- smearing it downwards and adding up the bits (Warren, Hacker's Delight, 5-1 and 5-3).
-- 
-- @param ms latency in milliseconds; fractions are cut off; negative numbers and NaN count as 0
-- @returns 0 .. BUCKETS-1
function ____exports.bucketOf(ms)
    if not (ms >= 1) then
        return 0
    end
    if ms >= OVERFLOW_MS then
        return ____exports.BUCKETS - 1
    end
    local whole = math_floor(ms)
    if whole < EXACT_MS then
        return whole
    end
    local bits = bit_bor(
        whole,
        bit_arshift(whole, 1)
    )
    bits = bit_bor(
        bits,
        bit_arshift(bits, 2)
    )
    bits = bit_bor(
        bits,
        bit_arshift(bits, 4)
    )
    bits = bit_bor(
        bits,
        bit_arshift(bits, 8)
    )
    bits = bit_bor(
        bits,
        bit_arshift(bits, 16)
    )
    bits = bits - bit_band(
        bit_arshift(bits, 1),
        349525
    )
    bits = bit_band(bits, 209715) + bit_band(
        bit_arshift(bits, 2),
        209715
    )
    bits = bit_band(
        bits + bit_arshift(bits, 4),
        986895
    )
    local exponent = bit_band(bits, 255) + bit_band(
        bit_arshift(bits, 8),
        255
    ) + bit_arshift(bits, 16) - 1
    return EXACT_MS + (exponent - 4) * 8 + bit_band(
        bit_arshift(whole, exponent - 3),
        7
    )
end
---
-- @returns counts for a writer that must not grow its array: every bucket present, all 0
function ____exports.newCounts()
    local counts = {}
    do
        local bucket = 0
        while bucket < ____exports.BUCKETS do
            counts[bucket + 1] = 0
            bucket = bucket + 1
        end
    end
    return counts
end
--- Sets every count to 0 and keeps the array, so that a reused one leaves no garbage.
function ____exports.clearCounts(counts)
    local n = #counts
    do
        local bucket = 0
        while bucket < n do
            counts[bucket + 1] = 0
            bucket = bucket + 1
        end
    end
end
---
-- @param bucket 0 .. BUCKETS-1
-- @param n added to the bucket; the array grows as needed
function ____exports.addCount(counts, bucket, n)
    local ____end = #counts
    if bucket >= ____end then
        do
            local missing = ____end
            while missing <= bucket do
                counts[missing + 1] = 0
                missing = missing + 1
            end
        end
    end
    local ____counts_0, ____temp_1 = counts, bucket + 1
    ____counts_0[____temp_1] = ____counts_0[____temp_1] + n
end
--- Adds all of `source` to `target`: the histogram of both samples together.
function ____exports.mergeInto(target, source)
    local n = #source
    do
        local ____end = #target
        while ____end < n do
            target[____end + 1] = 0
            ____end = ____end + 1
        end
    end
    do
        local bucket = 0
        while bucket < n do
            local ____target_2, ____temp_3 = target, bucket + 1
            ____target_2[____temp_3] = ____target_2[____temp_3] + source[bucket + 1]
            bucket = bucket + 1
        end
    end
end
--- Takes away what was merged before; no bucket goes below 0.
function ____exports.subtractFrom(target, source)
    local n = math_min(#source, #target)
    do
        local bucket = 0
        while bucket < n do
            target[bucket + 1] = math_max(0, target[bucket + 1] - source[bucket + 1])
            bucket = bucket + 1
        end
    end
end
--- Writes `whole` without `part` into `target`, which is overwritten; no bucket goes below 0.
function ____exports.differenceInto(target, whole, part)
    ____exports.clearCounts(target)
    ____exports.mergeInto(target, whole)
    ____exports.subtractFrom(target, part)
end
--- The latency that a share `q` of the samples does not exceed (nearest rank), interpolated inside its
-- bucket: off by less than the bucket's width. A sample of v ms stands for v ± 0.5 ms, because a clock
-- with steps of 1 ms says no more.
-- 
-- @param total sum of the counts
-- @param q 0..1
-- @returns milliseconds; 0 without samples; the overflow bucket's lower bound for what lies in it
function ____exports.percentile(counts, total, q)
    if total <= 0 then
        return 0
    end
    local rank = q * total
    return q < 0.5 and fromBelow(counts, rank) or fromAbove(counts, total, rank)
end
---
-- @param threshold_ms milliseconds
-- @returns samples in buckets that begin at the threshold or later
function ____exports.countFrom(counts, threshold_ms)
    local bucket = ____exports.bucketOf(threshold_ms)
    if ____exports.lowerBoundMs(bucket) < threshold_ms then
        bucket = bucket + 1
    end
    local n = #counts
    local sum = 0
    do
        while bucket < n do
            sum = sum + counts[bucket + 1]
            bucket = bucket + 1
        end
    end
    return sum
end
---
-- @returns the form for the wire: bucket, count, bucket, count, … in ascending order, zeros left out
function ____exports.toSparse(counts)
    local sparse = {}
    local n = #counts
    local ____end = 0
    do
        local bucket = 0
        while bucket < n do
            if counts[bucket + 1] > 0 then
                sparse[____end + 1] = bucket
                sparse[____end + 1 + 1] = counts[bucket + 1]
                ____end = ____end + 2
            end
            bucket = bucket + 1
        end
    end
    return sparse
end
--- Adds a histogram from the wire.
-- 
-- @param sparse bucket, count, bucket, count, … in any order; checked before by cleanSparse if another process wrote it
-- @param scale every count is multiplied by it
function ____exports.addSparse(target, sparse, scale)
    local n = #sparse
    do
        local i = 0
        while i < n do
            ____exports.addCount(target, sparse[i + 1], sparse[i + 1 + 1] * scale)
            i = i + 2
        end
    end
end
--- What comes from another process may be of another version, or broken.
-- 
-- @param value anything
-- @returns the value itself if it is a sparse histogram; else those of its pairs that are a bucket and a positive count
function ____exports.cleanSparse(value)
    if type(value) ~= "table" or value == nil then
        return {}
    end
    local sparse = value
    local n = #sparse
    local sound = n % 2 == 0
    do
        local i = 0
        while i + 1 < n do
            sound = isPair(sparse[i + 1], sparse[i + 1 + 1]) and sound
            i = i + 2
        end
    end
    if sound then
        return sparse
    end
    local kept = {}
    do
        local i = 0
        while i + 1 < n do
            if isPair(sparse[i + 1], sparse[i + 1 + 1]) then
                local ____end = #kept
                kept[____end + 1] = sparse[i + 1]
                kept[____end + 1 + 1] = sparse[i + 1 + 1]
            end
            i = i + 2
        end
    end
    return kept
end
return ____exports
