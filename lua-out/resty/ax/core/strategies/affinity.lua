local math_huge = math.huge
local math_log = math.log
local ____exports = {}
local ____hash = require("resty.ax.core.hash")
local HASH_RANGE = ____hash.HASH_RANGE
local mixHashes = ____hash.mixHashes
local ____hot_keys = require("resty.ax.core.hot_keys")
local fadeKeys = ____hot_keys.fadeKeys
local newHotKeys = ____hot_keys.newHotKeys
local noteKey = ____hot_keys.noteKey
local ____load = require("resty.ax.core.load")
local leastLoaded = ____load.leastLoaded
local loadOf = ____load.loadOf
local ____ring = require("resty.ax.core.ring")
local nodeAt = ____ring.nodeAt
local ____ring_options = require("resty.ax.core.ring_options")
local pointsPerNode = ____ring_options.pointsPerNode
local ____ring_walk = require("resty.ax.core.ring_walk")
local admit = ____ring_walk.admit
local clockwise = ____ring_walk.clockwise
local locate = ____ring_walk.locate
local newMembers = ____ring_walk.newMembers
local prepareMembers = ____ring_walk.prepareMembers
--- Points of the window: nodes with few points near the key still get their say. Over 100, hot users saw every node.
local WINDOW_POINTS = 32
--- Nodes of the window: a key's data are warm on few nodes, and one of three can be bad.
local WINDOW_NODES = 3
--- A key is worth a second node once it brings as much as a node of ten carries in all.
local HOT_KEY_SHARE = 0.1
--- Value of `hot_key_share` that spreads no key, not even one that is all of the traffic.
local NEVER = 1
--- The node's draw for a key, whose weight is above 0: exponentially distributed with rate `weight`, so that the lowest of several
-- is each node's in proportion to its weight, and a weight that changes moves only keys from or to
-- its node (weighted rendezvous hashing: Schindelhauer & Schomaker 2005, Resch 2015).
local function drawFor(members, node, key, weight)
    local uniform = (mixHashes(key, members.identity[node + 1]) + 0.5) / HASH_RANGE
    return -math_log(uniform) / weight
end
--- Fills the window: the first few distinct nodes clockwise, usable or not, so that a node that goes out
-- brings nobody in whom the keys of the others could prefer.
-- 
-- @returns how many there are
local function fillWindow(state)
    local ____state_0 = state
    local members = ____state_0.members
    local nodes = ____state_0.nodes
    local ____members_1 = members
    local ring = ____members_1.ring
    local start = ____members_1.start
    local seen = ____members_1.seen
    local seen_mark = members.seen_mark + 1
    members.seen_mark = seen_mark
    local ____end = state.window_points < ring.size and state.window_points or ring.size
    local met = 0
    do
        local k = 0
        while k < ____end do
            local node = nodeAt(ring, start, k)
            if seen[node + 1] ~= seen_mark then
                seen[node + 1] = seen_mark
                nodes[met + 1] = node
                met = met + 1
                if met >= state.window_nodes then
                    break
                end
            end
            k = k + 1
        end
    end
    return met
end
--- Draws for the usable nodes of the window, drops the others, and notes who is lowest.
-- 
-- @param met how many nodes the window has
-- @returns how many of them are usable
local function drawAll(state, pool, met, key)
    local ____state_2 = state
    local members = ____state_2.members
    local nodes = ____state_2.nodes
    local usable = 0
    local least = math_huge
    do
        local k = 0
        while k < met do
            local node = nodes[k + 1]
            if members.marks[node + 1] == members.mark and pool.weight[node + 1] > 0 then
                local drawn = drawFor(members, node, key, pool.weight[node + 1])
                nodes[usable + 1] = node
                state.draws[usable + 1] = drawn
                usable = usable + 1
                if drawn < least then
                    least = drawn
                    state.own = node
                end
            end
            k = k + 1
        end
    end
    return usable
end
--- The lowest draw.
-- 
-- @returns its position in the window
local function lowest(draws, usable)
    local at = 0
    local least = draws[1]
    do
        local k = 1
        while k < usable do
            if draws[k + 1] < least then
                least = draws[k + 1]
                at = k
            end
            k = k + 1
        end
    end
    return at
end
--- The least loaded of the `spread` lowest draws; the lower draw where loads are equal.
local function spreadHot(state, pool, usable, spread)
    local ____state_3 = state
    local nodes = ____state_3.nodes
    local draws = ____state_3.draws
    local node = -1
    local least = math_huge
    do
        local k = 0
        while k < spread do
            local at = lowest(draws, usable)
            draws[at + 1] = math_huge
            local load = loadOf(pool, pool.weight, nodes[at + 1])
            if load < least then
                least = load
                node = nodes[at + 1]
            end
            k = k + 1
        end
    end
    return node
end
local function pick(state, pool, candidates, count, request)
    local key = request.key
    if request.tries > 0 then
        return leastLoaded(
            pool,
            pool.weight,
            candidates,
            count,
            key % count
        )
    end
    local members = state.members
    locate(members, key)
    admit(members, pool, candidates, count)
    local share = noteKey(state.hot, key)
    local usable = drawAll(
        state,
        pool,
        fillWindow(state),
        key
    )
    if usable == 0 then
        return clockwise(
            members,
            pool,
            candidates,
            count,
            key,
            math_huge
        )
    end
    if share < state.hot_key_share or state.hot_key_share >= NEVER or usable == 1 then
        return state.own
    end
    local wanted = share < 2 * state.hot_key_share and 2 or 3
    return spreadHot(state, pool, usable, wanted < usable and wanted or usable)
end
--- Affinity and adaptation together: the key leads to a window of a few nodes on the ring, and draws one
-- of them in proportion to their current weights. Same nodes and same weights: the same node for the
-- same key on every worker and gateway. Only a key that is a large part of the traffic is spread over
-- two or three nodes, by load. A retry leaves the ring.
____exports.affinity = {
    name = "affinity",
    uses_key = true,
    options = {window_points = {
        kind = "number",
        integer = true,
        min = 1,
        max = 128,
        default = WINDOW_POINTS,
        doc = "How many points of the ring, from the key's on, are looked at for nodes.",
        reason = "enough to meet three nodes even of a small upstream; bounded, so that every pick is short"
    }, window_nodes = {
        kind = "number",
        integer = true,
        min = 1,
        max = 8,
        default = WINDOW_NODES,
        doc = "How many different nodes the key may go to, as weights change. 1 = as consistent_hash.",
        reason = "three: one of them can be bad, and the other two need not take all of it alone"
    }, hot_key_share = {
        kind = "number",
        min = 0.01,
        max = 1,
        default = HOT_KEY_SHARE,
        doc = "A key with at least this share (0..1) of a worker's recent requests is hot: two nodes of its window serve it, " .. "three from twice the share on, the least loaded first. 1 = never.",
        reason = "10 %: as much as one node of ten carries in all; with far more nodes, lower it to a node's share"
    }, points_per_node = pointsPerNode},
    create = function(pool, options)
        return {
            members = newMembers(pool, options.points_per_node, false),
            window_points = options.window_points,
            window_nodes = options.window_nodes,
            hot_key_share = options.hot_key_share,
            hot = newHotKeys(),
            nodes = {},
            draws = {},
            own = -1
        }
    end,
    prepare = function(state, pool)
        fadeKeys(state.hot)
        return prepareMembers(state.members, pool)
    end,
    pick = pick
}
return ____exports
