local ____exports = {}
local ____admission = require("resty.ax.observe.admission")
local admissionStatus = ____admission.admissionStatus
local ____document = require("resty.ax.observe.document")
local jsonList = ____document.jsonList
local ____limits = require("resty.ax.observe.limits")
local limitStatus = ____limits.limitStatus
local readAdaptive = ____limits.readAdaptive
local ____node_status = require("resty.ax.observe.node_status")
local oneNode = ____node_status.oneNode
local showLimit = ____node_status.showLimit
local showWill = ____node_status.showWill
local ____status_deps = require("resty.ax.observe.status_deps")
local decodeObject = ____status_deps.decodeObject
local seconds = ____status_deps.seconds
local ____wills = require("resty.ax.observe.wills")
local hasWills = ____wills.hasWills
--- Data older than this is called stale: several collector intervals (one and a half of the longest), or an election, went by.
local STALE_MS = 7500
--- Picks that make it certain that outcomes are missing, not late.
local PICKS_WITHOUT_OUTCOME = 20
local function hasPicksOnly(nodes)
    local picks = 0
    local outcomes = 0
    local in_flight = 0
    for ____, ____value in ipairs(nodes) do
        local totals = ____value.totals
        local waiting = ____value.in_flight
        picks = picks + totals.picks
        outcomes = outcomes + (totals.ok + totals.err + totals.fail + totals.aborted + totals.busy)
        in_flight = in_flight + (waiting or 0)
    end
    return outcomes == 0 and picks - in_flight >= PICKS_WITHOUT_OUTCOME
end
--- What the collector says of the upstream as a whole.
local function showPool(status, detail, now_ms)
    local age_ms = now_ms - detail.at_ms
    status.data_age_ms = age_ms
    status.collector_pid = detail.collector_pid
    status.requests_per_s = detail.requests_per_s
    status.p50_ms = detail.p50_ms
    status.p99_ms = detail.p99_ms
    status.probes = detail.probes
    if detail.panic_since_ms ~= nil then
        status.panic_s = seconds(detail.panic_since_ms, now_ms)
        local ____status_warnings_0 = status.warnings
        ____status_warnings_0[#____status_warnings_0 + 1] = "panic: too few nodes are good; all that the operator did not take out are used"
    end
    if age_ms > STALE_MS then
        local ____status_warnings_1 = status.warnings
        ____status_warnings_1[#____status_warnings_1 + 1] = ("data is " .. tostring(seconds(detail.at_ms, now_ms))) .. " s old: the collector does not get through"
    end
end
--- One upstream, all its configured nodes in the order of the configuration.
function ____exports.upstreamStatus(deps, config, now_ms)
    local detail = decodeObject(deps, "detail:" .. config.name)
    local status = {
        name = config.name,
        strategy = config.strategy_module or config.strategy,
        nodes_from = config.nodes_from,
        generation = detail and detail.generation or 0,
        admission = admissionStatus(deps, config, now_ms),
        limits = limitStatus(deps.store, config),
        panic = (detail and detail.panic_since_ms) ~= nil,
        panics_total = detail and detail.panics_total or 0,
        state_changes_per_min = detail and detail.state_changes_per_min or 0,
        warnings = {},
        nodes = {}
    }
    if config.hash_key ~= nil then
        status.hash_key = type(config.hash_key) == "string" and config.hash_key or "function"
        local keyless = deps.store.get("keyless:" .. config.name)
        status.keyless_picks = type(keyless) == "number" and keyless or 0
    end
    if detail == nil then
        local ____status_warnings_10 = status.warnings
        ____status_warnings_10[#____status_warnings_10 + 1] = "no data yet: no collector has reported (init_worker() missing, or the shared dict is full)"
    else
        showPool(status, detail, now_ms)
    end
    local adaptive = readAdaptive(deps.store, deps.decode, config)
    local has_wills = hasWills(deps.store, config.name)
    for ____, given in ipairs(config.nodes) do
        local shown = oneNode(detail, given, now_ms)
        if has_wills then
            showWill(deps, config.name, shown, now_ms)
        end
        showLimit(shown, config, given, adaptive)
        local ____status_nodes_11 = status.nodes
        ____status_nodes_11[#____status_nodes_11 + 1] = shown
    end
    if hasPicksOnly(status.nodes) then
        local ____status_warnings_12 = status.warnings
        ____status_warnings_12[#____status_warnings_12 + 1] = "no request has been accounted: log() does not run where this upstream is used (log_missing)"
    end
    status.warnings = jsonList(status.warnings)
    return status
end
return ____exports
