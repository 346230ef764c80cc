local math_floor = math.floor
local math_huge = math.huge
local math_max = math.max
local math_min = math.min
local ____exports = {}
local ____chunked = require("resty.ax.core.chunked")
local read = ____chunked.read
local write = ____chunked.write
local ____hash = require("resty.ax.core.hash")
local HASH_RANGE = ____hash.HASH_RANGE
local hashBytes = ____hash.hashBytes
local hashPair = ____hash.hashPair
local ____ring = require("resty.ax.core.ring")
local bucketOf = ____ring.bucketOf
local hashOf = ____ring.hashOf
local NODE_RANGE = ____ring.NODE_RANGE
--- Seed of the second half of a node's identity. Any constant other than 0; it must never change.
local SECOND_SEED = 2538058380
--- Points to a directory entry: a search looks at this many on average, for an eighth of memory on top.
local POINTS_PER_BUCKET = 4
--- Sorting looks at 11 bits of the hash a pass: what a pass divides a point by. Three passes cover 32 bits.
local RADIX = 2048
local PASS_DIVISORS = {NODE_RANGE, NODE_RANGE * RADIX, NODE_RANGE * RADIX * RADIX}
--- Starts a ring; `stepRing` builds it.
-- 
-- @param ids identity of every node, by node number; fewer than NODE_RANGE
-- @param counts points of every node, at least 1 each
function ____exports.newRingBuilder(ids, counts)
    local builder = {
        ring = {points = {}, size = 0, directory = {}, buckets = 1},
        ids = ids,
        counts = counts,
        stage = 0,
        at = 0,
        node = 0,
        first = 0,
        second = 0,
        point = 0,
        pass = 0,
        other = {},
        digits = {},
        bucket = 0
    }
    do
        local digit = 0
        while digit < RADIX do
            builder.digits[digit + 1] = 0
            digit = digit + 1
        end
    end
    return builder
end
local function enter(builder, stage)
    builder.stage = stage
    builder.at = 0
end
--- Makes points, node by node.
local function makePoints(builder, budget)
    local points = builder.ring.points
    local size = builder.ring.size
    do
        local k = 0
        while k < budget do
            if builder.node >= #builder.ids then
                enter(builder, 1)
                break
            end
            if builder.point == 0 then
                builder.first = hashBytes(builder.ids[builder.node + 1], 0)
                builder.second = hashBytes(builder.ids[builder.node + 1], SECOND_SEED)
            end
            write(builder.other, size, 0)
            write(
                points,
                size,
                hashPair(builder.second, builder.point, builder.first) * NODE_RANGE + builder.node
            )
            size = size + 1
            builder.point = builder.point + 1
            if builder.point >= builder.counts[builder.node + 1] then
                builder.point = 0
                builder.node = builder.node + 1
            end
            k = k + 1
        end
    end
    builder.ring.size = size
end
--- Sorting, first half of a pass: how often each digit occurs.
local function countDigits(builder, budget)
    local ____builder_0 = builder
    local digits = ____builder_0.digits
    local points = builder.ring.points
    local divisor = PASS_DIVISORS[builder.pass + 1]
    local ____end = math_min(builder.at + budget, builder.ring.size)
    do
        local k = builder.at
        while k < ____end do
            local digit = math_floor(read(points, k) / divisor) % RADIX
            local ____digits_1, ____temp_2 = digits, digit + 1
            ____digits_1[____temp_2] = ____digits_1[____temp_2] + 1
            k = k + 1
        end
    end
    builder.at = ____end
    if ____end == builder.ring.size then
        enter(builder, 2)
    end
end
--- Sorting: from counts of digits to where the first point of each digit goes.
local function sumDigits(builder)
    local ____builder_3 = builder
    local digits = ____builder_3.digits
    local sum = 0
    do
        local digit = 0
        while digit < RADIX do
            local count = digits[digit + 1]
            digits[digit + 1] = sum
            sum = sum + count
            digit = digit + 1
        end
    end
    enter(builder, 3)
end
--- Sorting, second half of a pass: moves the points, those of equal digits in the order they had.
local function movePoints(builder, budget)
    local ____builder_4 = builder
    local digits = ____builder_4.digits
    local other = ____builder_4.other
    local ring = builder.ring
    local points = ring.points
    local divisor = PASS_DIVISORS[builder.pass + 1]
    local ____end = math_min(builder.at + budget, ring.size)
    do
        local k = builder.at
        while k < ____end do
            local point = read(points, k)
            local digit = math_floor(point / divisor) % RADIX
            local to = digits[digit + 1]
            digits[digit + 1] = to + 1
            write(other, to, point)
            k = k + 1
        end
    end
    builder.at = ____end
    if ____end < ring.size then
        return
    end
    ring.points = other
    builder.other = points
    builder.pass = builder.pass + 1
    if builder.pass >= #PASS_DIVISORS then
        builder.other = {}
        enter(builder, 4)
        return
    end
    do
        local digit = 0
        while digit < RADIX do
            digits[digit + 1] = 0
            digit = digit + 1
        end
    end
    enter(builder, 1)
end
--- Whether two points are equal but for their nodes, and in the wrong order.
local function isAfter(ids, a, b)
    return hashOf(a) == hashOf(b) and ids[a % NODE_RANGE + 1] > ids[b % NODE_RANGE + 1]
end
--- Points of equal hash (about one pair in a ring of 100,000): in the order of the identities.
local function orderTies(builder, budget)
    local ____builder_5 = builder
    local ids = ____builder_5.ids
    local ring = ____builder_5.ring
    local points = ring.points
    local ____end = math_min(builder.at + budget, ring.size)
    do
        local k = builder.at
        while k < ____end do
            local j = k
            while j > 0 and isAfter(
                ids,
                read(points, j - 1),
                read(points, j)
            ) do
                local point = read(points, j)
                write(
                    points,
                    j,
                    read(points, j - 1)
                )
                write(points, j - 1, point)
                j = j - 1
            end
            k = k + 1
        end
    end
    builder.at = ____end
    if ____end < ring.size then
        return
    end
    ring.buckets = math_max(
        1,
        math_floor(ring.size / POINTS_PER_BUCKET)
    )
    enter(builder, 5)
end
local function makeDirectory(builder, budget)
    local ring = builder.ring
    local ____end = math_min(builder.at + budget, ring.size)
    local next = builder.bucket
    do
        local k = builder.at
        while k < ____end do
            local bucket = bucketOf(
                ring,
                hashOf(read(ring.points, k))
            )
            while next <= bucket do
                write(ring.directory, next, k)
                next = next + 1
            end
            k = k + 1
        end
    end
    builder.at = ____end
    if ____end == ring.size then
        while next < ring.buckets do
            write(ring.directory, next, ring.size)
            next = next + 1
        end
        write(ring.points, ring.size, math_huge)
        builder.stage = 6
    end
    builder.bucket = next
end
--- Goes on with the ring.
-- 
-- @param budget how many points to look at: a few thousand take well under a millisecond once compiled
-- @returns the finished ring, or undefined when there is more to do
function ____exports.stepRing(builder, budget)
    local stage = builder.stage
    if stage == 0 then
        makePoints(builder, budget)
    elseif stage == 1 then
        countDigits(builder, budget)
    elseif stage == 2 then
        sumDigits(builder)
    elseif stage == 3 then
        movePoints(builder, budget)
    elseif stage == 4 then
        orderTies(builder, budget)
    elseif stage == 5 then
        makeDirectory(builder, budget)
    end
    return builder.stage == 6 and builder.ring or nil
end
--- Builds a ring in one go. Parameters as of newRingBuilder.
function ____exports.buildRing(ids, counts)
    local builder = ____exports.newRingBuilder(ids, counts)
    local ring
    while ring == nil do
        ring = ____exports.stepRing(builder, HASH_RANGE)
    end
    return ring
end
return ____exports
