local math_max = math.max
local math_min = math.min
local ____exports = {}
local ____cost = require("resty.ax.core.cost")
local weigh = ____cost.weigh
local ____counters = require("resty.ax.dataplane.counters")
local countOutcome = ____counters.countOutcome
local ____peak = require("resty.ax.core.peak")
local nextPeak = ____peak.nextPeak
local ____holds = require("resty.ax.dataplane.holds")
local hold = ____holds.hold
local release = ____holds.release
local ____pool = require("resty.ax.dataplane.pool")
local floorLatency = ____pool.floorLatency
local floorSuccess = ____pool.floorSuccess
local ____slot_marks = require("resty.ax.dataplane.slot_marks")
local pace = ____slot_marks.pace
--- After so long without news a node is half unknown: the next sample counts a third or more.
local DECAY_MS = 1000
--- What one latency counts while there is news: a mean of about twenty. With 0.01 a node that has become slow is found
-- too late (docs/tuning.md).
local LATENCY_GAIN = 0.05
--- While there is news, the latency of an answer counts as no more than this many times the mean: a heavy request, or those that a pause delayed, do
-- not make a slow node. One that has become slow raises the mean at every answer.
local SPIKE_LATENCIES = 3
--- One failure lowers the success share by at least this much: bad news must travel fast.
local FAILURE_GAIN = 0.2
--- One success raises it by at least this much of what is missing.
local SUCCESS_GAIN = 0.005
--- Most that one sample counts, however long the last one is ago: a mean of one is too lucky, or too unlucky.
-- The first one counts more, for nothing is known before it.
local MAX_GAIN = 0.4
local FIRST_GAIN = 0.7
--- Most that one failure takes off the success share.
local MAX_FAILURE_GAIN = 0.5
--- What a sample counts: the more, the longer nothing had been heard of the node when the request was *sent*. Counted
-- up to its answer, the first answer after a pause of the node would weigh like the first after an idle time, and the
-- longest latency there is would become the mean.
local function gain(upstream, node, latency_ms, now_ms)
    local last_ms = upstream.pool.last_sample_ms[node + 1]
    upstream.pool.last_sample_ms[node + 1] = now_ms
    local unknown_ms = math_max(0, now_ms - latency_ms - last_ms)
    local share = unknown_ms / (unknown_ms + DECAY_MS)
    return math_min(share, last_ms > 0 and MAX_GAIN or FIRST_GAIN)
end
---
-- @param counted_ms what of the latency goes into the mean; the peak takes all of it
local function learnLatency(upstream, node, latency_ms, counted_ms, share, elapsed_ms)
    local pool = upstream.pool
    local mean_ms = pool.latency_ms[node + 1]
    pool.latency_ms[node + 1] = floorLatency(mean_ms + math_max(share, LATENCY_GAIN) * (counted_ms - mean_ms))
    pool.peak_latency_ms[node + 1] = floorLatency(nextPeak(pool.peak_latency_ms[node + 1], latency_ms, elapsed_ms))
end
local function learnSuccess(upstream, node, latency_ms, now_ms)
    local pool = upstream.pool
    local elapsed_ms = now_ms - pool.last_sample_ms[node + 1]
    local share = gain(upstream, node, latency_ms, now_ms)
    local has_news = share <= LATENCY_GAIN
    local counted_ms = has_news and math_min(latency_ms, SPIKE_LATENCIES * pool.latency_ms[node + 1]) or latency_ms
    local ____pool_samples_0, ____temp_1 = pool.samples, node + 1
    ____pool_samples_0[____temp_1] = ____pool_samples_0[____temp_1] + 1
    learnLatency(
        upstream,
        node,
        latency_ms,
        counted_ms,
        share,
        elapsed_ms
    )
    local ____pool_success_2, ____temp_3 = pool.success, node + 1
    ____pool_success_2[____temp_3] = ____pool_success_2[____temp_3] + math_max(share, SUCCESS_GAIN) * (1 - pool.success[node + 1])
end
--- The client gave up waiting: no failure of the node, but it is known to be no faster than that. Without this, a
-- node that hangs looks idle, and as fast as ever, whenever clients have less patience than nginx.
local function learnAbort(upstream, node, waited_ms, now_ms)
    if waited_ms <= upstream.pool.latency_ms[node + 1] then
        return
    end
    learnLatency(
        upstream,
        node,
        waited_ms,
        waited_ms,
        gain(upstream, node, 0, now_ms),
        0
    )
end
--- Below this share of successes even the best node fails: shares that low differ by chance.
local GOOD_SUCCESS = 0.5
--- How much worse a node is than the best one in use: success share ÷ success share − 1; 0 where none is good.
local function worseThanBest(pool, node)
    local best = 0
    do
        local k = 0
        while k < pool.candidate_count do
            best = math_max(best, pool.success[pool.candidates[k + 1] + 1])
            k = k + 1
        end
    end
    return best < GOOD_SUCCESS and 0 or best / pool.success[node + 1] - 1
end
--- A try failed: lower the node's success share at once. Also called at a retry, before the log phase
-- has the details, so that the next pick already knows.
-- 
-- @param answered it answered with a 5xx (else: refused, reset, timed out)
function ____exports.learnFailure(upstream, node, answered, now_ms)
    local pool = upstream.pool
    local share = gain(upstream, node, 0, now_ms)
    local failure_share = math_min(
        math_max(share, FAILURE_GAIN),
        MAX_FAILURE_GAIN
    )
    pool.success[node + 1] = floorSuccess(pool.success[node + 1] * (1 - failure_share))
    weigh(pool, node)
    if upstream.door.line ~= nil and upstream.slots ~= nil then
        pace(
            upstream.slots,
            node,
            pool.latency_ms[node + 1],
            worseThanBest(pool, node),
            now_ms
        )
    end
    local counters = upstream.counters
    if answered then
        counters.streak[node + 1] = 0
        return
    end
    local ____counters_streak_4, ____temp_5 = counters.streak, node + 1
    ____counters_streak_4[____temp_5] = ____counters_streak_4[____temp_5] + 1
    local max_fails = upstream.config.nodes[node + 1].max_fails
    if max_fails > 0 and counters.streak[node + 1] >= max_fails then
        hold(upstream, node, now_ms + upstream.hold_ms)
    end
end
--- The node refused for load. It lives, so its row of failures is over; but it is to get less at once: its success share
-- falls as by a failure, and rises with the requests that it accepts.
function ____exports.learnBusy(upstream, node, now_ms)
    local pool = upstream.pool
    local share = math_min(
        math_max(
            gain(upstream, node, 0, now_ms),
            FAILURE_GAIN
        ),
        MAX_FAILURE_GAIN
    )
    pool.success[node + 1] = floorSuccess(pool.success[node + 1] * (1 - share))
    weigh(pool, node)
end
--- Accounts one ended try, and weighs its node.
-- 
-- @param latency_ms time to first byte; of an aborted try, how long the client waited (0 = unknown)
-- @param live whether the live measurements still have to learn of it (a failed try before a retry has been learnt)
function ____exports.accountTry(upstream, node, outcome, latency_ms, live, now_ms)
    countOutcome(upstream.counters, node, outcome, latency_ms)
    if outcome == 0 then
        upstream.counters.streak[node + 1] = 0
        if live then
            learnSuccess(upstream, node, latency_ms, now_ms)
        end
    elseif outcome == 1 then
        if live then
            ____exports.learnFailure(upstream, node, true, now_ms)
        else
            upstream.counters.streak[node + 1] = 0
            release(upstream, node)
        end
    elseif outcome == 4 then
        upstream.counters.streak[node + 1] = 0
        if live then
            ____exports.learnBusy(upstream, node, now_ms)
        else
            release(upstream, node)
        end
    elseif outcome == 2 then
        if live then
            ____exports.learnFailure(upstream, node, false, now_ms)
        end
    elseif live then
        learnAbort(upstream, node, latency_ms, now_ms)
    end
    weigh(upstream.pool, node)
end
return ____exports
