local ____exports = {}
local ____flow_options = require("resty.ax.core.config.flow_options")
local checkAdaptiveLimit = ____flow_options.checkAdaptiveLimit
local ____hash_key = require("resty.ax.core.config.hash_key")
local checkHashKey = ____hash_key.checkHashKey
local ____nodes = require("resty.ax.core.config.nodes")
local checkNodes = ____nodes.checkNodes
local ____placement_options = require("resty.ax.core.config.placement_options")
local checkClasses = ____placement_options.checkClasses
local ____problems = require("resty.ax.core.config.problems")
local keyPath = ____problems.keyPath
local report = ____problems.report
local ____queue_options = require("resty.ax.core.config.queue_options")
local checkQueue = ____queue_options.checkQueue
local ____show = require("resty.ax.core.config.show")
local isAbsent = ____show.isAbsent
local showNumber = ____show.showNumber
local ____validate = require("resty.ax.core.config.validate")
local validate = ____validate.validate
--- The long window must hold the short one at least so many times, or it smooths nothing.
____exports.MIN_WINDOW_RATIO = 2
--- The value as messages show it: a default is called one, for the user did not write it.
local function shown(key, value, raw)
    return showNumber(value) .. (isAbsent(raw[key]) and " (the default)" or "")
end
local function checkWindows(record, raw, path, problems)
    local short_s = record.window_short_s
    local long_s = record.window_long_s
    if short_s == nil or long_s == nil or long_s >= ____exports.MIN_WINDOW_RATIO * short_s then
        return
    end
    local least = showNumber(____exports.MIN_WINDOW_RATIO * short_s)
    report(
        problems,
        keyPath(path, "window_long_s"),
        (((shown("window_long_s", long_s, raw) .. " is less than ") .. tostring(____exports.MIN_WINDOW_RATIO)) .. " times window_short_s, ") .. ((("which is " .. shown("window_short_s", short_s, raw)) .. "; at least ") .. least) .. " s is needed"
    )
end
local function checkErrorRates(record, raw, path, problems)
    local from = record.error_penalty_from
    local eject = record.eject_error_rate
    if from == nil or eject == nil or eject > from then
        return
    end
    report(
        problems,
        keyPath(path, "eject_error_rate"),
        (shown("eject_error_rate", eject, raw) .. " is not more than error_penalty_from, ") .. ("which is " .. shown("error_penalty_from", from, raw)) .. "; more is needed"
    )
end
local function checkCoolDown(record, raw, path, problems)
    local first_s = record.cool_down_s
    local max_s = record.cool_down_max_s
    if first_s == nil or max_s == nil or max_s >= first_s then
        return
    end
    report(
        problems,
        keyPath(path, "cool_down_max_s"),
        (shown("cool_down_max_s", max_s, raw) .. " is less than cool_down_s, ") .. ((("which is " .. shown("cool_down_s", first_s, raw)) .. "; at least ") .. showNumber(first_s)) .. " s is needed"
    )
end
--- Checks one upstream as a whole, and validates the strategy's options, filling in their defaults.
-- Rules about a field that has a problem already are left out. Parameters as of ObjectCheck.
-- 
-- @param strategies options of every built-in strategy, by its name
function ____exports.checkUpstream(strategies, record, raw, path, problems)
    checkWindows(record, raw, path, problems)
    checkErrorRates(record, raw, path, problems)
    checkCoolDown(record, raw, path, problems)
    checkClasses(record, raw, path, problems)
    checkQueue(record, path, problems)
    checkAdaptiveLimit(record, path, problems)
    checkHashKey(record, path, problems)
    local strategy = record.strategy
    local ____temp_0
    if strategy == nil then
        ____temp_0 = nil
    else
        ____temp_0 = strategies[strategy]
    end
    local fields = ____temp_0
    local options = record.strategy_options
    if isAbsent(raw.strategy_module) and fields ~= nil and options ~= nil then
        record.strategy_options = validate(
            options,
            fields,
            keyPath(path, "strategy_options"),
            problems
        )
    end
    local nodes = record.nodes
    if nodes ~= nil then
        checkNodes(
            nodes,
            keyPath(path, "nodes"),
            problems
        )
    end
end
return ____exports
