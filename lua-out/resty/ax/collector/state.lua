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
local newDetail, SLICE_MS, WORK_PER_LOOK, WORK_AT_A_TIME
local ____record = require("resty.ax.core.health.record")
local newHealth = ____record.newHealth
local newSeen = ____record.newSeen
local ____adaptive_limit = require("resty.ax.collector.adaptive_limit")
local newAdaptiveLimit = ____adaptive_limit.newAdaptiveLimit
local ____backlog = require("resty.ax.collector.backlog")
local newBacklog = ____backlog.newBacklog
local ____windows = require("resty.ax.core.windows")
local newNodeWindows = ____windows.newNodeWindows
local ____events = require("resty.ax.collector.events")
local newEventRecord = ____events.newEventRecord
local ____wills = require("resty.ax.collector.wills")
local newWills = ____wills.newWills
function newDetail(base_weight, now_ms)
    return {
        state = "online",
        weight = base_weight,
        static_weight = base_weight,
        success = 1,
        reason = "",
        cause = "",
        since_ms = now_ms,
        ejections = 0,
        base_weight = base_weight,
        score = 1,
        target_score = 1,
        score_at_ms = now_ms,
        share = 0,
        in_flight = 0,
        requests_per_s = 0,
        error_rate = 0,
        picks_total = 0,
        ok_total = 0,
        err_total = 0,
        fail_total = 0,
        aborted_total = 0,
        busy_total = 0
    }
end
--- Counts work, and pauses when it is time to.
-- 
-- @param nodes looked at since the last call
function ____exports.breathe(collector, nodes)
    local ____collector_deps_2 = collector.deps
    local pause = ____collector_deps_2.pause
    local runningMs = ____collector_deps_2.runningMs
    collector.work = collector.work + nodes
    if pause == nil or collector.work < (runningMs == nil and WORK_AT_A_TIME or WORK_PER_LOOK) then
        return
    end
    collector.work = 0
    if runningMs ~= nil and runningMs() - collector.slice_from_ms < SLICE_MS then
        return
    end
    pause()
    if runningMs ~= nil then
        collector.slice_from_ms = runningMs()
    end
end
--- A node never seen before: in rotation, average score.
-- 
-- @param key its id as JSON
function ____exports.newNodeRecord(config, upstream, key, now_ms)
    return {
        config = config,
        key = key,
        windows = newNodeWindows(upstream.window_short_s, upstream.window_long_s, now_ms),
        health = newHealth(now_ms),
        seen = newSeen(),
        host = "",
        host_out = false,
        oldest_start_ms = 0,
        answers_seen = 0,
        answered_ms = 0,
        picks_before = 0,
        failed_at_ms = 0,
        held_until_ms = 0,
        good_run = 0,
        usual_ms = 0,
        report_text = "",
        report_at_ms = 0,
        adaptive = newAdaptiveLimit(upstream, config, now_ms),
        detail = newDetail(config.weight, now_ms),
        described = false,
        detail_text = "",
        windows_text = ""
    }
end
--- The label `host`, else the IP address; nothing where it is the same for all nodes: then it tells nothing.
local function nameHosts(nodes)
    local distinct = false
    do
        local i = 0
        while i < #nodes do
            local ____nodes_index_config_0 = nodes[i + 1].config
            local labels = ____nodes_index_config_0.labels
            local host = ____nodes_index_config_0.host
            local label = labels.host
            nodes[i + 1].host = label or host
            if nodes[i + 1].host ~= nodes[1].host then
                distinct = true
            end
            i = i + 1
        end
    end
    if distinct then
        return
    end
    do
        local i = 0
        while i < #nodes do
            nodes[i + 1].host = ""
            i = i + 1
        end
    end
end
--- Making a node's windows takes as long as so many looks at it.
local MAKING = 8
--- The upstream with every node fresh. May pause.
function ____exports.newUpstreamRecord(collector, config, now_ms)
    local ____collector_1 = collector
    local deps = ____collector_1.deps
    local by_id = {}
    local nodes = {}
    local count = #config.nodes
    do
        local i = 0
        while i < count do
            local key = deps.encode(config.nodes[i + 1].id) or "\"\""
            local node = ____exports.newNodeRecord(config.nodes[i + 1], config, key, now_ms)
            by_id[node.config.id] = node
            nodes[i + 1] = node
            ____exports.breathe(collector, MAKING)
            i = i + 1
        end
    end
    __TS__ArraySort(
        nodes,
        function(____, a, b) return a.config.id < b.config.id and -1 or (a.config.id > b.config.id and 1 or 0) end
    )
    nameHosts(nodes)
    return {
        config = config,
        nodes = nodes,
        by_id = by_id,
        backlog = newBacklog(config),
        wills = newWills(),
        active = true,
        settled = false,
        snapshot_body = "",
        detail_parts = {},
        picks = 0,
        typical_p99_ms = 0,
        usual_in_flight = 0,
        events = newEventRecord(),
        hosts_out = 0,
        panics_total = 0,
        detail_cursor = 0,
        detail_due = true,
        windows_part = 0
    }
end
SLICE_MS = 1
WORK_PER_LOOK = 16
WORK_AT_A_TIME = 200
return ____exports
