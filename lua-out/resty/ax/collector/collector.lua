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
local repairOf, repair, load
local ____in_flight = require("resty.ax.collector.in_flight")
local sumInFlight = ____in_flight.sumInFlight
local ____ingest = require("resty.ax.collector.ingest")
local takeDeltas = ____ingest.takeDeltas
local ____judge = require("resty.ax.collector.judge")
local judgeUpstream = ____judge.judgeUpstream
local ____adaptive_limit = require("resty.ax.collector.adaptive_limit")
local adaptLimits = ____adaptive_limit.adaptLimits
local takeLimits = ____adaptive_limit.takeLimits
local ____backlog = require("resty.ax.collector.backlog")
local drainBacklog = ____backlog.drainBacklog
local takeDrain = ____backlog.takeDrain
local ____compose = require("resty.ax.collector.compose")
local composeUpstream = ____compose.composeUpstream
local ____gone = require("resty.ax.collector.gone")
local clearGone = ____gone.clearGone
local ____gone_upstreams = require("resty.ax.collector.gone_upstreams")
local clearGoneUpstream = ____gone_upstreams.clearGoneUpstream
local findGoneUpstreams = ____gone_upstreams.findGoneUpstreams
local ____publish = require("resty.ax.collector.publish")
local publish = ____publish.publish
local ____slot_repair = require("resty.ax.collector.slot_repair")
local addUpstream = ____slot_repair.addUpstream
local newSlotRepair = ____slot_repair.newSlotRepair
local repairSlots = ____slot_repair.repairSlots
local ____state = require("resty.ax.collector.state")
local breathe = ____state.breathe
local newUpstreamRecord = ____state.newUpstreamRecord
local ____takeover = require("resty.ax.collector.takeover")
local takeOver = ____takeover.takeOver
local ____wills = require("resty.ax.collector.wills")
local refreshWills = ____wills.refreshWills
function repairOf(collector, holderAlive)
    local slots = newSlotRepair(collector.deps.store, holderAlive)
    do
        local i = 0
        while i < #collector.upstreams do
            local upstream = collector.upstreams[i + 1]
            local ids = {}
            do
                local k = 0
                while k < #upstream.nodes do
                    ids[k + 1] = upstream.nodes[k + 1].config.id
                    k = k + 1
                end
            end
            local ____addUpstream_8 = addUpstream
            local ____upstream_config_name_7 = upstream.config.name
            local ____opt_5 = upstream.gone
            ____addUpstream_8(slots, ____upstream_config_name_7, ids, ____opt_5 and ____opt_5.ids or ({}))
            i = i + 1
        end
    end
    for ____, ____value in ipairs(collector.gone_upstreams) do
        local name = ____value.name
        local ids = ____value.ids
        addUpstream(slots, name, {}, ids)
    end
    return slots
end
function repair(collector, now_ms)
    local ____opt_9 = collector.slots
    local holders = ____opt_9 and ____opt_9.holders or ({})
    clearGoneUpstream(
        collector.deps,
        collector.gone_upstreams,
        collector.config.upstreams,
        holders,
        now_ms
    )
    if collector.slots == nil then
        return
    end
    repairSlots(
        collector.slots,
        function()
            breathe(collector, 1)
        end
    )
    do
        local i = 0
        while i < #collector.upstreams do
            local ____collector_upstreams_index_11 = collector.upstreams[i + 1]
            local gone = ____collector_upstreams_index_11.gone
            if gone ~= nil and #gone.ids > 0 then
                clearGone(collector.deps, gone, collector.slots.holders, now_ms)
                breathe(collector, 1)
            end
            i = i + 1
        end
    end
end
function load(collector, now_ms)
    local names = {}
    for name in pairs(collector.config.upstreams) do
        names[#names + 1] = name
    end
    __TS__ArraySort(names)
    collector.node_count = 0
    do
        local i = 0
        while i < #names do
            local upstream = newUpstreamRecord(collector, collector.config.upstreams[names[i + 1]], now_ms)
            upstream.windows_part = i
            collector.upstreams[i + 1] = upstream
            collector.node_count = collector.node_count + #upstream.nodes
            collector.by_name[names[i + 1]] = upstream
            i = i + 1
        end
    end
    takeOver(collector, now_ms)
    collector.gone_upstreams = findGoneUpstreams(collector.deps, collector.config.upstreams, now_ms)
    do
        local i = 0
        while i < #collector.upstreams do
            takeLimits(collector.deps, collector.upstreams[i + 1], now_ms)
            takeDrain(collector.deps, collector.upstreams[i + 1], now_ms)
            i = i + 1
        end
    end
    local holderAlive = collector.deps.holderAlive
    if holderAlive ~= nil then
        collector.slots = repairOf(collector, holderAlive)
    end
    collector.loaded = true
end
--- A tick that has not come to its end for so long was killed (an error in a pause): the next one goes ahead.
local STUCK_MS = 5000
--- The collector: from the workers' counters to weights and node states. It runs in one elected worker
-- (election.ts), in the timer phase, and is pure: store, clock and JSON come in by parameter, so that a
-- simulator can run it in virtual time. docs/collector.md describes what it does.
-- 
-- Made anew by every worker that becomes the collector, also by one that was it before: what has to
-- survive is in the store, and is read at the first tick.
-- 
-- @param config the validated configuration; not changed
-- @param deps its surroundings
function ____exports.newCollector(config, deps)
    return {
        config = config,
        deps = deps,
        upstreams = {},
        by_name = {},
        generation = 0,
        loaded = false,
        node_count = 0,
        gone_upstreams = {},
        busy_since_ms = nil,
        work = 0,
        slice_from_ms = 0,
        full = false,
        full_before = false
    }
end
--- One round, about every `collector_interval_ms`, only in the worker that `isElected` has just named.
-- Takes the workers' reports out of the store, moves states and scores, writes snapshots. Uneven
-- intervals and gaps do no harm. Does not throw on anything that is or is not in the store. With `pause`
-- it may yield; called again meanwhile, it does nothing.
-- 
-- @param now_ms monotonic ms
function ____exports.tick(collector, now_ms)
    if collector.busy_since_ms ~= nil and now_ms - collector.busy_since_ms < STUCK_MS then
        return
    end
    collector.busy_since_ms = now_ms
    collector.work = 0
    local ____collector_2 = collector
    local ____opt_0 = collector.deps.runningMs
    ____collector_2.slice_from_ms = ____opt_0 and ____opt_0() or 0
    if not collector.loaded then
        load(collector, now_ms)
    end
    do
        local i = 0
        while i < #collector.upstreams do
            collector.upstreams[i + 1].active = false
            i = i + 1
        end
    end
    takeDeltas(collector, now_ms)
    sumInFlight(collector, now_ms)
    local waiting = {breathe = function(nodes)
        breathe(collector, nodes)
    end}
    do
        local i = 0
        while i < #collector.upstreams do
            local upstream = collector.upstreams[i + 1]
            local ____opt_3 = collector.deps.probes
            if (____opt_3 and ____opt_3.takeNews(upstream.config.name)) == true then
                upstream.active = true
            end
            local moved = refreshWills(
                collector.deps,
                upstream.config.name,
                upstream.nodes,
                upstream.wills,
                now_ms
            )
            if moved or upstream.active or not upstream.settled then
                judgeUpstream(collector, upstream, now_ms)
                composeUpstream(collector, upstream, now_ms)
            end
            adaptLimits(collector.deps, upstream, now_ms)
            drainBacklog(collector, upstream, waiting, now_ms)
            i = i + 1
        end
    end
    publish(collector, now_ms)
    repair(collector, now_ms)
    collector.busy_since_ms = nil
end
return ____exports
