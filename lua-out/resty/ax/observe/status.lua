local ____exports = {}
local ____address = require("resty.ax.core.config.address")
local formatAddress = ____address.formatAddress
local ____admission = require("resty.ax.observe.admission")
local admissionStatus = ____admission.admissionStatus
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
local ____document = require("resty.ax.observe.document")
local jsonList = ____document.jsonList
local ____wills = require("resty.ax.observe.wills")
local hasWills = ____wills.hasWills
local readWill = ____wills.readWill
local willStatus = ____wills.willStatus
local ____wire = require("resty.ax.core.wire")
local WORKER_DEAD_MS = ____wire.WORKER_DEAD_MS
local ____limits = require("resty.ax.observe.limits")
local limitStatus = ____limits.limitStatus
local nodeLimit = ____limits.nodeLimit
local readAdaptive = ____limits.readAdaptive
--- Data older than this is called stale: several collector intervals, or an election, went by.
local STALE_MS = 5000
local function decodeObject(deps, key)
    local text = deps.store.get(key)
    if type(text) ~= "string" then
        return nil
    end
    local value = deps.decode(text)
    return type(value) == "table" and value or nil
end
--- Four decimals are more than any of these figures means.
local function rounded(value)
    return math.floor(value * 10000 + 0.5) / 10000
end
local function seconds(from_ms, to_ms)
    return math.floor(to_ms - from_ms) / 1000
end
local function withoutData(given)
    return {
        id = given.id,
        address = formatAddress(given),
        state = given.down and "offline" or "online",
        reason = given.down and "down in the configuration" or "no data yet: the collector has not reported on this node",
        backup = given.backup,
        base_weight = given.weight,
        effective_weight = given.weight,
        max_conns = given.max_conns,
        max_fails = given.max_fails,
        fail_timeout_s = given.fail_timeout_s,
        labels = given.labels,
        totals = {
            picks = 0,
            ok = 0,
            err = 0,
            fail = 0,
            aborted = 0,
            busy = 0
        }
    }
end
local function probeStatus(probe, now_ms)
    return {
        verdict = probe.verdict,
        why = probe.why,
        age_s = seconds(probe.at_ms, now_ms),
        failed_in_row = probe.failed_in_row,
        passed_in_row = probe.passed_in_row,
        slow = probe.slow == true,
        took_ms = probe.took_ms,
        normal_ms = probe.normal_ms,
        watermark = probe.watermark,
        queue_depth = probe.queue_depth,
        signals = probe.signals
    }
end
local function withData(given, node, now_ms)
    local status = withoutData(given)
    status.state = node.state
    status.reason = node.reason
    status.since_s = seconds(node.since_ms, now_ms)
    if node.until_ms ~= nil then
        status.until_s = seconds(now_ms, node.until_ms)
    end
    status.effective_weight = rounded(node.weight)
    status.score = rounded(node.score)
    status.target_score = rounded(node.target_score)
    status.share = rounded(node.share)
    status.in_flight = node.in_flight
    status.requests_per_s = node.requests_per_s
    status.p50_ms = node.p50_ms
    status.p99_ms = node.p99_ms
    status.p99_long_ms = node.p99_long_ms
    status.latency_ms = node.latency_ms
    status.error_rate = rounded(node.error_rate)
    status.ejections = node.ejections
    if node.probe ~= nil then
        status.probe = probeStatus(node.probe, now_ms)
    end
    status.trial = node.trial
    status.ramp_limit = node.ramp_limit
    status.totals = {
        picks = node.picks_total,
        ok = node.ok_total,
        err = node.err_total,
        fail = node.fail_total,
        aborted = node.aborted_total,
        busy = node.busy_total
    }
    return status
end
--- Picks that make it certain that outcomes are missing, not late.
local PICKS_WITHOUT_OUTCOME = 20
local function hasPicksOnly(nodes)
    local picks = 0
    local outcomes = 0
    local in_flight = 0
    for ____, ____value in ipairs(nodes) do
        local totals = ____value.totals
        local waiting = ____value.in_flight
        picks = picks + totals.picks
        outcomes = outcomes + (totals.ok + totals.err + totals.fail + totals.aborted + totals.busy)
        in_flight = in_flight + (waiting or 0)
    end
    return outcomes == 0 and picks - in_flight >= PICKS_WITHOUT_OUTCOME
end
local function oneNode(detail, given, now_ms)
    local node = detail and detail.nodes[given.id]
    return node == nil and withoutData(given) or withData(given, node, now_ms)
end
local function showWill(deps, upstream, shown, now_ms)
    local will = readWill(
        deps.store,
        deps.decode,
        upstream,
        shown.id,
        now_ms
    )
    if will ~= nil then
        shown.operator = willStatus(will, now_ms)
    end
end
local function showLimit(shown, config, given, published)
    local ____nodeLimit_result_2 = nodeLimit(config, given, published)
    local limit = ____nodeLimit_result_2.limit
    local adaptive = ____nodeLimit_result_2.adaptive
    shown.limit = limit
    shown.adaptive_limit = adaptive
end
--- One node of an upstream.
function ____exports.nodeStatus(deps, config, given, now_ms)
    local shown = oneNode(
        decodeObject(deps, "detail:" .. config.name),
        given,
        now_ms
    )
    showWill(deps, config.name, shown, now_ms)
    showLimit(
        shown,
        config,
        given,
        readAdaptive(deps.store, deps.decode, config)
    )
    return shown
end
--- What the collector says of the upstream as a whole.
local function showPool(status, detail, now_ms)
    local age_ms = now_ms - detail.at_ms
    status.data_age_ms = age_ms
    status.collector_pid = detail.collector_pid
    status.requests_per_s = detail.requests_per_s
    status.p50_ms = detail.p50_ms
    status.p99_ms = detail.p99_ms
    status.probes = detail.probes
    if detail.panic_since_ms ~= nil then
        status.panic_s = seconds(detail.panic_since_ms, now_ms)
        local ____status_warnings_3 = status.warnings
        ____status_warnings_3[#____status_warnings_3 + 1] = "panic: too few nodes are good; all that the operator did not take out are used"
    end
    if age_ms > STALE_MS then
        local ____status_warnings_4 = status.warnings
        ____status_warnings_4[#____status_warnings_4 + 1] = ("data is " .. tostring(seconds(detail.at_ms, now_ms))) .. " s old: the collector does not get through"
    end
end
--- One upstream, all its configured nodes in the order of the configuration.
function ____exports.upstreamStatus(deps, config, now_ms)
    local detail = decodeObject(deps, "detail:" .. config.name)
    local status = {
        name = config.name,
        strategy = config.strategy_module or config.strategy,
        nodes_from = config.nodes_from,
        generation = detail and detail.generation or 0,
        admission = admissionStatus(deps, config, now_ms),
        limits = limitStatus(deps.store, config),
        panic = (detail and detail.panic_since_ms) ~= nil,
        panics_total = detail and detail.panics_total or 0,
        state_changes_per_min = detail and detail.state_changes_per_min or 0,
        warnings = {},
        nodes = {}
    }
    if config.hash_key ~= nil then
        status.hash_key = type(config.hash_key) == "string" and config.hash_key or "function"
        local keyless = deps.store.get("keyless:" .. config.name)
        status.keyless_picks = type(keyless) == "number" and keyless or 0
    end
    if detail == nil then
        local ____status_warnings_13 = status.warnings
        ____status_warnings_13[#____status_warnings_13 + 1] = "no data yet: no collector has reported (init_worker() missing, or the shared dict is full)"
    else
        showPool(status, detail, now_ms)
    end
    local adaptive = readAdaptive(deps.store, deps.decode, config)
    local has_wills = hasWills(deps.store, config.name)
    for ____, given in ipairs(config.nodes) do
        local shown = oneNode(detail, given, now_ms)
        if has_wills then
            showWill(deps, config.name, shown, now_ms)
        end
        showLimit(shown, config, given, adaptive)
        local ____status_nodes_14 = status.nodes
        ____status_nodes_14[#____status_nodes_14 + 1] = shown
    end
    if hasPicksOnly(status.nodes) then
        local ____status_warnings_15 = status.warnings
        ____status_warnings_15[#____status_warnings_15 + 1] = "no request has been accounted: log() does not run where this upstream is used (log_missing)"
    end
    status.warnings = jsonList(status.warnings)
    return status
end
local function total(record)
    local sum = 0
    for ____, nodes in pairs(asRecord(record.in_flight) or ({})) do
        for ____, count in pairs(asRecord(nodes) or ({})) do
            sum = sum + asCount(count)
        end
    end
    return sum
end
--- The live workers, those of an older configuration that still serve requests included.
function ____exports.workerStatus(deps, now_ms)
    local workers = {}
    local slots = deps.store.get("worker:slots")
    do
        local slot = 1
        while type(slots) == "number" and slot <= slots do
            local record = decodeObject(
                deps,
                "worker:" .. tostring(slot)
            )
            if record ~= nil and asNumber(record.pid) ~= nil and asNumber(record.at_ms) ~= nil then
                local exiting = record.exiting == true
                local ____exiting_16
                if exiting then
                    ____exiting_16 = deps.processAlive(record.pid)
                else
                    ____exiting_16 = math.abs(now_ms - record.at_ms) < WORKER_DEAD_MS
                end
                local alive = ____exiting_16
                if alive then
                    workers[#workers + 1] = {
                        pid = record.pid,
                        age_ms = now_ms - record.at_ms,
                        exiting = exiting,
                        in_flight = total(record)
                    }
                end
            end
            slot = slot + 1
        end
    end
    return jsonList(workers)
end
return ____exports
