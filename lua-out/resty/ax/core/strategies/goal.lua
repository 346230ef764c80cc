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
local ____goal_options = require("resty.ax.core.goal_options")
local goalOptions = ____goal_options.goalOptions
local ____goals = require("resty.ax.core.goals")
local GOALS = ____goals.GOALS
local ____random = require("resty.ax.core.random")
local draw = ____random.draw
local ____node_table = require("resty.ax.core.node_table")
local closeNodeTable = ____node_table.closeNodeTable
local drawNode = ____node_table.drawNode
local newNodeTable = ____node_table.newNodeTable
local ____scoring = require("resty.ax.core.scoring")
local measureSignals = ____scoring.measureSignals
local newScorer = ____scoring.newScorer
local scoreNodes = ____scoring.scoreNodes
--- No score falls under this: with all at 0 every node is alike, and a bad one is seen to recover.
local MIN_SCORE = 0.02
--- Candidates scored in one slice: with three signals about half a millisecond.
local SLICE = 1000
--- Score of a node that has not been scored yet: it came back since the last flush.
local UNSCORED = 0.5
--- Costs told apart at most; of more, neighbours share a step.
local GROUPS_MAX = 8
--- Stands in for a share of 0.
local MIN_SHARE = 1e-9
--- Share, failures counted as in core/cost.ts: live.
local function liveShare(state, pool, node)
    local success = pool.success[node + 1]
    local share = state.share[node + 1] * success * success * success
    return share > MIN_SHARE and share or MIN_SHARE
end
--- Requests in flight per live share.
local function liveLoad(state, pool, node)
    local in_flight = pool.in_flight[node + 1] - pool.long_in_flight[node + 1] + pool.others_in_flight[node + 1] + 1
    return in_flight / liveShare(state, pool, node)
end
local function isOver(state, pool, node)
    return pool.in_flight[node + 1] + pool.others_in_flight[node + 1] >= state.ceiling * pool.capacity[node + 1]
end
--- Every node's group, for as long as the worker lives: costs are configuration.
local function groupsByCost(pool)
    local steps = {}
    local known = {}
    do
        local node = 0
        while node < pool.n do
            local price = pool.price[node + 1]
            if known[price] == nil then
                steps[#steps + 1] = price
            end
            known[price] = true
            node = node + 1
        end
    end
    __TS__ArraySort(
        steps,
        function(____, a, b) return a - b end
    )
    local group_by_cost = {}
    local groups = math_min(GROUPS_MAX, #steps)
    do
        local k = 0
        while k < #steps do
            group_by_cost[steps[k + 1]] = math_floor(k * groups / #steps)
            k = k + 1
        end
    end
    local group_of = {}
    do
        local node = 0
        while node < pool.n do
            group_of[node + 1] = group_by_cost[pool.price[node + 1]]
            node = node + 1
        end
    end
    return group_of
end
--- The least cost group among the candidates.
local function cheapestGroup(state, pool)
    local least = math_huge
    do
        local k = 0
        while k < pool.candidate_count do
            least = math_min(least, state.group_of[pool.candidates[k + 1] + 1])
            k = k + 1
        end
    end
    return least
end
--- From scores to shares, and to the table of the cheapest nodes; dearer ones are scanned for.
local function rebuild(state, pool)
    local group = cheapestGroup(state, pool)
    local ____state_cheapest_0 = state.cheapest
    local nodes = ____state_cheapest_0.nodes
    local weights = ____state_cheapest_0.weights
    local count = 0
    do
        local k = 0
        while k < pool.candidate_count do
            local node = pool.candidates[k + 1]
            local success = pool.success[node + 1]
            local share = pool.static_weight[node + 1] * math_max(MIN_SCORE, state.scores[node + 1])
            state.share[node + 1] = share
            if state.group_of[node + 1] == group then
                nodes[count + 1] = node
                weights[count + 1] = share * success * success * success
                count = count + 1
            end
            k = k + 1
        end
    end
    closeNodeTable(state.cheapest, count, state.scoring_version)
end
--- Scores the next slice; after the last one, the new scores come into force.
local function prepare(state, pool)
    local count = pool.candidate_count
    if state.cursor == 0 then
        if state.cheapest.version == pool.version then
            return false
        end
        state.scoring_version = pool.version
        measureSignals(state.scorer, pool, pool.candidates, count)
    end
    local to = math_min(count, state.cursor + SLICE)
    scoreNodes(
        state.scorer,
        pool,
        pool.candidates,
        state.cursor,
        to,
        state.scores
    )
    state.cursor = to < count and to or 0
    if to < count then
        return true
    end
    rebuild(state, pool)
    return false
end
--- Of two drawn by share, the one with less live load under the ceiling; -1 when there is none.
local function drawTwo(state, pool)
    local first = drawNode(state.cheapest, pool, state.random)
    local second = drawNode(state.cheapest, pool, state.random)
    if first < 0 or second < 0 then
        return -1
    end
    if isOver(state, pool, first) then
        return isOver(state, pool, second) and -1 or second
    end
    if isOver(state, pool, second) then
        return first
    end
    return liveLoad(state, pool, second) < liveLoad(state, pool, first) and second or first
end
--- What a node of a list is drawn by: 0 unless it is of the group, and under the ceiling.
local function drawnBy(state, pool, node, group)
    return state.group_of[node + 1] == group and not isOver(state, pool, node) and liveShare(state, pool, node) or 0
end
---
-- @param total what the nodes of the group are drawn by, in all
local function drawListed(state, pool, candidates, count, group, total)
    local left = draw(state.random) * total
    local node = -1
    do
        local k = 0
        while k < count do
            local by = drawnBy(state, pool, candidates[k + 1], group)
            if by > 0 then
                node = candidates[k + 1]
                left = left - by
                if left < 0 then
                    return node
                end
            end
            k = k + 1
        end
    end
    return node
end
--- The least cost group of a list that has a node under the ceiling; GROUPS_MAX = none.
local function groupUnder(state, pool, candidates, count)
    local least = GROUPS_MAX
    do
        local k = 0
        while k < count do
            local group = state.group_of[candidates[k + 1] + 1]
            if group < least and not isOver(state, pool, candidates[k + 1]) then
                least = group
            end
            k = k + 1
        end
    end
    return least
end
--- As `drawTwo`, from a list used once: there is no table of it.
local function drawTwoListed(state, pool, candidates, count)
    local group = groupUnder(state, pool, candidates, count)
    if group == GROUPS_MAX then
        return -1
    end
    local total = 0
    do
        local k = 0
        while k < count do
            total = total + drawnBy(state, pool, candidates[k + 1], group)
            k = k + 1
        end
    end
    local first = drawListed(
        state,
        pool,
        candidates,
        count,
        group,
        total
    )
    local second = drawListed(
        state,
        pool,
        candidates,
        count,
        group,
        total
    )
    return liveLoad(state, pool, second) < liveLoad(state, pool, first) and second or first
end
--- The slow way: cheapest group under the ceiling, then least live load; else least live load.
local function scan(state, pool, candidates, count)
    local node = candidates[1]
    local least_group = math_huge
    local least = math_huge
    do
        local k = 0
        while k < count do
            local other = candidates[k + 1]
            local group = isOver(state, pool, other) and GROUPS_MAX or state.group_of[other + 1]
            local load = liveLoad(state, pool, other)
            if group < least_group or group == least_group and load < least then
                node = other
                least_group = group
                least = load
            end
            k = k + 1
        end
    end
    return node
end
--- By goal: weights from scores (core/scoring.ts) that are computed when a snapshot arrives, then two
-- choices drawn by them, the one with less live load. Not winner takes all: the best node of one snapshot
-- would get everything until the next.
____exports.goal = {
    name = "goal",
    options = goalOptions,
    create = function(pool, options, random)
        local preset = GOALS[options.goal]
        local state = {
            random = random,
            scorer = newScorer(options.signals or preset.signals),
            ceiling = options.ceiling or preset.ceiling,
            cheapest = newNodeTable(),
            scores = {},
            share = {},
            group_of = preset.by_cost and groupsByCost(pool) or ({}),
            cursor = 0,
            scoring_version = -1
        }
        do
            local node = 0
            while node < pool.n do
                state.scores[node + 1] = UNSCORED
                state.share[node + 1] = pool.static_weight[node + 1]
                if not preset.by_cost then
                    state.group_of[node + 1] = 0
                end
                node = node + 1
            end
        end
        return state
    end,
    prepare = prepare,
    pick = function(state, pool, candidates, count)
        local is_list = candidates ~= pool.candidates
        local node = is_list and drawTwoListed(state, pool, candidates, count) or drawTwo(state, pool)
        return node >= 0 and node or scan(state, pool, candidates, count)
    end
}
return ____exports
