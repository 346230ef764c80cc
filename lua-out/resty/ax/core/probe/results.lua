local math_floor = math.floor
local math_huge = math.huge
local math_max = math.max
local math_min = math.min
local ____exports = {}
local ____view = require("resty.ax.core.probe.view")
local newProbeView = ____view.newProbeView
--- So many passes before anything is slow: the first ones pay for cold caches.
____exports.MIN_LEARNT = 5
--- Weight of a new sample: about the last ten checks count, 100 s by default.
local LEARN_SHARE = 0.1
--- Below it, times differ by the gateway's and the node's scheduling: 4 ms instead of 1 ms is not "slow".
____exports.NORMAL_FLOOR_MS = 10
--- After so many slow checks in a row (5 min by default) slow is the new normal: the health page does more now.
____exports.RELEARN_AFTER = 30
local function newRow()
    return {verdict = "unknown", failed = 0, passed = 0, at_ms = 0}
end
---
-- @returns a node that has never been checked
function ____exports.newNodeProbe()
    return {
        view = newProbeView(),
        tcp = newRow(),
        http = newRow(),
        learnt = 0,
        normal_ms = 0
    }
end
--- Nothing is known of the node any more but what its checks normally take. In place: the view is held by others.
function ____exports.forgetProbe(probe)
    local ____probe_0 = probe
    local view = ____probe_0.view
    local fresh = newProbeView()
    view.verdict = fresh.verdict
    view.why = fresh.why
    view.failed_in_row = 0
    view.passed_in_row = 0
    view.slow = false
    view.slow_in_row = 0
    view.watermark = nil
    view.queue_depth = nil
    view.signals = nil
    view.signals_at_ms = 0
    view.at_ms = 0
    view.trial = "none"
    probe.tcp = newRow()
    probe.http = newRow()
end
--- One check more. The first pass ever is enough, as nothing speaks against the node (as in Envoy).
local function count(row, ok, config, now_ms)
    row.at_ms = now_ms
    row.passed = ok and row.passed + 1 or 0
    row.failed = ok and 0 or row.failed + 1
    if row.failed >= config.fails then
        row.verdict = "fail"
    elseif row.passed >= config.passes or ok and row.verdict == "unknown" then
        row.verdict = "pass"
    end
end
local function learn(probe, took_ms)
    probe.learnt = probe.learnt + 1
    local share = math_max(LEARN_SHARE, 1 / probe.learnt)
    probe.normal_ms = probe.normal_ms + (took_ms - probe.normal_ms) * share
end
--- Slow checks are not learnt at once: else the node would be normal again as soon as it is slow for long.
local function timeOne(probe, took_ms, config)
    local view = probe.view
    local limit_ms = config.slow_ratio * math_max(probe.normal_ms, ____exports.NORMAL_FLOOR_MS)
    local is_slow = probe.learnt >= ____exports.MIN_LEARNT and took_ms > limit_ms
    view.slow_in_row = is_slow and view.slow_in_row + 1 or 0
    if view.slow_in_row > ____exports.RELEARN_AFTER then
        view.slow_in_row = 0
        probe.learnt = 0
        learn(probe, took_ms)
    elseif not is_slow then
        learn(probe, took_ms)
    end
    view.slow = view.slow_in_row >= config.slow_checks
    view.normal_ms = probe.learnt >= ____exports.MIN_LEARNT and math_floor(probe.normal_ms * 10 + 0.5) / 10 or nil
end
--- What both kinds say together: bad when one is, good when HTTP is (TCP, without HTTP).
-- 
-- @param probe its view is written
function ____exports.conclude(probe, config)
    local ____probe_1 = probe
    local view = ____probe_1.view
    local tcp = ____probe_1.tcp
    local http = ____probe_1.http
    local has_tcp = config.tcp_interval_s > 0
    local has_http = config.http ~= nil
    local tcp_passed = has_tcp and tcp.passed or math_huge
    local http_passed = has_http and http.passed or math_huge
    local passed = math_min(tcp_passed, http_passed)
    view.passed_in_row = passed == math_huge and 0 or passed
    view.failed_in_row = math_max(has_tcp and tcp.failed or 0, has_http and http.failed or 0)
    local main = has_http and http or tcp
    if has_tcp and tcp.verdict == "fail" or has_http and http.verdict == "fail" then
        view.verdict = "fail"
    else
        view.verdict = main.verdict == "pass" and "pass" or "unknown"
    end
end
--- Takes in one result.
-- 
-- @param now_ms when the check ended, monotonic ms
function ____exports.record(probe, kind, result, config, now_ms)
    local view = probe.view
    local row = kind == "tcp" and probe.tcp or probe.http
    count(row, result.ok, config, now_ms)
    view.at_ms = now_ms
    local other = kind == "tcp" and probe.http or probe.tcp
    if not result.ok or other.failed == 0 then
        view.why = result.why
    end
    if kind == "http" or config.http == nil then
        view.took_ms = result.took_ms
    end
    if kind == "http" and result.ok then
        timeOne(probe, result.took_ms, config)
    end
    if result.watermark ~= nil or result.queue_depth ~= nil or result.signals ~= nil then
        view.watermark = result.watermark
        view.queue_depth = result.queue_depth
        view.signals = result.signals
        view.signals_at_ms = now_ms
    end
    ____exports.conclude(probe, config)
end
return ____exports
