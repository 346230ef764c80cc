local math_huge = math.huge
local math_max = math.max
local ____exports = {}
local clearNode, NONE
local ____histogram = require("resty.ax.core.histogram")
local bucketOf = ____histogram.bucketOf
local BUCKETS = ____histogram.BUCKETS
local toSparse = ____histogram.toSparse
function clearNode(counters, node)
    counters.picks[node + 1] = 0
    counters.ok[node + 1] = 0
    counters.err[node + 1] = 0
    counters.fail[node + 1] = 0
    counters.aborted[node + 1] = 0
    counters.busy[node + 1] = 0
    counters.retry_after_ms[node + 1] = 0
    counters.sum_ms[node + 1] = 0
    counters.report[node + 1] = ""
end
function ____exports.newCounters(n)
    local counters = {
        picks = {},
        ok = {},
        err = {},
        fail = {},
        aborted = {},
        busy = {},
        retry_after_ms = {},
        sum_ms = {},
        hist = {},
        streak = {},
        failures = {},
        report = {},
        dirty = {},
        dirty_count = 0,
        is_dirty = {}
    }
    do
        local node = 0
        while node < n do
            counters.streak[node + 1] = 0
            counters.failures[node + 1] = 0
            counters.is_dirty[node + 1] = false
            counters.hist[node + 1] = NONE
            clearNode(counters, node)
            node = node + 1
        end
    end
    return counters
end
--- Stands for the histogram of a node that has had no success yet. Never written to.
NONE = {}
local function newHistogram()
    local counts = {}
    do
        local bucket = 0
        while bucket < BUCKETS do
            counts[bucket + 1] = 0
            bucket = bucket + 1
        end
    end
    return counts
end
local function touch(counters, node)
    if counters.is_dirty[node + 1] then
        return
    end
    counters.is_dirty[node + 1] = true
    counters.dirty[counters.dirty_count + 1] = node
    counters.dirty_count = counters.dirty_count + 1
end
function ____exports.countPick(counters, node)
    local ____counters_picks_0, ____temp_1 = counters.picks, node + 1
    ____counters_picks_0[____temp_1] = ____counters_picks_0[____temp_1] + 1
    touch(counters, node)
end
---
-- @param latency_ms time to first byte; read for Outcome.Ok only
function ____exports.countOutcome(counters, node, outcome, latency_ms)
    touch(counters, node)
    if outcome == 0 then
        local ____counters_ok_2, ____temp_3 = counters.ok, node + 1
        ____counters_ok_2[____temp_3] = ____counters_ok_2[____temp_3] + 1
        counters.failures[node + 1] = 0
        local ____counters_sum_ms_4, ____temp_5 = counters.sum_ms, node + 1
        ____counters_sum_ms_4[____temp_5] = ____counters_sum_ms_4[____temp_5] + latency_ms
        local hist = counters.hist[node + 1]
        if hist == NONE then
            hist = newHistogram()
            counters.hist[node + 1] = hist
        end
        local ____hist_6, ____temp_7 = hist, bucketOf(latency_ms) + 1
        ____hist_6[____temp_7] = ____hist_6[____temp_7] + 1
    elseif outcome == 1 then
        local ____counters_err_8, ____temp_9 = counters.err, node + 1
        ____counters_err_8[____temp_9] = ____counters_err_8[____temp_9] + 1
        local ____counters_failures_10, ____temp_11 = counters.failures, node + 1
        ____counters_failures_10[____temp_11] = ____counters_failures_10[____temp_11] + 1
    elseif outcome == 2 then
        local ____counters_fail_12, ____temp_13 = counters.fail, node + 1
        ____counters_fail_12[____temp_13] = ____counters_fail_12[____temp_13] + 1
        local ____counters_failures_14, ____temp_15 = counters.failures, node + 1
        ____counters_failures_14[____temp_15] = ____counters_failures_14[____temp_15] + 1
    elseif outcome == 4 then
        local ____counters_busy_16, ____temp_17 = counters.busy, node + 1
        ____counters_busy_16[____temp_17] = ____counters_busy_16[____temp_17] + 1
    else
        local ____counters_aborted_18, ____temp_19 = counters.aborted, node + 1
        ____counters_aborted_18[____temp_19] = ____counters_aborted_18[____temp_19] + 1
    end
end
--- The node asked to be left alone for so long: the longest request of that kind since the last flush is passed on.
function ____exports.noteRetryAfter(counters, node, retry_after_ms)
    if retry_after_ms > counters.retry_after_ms[node + 1] then
        counters.retry_after_ms[node + 1] = retry_after_ms
    end
end
local function clearHistogram(counts)
    do
        local bucket = 0
        while bucket < BUCKETS do
            counts[bucket + 1] = 0
            bucket = bucket + 1
        end
    end
end
--- Takes one node's counts out, leaving zeros.
local function takeNode(counters, node)
    local counted = counters.hist[node + 1]
    local delta = {
        picks = counters.picks[node + 1],
        ok = counters.ok[node + 1],
        err = counters.err[node + 1],
        fail = counters.fail[node + 1],
        aborted = counters.aborted[node + 1],
        busy = counters.busy[node + 1],
        retry_after_ms = counters.retry_after_ms[node + 1],
        sum_ms = counters.sum_ms[node + 1],
        hist = toSparse(counted),
        streak = counters.streak[node + 1],
        failures = counters.failures[node + 1]
    }
    if counters.report[node + 1] ~= "" then
        delta.report = counters.report[node + 1]
    end
    if delta.ok > 0 then
        clearHistogram(counted)
    end
    clearNode(counters, node)
    return delta
end
--- Takes out what was counted since the last call, keyed by node identity.
-- 
-- @param most nodes at a time: while this many come, there may be more
-- @returns undefined when nothing happened, or nothing is left
function ____exports.takeDeltas(counters, ids, most)
    if most == nil then
        most = math_huge
    end
    if counters.dirty_count == 0 then
        return nil
    end
    local deltas = {}
    local ____end = math_max(0, counters.dirty_count - most)
    do
        local k = counters.dirty_count - 1
        while k >= ____end do
            local node = counters.dirty[k + 1]
            counters.is_dirty[node + 1] = false
            deltas[ids[node + 1]] = takeNode(counters, node)
            k = k - 1
        end
    end
    counters.dirty_count = ____end
    return deltas
end
return ____exports
