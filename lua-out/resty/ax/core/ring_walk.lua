local math_huge = math.huge
local math_max = math.max
local math_min = math.min
local ____exports = {}
local ____fraction = require("resty.ax.core.fraction")
local fraction = ____fraction.fraction
local ____hash = require("resty.ax.core.hash")
local HASH_RANGE = ____hash.HASH_RANGE
local hashBytes = ____hash.hashBytes
local mixHashes = ____hash.mixHashes
local ____ring = require("resty.ax.core.ring")
local hashOf = ____ring.hashOf
local nodeAt = ____ring.nodeAt
local NODE_RANGE = ____ring.NODE_RANGE
local pointAt = ____ring.pointAt
local seek = ____ring.seek
local ____ring_builder = require("resty.ax.core.ring_builder")
local newRingBuilder = ____ring_builder.newRingBuilder
local stepRing = ____ring_builder.stepRing
--- Points looked at until the ring is given up: with one node in 200 usable, one walk in 170 gets so far.
-- Then all candidates are compared, which takes as long as there are candidates, few by then.
local WALK_MAX = 1024
--- Points looked at in one slice of building: well under a millisecond once compiled (spec/bench/ring.lua).
local POINTS_PER_SLICE = 2000
---
-- @param by_weight keys in proportion to the current static weights
function ____exports.newMembers(pool, points_per_node, by_weight)
    local counts = {}
    do
        local node = 0
        while node < pool.n do
            counts[node + 1] = points_per_node
            node = node + 1
        end
    end
    local builder = newRingBuilder(pool.ids, counts)
    local members = {
        ring = builder.ring,
        builder = builder,
        by_weight = by_weight,
        base_weight = {},
        identity = {},
        share = {},
        max_share = 0,
        share_sum = 0,
        version = -1,
        marks = pool.candidate_of,
        mark = 0,
        listed = {},
        listed_mark = 0,
        whole_share_sum = 0,
        seen = {},
        seen_mark = 0,
        start = 0
    }
    do
        local node = 0
        while node < pool.n do
            members.base_weight[node + 1] = pool.static_weight[node + 1]
            members.identity[node + 1] = fraction(hashBytes(pool.ids[node + 1], 0))
            members.share[node + 1] = 0
            members.listed[node + 1] = 0
            members.seen[node + 1] = 0
            node = node + 1
        end
    end
    return members
end
local function shareOf(members, pool, node)
    local weight = pool.static_weight[node + 1]
    if members.by_weight then
        return weight
    end
    local full = members.base_weight[node + 1]
    return full > 0 and math_min(1, weight / full) or 0
end
--- Takes over current weights.
local function measureShares(members, pool)
    local most = 0
    do
        local node = 0
        while node < pool.n do
            local share = shareOf(members, pool, node)
            members.share[node + 1] = share
            most = math_max(most, share)
            node = node + 1
        end
    end
    members.max_share = most
    local sum = 0
    do
        local k = 0
        while k < pool.candidate_count do
            sum = sum + members.share[pool.candidates[k + 1] + 1]
            k = k + 1
        end
    end
    members.whole_share_sum = sum
    members.version = pool.version
end
--- What a strategy with a ring does in its `prepare`: the ring, in slices, and current weights.
-- 
-- @returns whether there is more to do
function ____exports.prepareMembers(members, pool)
    if members.builder ~= nil then
        local ring = stepRing(members.builder, POINTS_PER_SLICE)
        if ring == nil then
            return true
        end
        members.ring = ring
        members.builder = nil
    end
    if members.version ~= pool.version then
        measureShares(members, pool)
    end
    return false
end
--- Marks the nodes of a list for one pick.
local function admitList(members, candidates, count)
    local mark = members.listed_mark + 1
    members.listed_mark = mark
    local sum = 0
    do
        local k = 0
        while k < count do
            members.listed[candidates[k + 1] + 1] = mark
            sum = sum + members.share[candidates[k + 1] + 1]
            k = k + 1
        end
    end
    members.marks = members.listed
    members.mark = mark
    members.share_sum = sum
end
--- Notes who may be picked; costs nothing but for lists.
function ____exports.admit(members, pool, candidates, count)
    if candidates ~= pool.candidates then
        admitList(members, candidates, count)
        return
    end
    members.marks = pool.candidate_of
    members.mark = pool.version
    members.share_sum = members.whole_share_sum
end
--- Finds a key's position on the ring: first step of every pick. It is left in `start`, and no loop is in
-- the same function as another: LuaJIT gives up traces from loop to loop that carry many values along.
function ____exports.locate(members, key)
    members.start = seek(members.ring, key)
end
--- Whether one request more keeps the node within its bound.
local function hasRoom(members, pool, node, bound)
    return pool.in_flight[node + 1] + pool.others_in_flight[node + 1] < bound * members.share[node + 1]
end
--- Highest draw by key and node (rendezvous hashing, Thaler & Ravishankar 1998): needs no ring, and no weights.
local function rendezvous(members, candidates, count, key)
    local node = candidates[1]
    local highest = -1
    do
        local k = 0
        while k < count do
            local score = mixHashes(key, members.identity[candidates[k + 1] + 1])
            if score > highest then
                highest = score
                node = candidates[k + 1]
            end
            k = k + 1
        end
    end
    return node
end
--- The walk; -1 when nobody in reach has a share. Nodes without room are for when there is no other.
local function walk(members, pool, key, bound)
    local ____members_0 = members
    local ring = ____members_0.ring
    local start = ____members_0.start
    local marks = ____members_0.marks
    local mark = ____members_0.mark
    local share = ____members_0.share
    local max_share = ____members_0.max_share
    local node = -1
    local nearest = math_huge
    local full = -1
    local nearest_full = math_huge
    local ____end = ring.size < WALK_MAX and ring.size or WALK_MAX
    do
        local k = 0
        while k < ____end do
            local point = pointAt(ring, start, k)
            local ahead = hashOf(point) - key
            local distance = (ahead < 0 and ahead + HASH_RANGE or ahead) + 0.5
            if distance >= nearest * max_share then
                break
            end
            local other = point % NODE_RANGE
            if marks[other + 1] == mark then
                local weighed = distance / share[other + 1]
                if weighed < nearest and hasRoom(members, pool, other, bound) then
                    nearest = weighed
                    node = other
                elseif weighed < nearest_full then
                    nearest_full = weighed
                    full = other
                end
            end
            k = k + 1
        end
    end
    return node >= 0 and node or full
end
--- The node whose points are nearest clockwise from the key, distances divided by the nodes' shares; only nodes that may
-- be picked and have room, as long as there are any. `locate` and `admit` come first.
-- 
-- With equal shares that is the first point. Otherwise it is the "linear method" of Schindelhauer & Schomaker (Weighted
-- Distributed Hash Tables, 2005): keys follow the shares, and a share that changes moves keys from or to its own node only.
-- The ring knows nothing of shares, so it stays as it is when they change. A walk takes about as many points as the
-- largest share is above the mean one.
-- 
-- @param bound requests in flight, this one included, that a node may have per share; Infinity = no bound
function ____exports.clockwise(members, pool, candidates, count, key, bound)
    local first = nodeAt(members.ring, members.start, 0)
    local is_whole = members.share[first + 1] >= members.max_share and members.max_share > 0
    if is_whole and members.marks[first + 1] == members.mark and hasRoom(members, pool, first, bound) then
        return first
    end
    local node = members.max_share > 0 and walk(members, pool, key, bound) or -1
    return node >= 0 and node or rendezvous(members, candidates, count, key)
end
return ____exports
