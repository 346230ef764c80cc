local math_max = math.max
local math_min = math.min
local ____exports = {}
local takeDelta, cleanDelta, countGoodRun, takeNodeDelta, countStreak, countBusy, FAILURES_MEMORY_MS, BUSY_MAX_MS, BUSY_LEAST_MS
local ____histogram = require("resty.ax.core.histogram")
local cleanSparse = ____histogram.cleanSparse
local lowerBoundMs = ____histogram.lowerBoundMs
local ____windows = require("resty.ax.core.windows")
local advanceNode = ____windows.advanceNode
local feedNode = ____windows.feedNode
local ____wire = require("resty.ax.core.wire")
local DELTAS_MAX = ____wire.DELTAS_MAX
local ____adaptive_limit = require("resty.ax.collector.adaptive_limit")
local noteDelta = ____adaptive_limit.noteDelta
local ____reports = require("resty.ax.collector.reports")
local noteReport = ____reports.noteReport
local ____state = require("resty.ax.collector.state")
local breathe = ____state.breathe
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local asRecord = ____values.asRecord
function takeDelta(collector, upstreams, at_ms, now_ms)
    for name in pairs(upstreams) do
        local upstream = collector.by_name[name]
        local nodes = asRecord(upstreams[name])
        if upstream ~= nil and nodes ~= nil then
            for id in pairs(nodes) do
                local node = upstream.by_id[id]
                local delta = asRecord(nodes[id])
                if node ~= nil and delta ~= nil then
                    upstream.active = true
                    local clean = cleanDelta(delta)
                    takeNodeDelta(node, clean, now_ms)
                    if clean.report ~= nil and upstream.config.orca then
                        noteReport(node, clean.report, at_ms)
                    end
                    breathe(collector, 1)
                end
            end
        end
    end
end
function cleanDelta(raw)
    raw.picks = asCount(raw.picks)
    raw.ok = asCount(raw.ok)
    raw.err = asCount(raw.err)
    raw.fail = asCount(raw.fail)
    raw.aborted = asCount(raw.aborted)
    raw.sum_ms = asCount(raw.sum_ms)
    raw.streak = asCount(raw.streak)
    raw.failures = asCount(raw.failures)
    raw.busy = asCount(raw.busy)
    raw.retry_after_ms = asCount(raw.retry_after_ms)
    raw.hist = cleanSparse(raw.hist)
    if type(raw.report) ~= "string" then
        raw.report = nil
    end
    return raw
end
function countGoodRun(node, delta)
    if delta.err + delta.fail > 0 then
        node.good_run = 0
    elseif delta.ok > 0 and #delta.hist >= 2 then
        local slowest_ms = lowerBoundMs(delta.hist[#delta.hist - 2 + 1])
        node.good_run = slowest_ms <= node.usual_ms and node.good_run + delta.ok or 0
    end
end
function takeNodeDelta(node, delta, now_ms)
    advanceNode(node.windows, now_ms)
    feedNode(node.windows, delta)
    if node.adaptive ~= nil then
        noteDelta(node.adaptive, delta)
    end
    countStreak(node, delta, now_ms)
    countBusy(node, delta, now_ms)
    countGoodRun(node, delta)
    local ____node_seen_5, ____picks_since_return_6 = node.seen, "picks_since_return"
    ____node_seen_5[____picks_since_return_6] = ____node_seen_5[____picks_since_return_6] + delta.picks
    if delta.ok + delta.err > 0 then
        node.seen.answered_since_return = true
    end
    local ____node_seen_7, ____ok_since_return_8 = node.seen, "ok_since_return"
    ____node_seen_7[____ok_since_return_8] = ____node_seen_7[____ok_since_return_8] + delta.ok
    local ____node_seen_9, ____failed_since_return_10 = node.seen, "failed_since_return"
    ____node_seen_9[____failed_since_return_10] = ____node_seen_9[____failed_since_return_10] + (delta.err + delta.fail)
    local detail = node.detail
    detail.picks_total = detail.picks_total + delta.picks
    detail.ok_total = detail.ok_total + delta.ok
    detail.err_total = detail.err_total + delta.err
    detail.fail_total = detail.fail_total + delta.fail
    detail.aborted_total = detail.aborted_total + delta.aborted
    detail.busy_total = detail.busy_total + delta.busy
end
function countStreak(node, delta, now_ms)
    local seen = node.seen
    local memory_ms = math_max(1, node.config.fail_timeout_s) * 1000
    local failed = delta.err + delta.fail
    if now_ms - node.failed_at_ms > memory_ms then
        seen.streak = 0
    end
    if now_ms - node.failed_at_ms > math_max(memory_ms, FAILURES_MEMORY_MS) then
        seen.failures = 0
    end
    if failed > 0 then
        node.failed_at_ms = now_ms
    end
    if delta.ok > 0 then
        seen.failures = math_min(delta.failures, failed)
    else
        seen.failures = seen.failures + failed
    end
    if delta.ok + delta.err > 0 then
        seen.streak = math_min(delta.streak, delta.fail)
    else
        seen.streak = seen.streak + delta.fail
    end
end
function countBusy(node, delta, now_ms)
    if delta.busy <= 0 then
        return
    end
    local for_ms = math_min(
        BUSY_MAX_MS,
        math_max(BUSY_LEAST_MS, delta.retry_after_ms)
    )
    node.seen.busy_until_ms = math_max(node.seen.busy_until_ms, now_ms + for_ms)
end
--- Entries taken in one tick: all that workers leave in the list, and then some; not an endless loop.
local DELTAS_PER_TICK = 2 * DELTAS_MAX
--- Takes all the workers' reports out of the store and into the windows. Upstreams and nodes that are
-- not configured (a worker of the old configuration during a reload) are passed over.
function ____exports.takeDeltas(collector, now_ms)
    local ____collector_deps_0 = collector.deps
    local store = ____collector_deps_0.store
    local decode = ____collector_deps_0.decode
    local onWarning = ____collector_deps_0.onWarning
    do
        local i = 0
        while i < DELTAS_PER_TICK do
            local text = store.pop("deltas")
            if text == nil then
                return
            end
            local entry = asRecord(decode(text))
            local upstreams = asRecord(entry and entry.upstreams)
            if upstreams == nil then
                onWarning("store_corrupt", "an entry of deltas is not a worker's report; left out")
            else
                takeDelta(
                    collector,
                    upstreams,
                    math_min(
                        now_ms,
                        asCount(entry and entry.at_ms)
                    ),
                    now_ms
                )
            end
            i = i + 1
        end
    end
end
--- What makes a node suspect is remembered for a minute: adaptive picks leave a failing node a request now and then.
FAILURES_MEMORY_MS = 60000
BUSY_MAX_MS = 30000
BUSY_LEAST_MS = 2000
return ____exports
