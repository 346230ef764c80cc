local math_floor = math.floor
local math_max = math.max
local math_min = math.min
local ____exports = {}
local probeVerdict, connectionVerdict, errorVerdict, rowOf, rowVerdict, keptSilent, silenceVerdict, SILENT_LEAST, SILENT_PICKS
local ____reasons = require("resty.ax.core.reasons")
local errorRateText = ____reasons.errorRateText
local percentText = ____reasons.percentText
local secondsText = ____reasons.secondsText
local streakText = ____reasons.streakText
local ____record = require("resty.ax.core.health.record")
local copy = ____record.copy
function probeVerdict(seen)
    local probe = seen.probe
    if (probe and probe.verdict) ~= "fail" then
        return nil
    end
    return {
        by = "probe",
        text = (tostring(probe.failed_in_row) .. " failed probes in a row: ") .. probe.why
    }
end
function connectionVerdict(health, seen, node, upstream, now_ms)
    if node.max_fails <= 0 then
        return nil
    end
    local streak = math_min(seen.streak, seen.picks_since_return)
    if streak >= node.max_fails then
        return {
            by = "connections",
            text = streakText(streak, node.max_fails)
        }
    end
    if health.state == "ramping" and not seen.answered_since_return and streak >= 1 then
        return {by = "connections", text = "no connection at the first try since its return"}
    end
    local lasted_ms = now_ms - health.since_ms
    local failures = rowOf(seen)
    local dead = health.state == "suspect" and streak >= 1 and failures >= ____exports.SUSPECT_AFTER and seen.failed == seen.judged
    if not dead or lasted_ms < upstream.window_short_s * 1000 then
        return nil
    end
    local text = ((tostring(failures) .. " failures in a row, and no answer for ") .. secondsText(lasted_ms)) .. " s"
    return {by = "connections", text = text}
end
function errorVerdict(health, seen, upstream, now_ms)
    if health.error_since_ms == nil or seen.judged == 0 then
        return nil
    end
    local for_ms = now_ms - health.error_since_ms
    if for_ms < upstream.eject_error_rate_for_s * 1000 then
        return nil
    end
    local rate = seen.failed / seen.judged
    local text = errorRateText(rate, for_ms, upstream.eject_error_rate, upstream.eject_error_rate_for_s)
    return {by = "errors", text = text}
end
function rowOf(seen)
    return math_min(seen.failures, seen.picks_since_return)
end
function rowVerdict(health, seen, upstream, now_ms)
    local for_ms = now_ms - health.since_ms
    local only_fails = seen.failed > 0 and seen.failed == seen.judged and rowOf(seen) >= ____exports.SUSPECT_AFTER
    if health.state ~= "suspect" or not only_fails or for_ms < upstream.eject_error_rate_for_s * 1000 then
        return nil
    end
    return {
        by = "errors",
        text = ((tostring(rowOf(seen)) .. " failures in a row, and nothing else for ") .. secondsText(for_ms)) .. " s"
    }
end
function keptSilent(seen, now_ms)
    if seen.silent_picks >= SILENT_PICKS then
        return true
    end
    return seen.trial_taken_ms > 0 and now_ms - seen.trial_taken_ms >= seen.silence_limit_ms
end
function silenceVerdict(health, seen, upstream, now_ms)
    if health.silent_since_ms == nil or seen.in_flight < SILENT_LEAST then
        return nil
    end
    if not keptSilent(seen, now_ms) then
        return nil
    end
    local for_ms = now_ms - health.silent_since_ms
    if for_ms < upstream.eject_error_rate_for_s * 1000 then
        return nil
    end
    return {
        by = "silence",
        text = ((("no answer for " .. secondsText(for_ms)) .. " s to ") .. tostring(seen.in_flight)) .. " requests"
    }
end
--- Failures in a row that make a node suspect: one or two are an accident, three are a pattern.
____exports.SUSPECT_AFTER = 3
--- P99 against the typical node's: where a slow node begins to be called degraded, and where it ends.
local SLOW_FROM = 3
local SLOW_UNTIL = 2
SILENT_LEAST = 2
SILENT_PICKS = 10
--- Keeps `error_since_ms`. It takes `min_samples` to begin; from there on any evidence of the short window keeps it
-- running as long as the rate is over the limit, because adaptive picks leave a failing node few requests to be judged
-- by. No evidence at all ends it, except just after a takeover. Keeps `silent_since_ms` likewise.
function ____exports.watch(health, seen, upstream, now_ms)
    local over = seen.judged > 0 and seen.failed / seen.judged > upstream.eject_error_rate
    local begins = over and health.error_since_ms == nil and seen.judged >= upstream.min_samples
    local unknown = seen.judged == 0 and seen.young
    local ends = not over and not unknown and health.error_since_ms ~= nil
    local silent = seen.oldest_ms > seen.silence_limit_ms
    local silence_moves = silent ~= (health.silent_since_ms ~= nil)
    if not begins and not ends and not silence_moves then
        return health
    end
    local next = copy(health)
    if begins or ends then
        next.error_since_ms = begins and now_ms or nil
        next.clean_since_ms = now_ms
    end
    if silence_moves then
        next.silent_since_ms = silent and now_ms - seen.oldest_ms or nil
        if not silent then
            next.live = nil
        end
    end
    return next
end
---
-- @returns what throws the node out, or undefined
function ____exports.ejectVerdict(health, seen, node, upstream, now_ms)
    local ____temp_1 = probeVerdict(seen) or connectionVerdict(
        health,
        seen,
        node,
        upstream,
        now_ms
    ) or errorVerdict(health, seen, upstream, now_ms) or rowVerdict(health, seen, upstream, now_ms) or silenceVerdict(health, seen, upstream, now_ms)
    if ____temp_1 == nil then
        local ____temp_0
        if seen.host_out == nil then
            ____temp_0 = nil
        else
            ____temp_0 = {by = "host", text = seen.host_out}
        end
        ____temp_1 = ____temp_0
    end
    return ____temp_1
end
--- Whether picks leave a node that failed last so alone that nothing tells whether it still fails: then a request is sent
-- to it now and then, over all workers, to throw it out or to bring it back.
function ____exports.starves(health, seen, upstream, now_ms)
    local pause_ms = upstream.window_short_s * 1000
    local since_ms = math_max(health.since_ms, health.trial_at_ms)
    return seen.judged == 0 and rowOf(seen) > 0 and now_ms - since_ms >= pause_ms
end
---
-- @returns why the node is suspect, or undefined
function ____exports.suspectCause(health, seen, upstream, now_ms)
    if health.kept ~= nil then
        return health.kept
    end
    if health.silent_since_ms ~= nil then
        return ((("no answer for " .. secondsText(seen.oldest_ms)) .. " s (usual: under ") .. secondsText(seen.silence_limit_ms)) .. " s)"
    end
    if health.error_since_ms ~= nil and seen.judged > 0 then
        local rate = percentText(seen.failed / seen.judged)
        return ((("error rate " .. rate) .. " % (limit ") .. percentText(upstream.eject_error_rate)) .. " %)"
    end
    local failures = rowOf(seen)
    if failures >= ____exports.SUSPECT_AFTER then
        return tostring(failures) .. " failures in a row"
    end
    local settling = health.state == "suspect" and now_ms - health.since_ms < upstream.window_short_s * 1000
    local failing = health.state == "suspect" and seen.failed > 0
    return (settling or failing) and health.cause or nil
end
local function overloadText(seen)
    local ____opt_4 = seen.report
    local watermark = ____opt_4 and ____opt_4.watermark
    if not seen.overloaded or watermark == nil then
        return nil
    end
    local ____percentText_result_8 = percentText(watermark)
    local ____opt_6 = seen.report
    return ((("reports to be " .. ____percentText_result_8) .. " % busy (") .. (____opt_6 and ____opt_6.watermark_of or "watermark")) .. ")"
end
---
-- @returns why the node is degraded, or undefined
function ____exports.degradedCause(health, seen, now_ms)
    local probe = seen.probe
    if (probe and probe.slow) == true then
        local took = math_floor((probe.took_ms or 0) + 0.5)
        local normal = math_floor((probe.normal_ms or 0) + 0.5)
        return ((((tostring(probe.slow_in_row) .. " slow probes in a row (") .. tostring(took)) .. " ms, normally ") .. tostring(normal)) .. " ms)"
    end
    if now_ms < seen.busy_until_ms then
        if health.state == "degraded" and health.until_ms ~= nil then
            return health.cause
        end
        return ("asks for less load: " .. percentText(seen.busy_share)) .. " % refused with 429 or 503 and Retry-After"
    end
    local is_slow = seen.p99_ratio >= SLOW_FROM or health.state == "degraded" and seen.p99_ratio >= SLOW_UNTIL
    if not is_slow then
        return overloadText(seen)
    end
    if health.state == "degraded" and health.until_ms == nil then
        return health.cause
    end
    return ("P99 " .. tostring(math_floor(seen.p99_ratio * 10 + 0.5) / 10)) .. " times the typical node's"
end
return ____exports
