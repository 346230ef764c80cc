local math_floor = math.floor
local math_max = math.max
local math_min = math.min
local ____exports = {}
local readEntry, takeDetails, takeHealth, longestRampMs, longestCoolDownMs, takeScore, takeReports, takeWindows, MANY_EJECTIONS, PARSING, LONGEST_BUSY_MS
local ____cool_down = require("resty.ax.core.health.cool_down")
local coolDownMs = ____cool_down.coolDownMs
local ____record = require("resty.ax.core.health.record")
local enter = ____record.enter
local forgetSeen = ____record.forgetSeen
local newHealth = ____record.newHealth
local ____ramp = require("resty.ax.core.health.ramp")
local startSlowly = ____ramp.startSlowly
local ____states = require("resty.ax.core.health.states")
local isUsable = ____states.isUsable
local stateNamed = ____states.stateNamed
local ____text = require("resty.ax.core.health.text")
local causeOf = ____text.causeOf
local ____node_report = require("resty.ax.core.node_report")
local restoreNodeReport = ____node_report.restoreNodeReport
local ____score = require("resty.ax.core.score")
local clampScore = ____score.clampScore
local ____windows = require("resty.ax.core.windows")
local restore = ____windows.restore
local ____events = require("resty.ax.collector.events")
local emitTransition = ____events.emitTransition
local takeEvents = ____events.takeEvents
local ____gone = require("resty.ax.collector.gone")
local findGone = ____gone.findGone
local ____state = require("resty.ax.collector.state")
local breathe = ____state.breathe
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
function takeDetails(collector, upstream, details, now_ms)
    local known = 0
    do
        local i = 0
        while i < #upstream.nodes do
            if details[upstream.nodes[i + 1].config.id] ~= nil then
                known = known + 1
            end
            i = i + 1
        end
    end
    local few_are_new = known > 0 and #upstream.nodes - known <= known
    do
        local i = 0
        while i < #upstream.nodes do
            local node = upstream.nodes[i + 1]
            local old = asRecord(details[node.config.id])
            breathe(collector, 2)
            if old ~= nil then
                takeHealth(node, upstream, old, now_ms)
                takeScore(node, upstream, old, now_ms)
                if upstream.config.orca then
                    takeReports(node, old, now_ms)
                end
                local rests = node.health.state == "maintenance"
                if rests then
                    local ____opt_8 = collector.deps.probes
                    if ____opt_8 ~= nil then
                        ____opt_8.rest(upstream.config.name, node.config.id, true)
                    end
                end
            elseif few_are_new and not node.config.down then
                local ____opt_10 = collector.deps.probes
                local is_probed = (____opt_10 and ____opt_10.view(upstream.config.name, node.config.id)) ~= nil
                node.health = is_probed and enter(
                    newHealth(now_ms),
                    "pending",
                    "new in the configuration; its probes have not passed yet",
                    now_ms
                ) or startSlowly(
                    newHealth(now_ms),
                    "new in the configuration",
                    upstream.config,
                    now_ms
                )
                forgetSeen(node.seen)
                emitTransition(
                    collector,
                    upstream,
                    node,
                    "new",
                    now_ms
                )
            end
            i = i + 1
        end
    end
end
function takeHealth(node, upstream, old, now_ms)
    local state = stateNamed(old.state)
    local until_ms = asNumber(old.until_ms)
    local by = type(old.by) == "string" and old.by or nil
    local has_end = until_ms ~= nil or state == "ejected" and by == "probe"
    if state == nil or (state == "ejected" or state == "ramping") and not has_end then
        return
    end
    local health = newHealth(now_ms)
    health.state = state
    if type(old.cause) == "string" then
        health.cause = old.cause
    elseif type(old.reason) == "string" then
        health.cause = causeOf(old.reason)
    end
    health.since_ms = math_min(
        now_ms,
        asNumber(old.since_ms) or now_ms
    )
    health.until_ms = until_ms
    health.ejections = math_floor(asCount(old.ejections))
    health.error_since_ms = asNumber(old.error_since_ms)
    health.silent_since_ms = asNumber(old.silent_since_ms)
    health.flat_until_ms = asNumber(old.flat_until_ms)
    health.by = by
    local ____temp_12
    if old.forced == true then
        ____temp_12 = true
    else
        ____temp_12 = nil
    end
    health.forced = ____temp_12
    local ____temp_13
    if old.trial_live == true then
        ____temp_13 = true
    else
        ____temp_13 = nil
    end
    health.live = ____temp_13
    health.trial = asCount(old.trial)
    health.trial_at_ms = math_min(
        now_ms,
        asNumber(old.trial_at_ms) or now_ms
    )
    node.health = health
    node.seen.busy_until_ms = math_min(
        asCount(old.busy_until_ms),
        now_ms + LONGEST_BUSY_MS
    )
    if state == "ramping" or state == "ejected" or state == "probing" then
        forgetSeen(node.seen)
    end
    local longest_ms = state == "ramping" and longestRampMs(health.flat_until_ms, upstream) or longestCoolDownMs(node, upstream)
    local bounded = state == "ramping" or state == "ejected"
    health.until_ms = until_ms ~= nil and bounded and math_min(until_ms, now_ms + longest_ms) or nil
end
function longestRampMs(flat_until_ms, upstream)
    local ____upstream_config_14 = upstream.config
    local ramp_s = ____upstream_config_14.ramp_s
    local slow_start_s = ____upstream_config_14.slow_start_s
    return (flat_until_ms == nil and ramp_s or ramp_s + slow_start_s) * 1000
end
function longestCoolDownMs(node, upstream)
    local ____upstream_config_15 = upstream.config
    local cool_down_s = ____upstream_config_15.cool_down_s
    local cool_down_max_s = ____upstream_config_15.cool_down_max_s
    local base_s = math_max(cool_down_s, node.config.fail_timeout_s)
    return coolDownMs(base_s, MANY_EJECTIONS, cool_down_max_s, node.config.id)
end
function takeScore(node, upstream, old, now_ms)
    local detail = node.detail
    detail.score = clampScore(
        asNumber(old.score) or 1,
        upstream.config
    )
    detail.target_score = detail.score
    detail.score_at_ms = math_min(
        now_ms,
        asNumber(old.score_at_ms) or now_ms
    )
    local in_rotation = isUsable(node.health.state)
    node.held_until_ms = in_rotation and now_ms + upstream.config.window_long_s * 1000 or 0
    detail.picks_total = asCount(old.picks_total)
    detail.ok_total = asCount(old.ok_total)
    detail.err_total = asCount(old.err_total)
    detail.fail_total = asCount(old.fail_total)
    detail.aborted_total = asCount(old.aborted_total)
    detail.busy_total = asCount(old.busy_total)
    node.answers_seen = detail.ok_total + detail.err_total + detail.busy_total
    node.picks_before = detail.picks_total
end
function takeReports(node, old, now_ms)
    node.seen.report = restoreNodeReport(old.report, now_ms)
    local bad = asCount(old.reports_bad_total)
    if bad > 0 then
        node.detail.reports_bad_total = bad
    end
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
            local outdated = (node.health.state == "ramping" or not isUsable(node.health.state)) and node.health.since_ms >= at_ms
            if type(text) == "string" and not outdated and isUsable(node.health.state) then
                restore(
                    node.windows.long,
                    parseTally(text, upstream.config.min_samples)
                )
                breathe(collector, PARSING)
            end
            i = i + 1
        end
    end
end
MANY_EJECTIONS = 32
PARSING = 8
--- Takes over everything the store knows of the configured upstreams. Never throws; warns of what it cannot read.
function ____exports.takeOver(collector, now_ms)
    local upstreams = collector.upstreams
    do
        local i = 0
        while i < #upstreams do
            takeEvents(collector, upstreams[i + 1], now_ms)
            local entry = readEntry(collector, "detail:" .. upstreams[i + 1].config.name)
            upstreams[i + 1].panic_since_ms = asNumber(entry and entry.panic_since_ms)
            upstreams[i + 1].panics_total = asCount(entry and entry.panics_total)
            local details = asRecord(entry and entry.nodes)
            upstreams[i + 1].gone = findGone(
                collector.deps,
                upstreams[i + 1].config.name,
                upstreams[i + 1].by_id,
                details,
                now_ms
            )
            if details ~= nil then
                takeDetails(collector, upstreams[i + 1], details, now_ms)
            end
            takeWindows(collector, upstreams[i + 1], now_ms)
            i = i + 1
        end
    end
end
--- Retry-After is taken for no longer (ingest.ts).
LONGEST_BUSY_MS = 30000
return ____exports
