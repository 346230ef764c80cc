local ____exports = {}
local ____hash = require("resty.ax.core.hash")
local HASH_RANGE = ____hash.HASH_RANGE
local hashBytes = ____hash.hashBytes
local mixHashes = ____hash.mixHashes
local ____ring = require("resty.ax.core.ring")
local buildRing = ____ring.buildRing
local nodeAt = ____ring.nodeAt
local pointCounts = ____ring.pointCounts
local seek = ____ring.seek
--- Points looked at until the ring is given up: with one node in 200 usable, one walk in 170 gets so far.
-- Then all candidates are compared, which takes as long as there are candidates, few by then.
local WALK_MAX = 1024
---
-- @param by_weight points in proportion to the base weights
function ____exports.newMembers(pool, points_per_node, by_weight)
    local members = {
        ring = buildRing(
            pool.ids,
            pointCounts(pool.n, pool.static_weight, points_per_node, by_weight)
        ),
        base_weight = {},
        identity = {},
        allowed = {},
        allowed_mark = 0,
        allowed_count = 0,
        allowed_weight = 0,
        version = -1,
        seen = {},
        seen_mark = 0,
        start = 0
    }
    do
        local node = 0
        while node < pool.n do
            members.base_weight[node + 1] = pool.static_weight[node + 1]
            members.identity[node + 1] = hashBytes(pool.ids[node + 1], 0)
            members.allowed[node + 1] = 0
            members.seen[node + 1] = 0
            node = node + 1
        end
    end
    return members
end
--- Marks who may be picked: the candidates with a weight above 0, all of them when none has one.
-- Costs nothing while candidates and weights stay.
-- 
-- @param weights pool.weight or pool.static_weight; the same for all calls
function ____exports.admit(members, pool, weights, candidates, count)
    local whole = candidates == pool.candidates
    if whole and members.version == pool.version then
        return
    end
    members.version = whole and pool.version or -1
    members.allowed_mark = members.allowed_mark + 1
    local ____members_0 = members
    local allowed = ____members_0.allowed
    local allowed_mark = ____members_0.allowed_mark
    local admitted = 0
    local total = 0
    do
        local k = 0
        while k < count do
            local node = candidates[k + 1]
            if weights[node + 1] > 0 then
                allowed[node + 1] = allowed_mark
                total = total + weights[node + 1]
                admitted = admitted + 1
            end
            k = k + 1
        end
    end
    if admitted == 0 then
        do
            local k = 0
            while k < count do
                allowed[candidates[k + 1] + 1] = allowed_mark
                k = k + 1
            end
        end
        admitted = count
    end
    members.allowed_count = admitted
    members.allowed_weight = total
end
--- Finds a key's position on the ring: first step of every pick. It is left in `start`, and no loop is in
-- the same function as another: LuaJIT gives up traces from loop to loop that carry many values along.
function ____exports.locate(members, key)
    members.start = seek(members.ring, key)
end
--- A node on its way back takes its keys one by one: those whose draw is below its share of its weight.
-- The draw belongs to key and node, so that a key that has come back stays.
local function isRampedIn(members, pool, node, key)
    local full = members.base_weight[node + 1]
    local weight = pool.static_weight[node + 1]
    return weight >= full or mixHashes(key, members.identity[node + 1]) < weight / full * HASH_RANGE
end
--- Whether one request more keeps the node within its bound.
local function hasRoom(pool, node, bound)
    return pool.in_flight[node + 1] + pool.others_in_flight[node + 1] < bound
end
--- Highest draw by key and node (rendezvous hashing, Thaler & Ravishankar 1998): needs no ring.
local function rendezvous(members, candidates, count, key)
    local node = candidates[1]
    local highest = -1
    do
        local k = 0
        while k < count do
            local other = candidates[k + 1]
            if members.allowed[other + 1] == members.allowed_mark then
                local score = mixHashes(key, members.identity[other + 1])
                if score > highest then
                    highest = score
                    node = other
                end
            end
            k = k + 1
        end
    end
    return node
end
--- The first node clockwise from the key that may be picked, has taken the key back if it is ramping,
-- and has room; the first that may be picked when there is no such node. `locate` and
-- `admit` come first.
-- 
-- @param bound requests in flight, this one included, that a node may have at `unit` weight; Infinity = no bound
-- @param by_weight bounds in proportion to pool.static_weight
function ____exports.clockwise(members, pool, candidates, count, key, bound, by_weight)
    local ____members_1 = members
    local ring = ____members_1.ring
    local start = ____members_1.start
    local allowed = ____members_1.allowed
    local allowed_mark = ____members_1.allowed_mark
    local seen = ____members_1.seen
    local seen_mark = members.seen_mark + 1
    members.seen_mark = seen_mark
    local first = -1
    local refused = 0
    local ____end = ring.size < WALK_MAX and ring.size or WALK_MAX
    do
        local k = 0
        while k < ____end do
            local node = nodeAt(ring, start, k)
            if allowed[node + 1] == allowed_mark and seen[node + 1] ~= seen_mark then
                local limit = by_weight and bound * pool.static_weight[node + 1] or bound
                if isRampedIn(members, pool, node, key) and hasRoom(pool, node, limit) then
                    return node
                end
                seen[node + 1] = seen_mark
                if first < 0 then
                    first = node
                end
                refused = refused + 1
                if refused >= members.allowed_count then
                    return first
                end
            end
            k = k + 1
        end
    end
    return first >= 0 and first or rendezvous(members, candidates, count, key)
end
return ____exports
