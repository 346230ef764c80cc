local math_floor = math.floor
local math_huge = math.huge
local ____exports = {}
local ____turns = require("resty.ax.core.turns")
local newTurns = ____turns.newTurns
local takeTurn = ____turns.takeTurn
local updateTurns = ____turns.updateTurns
--- Turns skipped until the heap is given up: most of its nodes have gone out since the last flush.
local SKIPS_MAX = 16
--- Moves the node at a place down to where it belongs.
local function sink(state, from)
    local ____state_0 = state
    local heap = ____state_0.heap
    local key = ____state_0.key
    local size = ____state_0.size
    local node = heap[from + 1]
    local node_key = key[node + 1]
    local at = from
    local child = 2 * at + 1
    while child < size do
        if child + 1 < size and key[heap[child + 1 + 1] + 1] < key[heap[child + 1] + 1] then
            child = child + 1
        end
        if key[heap[child + 1] + 1] >= node_key then
            break
        end
        heap[at + 1] = heap[child + 1]
        at = child
        child = 2 * at + 1
    end
    heap[at + 1] = node
end
local function rebuild(state, pool)
    updateTurns(state.turns, pool)
    local count = pool.candidate_count
    state.size = count
    do
        local k = 0
        while k < count do
            local node = pool.candidates[k + 1]
            state.heap[k + 1] = node
            state.key[node + 1] = state.turns.due[node + 1]
            k = k + 1
        end
    end
    do
        local at = math_floor(count / 2) - 1
        while at >= 0 do
            sink(state, at)
            at = at - 1
        end
    end
    state.version = pool.version
end
--- Looks at the node whose place is first, and gives it its turn if the place is still right.
-- 
-- @returns the node, or -1 when another one may be due by now, or the node is out
local function takeFirst(state, pool)
    local node = state.heap[1]
    local due = state.turns.due[node + 1]
    local is_due = state.key[node + 1] == due
    if is_due then
        takeTurn(state.turns, node)
    end
    state.key[node + 1] = state.turns.due[node + 1]
    sink(state, 0)
    return is_due and pool.candidate_of[node + 1] == pool.version and node or -1
end
--- The slow way: nodes have gone out since the last flush, or had their turns in a list.
local function searchHeap(state, pool)
    do
        local k = 0
        while k < SKIPS_MAX do
            if state.turns.due[state.heap[1] + 1] == math_huge then
                return -1
            end
            local node = takeFirst(state, pool)
            if node >= 0 then
                return node
            end
            k = k + 1
        end
    end
    return -1
end
--- The one due first, of a list used once.
local function pickFromList(state, candidates, count)
    local due = state.turns.due
    state.offset = state.offset + 1 < count and state.offset + 1 or 0
    local node = candidates[state.offset + 1]
    do
        local k = 0
        while k < count do
            if due[candidates[k + 1] + 1] < due[node + 1] then
                node = candidates[k + 1]
            end
            k = k + 1
        end
    end
    takeTurn(state.turns, node)
    return node
end
--- Smooth weighted round robin: core/turns.ts has the order. A node of weight 5 is spread among the others instead of
-- being picked five times in a row.
-- 
-- nginx (ngx_http_upstream_round_robin.c) raises the credit of every node at every pick; at 10,000 nodes that takes
-- longer than the request. A heap of due times takes log n.
____exports.roundRobin = {
    name = "round_robin",
    options = {},
    create = function(pool, _options, random)
        local state = {
            turns = newTurns(pool, random),
            heap = {},
            size = 0,
            key = {},
            version = -1,
            offset = 0
        }
        do
            local node = 0
            while node < pool.n do
                state.key[node + 1] = math_huge
                node = node + 1
            end
        end
        return state
    end,
    prepare = function(state, pool)
        if state.version ~= pool.version then
            rebuild(state, pool)
        end
        return false
    end,
    pick = function(state, pool, candidates, count)
        if candidates == pool.candidates and state.size > 0 then
            if state.turns.due[state.heap[1] + 1] < math_huge then
                local node = takeFirst(state, pool)
                if node < 0 then
                    node = searchHeap(state, pool)
                end
                if node >= 0 then
                    return node
                end
            end
        end
        return pickFromList(state, candidates, count)
    end
}
return ____exports
