-- Lua Library inline imports
local function __TS__StringSubstring(self, start, ____end)
    if ____end ~= ____end then
        ____end = 0
    end
    if ____end ~= nil and start > ____end then
        start, ____end = ____end, start
    end
    if start >= 0 then
        start = start + 1
    else
        start = 1
    end
    if ____end ~= nil and ____end < 0 then
        ____end = 0
    end
    return string.sub(self, start, ____end)
end

local function __TS__StringCharCodeAt(self, index)
    if index ~= index then
        index = 0
    end
    if index < 0 then
        return 0 / 0
    end
    return string.byte(self, index + 1) or 0 / 0
end
-- End of Lua Library inline imports
local ____exports = {}
local enter, copy, watchErrors, judge, streakVerdict, errorVerdict, settle, JITTER, SHORTEST_COOL_DOWN_S, IN_ROTATION
local ____random = require("resty.ax.core.random")
local draw = ____random.draw
local newRandom = ____random.newRandom
local ____reasons = require("resty.ax.core.reasons")
local errorRateText = ____reasons.errorRateText
local percentText = ____reasons.percentText
local secondsText = ____reasons.secondsText
local streakText = ____reasons.streakText
--- Puts a node at the start of its ramp.
-- 
-- @param cause why it comes (back), in words
function ____exports.startRamp(health, cause, upstream, now_ms)
    if upstream.ramp_s <= 0 then
        return enter(health, "online", IN_ROTATION, now_ms)
    end
    return enter(
        health,
        "ramping",
        cause,
        now_ms,
        now_ms + upstream.ramp_s * 1000
    )
end
---
-- @param base_s the first cool-down, seconds
-- @param ejections in a row, this one included
-- @param max_s longest cool-down; one that begins longer stays as it is
-- @param id the node: gives the jitter, so that equal histories replay equally
-- @returns ms
function ____exports.coolDownMs(base_s, ejections, max_s, id)
    local first_s = math.max(SHORTEST_COOL_DOWN_S, base_s)
    local grown_s = math.min(
        first_s * 2 ^ math.min(ejections - 1, 32),
        math.max(max_s, first_s)
    )
    local seed = ejections
    do
        local i = 0
        while i < #id do
            seed = (seed * 31 + __TS__StringCharCodeAt(id, i)) % 2147483647
            i = i + 1
        end
    end
    return math.floor(grown_s * 1000 * (1 + JITTER * draw(newRandom(seed))))
end
function enter(health, state, cause, now_ms, until_ms)
    return {
        state = state,
        cause = cause,
        since_ms = now_ms,
        until_ms = until_ms,
        ejections = health.ejections,
        clean_since_ms = now_ms
    }
end
function copy(health)
    return {
        state = health.state,
        cause = health.cause,
        since_ms = health.since_ms,
        until_ms = health.until_ms,
        ejections = health.ejections,
        error_since_ms = health.error_since_ms,
        clean_since_ms = health.clean_since_ms,
        kept = health.kept
    }
end
function watchErrors(health, seen, upstream, now_ms)
    local over = seen.judged > 0 and seen.failed / seen.judged > upstream.eject_error_rate
    local begins = over and health.error_since_ms == nil and seen.judged >= upstream.min_samples
    local unknown = seen.judged == 0 and seen.young
    local ends = not over and not unknown and health.error_since_ms ~= nil
    if not begins and not ends then
        return health
    end
    local next = copy(health)
    next.error_since_ms = begins and now_ms or nil
    next.clean_since_ms = now_ms
    return next
end
function judge(health, seen, node, upstream, now_ms)
    local streak = streakVerdict(health, seen, node)
    local verdict = streak or errorVerdict(health, seen, upstream, now_ms)
    if verdict == nil then
        return settle(health, upstream, now_ms)
    end
    if seen.others_in_rotation <= 0 then
        if health.kept == verdict then
            return health
        end
        local kept = copy(health)
        kept.kept = verdict
        return kept
    end
    local base_s = streak == nil and upstream.cool_down_s or node.fail_timeout_s
    local ejections = health.ejections + 1
    local next = enter(health, "ejected", verdict, now_ms)
    next.until_ms = now_ms + ____exports.coolDownMs(base_s, ejections, upstream.cool_down_max_s, node.id)
    next.ejections = ejections
    return next
end
function streakVerdict(health, seen, node)
    if node.max_fails <= 0 then
        return nil
    end
    local on_probation = health.state == "ramping" and not seen.answered_since_return
    local limit = on_probation and 1 or node.max_fails
    local streak = math.min(seen.streak, seen.picks_since_return)
    if streak < limit then
        return nil
    end
    return streak < node.max_fails and "no connection at the first try since its return" or streakText(streak, node.max_fails)
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
    return errorRateText(rate, for_ms, upstream.eject_error_rate, upstream.eject_error_rate_for_s)
end
function settle(health, upstream, now_ms)
    local forgives = health.ejections > 0 and health.error_since_ms == nil and now_ms - health.clean_since_ms >= upstream.window_long_s * 1000
    if not forgives and health.kept == nil then
        return health
    end
    local next = copy(health)
    next.kept = nil
    if forgives then
        next.ejections = health.ejections - 1
        next.clean_since_ms = now_ms
    end
    return next
end
JITTER = 0.05
SHORTEST_COOL_DOWN_S = 1
IN_ROTATION = "in rotation"
---
-- @returns the state of a node first seen now
function ____exports.newHealth(now_ms)
    return {
        state = "online",
        cause = IN_ROTATION,
        since_ms = now_ms,
        ejections = 0,
        clean_since_ms = now_ms
    }
end
---
-- @returns whether requests may go to it
function ____exports.inRotation(health)
    return health.state == "online" or health.state == "ramping"
end
--- The state after one look at the node. Pure; returns the same record when nothing changed.
-- 
-- @param seen evidence since the last look
-- @param now_ms monotonic ms
function ____exports.transition(health, seen, node, upstream, now_ms)
    if node.down then
        return health.state == "offline" and health or enter(health, "offline", "down in the configuration", now_ms)
    end
    if health.state == "offline" then
        return ____exports.startRamp(health, "back in the configuration", upstream, now_ms)
    end
    if health.state == "ejected" then
        if health.until_ms ~= nil and now_ms < health.until_ms then
            return health
        end
        return ____exports.startRamp(
            health,
            ("back after " .. secondsText(now_ms - health.since_ms)) .. " s out",
            upstream,
            now_ms
        )
    end
    local current = health
    if health.state == "ramping" and (health.until_ms == nil or now_ms >= health.until_ms) then
        current = enter(health, "online", IN_ROTATION, now_ms)
    end
    return judge(
        watchErrors(current, seen, upstream, now_ms),
        seen,
        node,
        upstream,
        now_ms
    )
end
---
-- @returns share of its weight that the node's state leaves it, 0..1
function ____exports.rampFactor(health, ramp_from, now_ms)
    if health.state == "online" or health.state == "offline" then
        return 1
    end
    if health.state == "ejected" or health.until_ms == nil then
        return ramp_from
    end
    local length_ms = health.until_ms - health.since_ms
    if length_ms <= 0 then
        return 1
    end
    local done = math.max(
        0,
        math.min(1, (now_ms - health.since_ms) / length_ms)
    )
    return ramp_from + (1 - ramp_from) * done
end
--- Separates the cause from what moves with the time, in a reason's text.
local CAUSE_END = "; "
---
-- @returns why the node is in its state, in words, with the numbers
function ____exports.reasonText(health, upstream, now_ms)
    local text = health.cause
    if health.state == "ramping" then
        text = text .. (CAUSE_END .. percentText(____exports.rampFactor(health, upstream.ramp_from, now_ms))) .. " % of its share"
    end
    if health.kept ~= nil then
        text = text .. (CAUSE_END .. "kept as the last node in rotation in spite of ") .. health.kept
    elseif health.error_since_ms ~= nil then
        local lasted = secondsText(now_ms - health.error_since_ms)
        text = text .. ((((CAUSE_END .. "error rate over ") .. percentText(upstream.eject_error_rate)) .. " % for ") .. lasted) .. " s"
    end
    return text
end
---
-- @returns the cause in a reason's text: what the next collector takes over
function ____exports.causeOf(reason)
    local ____end = (string.find(reason, CAUSE_END, nil, true) or 0) - 1
    return ____end < 0 and reason or __TS__StringSubstring(reason, 0, ____end)
end
return ____exports
