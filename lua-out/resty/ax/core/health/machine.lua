local math_min = math.min
local ____exports = {}
local servesInPanic, backText, clear, obey, isDrained, take, admit, coolDown, grantTrial, tryOut, tryLive, tryByProbe, eject, judge, sample, endTrial, soften, keepVerdict, settle, DRAIN_LEAST_MS, BACK_IN_PANIC
local ____operator = require("resty.ax.core.operator")
local willText = ____operator.willText
local ____reasons = require("resty.ax.core.reasons")
local secondsText = ____reasons.secondsText
local ____cool_down = require("resty.ax.core.health.cool_down")
local coolDownMs = ____cool_down.coolDownMs
local ____record = require("resty.ax.core.health.record")
local copy = ____record.copy
local enter = ____record.enter
local IN_ROTATION = ____record.IN_ROTATION
local ____ramp = require("resty.ax.core.health.ramp")
local startRamp = ____ramp.startRamp
local startSlowly = ____ramp.startSlowly
local ____states = require("resty.ax.core.health.states")
local STATES = ____states.STATES
local ____verdicts = require("resty.ax.core.health.verdicts")
local degradedCause = ____verdicts.degradedCause
local ejectVerdict = ____verdicts.ejectVerdict
local starves = ____verdicts.starves
local suspectCause = ____verdicts.suspectCause
local watch = ____verdicts.watch
function servesInPanic(health, seen)
    if not seen.panic or health.state ~= "ejected" and health.state ~= "probing" then
        return false
    end
    local answers = seen.picks_since_return > 0 and seen.ok_since_return > 0 and seen.failures == 0
    local ____answers_2 = answers
    if ____answers_2 then
        local ____opt_0 = seen.probe
        ____answers_2 = (____opt_0 and ____opt_0.verdict) ~= "fail"
    end
    return ____answers_2
end
function backText(health)
    return health.cause == ____exports.CONFIGURED_DOWN and "back in the configuration" or "given back by the operator"
end
function clear(health)
    local next = copy(health)
    next.forced = nil
    next.error_since_ms = nil
    next.silent_since_ms = nil
    return next
end
function obey(health, seen, will, now_ms)
    local cause = willText(will)
    if will.kind == "force_up" then
        if health.forced == true and health.cause == cause and health.until_ms == will.until_ms then
            return health
        end
        local since_ms = health.forced == true and health.since_ms or now_ms
        local next = enter(
            clear(health),
            "online",
            cause,
            since_ms,
            will.until_ms
        )
        next.forced = true
        return next
    end
    if will.kind == "maintenance" then
        return take(
            health,
            "maintenance",
            cause,
            will,
            now_ms
        )
    end
    if will.kind == "force_down" then
        return take(
            health,
            "offline",
            cause,
            will,
            now_ms
        )
    end
    return isDrained(health, seen, now_ms) and take(
        health,
        "offline",
        cause .. "; nothing in flight any more",
        will,
        now_ms
    ) or take(
        health,
        "draining",
        cause,
        will,
        now_ms
    )
end
function isDrained(health, seen, now_ms)
    if health.state == "offline" then
        return true
    end
    if seen.in_flight > 0 then
        return false
    end
    if health.state == "draining" then
        return now_ms - health.since_ms >= DRAIN_LEAST_MS
    end
    return health.state == "maintenance"
end
function take(health, state, cause, will, now_ms)
    if health.state ~= state then
        return enter(
            health,
            state,
            cause,
            now_ms,
            will.until_ms
        )
    end
    local same = health.cause == cause and health.until_ms == will.until_ms
    return same and health or enter(
        health,
        state,
        cause,
        health.since_ms,
        will.until_ms
    )
end
function admit(health, seen, upstream, now_ms)
    if seen.probe == nil then
        return startSlowly(health, "new, and not probed any more", upstream, now_ms)
    end
    local verdict = seen.probe.verdict
    if verdict == "pass" then
        return startSlowly(health, "new, and its probes pass", upstream, now_ms)
    end
    local waited_ms = now_ms - health.since_ms
    if verdict == "fail" or waited_ms < ____exports.PENDING_MAX_S * 1000 then
        return health
    end
    return startSlowly(
        health,
        ("new; no verdict of its probes in " .. secondsText(waited_ms)) .. " s",
        upstream,
        now_ms
    )
end
function coolDown(health, seen, upstream, now_ms)
    local out = secondsText(now_ms - health.since_ms)
    if health.by == "probe" and seen.probe ~= nil then
        if seen.probe.verdict ~= "pass" then
            return health
        end
        local cause = ((("back after " .. out) .. " s out: ") .. tostring(seen.probe.passed_in_row)) .. " passed probes in a row"
        return startRamp(health, cause, upstream, now_ms)
    end
    if health.until_ms ~= nil and now_ms < health.until_ms then
        return health
    end
    if not upstream.return_trial then
        return startRamp(health, ("back after " .. out) .. " s out", upstream, now_ms)
    end
    local probing = enter(health, "probing", ("back after " .. out) .. " s out, on trial", now_ms)
    return grantTrial(probing, seen.probe == nil, now_ms)
end
function grantTrial(health, live, now_ms)
    local next = copy(health)
    local ____live_3
    if live then
        ____live_3 = true
    else
        ____live_3 = nil
    end
    next.live = ____live_3
    next.trial = health.trial + 1
    next.trial_at_ms = now_ms
    return next
end
function tryOut(health, seen, node, upstream, now_ms)
    local probe = seen.probe
    if probe ~= nil and health.live ~= true then
        return tryByProbe(
            health,
            probe,
            node,
            upstream,
            now_ms
        )
    end
    if (probe and probe.verdict) == "fail" then
        local text = (tostring(probe.failed_in_row) .. " failed probes in a row during its trial: ") .. probe.why
        return eject(
            health,
            {by = "trial", text = text},
            node,
            upstream,
            now_ms
        )
    end
    return tryLive(
        health,
        seen,
        node,
        upstream,
        now_ms
    )
end
function tryLive(health, seen, node, upstream, now_ms)
    local failed = math_min(seen.failed_since_return, seen.picks_since_return)
    if seen.ok_since_return > 0 and seen.picks_since_return > 0 then
        return startRamp(health, health.cause .. ": its request was answered", upstream, now_ms)
    end
    if failed > 0 then
        return eject(
            health,
            {by = "trial", text = "its trial request failed"},
            node,
            upstream,
            now_ms
        )
    end
    if now_ms - health.trial_at_ms < ____exports.TRIAL_TIMEOUT_MS then
        return health
    end
    if seen.picks_since_return <= 0 or seen.in_flight == 0 then
        return grantTrial(health, true, now_ms)
    end
    if seen.silence_limit_ms < ____exports.TRIAL_TIMEOUT_MS then
        local text = ("no answer to its trial request for " .. secondsText(now_ms - health.trial_at_ms)) .. " s"
        return eject(
            health,
            {by = "trial", text = text},
            node,
            upstream,
            now_ms
        )
    end
    return startRamp(health, health.cause .. ": its request is under way, like those of other nodes", upstream, now_ms)
end
function tryByProbe(health, probe, node, upstream, now_ms)
    if probe.trial == "pass" and probe.verdict ~= "fail" then
        return grantTrial(health, true, now_ms)
    end
    if probe.trial == "fail" then
        return eject(
            health,
            {by = "trial", text = "its trial probe failed: " .. probe.why},
            node,
            upstream,
            now_ms
        )
    end
    return now_ms - health.trial_at_ms < ____exports.TRIAL_TIMEOUT_MS and health or grantTrial(health, false, now_ms)
end
function eject(health, verdict, node, upstream, now_ms)
    local is_breaker = verdict.by == "connections" or verdict.by == "trial" and health.by == "connections"
    local ejections = health.ejections + 1
    local next = enter(
        clear(health),
        "ejected",
        verdict.text,
        now_ms
    )
    next.by = is_breaker and "connections" or verdict.by
    next.ejections = ejections
    next.clean_since_ms = now_ms
    local base_s = is_breaker and node.fail_timeout_s or upstream.cool_down_s
    if verdict.by ~= "probe" then
        next.until_ms = now_ms + coolDownMs(base_s, ejections, upstream.cool_down_max_s, node.id)
    end
    return next
end
function judge(health, seen, node, upstream, now_ms)
    local verdict = ejectVerdict(
        health,
        seen,
        node,
        upstream,
        now_ms
    )
    if verdict ~= nil and seen.may_eject then
        return eject(
            health,
            verdict,
            node,
            upstream,
            now_ms
        )
    end
    local current = health
    if (verdict and verdict.text) ~= health.kept then
        current = copy(health)
        current.kept = verdict and verdict.text
    end
    return settle(
        sample(
            soften(current, seen, upstream, now_ms),
            seen,
            upstream,
            now_ms
        ),
        upstream,
        now_ms
    )
end
function sample(health, seen, upstream, now_ms)
    if health.silent_since_ms ~= nil then
        return health.live == true and health or grantTrial(health, true, now_ms)
    end
    if health.state == "ramping" then
        return endTrial(health, seen)
    end
    if starves(health, seen, upstream, now_ms) then
        return grantTrial(health, true, now_ms)
    end
    return endTrial(health, seen)
end
function endTrial(health, seen)
    if health.live ~= true or seen.judged == 0 then
        return health
    end
    local next = copy(health)
    next.live = nil
    return next
end
function soften(health, seen, upstream, now_ms)
    if health.state == "ramping" then
        return health
    end
    local suspect = suspectCause(health, seen, upstream, now_ms)
    if suspect ~= nil then
        return health.state == "suspect" and health or keepVerdict(
            health,
            enter(health, "suspect", suspect, now_ms)
        )
    end
    local degraded = degradedCause(health, seen, now_ms)
    if degraded ~= nil then
        local ____temp_12 = now_ms < seen.busy_until_ms
        if ____temp_12 then
            local ____opt_10 = seen.probe
            ____temp_12 = (____opt_10 and ____opt_10.slow) ~= true
        end
        local until_ms = ____temp_12 and seen.busy_until_ms or nil
        if health.state == "degraded" and (health.cause == degraded or until_ms == health.until_ms) then
            return health
        end
        if health.state ~= "degraded" then
            return enter(
                health,
                "degraded",
                degraded,
                now_ms,
                until_ms
            )
        end
        local next = enter(
            health,
            "degraded",
            degraded,
            health.since_ms,
            until_ms
        )
        return next
    end
    return health.state == "online" and health or enter(health, "online", IN_ROTATION, now_ms)
end
function keepVerdict(from, to)
    to.kept = from.kept
    return to
end
function settle(health, upstream, now_ms)
    local forgives = health.ejections > 0 and health.error_since_ms == nil and health.kept == nil and now_ms - health.clean_since_ms >= upstream.window_long_s * 1000
    if not forgives then
        return health
    end
    local next = copy(health)
    next.ejections = health.ejections - 1
    next.clean_since_ms = now_ms
    return next
end
--- A pending node without a verdict of its probes for so long goes on as if they had passed: our fault is not its own.
____exports.PENDING_MAX_S = 60
--- A trial without an outcome for so long is given up: another one is granted, or the node goes out again.
____exports.TRIAL_TIMEOUT_MS = 10000
DRAIN_LEAST_MS = 2000
--- The state after one look at the node. Pure; returns the same record when nothing changed.
-- 
-- @param seen evidence since the last look
-- @param now_ms monotonic ms
function ____exports.transition(health, seen, node, upstream, now_ms)
    if node.down then
        return health.state == "offline" and health or enter(health, "offline", ____exports.CONFIGURED_DOWN, now_ms)
    end
    if seen.will ~= nil then
        return obey(health, seen, seen.will, now_ms)
    end
    if STATES[health.state].by_operator then
        return startRamp(
            clear(health),
            backText(health),
            upstream,
            now_ms
        )
    end
    if health.forced == true then
        return enter(
            clear(health),
            "online",
            IN_ROTATION,
            now_ms
        )
    end
    if servesInPanic(health, seen) then
        return enter(
            clear(health),
            "online",
            BACK_IN_PANIC,
            now_ms
        )
    end
    if health.state == "pending" then
        return admit(health, seen, upstream, now_ms)
    end
    if health.state == "ejected" then
        return coolDown(health, seen, upstream, now_ms)
    end
    if health.state == "probing" then
        return tryOut(
            health,
            seen,
            node,
            upstream,
            now_ms
        )
    end
    local current = health
    if health.state == "ramping" and (health.until_ms == nil or now_ms >= health.until_ms) then
        current = enter(health, "online", IN_ROTATION, now_ms)
        current.clean_since_ms = now_ms
    end
    return judge(
        watch(current, seen, upstream, now_ms),
        seen,
        node,
        upstream,
        now_ms
    )
end
BACK_IN_PANIC = "back: it answers, and too few others are good"
____exports.CONFIGURED_DOWN = "down in the configuration"
return ____exports
