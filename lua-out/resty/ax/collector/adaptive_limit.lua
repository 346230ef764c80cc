local math_floor = math.floor
local math_huge = math.huge
local math_max = math.max
local math_min = math.min
local ____exports = {}
local ____gradient = require("resty.ax.core.gradient")
local limitInForce = ____gradient.limitInForce
local newGradient = ____gradient.newGradient
local observe = ____gradient.observe
local step = ____gradient.step
local wantsProbe = ____gradient.wantsProbe
local ____model = require("resty.ax.core.model")
local DEFAULT_CAPACITY = ____model.DEFAULT_CAPACITY
local ____values = require("resty.ax.core.values")
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
local round = ____values.round
local ____wire = require("resty.ax.core.wire")
local limitsKey = ____wire.limitsKey
--- So many nodes of a hundred may be measured at a time, at least one: the others carry the load meanwhile.
local MEASURED_PERCENT = 5
local function optionsOf(config, node)
    local given = config.adaptive_limit
    if given == nil then
        return nil
    end
    local max = node.max_conns > 0 and node.max_conns or (config.max_concurrency_per_node or DEFAULT_CAPACITY)
    return {
        min = math_min(given.min, max),
        max = max,
        probe = given.probe_limit,
        probe_interval_ms = given.probe_interval_s * 1000,
        tolerance = given.tolerance
    }
end
---
-- @returns undefined where the option is not set
function ____exports.newAdaptiveLimit(config, node, now_ms)
    local options = optionsOf(config, node)
    local ____temp_0
    if options == nil then
        ____temp_0 = nil
    else
        ____temp_0 = {
            options = options,
            gradient = newGradient(options, now_ms)
        }
    end
    return ____temp_0
end
--- A worker's report of the node.
function ____exports.noteDelta(limit, delta)
    observe(
        limit.gradient,
        delta.ok,
        delta.hist,
        delta.sum_ms,
        delta.err + delta.fail
    )
end
--- What the collector before this one had found out: else every reload would measure all nodes anew.
function ____exports.takeLimits(deps, upstream, now_ms)
    local ____temp_1
    if upstream.config.adaptive_limit == nil then
        ____temp_1 = nil
    else
        ____temp_1 = deps.store.get(limitsKey(upstream.config.name))
    end
    local text = ____temp_1
    if text == nil then
        return
    end
    local limits = asRecord(deps.decode(tostring(text)))
    if limits == nil then
        return
    end
    do
        local i = 0
        while i < #upstream.nodes do
            local adaptive = upstream.nodes[i + 1].adaptive
            local old = asRecord(limits[upstream.nodes[i + 1].config.id])
            local base_ms = asNumber(old and old.base_ms)
            if adaptive ~= nil and base_ms ~= nil then
                local gradient = adaptive.gradient
                local options = adaptive.options
                gradient.base_ms = base_ms
                gradient.limit = math_min(
                    options.max,
                    math_max(
                        options.min,
                        asNumber(old and old.operating) or options.max
                    )
                )
                local longest_ms = now_ms + options.probe_interval_ms
                gradient.probe_due_ms = math_min(
                    longest_ms,
                    asNumber(old and old.probe_due_ms) or longest_ms
                )
            end
            i = i + 1
        end
    end
end
--- Those that are being measured, and those that wait longest for it, up to the number allowed.
local function chooseMeasured(nodes, now_ms)
    local measured = 0
    local next
    do
        local i = 0
        while i < #nodes do
            do
                local ____opt_8 = nodes[i + 1].adaptive
                local gradient = ____opt_8 and ____opt_8.gradient
                if gradient == nil then
                    goto __continue14
                end
                if gradient.phase ~= 0 then
                    measured = measured + 1
                elseif nodes[i + 1].detail.in_flight > 0 and wantsProbe(gradient, now_ms) then
                    local ____opt_10 = next and next.adaptive
                    local due_ms = ____opt_10 and ____opt_10.gradient.probe_due_ms or math_huge
                    if gradient.probe_due_ms < due_ms then
                        next = nodes[i + 1]
                    end
                end
            end
            ::__continue14::
            i = i + 1
        end
    end
    local ____temp_14
    if measured < math_max(
        1,
        math_floor(#nodes * MEASURED_PERCENT / 100)
    ) then
        ____temp_14 = next
    else
        ____temp_14 = nil
    end
    return ____temp_14
end
local function nodeLimit(adaptive)
    local ____adaptive_15 = adaptive
    local gradient = ____adaptive_15.gradient
    local options = ____adaptive_15.options
    local limit = {
        limit = limitInForce(gradient, options),
        operating = round(gradient.limit, 10),
        probe_due_ms = gradient.probe_due_ms
    }
    if gradient.base_ms ~= nil then
        limit.base_ms = round(gradient.base_ms, 100)
    end
    if gradient.latency_ms ~= nil then
        limit.latency_ms = round(gradient.latency_ms, 100)
    end
    if gradient.phase ~= 0 then
        limit.measuring = true
    end
    return limit
end
--- Moves the limits of an upstream, and publishes them. Collector, each tick; does nothing where the option is not set.
function ____exports.adaptLimits(deps, upstream, now_ms)
    if upstream.config.adaptive_limit == nil then
        return
    end
    local nodes = upstream.nodes
    local next = chooseMeasured(nodes, now_ms)
    local limits = {}
    do
        local i = 0
        while i < #nodes do
            local adaptive = nodes[i + 1].adaptive
            if adaptive ~= nil then
                step(
                    adaptive.gradient,
                    adaptive.options,
                    nodes[i + 1].detail.in_flight,
                    nodes[i + 1] == next,
                    now_ms
                )
                limits[nodes[i + 1].config.id] = nodeLimit(adaptive)
            end
            i = i + 1
        end
    end
    local text = deps.encode(limits)
    local key = limitsKey(upstream.config.name)
    if text == nil or deps.store.get(key) == text then
        return
    end
    if not deps.store.set(key, text) then
        deps.onWarning("store_full", ("no room for " .. key) .. ": adaptive limits stay as they are")
    end
end
return ____exports
