local math_floor = math.floor
local math_huge = math.huge
local math_max = math.max
local math_min = math.min
local ____exports = {}
local ____classes = require("resty.ax.core.classes")
local DEFAULT_CLASSES = ____classes.DEFAULT_CLASSES
local ____priority = require("resty.ax.core.priority")
local LOWEST_PRIORITY = ____priority.LOWEST_PRIORITY
local priorityOf = ____priority.priorityOf
local ____line = require("resty.ax.dataplane.line")
local addLine = ____line.addLine
--- Less of the queue for each step down in priority: room for higher ones when lower ones have piled up.
local SHARE_STEP = 0.1
--- Most requests waiting in all when one of priority 1..5 comes.
local function sizesOf(size, shared)
    local sizes = {}
    for priority = 1, LOWEST_PRIORITY do
        local share = shared and 1 - (priority - 1) * SHARE_STEP or 1
        sizes[#sizes + 1] = math_max(
            1,
            math_floor(size * share + 0.5)
        )
    end
    return sizes
end
--- Most requests of priority 1..5 waiting.
local function classSizesOf(config, given)
    local sizes = {}
    do
        local k = 0
        while k < LOWEST_PRIORITY do
            sizes[k + 1] = math_huge
            k = k + 1
        end
    end
    for name, meaning in pairs(config.classes or DEFAULT_CLASSES) do
        local priority = priorityOf(meaning)
        local size = given[name]
        if priority ~= nil and size ~= nil then
            sizes[priority] = math_min(sizes[priority], size)
        end
    end
    return sizes
end
--- Gives the upstream a line of the length that its configuration asks for; none without a `queue`. init_worker phase.
function ____exports.setUpLine(hall, upstream)
    local config = upstream.config
    local queue = config.queue
    if queue == nil then
        return
    end
    local shared = config.class_source ~= nil and (next(queue.class_sizes)) == nil
    addLine(
        hall,
        upstream,
        sizesOf(queue.size, shared),
        classSizesOf(config, queue.class_sizes)
    )
end
return ____exports
