local math_huge = math.huge
local ____exports = {}
____exports.IN_ROTATION = "in rotation"
---
-- @returns the state of a node first seen now, when the gateway starts
function ____exports.newHealth(now_ms)
    return {
        state = "online",
        cause = ____exports.IN_ROTATION,
        since_ms = now_ms,
        ejections = 0,
        clean_since_ms = now_ms,
        trial = 0,
        trial_at_ms = 0
    }
end
---
-- @returns what is seen of a node that nothing has happened to
function ____exports.newSeen()
    return {
        streak = 0,
        failures = 0,
        picks_since_return = math_huge,
        answered_since_return = true,
        ok_since_return = 0,
        failed_since_return = 0,
        judged = 0,
        failed = 0,
        young = true,
        in_flight = 0,
        oldest_ms = 0,
        silent_picks = 0,
        trial_taken_ms = 0,
        silence_limit_ms = math_huge,
        busy_until_ms = 0,
        busy_share = 0,
        p99_ratio = 0,
        may_eject = true,
        panic = false,
        overloaded = false
    }
end
--- The evidence so far is spent: the node left the rotation, got a new trial or came back.
function ____exports.forgetSeen(seen)
    seen.streak = 0
    seen.failures = 0
    seen.picks_since_return = 0
    seen.answered_since_return = false
    seen.ok_since_return = 0
    seen.failed_since_return = 0
end
---
-- @returns a record in another state; what belongs to the old state is gone
function ____exports.enter(health, state, cause, now_ms, until_ms)
    return {
        state = state,
        cause = cause,
        since_ms = now_ms,
        until_ms = until_ms,
        ejections = health.ejections,
        by = health.by,
        error_since_ms = health.error_since_ms,
        silent_since_ms = health.silent_since_ms,
        clean_since_ms = health.clean_since_ms,
        trial = health.trial,
        trial_at_ms = health.trial_at_ms
    }
end
---
-- @returns a record of its own with the same content
function ____exports.copy(health)
    local next = ____exports.enter(
        health,
        health.state,
        health.cause,
        health.since_ms,
        health.until_ms
    )
    next.flat_until_ms = health.flat_until_ms
    next.kept = health.kept
    next.live = health.live
    next.forced = health.forced
    return next
end
return ____exports
