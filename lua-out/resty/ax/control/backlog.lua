-- Lua Library inline imports
local function __TS__ArrayIncludes(self, searchElement, fromIndex)
    if fromIndex == nil then
        fromIndex = 0
    end
    local len = #self
    local k = fromIndex
    if fromIndex < 0 then
        k = len + fromIndex
    end
    if k < 0 then
        k = 0
    end
    for i = k + 1, len do
        if self[i] == searchElement then
            return true
        end
    end
    return false
end
-- End of Lua Library inline imports
local ____exports = {}
local ____classes = require("resty.ax.core.classes")
local DEFAULT_CLASSES = ____classes.DEFAULT_CLASSES
local ____describe = require("resty.ax.core.config.describe")
local quotedList = ____describe.quotedList
local ____show = require("resty.ax.core.config.show")
local isAbsent = ____show.isAbsent
local isTable = ____show.isTable
local quote = ____show.quote
local shapeOf = ____show.shapeOf
local showValue = ____show.showValue
local sortedKeys = ____show.sortedKeys
local ____suggest = require("resty.ax.core.config.suggest")
local suggest = ____suggest.suggest
local ____drain_plan = require("resty.ax.core.drain_plan")
local prioritiesNamed = ____drain_plan.prioritiesNamed
local ____values = require("resty.ax.core.values")
local padded = ____values.padded
local ____wire = require("resty.ax.core.wire")
local backlogKey = ____wire.backlogKey
local ____errors = require("resty.ax.control.errors")
local apiError = ____errors.apiError
local FIELDS = {"drain_backlog", "refuse"}
--- One length for all wishes, for the reason given with wills (wills.ts).
local WISH_BYTES = 128
local function unknownField(name)
    local nearest = suggest(name, FIELDS)
    local hint = nearest == nil and "" or ("; did you mean \"" .. nearest) .. "\"?"
    return apiError(
        "UnknownField",
        ((("there is no field " .. quote(name)) .. hint) .. "; the fields are ") .. table.concat(FIELDS, ", ")
    )
end
local function readRefuse(config, value)
    local known = sortedKeys(config.classes or DEFAULT_CLASSES)
    local need = "a list of classes is needed, of " .. quotedList(known)
    local kind = isTable(value) and shapeOf(value).kind or "none"
    if kind ~= "list" and kind ~= "empty" then
        return nil, apiError(
            "BadValue",
            (("\"refuse\" is " .. showValue(value)) .. "; ") .. need
        )
    end
    local names = value
    for ____, name in ipairs(names) do
        if type(name) ~= "string" or not __TS__ArrayIncludes(known, name) then
            return nil, apiError(
                "BadValue",
                (("\"refuse\" has " .. showValue(name)) .. ", which is no class here; ") .. need
            )
        end
    end
    return prioritiesNamed(config, names), nil
end
---
-- @param body decoded JSON
-- @returns the change, or the error to answer with
function ____exports.readBacklogChange(config, body)
    local kind = isTable(body) and shapeOf(body).kind or "none"
    if not isTable(body) or kind ~= "map" and kind ~= "empty" then
        return nil, apiError(
            "BodyNotJson",
            ("the body is " .. showValue(body)) .. "; a JSON object is needed"
        )
    end
    for ____, name in ipairs(sortedKeys(body)) do
        if not __TS__ArrayIncludes(FIELDS, name) then
            return nil, unknownField(name)
        end
    end
    local on = body.drain_backlog
    if on == nil or isAbsent(on) then
        return nil, apiError("BadChange", "nothing to change: drain_backlog is needed")
    end
    if type(on) ~= "boolean" then
        return nil, apiError(
            "BadValue",
            ("\"drain_backlog\" is " .. showValue(on)) .. "; true or false is needed"
        )
    end
    if config.queue == nil then
        return nil, apiError("BadChange", ("upstream \"" .. config.name) .. "\" has no queue: there is no backlog to drain")
    end
    local given = body.refuse
    if given == nil or isAbsent(given) then
        return {on = on}, nil
    end
    if not on then
        return nil, apiError("BadChange", "\"refuse\" says whom a drain refuses, but none is begun")
    end
    local refuse, wrong = readRefuse(config, given)
    local ____temp_0
    if refuse == nil then
        ____temp_0 = nil
    else
        ____temp_0 = {on = on, refuse = refuse}
    end
    return ____temp_0, wrong
end
--- Tells the collector, which acts at its next tick.
-- 
-- @returns false when the store is full; nothing has changed then
function ____exports.writeBacklog(deps, upstream, change)
    local text = deps.encode(change)
    return text ~= nil and deps.store.set(
        backlogKey(upstream),
        padded(text, WISH_BYTES)
    )
end
return ____exports
