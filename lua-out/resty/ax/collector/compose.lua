local math_ceil = math.ceil
local math_floor = math.floor
local math_max = math.max
local math_min = math.min
local ____exports = {}
local snapshotBody, detailParts, describe, takeState, requestsPerS, poolText, STATE_TEXTS
local ____text = require("resty.ax.core.health.text")
local reasonText = ____text.reasonText
local ____histogram = require("resty.ax.core.histogram")
local mergeInto = ____histogram.mergeInto
local percentile = ____histogram.percentile
local ____states = require("resty.ax.core.health.states")
local STATES = ____states.STATES
local ____windows = require("resty.ax.core.windows")
local coveredMs = ____windows.coveredMs
local errorRate = ____windows.errorRate
local isEmpty = ____windows.isEmpty
local ____events = require("resty.ax.collector.events")
local changesPerMinute = ____events.changesPerMinute
local ____state = require("resty.ax.collector.state")
local breathe = ____state.breathe
local ____tally_text = require("resty.ax.collector.tally_text")
local tallyText = ____tally_text.tallyText
local ____values = require("resty.ax.core.values")
local round = ____values.round
function snapshotBody(collector, upstream)
    local parts = {upstream.panic_since_ms == nil and "\"nodes\":{" or "\"panic\":true,\"nodes\":{"}
    local ____end = 1
    do
        local i = 0
        while i < #upstream.nodes do
            local ____upstream_nodes_index_0 = upstream.nodes[i + 1]
            local key = ____upstream_nodes_index_0.key
            local detail = ____upstream_nodes_index_0.detail
            breathe(collector, 0.25)
            parts[____end + 1] = key
            parts[____end + 1 + 1] = STATE_TEXTS[detail.state]
            parts[____end + 2 + 1] = detail.weight
            parts[____end + 3 + 1] = ",\"static_weight\":"
            parts[____end + 4 + 1] = detail.static_weight
            parts[____end + 5 + 1] = ",\"success\":"
            parts[____end + 6 + 1] = detail.success
            ____end = ____end + 7
            if detail.latency_ms ~= nil then
                parts[____end + 1] = ",\"latency_ms\":"
                parts[____end + 1 + 1] = detail.latency_ms
                ____end = ____end + 2
            end
            if detail.samples ~= nil then
                parts[____end + 1] = ",\"samples\":"
                parts[____end + 1 + 1] = detail.samples
                ____end = ____end + 2
            end
            if detail.trial ~= nil then
                parts[____end + 1] = ",\"trial\":"
                parts[____end + 1 + 1] = detail.trial
                ____end = ____end + 2
            end
            if detail.ramp_limit ~= nil then
                parts[____end + 1] = ",\"ramp_limit\":"
                parts[____end + 1 + 1] = detail.ramp_limit
                ____end = ____end + 2
            end
            if detail.judged_p99_ms ~= nil then
                parts[____end + 1] = ",\"judged_p99_ms\":"
                parts[____end + 1 + 1] = detail.judged_p99_ms
                ____end = ____end + 2
            end
            parts[____end + 1] = "},"
            ____end = ____end + 1
            i = i + 1
        end
    end
    if ____end > 1 then
        parts[____end] = "}"
    end
    parts[____end + 1] = "}}"
    return table.concat(parts, "")
end
function detailParts(collector, upstream, now_ms)
    local parts = {
        "",
        poolText(collector, upstream, now_ms) .. ",\"nodes\":{"
    }
    do
        local i = 0
        while i < #upstream.nodes do
            parts[#parts + 1] = upstream.nodes[i + 1].detail_text
            parts[#parts + 1] = ","
            i = i + 1
        end
    end
    parts[(#upstream.nodes > 0 and #parts - 1 or #parts) + 1] = "}}"
    return parts
end
function describe(collector, upstream, node, now_ms)
    local ____node_1 = node
    local detail = ____node_1.detail
    local health = ____node_1.health
    local windows = ____node_1.windows
    local short = windows.short.total
    local long = windows.long.total
    detail.reason = reasonText(health, upstream.config, now_ms)
    detail.since_ms = health.since_ms
    takeState(node)
    detail.share = upstream.picks > 0 and round(short.picks / upstream.picks, 10000) or 0
    detail.requests_per_s = round(
        requestsPerS(node),
        10
    )
    detail.error_rate = round(
        errorRate(short),
        10000
    )
    detail.p50_ms = short.ok > 0 and round(
        percentile(short.hist, short.ok, 0.5),
        10
    ) or nil
    detail.p99_ms = short.ok > 0 and round(
        percentile(short.hist, short.ok, 0.99),
        10
    ) or nil
    detail.p99_long_ms = long.ok > 0 and round(
        percentile(long.hist, long.ok, 0.99),
        10
    ) or nil
    detail.report = node.seen.report
    local ____detail_4 = detail
    local ____opt_2 = collector.deps.probes
    ____detail_4.probe = ____opt_2 and ____opt_2.record(upstream.config.name, node.config.id)
    node.detail_text = (node.key .. ":") .. (collector.deps.encode(detail) or "{}")
    node.described = true
    breathe(collector, 2)
end
function takeState(node)
    local ____node_5 = node
    local detail = ____node_5.detail
    local health = ____node_5.health
    local seen = ____node_5.seen
    detail.cause = health.cause
    detail.until_ms = health.until_ms
    detail.flat_until_ms = health.flat_until_ms
    detail.ejections = health.ejections
    detail.by = health.by
    detail.forced = health.forced
    detail.trial_live = health.live
    detail.trial_at_ms = health.trial > 0 and health.trial_at_ms or nil
    detail.error_since_ms = health.error_since_ms
    detail.silent_since_ms = health.silent_since_ms
    detail.busy_until_ms = seen.busy_until_ms > 0 and seen.busy_until_ms or nil
end
function requestsPerS(node)
    return node.windows.short.total.picks * 1000 / coveredMs(node.windows.short)
end
function poolText(collector, upstream, now_ms)
    local hist = {}
    local ok = 0
    local requests_per_s = 0
    do
        local i = 0
        while i < #upstream.nodes do
            local short = upstream.nodes[i + 1].windows.short.total
            breathe(collector, 0.5)
            if short.ok > 0 then
                mergeInto(hist, short.hist)
            end
            ok = ok + short.ok
            requests_per_s = requests_per_s + requestsPerS(upstream.nodes[i + 1])
            i = i + 1
        end
    end
    local latencies = ok > 0 and ((",\"p50_ms\":" .. tostring(round(
        percentile(hist, ok, 0.5),
        10
    ))) .. ",\"p99_ms\":") .. tostring(round(
        percentile(hist, ok, 0.99),
        10
    )) or ""
    local ____opt_6 = collector.deps.probes
    local summary = ____opt_6 and ____opt_6.summary(upstream.config.name, now_ms)
    local probes = summary == nil and "" or ",\"probes\":" .. (collector.deps.encode(summary) or "{}")
    local changes = changesPerMinute(upstream.events, now_ms)
    local since_ms = upstream.panic_since_ms
    local panic = ((since_ms == nil and "" or ",\"panic_since_ms\":" .. tostring(since_ms)) .. ",\"panics_total\":") .. tostring(upstream.panics_total)
    local head = (("\"collector_pid\":" .. tostring(collector.deps.pid)) .. ",\"requests_per_s\":") .. tostring(round(requests_per_s, 10))
    return ((((head .. latencies) .. ",\"state_changes_per_min\":") .. tostring(changes)) .. panic) .. probes
end
--- Up to this many nodes over all upstreams have their details written anew in every tick: about 1 ms. With
-- more they take turns.
local DETAILS_PER_TICK = 250
--- Most ticks until every node had its turn and details are written, 2 s. A change of state is written at once.
local DETAIL_TURNS = 4
--- How often the long windows are written for a successor: what it may lose of them, against the cost of writing.
local WINDOWS_EVERY_MS = 5000
--- Makes the bodies of snapshot:<upstream> and detail:<upstream>: without the head, which differs in every
-- tick, so that they can be written again as long as nothing happens.
function ____exports.composeUpstream(collector, upstream, now_ms)
    local nodes = upstream.nodes
    local count = #nodes
    local turns = math_min(
        DETAIL_TURNS,
        math_ceil(collector.node_count / DETAILS_PER_TICK)
    )
    local turn = math_ceil(count / math_max(1, turns))
    local ____end = upstream.detail_cursor + turn
    do
        local i = 0
        while i < count do
            local node = nodes[i + 1]
            local is_its_turn = i >= upstream.detail_cursor and i < ____end
            if not node.described then
                upstream.detail_due = true
            end
            if is_its_turn or not node.described then
                describe(collector, upstream, node, now_ms)
            end
            i = i + 1
        end
    end
    upstream.detail_cursor = ____end < count and ____end or 0
    if upstream.detail_cursor == 0 then
        upstream.detail_due = true
    end
    upstream.snapshot_body = snapshotBody(collector, upstream)
    if not upstream.detail_due then
        return
    end
    upstream.detail_parts = detailParts(collector, upstream, now_ms)
end
STATE_TEXTS = {}
for state in pairs(STATES) do
    STATE_TEXTS[state] = (":{\"state\":\"" .. state) .. "\",\"weight\":"
end
--- Brings the texts of the next part of an upstream's windows up to date.
-- 
-- @returns the text for windows:<upstream> when every part had its turn, else undefined
function ____exports.composeWindows(collector, upstream, now_ms)
    local parts = math_max(
        1,
        math_floor(WINDOWS_EVERY_MS / collector.config.collector_interval_ms)
    )
    local nodes = upstream.nodes
    local part = upstream.windows_part % parts
    local ____end = math_floor(#nodes * (part + 1) / parts)
    do
        local i = math_floor(#nodes * part / parts)
        while i < ____end do
            local node = nodes[i + 1]
            local long = node.windows.long.total
            node.windows_text = isEmpty(long) and "" or ((node.key .. ":\"") .. tallyText(long)) .. "\""
            breathe(collector, 6)
            i = i + 1
        end
    end
    upstream.windows_part = part + 1
    if part + 1 < parts then
        return nil
    end
    local texts = {("{\"at_ms\":" .. tostring(now_ms)) .. ",\"nodes\":{"}
    do
        local i = 0
        while i < #nodes do
            do
                if nodes[i + 1].windows_text == "" then
                    goto __continue35
                end
                if #texts > 1 then
                    texts[#texts + 1] = ","
                end
                texts[#texts + 1] = nodes[i + 1].windows_text
            end
            ::__continue35::
            i = i + 1
        end
    end
    texts[#texts + 1] = "}}"
    return table.concat(texts, "")
end
return ____exports
