local ____exports = {}
local ____address = require("resty.ax.core.config.address")
local formatAddress = ____address.formatAddress
local ____limits = require("resty.ax.observe.limits")
local nodeLimit = ____limits.nodeLimit
local readAdaptive = ____limits.readAdaptive
local ____status_deps = require("resty.ax.observe.status_deps")
local decodeObject = ____status_deps.decodeObject
local rounded = ____status_deps.rounded
local seconds = ____status_deps.seconds
local ____wills = require("resty.ax.observe.wills")
local readWill = ____wills.readWill
local willStatus = ____wills.willStatus
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
local function reportStatus(report, now_ms)
    return {
        age_s = seconds(report.signals_at_ms, now_ms),
        watermark = report.watermark,
        watermark_of = report.watermark_of,
        queue_depth = report.queue_depth,
        signals = report.signals
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
    if node.report ~= nil then
        status.report = reportStatus(node.report, now_ms)
    end
    status.reports_bad = node.reports_bad_total
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
--- The node without what operators want and what limits it: for those who show many.
function ____exports.oneNode(detail, given, now_ms)
    local node = detail and detail.nodes[given.id]
    return node == nil and withoutData(given) or withData(given, node, now_ms)
end
--- Adds what an operator wants of the node.
function ____exports.showWill(deps, upstream, shown, now_ms)
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
--- Adds the limit of the node; `published` is what readAdaptive() gave.
function ____exports.showLimit(shown, config, given, published)
    local ____nodeLimit_result_2 = nodeLimit(config, given, published)
    local limit = ____nodeLimit_result_2.limit
    local adaptive = ____nodeLimit_result_2.adaptive
    shown.limit = limit
    shown.adaptive_limit = adaptive
end
--- One node of an upstream.
function ____exports.nodeStatus(deps, config, given, now_ms)
    local shown = ____exports.oneNode(
        decodeObject(deps, "detail:" .. config.name),
        given,
        now_ms
    )
    ____exports.showWill(deps, config.name, shown, now_ms)
    ____exports.showLimit(
        shown,
        config,
        given,
        readAdaptive(deps.store, deps.decode, config)
    )
    return shown
end
return ____exports
