local math_abs = math.abs
local math_floor = math.floor
local ____exports = {}
local setUp, startStrategy, setUpNode, newListHead
local ____log_watch = require("resty.ax.dataplane.log_watch")
local newLogWatch = ____log_watch.newLogWatch
local ____random = require("resty.ax.core.random")
local newRandom = ____random.newRandom
local ____request_key = require("resty.ax.core.request_key")
local addressKeyOf = ____request_key.addressKeyOf
local ____retry_budget = require("resty.ax.core.retry_budget")
local newRetryBudget = ____retry_budget.newRetryBudget
local ____candidates = require("resty.ax.dataplane.candidates")
local rebuildCandidates = ____candidates.rebuildCandidates
local ____door = require("resty.ax.dataplane.door")
local newDoor = ____door.newDoor
local ____counters = require("resty.ax.dataplane.counters")
local newCounters = ____counters.newCounters
local ____placement = require("resty.ax.dataplane.placement")
local newPlacement = ____placement.newPlacement
local ____pool = require("resty.ax.dataplane.pool")
local newPool = ____pool.newPool
local ____prepare = require("resty.ax.dataplane.prepare")
local prepareWhole = ____prepare.prepareWhole
local ____reports = require("resty.ax.dataplane.reports")
local newReports = ____reports.newReports
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
    rebuildCandidates(upstream)
    startStrategy(upstream, seed)
end
function startStrategy(upstream, seed)
    local ____upstream_9 = upstream
    local config = ____upstream_9.config
    local placement = ____upstream_9.placement
    local strategy = ____upstream_9.strategy
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
--- One flush, one collector interval and an election, at their defaults.
local HOLD_MS = 1600
---
-- @param strategy built-in, or the user's module
-- @param seed differs between workers
-- @param keys reads the keys of requests, for a strategy with `uses_key`
function ____exports.newUpstream(config, strategy, custom, seed, keys)
    local pool = newPool(config)
    local ____config_1 = config
    local ____pool_2 = pool
    local ____newCounters_result_3 = newCounters(pool.n)
    local ____temp_4 = config.orca and newReports(pool.n) or nil
    local ____strategy_5 = strategy
    local ____custom_6 = custom
    local ____temp_7 = {now_ms = 0, tries = 0, key = 0}
    local ____newPlacement_result_8 = newPlacement(config, pool, seed)
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
        reports = ____temp_4,
        strategy = ____strategy_5,
        strategy_state = nil,
        strategy_is_custom = ____custom_6,
        request = ____temp_7,
        placement = ____newPlacement_result_8,
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
        snapshot_body = nil,
        snapshot_taken_ms = 0,
        logs = newLogWatch(),
        picks_total = 0,
        turn = math_floor(math_abs(seed))
    }
    setUp(upstream, seed)
    return upstream
end
return ____exports
