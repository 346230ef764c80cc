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
local setUp, startStrategy, setUpNode, newListHead, collectAny, collect, markCandidates
local ____classes = require("resty.ax.core.classes")
local measureLoads = ____classes.measureLoads
local ____random = require("resty.ax.core.random")
local newRandom = ____random.newRandom
local ____request_key = require("resty.ax.core.request_key")
local addressKeyOf = ____request_key.addressKeyOf
local ____retry_budget = require("resty.ax.core.retry_budget")
local newRetryBudget = ____retry_budget.newRetryBudget
local ____states = require("resty.ax.core.health.states")
local isUsableState = ____states.isUsable
local STATES = ____states.STATES
local ____door = require("resty.ax.dataplane.door")
local newDoor = ____door.newDoor
local ____counters = require("resty.ax.dataplane.counters")
local newCounters = ____counters.newCounters
local ____placement = require("resty.ax.dataplane.placement")
local newPlacement = ____placement.newPlacement
local splitByZone = ____placement.splitByZone
local updateShare = ____placement.updateShare
local ____pool = require("resty.ax.dataplane.pool")
local COLD_LATENCY_MS = ____pool.COLD_LATENCY_MS
local newPool = ____pool.newPool
local ____prepare = require("resty.ax.dataplane.prepare")
local prepareWhole = ____prepare.prepareWhole
local ____requests = require("resty.ax.dataplane.requests")
local newRequestRecord = ____requests.newRequestRecord
local ____tallies = require("resty.ax.core.tallies")
local newTallies = ____tallies.newTallies
function setUp(upstream, seed)
    do
        local node = 0
        while node < upstream.pool.n do
            setUpNode(upstream, node)
            node = node + 1
        end
    end
    ____exports.rebuildCandidates(upstream)
    startStrategy(upstream, seed)
end
function startStrategy(upstream, seed)
    local ____upstream_8 = upstream
    local config = ____upstream_8.config
    local placement = ____upstream_8.placement
    local strategy = ____upstream_8.strategy
    upstream.strategy_state = strategy.create(
        upstream.pool,
        config.strategy_options,
        newRandom(seed)
    )
    if placement ~= nil and config.zone ~= nil then
        placement.others_state = strategy.create(
            placement.others,
            config.strategy_options,
            newRandom(seed)
        )
    end
    prepareWhole(upstream, 0)
end
function setUpNode(upstream, node)
    local given = upstream.config.nodes[node + 1]
    upstream.flights[node + 1] = newListHead()
    upstream.state[node + 1] = given.down and "offline" or "online"
    upstream.held_until_ms[node + 1] = 0
    upstream.trials.granted[node + 1] = 0
    upstream.trials.open[node + 1] = false
    upstream.ramp_limit[node + 1] = 0
    if not given.down then
        upstream.usable = upstream.usable + 1
    end
end
function newListHead()
    local head = newRequestRecord()
    head.prev = head
    head.next = head
    return head
end
--- In the snapshot's rotation, and not held out by this worker.
function ____exports.isUsable(upstream, node)
    return isUsableState(upstream.state[node + 1]) and upstream.held_until_ms[node + 1] == 0
end
--- The operator took it out, in the configuration or at run time: not even panic uses it.
function ____exports.isTaken(upstream, node)
    return STATES[upstream.state[node + 1]].by_operator
end
function collectAny(upstream)
    local pool = upstream.pool
    local count = 0
    do
        local node = 0
        while node < pool.n do
            if not upstream.config.nodes[node + 1].down then
                pool.candidates[count + 1] = node
                count = count + 1
            end
            node = node + 1
        end
    end
    return count
end
function collect(upstream, backup, any_state)
    local pool = upstream.pool
    local count = 0
    do
        local node = 0
        while node < pool.n do
            local given = upstream.config.nodes[node + 1]
            local ____temp_10 = given.backup == backup
            if ____temp_10 then
                local ____any_state_9
                if any_state then
                    ____any_state_9 = not ____exports.isTaken(upstream, node)
                else
                    ____any_state_9 = ____exports.isUsable(upstream, node)
                end
                ____temp_10 = ____any_state_9
            end
            if ____temp_10 then
                pool.candidates[count + 1] = node
                count = count + 1
            end
            node = node + 1
        end
    end
    return count
end
--- Decides the tier in use: usable primaries, else usable backups, else every node that the operator did not take out,
-- since a try at a bad node beats an error. The latter also in panic, when the collector finds too few nodes good.
function ____exports.rebuildCandidates(upstream)
    local pool = upstream.pool
    local spreads = upstream.ruled_panic and upstream.config.panic ~= "fail"
    local count = spreads and 0 or collect(upstream, false, false)
    if count == 0 and not spreads then
        count = collect(upstream, true, false)
    end
    upstream.panic = count == 0
    if count == 0 then
        count = collect(upstream, false, true)
    end
    if count == 0 then
        count = collect(upstream, true, true)
    end
    if count == 0 then
        count = collectAny(upstream)
    end
    pool.candidate_count = count
    pool.version = pool.version + 1
    local placement = upstream.placement
    if placement ~= nil then
        splitByZone(placement, pool)
        markCandidates(placement.others)
    end
    markCandidates(pool)
    ____exports.refreshPlacement(upstream)
end
function markCandidates(pool)
    local ____pool_11 = pool
    local candidates = ____pool_11.candidates
    local candidate_of = ____pool_11.candidate_of
    local version = ____pool_11.version
    do
        local k = 0
        while k < pool.candidate_count do
            candidate_of[candidates[k + 1] + 1] = version
            k = k + 1
        end
    end
end
--- Brings up to date what zones and classes are decided by. Flush, and when candidates change.
function ____exports.refreshPlacement(upstream)
    local placement = upstream.placement
    if placement == nil then
        return
    end
    updateShare(placement, upstream.pool, upstream.config.nodes)
    if placement.source == nil then
        return
    end
    measureLoads(placement.loads, upstream.pool)
    measureLoads(placement.others_loads, placement.others)
end
--- nginx measures in whole milliseconds: below half of one, nothing is known but "fast".
function ____exports.floorLatency(latency_ms)
    local floored = math.max(latency_ms, 0.5)
    return floored
end
--- Never 0: a node that always fails must stay comparable, and be able to recover.
function ____exports.floorSuccess(success)
    local floored = math.max(success, 0.05)
    return floored
end
--- One flush, one collector interval and an election, at their defaults.
local HOLD_MS = 1600
--- Own samples older than this yield to the snapshot's: the other workers know better by then.
local OWN_SAMPLE_FRESH_MS = 3000
---
-- @param strategy built-in, or the user's module
-- @param seed differs between workers
-- @param keys reads the keys of requests, for a strategy with `uses_key`
function ____exports.newUpstream(config, strategy, custom, seed, keys)
    local pool = newPool(config)
    local ____config_1 = config
    local ____pool_2 = pool
    local ____newCounters_result_3 = newCounters(pool.n)
    local ____strategy_4 = strategy
    local ____custom_5 = custom
    local ____temp_6 = {now_ms = 0, tries = 0, key = 0}
    local ____newPlacement_result_7 = newPlacement(config, pool, seed)
    local ____temp_0
    if strategy.uses_key == true then
        ____temp_0 = keys
    else
        ____temp_0 = nil
    end
    local upstream = {
        config = ____config_1,
        pool = ____pool_2,
        counters = ____newCounters_result_3,
        strategy = ____strategy_4,
        strategy_state = nil,
        strategy_is_custom = ____custom_5,
        request = ____temp_6,
        placement = ____newPlacement_result_7,
        keys = ____temp_0,
        address_key = strategy.by_address == true and addressKeyOf(config.strategy_options) or nil,
        keyless_total = 0,
        keyless_sent = 0,
        door = newDoor(),
        flights = {},
        state = {},
        held_until_ms = {},
        held_count = 0,
        hold_ms = HOLD_MS,
        usable = 0,
        slots = nil,
        limits_text = nil,
        retry_budget = newRetryBudget(config.retry_ratio, config.retry_min_per_s),
        tallies = newTallies(),
        ruled_panic = false,
        trials = {
            granted = {},
            open = {},
            open_count = 0,
            taken = -1,
            passed = 0
        },
        ramp_limit = {},
        ramps_limited = false,
        store = nil,
        scratch = {},
        panic = false,
        snapshot_text = nil,
        log_seen = false,
        logs_missed = 0,
        picks_total = 0,
        turn = math.floor(math.abs(seed))
    }
    setUp(upstream, seed)
    return upstream
end
--- Keeps a node out of this worker's picks for a while, ahead of the collector's ruling.
function ____exports.hold(upstream, node, until_ms)
    local is_new = upstream.held_until_ms[node + 1] == 0
    upstream.held_until_ms[node + 1] = until_ms
    if not is_new then
        return
    end
    upstream.held_count = upstream.held_count + 1
    ____exports.rebuildCandidates(upstream)
end
--- The node answers after all.
function ____exports.release(upstream, node)
    if upstream.held_until_ms[node + 1] == 0 then
        return
    end
    upstream.held_until_ms[node + 1] = 0
    upstream.held_count = upstream.held_count - 1
    ____exports.rebuildCandidates(upstream)
end
--- Lets go of holds that are over. Flush.
function ____exports.releaseHolds(upstream, now_ms)
    if upstream.held_count == 0 then
        return
    end
    local held = 0
    local changed = false
    do
        local node = 0
        while node < upstream.pool.n do
            if upstream.held_until_ms[node + 1] > 0 then
                if now_ms >= upstream.held_until_ms[node + 1] then
                    upstream.held_until_ms[node + 1] = 0
                    changed = true
                else
                    held = held + 1
                end
            end
            node = node + 1
        end
    end
    upstream.held_count = held
    if changed then
        ____exports.rebuildCandidates(upstream)
    end
end
--- Whether requests are to be refused: too few nodes are good, and the configuration says so. Access phase.
function ____exports.failsClosed(upstream)
    return upstream.ruled_panic and upstream.config.panic == "fail"
end
--- What a snapshot says of trials and of the limits of ramps.
local function takeLimits(upstream, node, given)
    local trial = given.trial or 0
    if trial ~= upstream.trials.granted[node + 1] then
        upstream.trials.granted[node + 1] = trial
        upstream.trials.open[node + 1] = trial > 0
    end
    if upstream.trials.open[node + 1] then
        local ____upstream_trials_12, ____open_count_13 = upstream.trials, "open_count"
        ____upstream_trials_12[____open_count_13] = ____upstream_trials_12[____open_count_13] + 1
    end
    upstream.ramp_limit[node + 1] = given.ramp_limit or 0
    if upstream.ramp_limit[node + 1] > 0 then
        upstream.ramps_limited = true
    end
end
local function medianLatency(snapshot)
    local known = {}
    for ____, node in pairs(snapshot.nodes) do
        if node.latency_ms ~= nil then
            known[#known + 1] = node.latency_ms
        end
    end
    if #known == 0 then
        return COLD_LATENCY_MS
    end
    __TS__ArraySort(
        known,
        function(____, a, b) return a - b end
    )
    return known[math.floor(#known / 2) + 1]
end
--- Takes over a snapshot: states and weights always, measurements where this worker has no fresh ones of its own.
function ____exports.applySnapshot(upstream, snapshot, now_ms)
    local pool = upstream.pool
    local median_ms = medianLatency(snapshot)
    upstream.ruled_panic = snapshot.panic == true
    upstream.trials.open_count = 0
    upstream.ramps_limited = false
    do
        local node = 0
        while node < pool.n do
            local given = snapshot.nodes[pool.ids[node + 1]]
            if given ~= nil then
                local was_out = not isUsableState(upstream.state[node + 1]) and isUsableState(given.state)
                local is_back = was_out or upstream.state[node + 1] ~= given.state and given.state == "ramping"
                takeLimits(upstream, node, given)
                if is_back then
                    upstream.counters.streak[node + 1] = 0
                end
                upstream.state[node + 1] = upstream.config.nodes[node + 1].down and "offline" or given.state
                pool.weight[node + 1] = given.weight
                pool.static_weight[node + 1] = given.static_weight
                pool.prior[node + 1] = math.sqrt(given.weight * given.static_weight)
                pool.p99_ms[node + 1] = given.judged_p99_ms or -1
                if is_back or now_ms - pool.last_sample_ms[node + 1] > OWN_SAMPLE_FRESH_MS then
                    pool.latency_ms[node + 1] = ____exports.floorLatency(given.latency_ms or median_ms)
                    pool.peak_latency_ms[node + 1] = pool.latency_ms[node + 1]
                    pool.samples[node + 1] = given.samples or 0
                    local success = is_back and given.success or math.min(given.success, pool.success[node + 1])
                    pool.success[node + 1] = ____exports.floorSuccess(success)
                end
            end
            node = node + 1
        end
    end
    ____exports.rebuildCandidates(upstream)
end
return ____exports
