local bit_bor = bit.bor
local math_floor = math.floor
local ____exports = {}
local ____chunked = require("resty.ax.core.chunked")
local read = ____chunked.read
local ____hash = require("resty.ax.core.hash")
local HASH_RANGE = ____hash.HASH_RANGE
--- Node numbers fit in 20 bits, hashes in 32: together below 2^53, exact in a double.
____exports.NODE_RANGE = 1048576
--- Points a node has: libketama's and nginx's number; shares then differ by about 1/√160 = 8 %.
____exports.POINTS_PER_NODE = 160
---
-- @returns the hash of a point
function ____exports.hashOf(point)
    return math_floor(point / ____exports.NODE_RANGE)
end
---
-- @param key 0 .. 2^32-1
-- @returns the bucket it falls in; never falls as keys rise
function ____exports.bucketOf(ring, key)
    return math_floor(key * ring.buckets / HASH_RANGE)
end
---
-- @param key 0 .. 2^32-1
-- @returns the position of the key's point: the first with its hash or a higher one, else the circle's first
function ____exports.seek(ring, key)
    local points = ring.points
    local target = key * ____exports.NODE_RANGE
    local at = bit_bor(
        read(
            ring.directory,
            ____exports.bucketOf(ring, key)
        ),
        0
    )
    while read(points, at) < target do
        at = at + 1
    end
    return at < ring.size and at or 0
end
---
-- @param start a position, 0 .. size-1
-- @param k 0 .. size-1
-- @returns the k-th point clockwise from a position
function ____exports.pointAt(ring, start, k)
    local at = start + k
    return read(ring.points, at < ring.size and at or at - ring.size)
end
---
-- @param start a position, 0 .. size-1
-- @param k 0 .. size-1
-- @returns the node number that owns the k-th point clockwise from a position
function ____exports.nodeAt(ring, start, k)
    return ____exports.pointAt(ring, start, k) % ____exports.NODE_RANGE
end
return ____exports
