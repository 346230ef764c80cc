-- Lua Library inline imports
local function __TS__ObjectKeys(obj)
    local result = {}
    local len = 0
    for key in pairs(obj) do
        len = len + 1
        result[len] = key
    end
    return result
end
-- End of Lua Library inline imports
local ____exports = {}
local readEntry, readNodes, takeDetails, takeHealth, longestCoolDownMs, takeScore, takeWindows, MANY_EJECTIONS
local ____ejection = require("resty.ax.core.ejection")
local causeOf = ____ejection.causeOf
local coolDownMs = ____ejection.coolDownMs
local inRotation = ____ejection.inRotation
local newHealth = ____ejection.newHealth
local startRamp = ____ejection.startRamp
local ____states = require("resty.ax.core.health.states")
local stateNamed = ____states.stateNamed
local ____score = require("resty.ax.core.score")
local clampScore = ____score.clampScore
local ____windows = require("resty.ax.core.windows")
local restore = ____windows.restore
local ____state = require("resty.ax.collector.state")
local forgetSeen = ____state.forgetSeen
local ____tally_text = require("resty.ax.collector.tally_text")
local parseTally = ____tally_text.parseTally
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
function readEntry(collector, key)
    local text = collector.deps.store.get(key)
    if text == nil then
        return nil
    end
    local entry = asRecord(collector.deps.decode(tostring(text)))
    if asRecord(entry and entry.nodes) ~= nil then
        return entry
    end
    collector.deps.onWarning("store_corrupt", key .. " is unreadable; started afresh")
    return nil
end
function readNodes(collector, key)
    local ____asRecord_4 = asRecord
    local ____opt_2 = readEntry(collector, key)
    return ____asRecord_4(____opt_2 and ____opt_2.nodes)
end
function takeDetails(upstream, details, now_ms)
    local has_history = #__TS__ObjectKeys(details) > 0
    do
        local i = 0
        while i < #upstream.nodes do
            local node = upstream.nodes[i + 1]
            local old = asRecord(details[node.config.id])
            if old ~= nil then
                takeHealth(node, upstream, old, now_ms)
                takeScore(node, upstream, old, now_ms)
            elseif has_history then
                node.health = startRamp(
                    newHealth(now_ms),
                    "new in the configuration",
                    upstream.config,
                    now_ms
                )
                forgetSeen(node.seen)
            end
            i = i + 1
        end
    end
end
function takeHealth(node, upstream, old, now_ms)
    local state = stateNamed(old.state)
    local until_ms = asNumber(old.until_ms)
    if state == nil or (state == "ejected" or state == "ramping") and until_ms == nil then
        return
    end
    if state == "draining" or state == "maintenance" then
        return
    end
    local health = newHealth(now_ms)
    health.state = state
    if type(old.reason) == "string" then
        health.cause = causeOf(old.reason)
    end
    health.since_ms = math.min(
        now_ms,
        asNumber(old.since_ms) or now_ms
    )
    health.until_ms = until_ms
    health.ejections = math.floor(asCount(old.ejections))
    health.error_since_ms = asNumber(old.error_since_ms)
    node.health = health
    if state == "ramping" or state == "ejected" then
        forgetSeen(node.seen)
    end
    local longest_ms = state == "ramping" and upstream.config.ramp_s * 1000 or longestCoolDownMs(node, upstream)
    if until_ms ~= nil then
        health.until_ms = math.min(until_ms, now_ms + longest_ms)
    end
end
function longestCoolDownMs(node, upstream)
    local ____upstream_config_5 = upstream.config
    local cool_down_s = ____upstream_config_5.cool_down_s
    local cool_down_max_s = ____upstream_config_5.cool_down_max_s
    local base_s = math.max(cool_down_s, node.config.fail_timeout_s)
    return coolDownMs(base_s, MANY_EJECTIONS, cool_down_max_s, node.config.id)
end
function takeScore(node, upstream, old, now_ms)
    local detail = node.detail
    detail.score = clampScore(
        asNumber(old.score) or 1,
        upstream.config
    )
    detail.target_score = detail.score
    detail.score_at_ms = math.min(
        now_ms,
        asNumber(old.score_at_ms) or now_ms
    )
    local in_rotation = inRotation(node.health)
    node.held_until_ms = in_rotation and now_ms + upstream.config.window_long_s * 1000 or 0
    detail.picks_total = asCount(old.picks_total)
    detail.ok_total = asCount(old.ok_total)
    detail.err_total = asCount(old.err_total)
    detail.fail_total = asCount(old.fail_total)
    detail.aborted_total = asCount(old.aborted_total)
end
function takeWindows(collector, upstream, now_ms)
    local entry = readEntry(collector, "windows:" .. upstream.config.name)
    local nodes = asRecord(entry and entry.nodes)
    local at_ms = asNumber(entry and entry.at_ms)
    if nodes == nil or at_ms == nil then
        return
    end
    if now_ms - at_ms > upstream.config.window_long_s * 1000 then
        return
    end
    do
        local i = 0
        while i < #upstream.nodes do
            local node = upstream.nodes[i + 1]
            local text = nodes[node.config.id]
            local outdated = node.health.state ~= "online" and node.health.since_ms >= at_ms
            if type(text) == "string" and not outdated and node.health.state ~= "ejected" then
                restore(
                    node.windows.long,
                    parseTally(text, upstream.config.min_samples)
                )
            end
            i = i + 1
        end
    end
end
MANY_EJECTIONS = 32
--- Takes over everything the store knows of the configured upstreams. Never throws; warns of what it cannot read.
function ____exports.takeOver(collector, now_ms)
    local upstreams = collector.upstreams
    do
        local i = 0
        while i < #upstreams do
            local details = readNodes(collector, "detail:" .. upstreams[i + 1].config.name)
            if details ~= nil then
                takeDetails(upstreams[i + 1], details, now_ms)
            end
            takeWindows(collector, upstreams[i + 1], now_ms)
            i = i + 1
        end
    end
end
return ____exports
