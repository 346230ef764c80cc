local math_floor = math.floor
local math_min = math.min
local ____exports = {}
local ____classes = require("resty.ax.core.classes")
local DEFAULT_CLASSES = ____classes.DEFAULT_CLASSES
local ____priority = require("resty.ax.core.priority")
local HIGHEST_PRIORITY = ____priority.HIGHEST_PRIORITY
local LOWEST_PRIORITY = ____priority.LOWEST_PRIORITY
local priorityOf = ____priority.priorityOf
--- Each class gets twice what the next lower one does.
local DEFAULT_WEIGHTS = {
    16,
    8,
    4,
    2,
    1
}
---
-- @returns by priority − 1, whether a class of that priority is among the names
function ____exports.prioritiesNamed(config, names)
    local named = {}
    do
        local k = 0
        while k < LOWEST_PRIORITY do
            named[k + 1] = false
            k = k + 1
        end
    end
    local classes = config.classes or DEFAULT_CLASSES
    do
        local i = 0
        while i < #names do
            local priority = priorityOf(classes[names[i + 1]])
            if priority ~= nil then
                named[priority] = true
            end
            i = i + 1
        end
    end
    return named
end
--- Without a list all but the highest are refused.
local function refusedBy(config, names)
    if names ~= nil then
        return ____exports.prioritiesNamed(config, names)
    end
    local refuse = {}
    do
        local k = 0
        while k < LOWEST_PRIORITY do
            refuse[k + 1] = k + 1 > HIGHEST_PRIORITY
            k = k + 1
        end
    end
    return refuse
end
local function weightsOf(config, given)
    local weights = {}
    do
        local k = 0
        while k < LOWEST_PRIORITY do
            weights[k + 1] = DEFAULT_WEIGHTS[k + 1]
            k = k + 1
        end
    end
    local classes = config.classes or DEFAULT_CLASSES
    for name in pairs(given) do
        local priority = priorityOf(classes[name])
        if priority ~= nil then
            weights[priority] = given[name]
        end
    end
    return weights
end
--- `max_conns` is never exceeded, an adaptive limit finds its own way, and where nobody has set a limit there is nothing
-- to exceed.
local function roomOf(config)
    if config.adaptive_limit ~= nil then
        return 0
    end
    local sum = 0
    do
        local i = 0
        while i < #config.nodes do
            local node = config.nodes[i + 1]
            if node.max_conns == 0 and not node.down then
                sum = sum + (config.max_concurrency_per_node or 0)
            end
            i = i + 1
        end
    end
    return config.max_concurrency == nil and sum or math_min(sum, config.max_concurrency)
end
function ____exports.drainPlan(config, queue)
    local ____queue_drain_0 = queue.drain
    local refuse = ____queue_drain_0.refuse
    local class_weights = ____queue_drain_0.class_weights
    local max_extra_ratio = ____queue_drain_0.max_extra_ratio
    return {
        refuse = refusedBy(config, refuse),
        weights = weightsOf(config, class_weights),
        max_extra = math_floor(roomOf(config) * max_extra_ratio)
    }
end
return ____exports
