local math_floor = math.floor
local math_huge = math.huge
local math_max = math.max
local math_min = math.min
-- Lua Library inline imports
local function __TS__ArraySort(self, compareFn)
    if compareFn ~= nil then
        table.sort(
            self,
            function(a, b) return compareFn(nil, a, b) < 0 end
        )
    else
        table.sort(self)
    end
    return self
end
-- End of Lua Library inline imports
local ____exports = {}
local ____random = require("resty.ax.core.random")
local draw = ____random.draw
--- Times are brought back to 0 from here on, so that they keep their precision.
local NOW_MAX = 1000000
--- Fractional part of the golden ratio: its multiples are spread evenly, however many there are (Knuth, TAOCP 3, 6.4).
local GOLDEN = 0.6180339887498949
---
-- @returns the fractional part, 0 .. 1
local function fraction(value)
    return value - math_floor(value)
end
--- Phases: even within each group of equal weights, the groups shifted against each other.
local function phasesOf(pool)
    local weights = pool.static_weight
    local order = {}
    local phase = {}
    do
        local node = 0
        while node < pool.n do
            order[node + 1] = node
            phase[node + 1] = 0
            node = node + 1
        end
    end
    __TS__ArraySort(
        order,
        function(____, a, b) return weights[a + 1] == weights[b + 1] and a - b or weights[a + 1] - weights[b + 1] end
    )
    local from = 0
    local group = 0
    while from < pool.n do
        local to = from
        while to < pool.n and weights[order[to + 1] + 1] == weights[order[from + 1] + 1] do
            to = to + 1
        end
        do
            local k = from
            while k < to do
                phase[order[k + 1] + 1] = (k - from + fraction(group * GOLDEN)) / (to - from)
                k = k + 1
            end
        end
        from = to
        group = group + 1
    end
    return phase
end
--- Turns of all nodes of a pool, none of them taken. `updateTurns` comes before the first one.
-- 
-- @param random decides where this worker begins
function ____exports.newTurns(pool, random)
    local turns = {
        due = {},
        step = {},
        phase = phasesOf(pool),
        now = 0
    }
    local longest = 0
    do
        local node = 0
        while node < pool.n do
            if pool.static_weight[node + 1] > 0 then
                longest = math_max(longest, 1 / pool.static_weight[node + 1])
            end
            node = node + 1
        end
    end
    local start = draw(random) * longest
    do
        local node = 0
        while node < pool.n do
            turns.phase[node + 1] = fraction(turns.phase[node + 1] - start * pool.static_weight[node + 1])
            turns.step[node + 1] = math_huge
            turns.due[node + 1] = math_huge
            node = node + 1
        end
    end
    return turns
end
--- How far from its turn a node is, in steps of its own.
local function phaseOf(turns, node)
    local step = turns.step[node + 1]
    return step < math_huge and math_max(
        0,
        math_min(1, (turns.due[node + 1] - turns.now) / step)
    ) or turns.phase[node + 1]
end
--- Takes over the weights of the pool's candidates: a node whose weight has changed keeps its place between two turns.
-- Without a weight above 0 all are equal. Flush.
function ____exports.updateTurns(turns, pool)
    local ____turns_0 = turns
    local due = ____turns_0.due
    local step = ____turns_0.step
    if turns.now > NOW_MAX then
        do
            local node = 0
            while node < pool.n do
                local ____due_1, ____temp_2 = due, node + 1
                ____due_1[____temp_2] = ____due_1[____temp_2] - turns.now
                node = node + 1
            end
        end
        turns.now = 0
    end
    local total = 0
    do
        local k = 0
        while k < pool.candidate_count do
            total = total + pool.static_weight[pool.candidates[k + 1] + 1]
            k = k + 1
        end
    end
    do
        local k = 0
        while k < pool.candidate_count do
            local node = pool.candidates[k + 1]
            local weight = total > 0 and pool.static_weight[node + 1] or 1
            local now_step = weight > 0 and 1 / weight or math_huge
            if now_step ~= step[node + 1] then
                due[node + 1] = now_step < math_huge and turns.now + phaseOf(turns, node) * now_step or math_huge
                step[node + 1] = now_step
            end
            k = k + 1
        end
    end
end
--- The node has its turn: it is due again one step later, or one step from now when it was passed over.
function ____exports.takeTurn(turns, node)
    local due = turns.due[node + 1]
    if due == math_huge then
        return
    end
    local now = math_max(due, turns.now)
    turns.now = now
    turns.due[node + 1] = now + turns.step[node + 1]
end
return ____exports
