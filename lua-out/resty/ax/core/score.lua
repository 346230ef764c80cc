local math_abs = math.abs
local math_floor = math.floor
local math_max = math.max
local math_min = math.min
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
local ____evidence = require("resty.ax.core.evidence")
local LATENCY_FLOOR_MS = ____evidence.LATENCY_FLOOR_MS
---
-- @returns the score within `score_min`..`score_max`
function ____exports.clampScore(score, limits)
    return math_min(
        limits.score_max,
        math_max(limits.score_min, score)
    )
end
--- The adaptive score of a node, from three signals:
-- 
--     score = 0.5·(1 − p99_ratio) + 0.3·(1 − error_ratio) + 0.2·(1 − conn_ratio), within score_min..score_max
-- 
-- A node like its fellows, without errors and idle, scores 1. The score multiplies the base weight.
local LATENCY_PART = 0.5
local ERROR_PART = 0.3
local CONNECTION_PART = 0.2
--- Share of a node's capacity past which connections are penalised twice: the queue behind it begins to grow.
local CROWDED_FROM = 0.9
--- Most of the extra penalty, reached at 1.1 × the capacity: as far as a node may exceed it. At full
-- capacity it is 1, which costs an otherwise average node 0.4 of its score.
local CROWDED_MAX = 2
--- A ratio past this moves no score within the default limits; one outlier of few samples must not count for more.
local RATIO_MAX = 2
--- What a node's P99 is compared with: the lower median of the nodes' own P99s, the typical node.
-- Not the percentile of all requests pooled: as soon as one slow node serves more than 1 % of them,
-- that percentile *is* the slow node, which then looks normal, gets more traffic, is found slow again
-- once its share falls under 1 %, and so on. The median does not depend on who serves how much. The
-- lower one, because of two nodes the faster shows what is possible.
-- 
-- @param p99s_ms P99 of every node in rotation with enough samples; sorted by this call
-- @returns ms; undefined without any
function ____exports.referenceP99(p99s_ms)
    if #p99s_ms == 0 then
        return nil
    end
    __TS__ArraySort(
        p99s_ms,
        function(____, a, b) return a - b end
    )
    return p99s_ms[math_floor((#p99s_ms - 1) / 2) + 1]
end
--- The node's excess over the typical node: 0 when equal, 1 at twice, negative when faster.
-- 
-- Few samples can only count against a node, and in proportion: adaptive picks leave a slow node few
-- requests, and for want of samples it must not pass for an average one; but a few quick answers must
-- not make it the best.
-- 
-- @param node_ms undefined = no samples: counts as average, never best and never worst
-- @param confidence how much `node_ms` is worth, 0..1
function ____exports.p99Ratio(node_ms, reference_ms, confidence)
    if node_ms == nil or reference_ms == nil then
        return 0
    end
    local ratio = (node_ms - reference_ms) / math_max(reference_ms, LATENCY_FLOOR_MS)
    if confidence >= 1 then
        return ratio
    end
    return math_max(
        0,
        math_min(RATIO_MAX, ratio)
    ) * confidence
end
---
-- @param rate failed ÷ judged tries, 0..1
-- @returns 0 up to `error_penalty_from`, then linear to 1 at `eject_error_rate` and beyond
function ____exports.errorRatio(rate, error_penalty_from, eject_error_rate)
    if rate <= error_penalty_from then
        return 0
    end
    if rate >= eject_error_rate then
        return 1
    end
    return (rate - error_penalty_from) / (eject_error_rate - error_penalty_from)
end
---
-- @param capacity most requests in flight; 0 = no limit
-- @returns in flight ÷ capacity; past 90 % plus a penalty of 1 per further 10 %, at most 2
function ____exports.connRatio(in_flight, capacity)
    if capacity <= 0 then
        return 0
    end
    local ratio = in_flight / capacity
    if ratio <= CROWDED_FROM then
        return ratio
    end
    return ratio + math_min(CROWDED_MAX, (ratio - CROWDED_FROM) / (1 - CROWDED_FROM))
end
--- Where the score is heading.
-- 
-- @param limits `score_min`, `score_max`
function ____exports.targetScore(p99_ratio, error_ratio, conn_ratio, limits)
    local score = LATENCY_PART * (1 - p99_ratio) + ERROR_PART * (1 - error_ratio) + CONNECTION_PART * (1 - conn_ratio)
    return ____exports.clampScore(score, limits)
end
--- Differences that only floating point makes: 1 − 4 · 0.2 is not 0.2.
local ROUNDING = 1e-9
--- One rate-limited step.
-- 
-- @param since_ms time since the score moved last, ms
-- @param step most that it moves at a time
-- @param interval_ms how soon it may move again
-- @returns the new score: unchanged while the interval has not passed
function ____exports.stepScore(score, target, since_ms, step, interval_ms)
    if since_ms < interval_ms then
        return score
    end
    if math_abs(target - score) <= step + ROUNDING then
        return target
    end
    return target > score and score + step or score - step
end
return ____exports
