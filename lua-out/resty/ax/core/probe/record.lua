local math_floor = math.floor
local math_max = math.max
local ____exports = {}
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
local ____results = require("resty.ax.core.probe.results")
local conclude = ____results.conclude
local MIN_LEARNT = ____results.MIN_LEARNT
--- A result counts for so many intervals; older ones say nothing any more.
local FRESH_INTERVALS = 5
local function rowRecord(row)
    local ____temp_0
    if row.at_ms == 0 then
        ____temp_0 = nil
    else
        ____temp_0 = {verdict = row.verdict, failed = row.failed, passed = row.passed, at_ms = row.at_ms}
    end
    return ____temp_0
end
---
-- @returns what is to be published; undefined before the first check
function ____exports.probeRecord(probe)
    local view = probe.view
    if view.at_ms == 0 then
        return nil
    end
    local out = {
        verdict = view.verdict,
        why = view.why,
        failed_in_row = view.failed_in_row,
        passed_in_row = view.passed_in_row,
        took_ms = view.took_ms,
        normal_ms = view.normal_ms,
        at_ms = view.at_ms,
        tcp = rowRecord(probe.tcp),
        http = rowRecord(probe.http)
    }
    if view.slow_in_row > 0 or view.slow then
        out.slow = view.slow
        out.slow_in_row = view.slow_in_row
    end
    if view.signals_at_ms > 0 then
        out.watermark = view.watermark
        out.queue_depth = view.queue_depth
        out.signals = view.signals
        out.signals_at_ms = view.signals_at_ms
    end
    return out
end
local function restoreRow(row, old, interval_s, now_ms)
    local given = asRecord(old)
    local at_ms = asNumber(given and given.at_ms)
    if given == nil or at_ms == nil or at_ms <= 0 or at_ms > now_ms then
        return false
    end
    if now_ms - at_ms > FRESH_INTERVALS * interval_s * 1000 then
        return false
    end
    local verdict = given.verdict
    if verdict ~= "pass" and verdict ~= "fail" and verdict ~= "unknown" then
        return false
    end
    row.verdict = verdict
    row.failed = math_floor(asCount(given.failed))
    row.passed = math_floor(asCount(given.passed))
    row.at_ms = at_ms
    return true
end
local function restoreSignals(probe, given, now_ms)
    local view = probe.view
    local at_ms = asNumber(given.signals_at_ms)
    if at_ms == nil or at_ms > now_ms then
        return
    end
    view.signals_at_ms = at_ms
    view.watermark = asNumber(given.watermark)
    view.queue_depth = asNumber(given.queue_depth)
    local old = asRecord(given.signals)
    if old == nil then
        return
    end
    local signals = {}
    for name in pairs(old) do
        local value = asNumber(old[name])
        if value ~= nil then
            signals[name] = value
        end
    end
    view.signals = signals
end
--- Goes on where the collector before left off, unless that is long ago.
-- 
-- @param detail the node's entry in detail:<upstream>, as read from the store: not trusted
-- @param now_ms monotonic ms
function ____exports.restoreProbe(probe, detail, config, now_ms)
    local ____asRecord_5 = asRecord
    local ____opt_3 = asRecord(detail)
    local given = ____asRecord_5(____opt_3 and ____opt_3.probe)
    if given == nil then
        return
    end
    local has_http = config.http ~= nil
    local tcp = config.tcp_interval_s > 0 and restoreRow(probe.tcp, given.tcp, config.tcp_interval_s, now_ms)
    local ____has_http_11 = has_http
    if ____has_http_11 then
        local ____restoreRow_10 = restoreRow
        local ____probe_http_8 = probe.http
        local ____given_http_9 = given.http
        local ____opt_6 = config.http
        ____has_http_11 = ____restoreRow_10(____probe_http_8, ____given_http_9, ____opt_6 and ____opt_6.interval_s or 0, now_ms)
    end
    local http = ____has_http_11
    local normal_ms = asNumber(given.normal_ms)
    if has_http and normal_ms ~= nil and normal_ms >= 0 then
        probe.normal_ms = normal_ms
        probe.learnt = MIN_LEARNT
        probe.view.normal_ms = normal_ms
    end
    if not tcp and not http then
        return
    end
    local view = probe.view
    conclude(probe, config)
    view.at_ms = math_max(probe.tcp.at_ms, probe.http.at_ms)
    if type(given.why) == "string" then
        view.why = given.why
    end
    view.took_ms = asNumber(given.took_ms)
    view.slow = has_http and given.slow == true
    view.slow_in_row = has_http and math_floor(asCount(given.slow_in_row)) or 0
    restoreSignals(probe, given, now_ms)
end
return ____exports
