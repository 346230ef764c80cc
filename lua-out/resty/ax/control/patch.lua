local math_floor = math.floor
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
local set, takeBack
local ____show = require("resty.ax.core.config.show")
local quote = ____show.quote
local showValue = ____show.showValue
local sortedKeys = ____show.sortedKeys
local isAbsent = ____show.isAbsent
local isTable = ____show.isTable
local shapeOf = ____show.shapeOf
local ____suggest = require("resty.ax.core.config.suggest")
local suggest = ____suggest.suggest
local ____errors = require("resty.ax.control.errors")
local apiError = ____errors.apiError
function set(change, kind)
    if change.kind ~= nil then
        return apiError("BadChange", "drain, maintenance and force cannot hold together: set one of them at a time")
    end
    change.kind = kind
    return nil
end
function takeBack(change, kinds)
    for ____, kind in ipairs(kinds) do
        local ____change_ends_2 = change.ends
        ____change_ends_2[#____change_ends_2 + 1] = kind
    end
    return nil
end
local FIELDS = {
    "drain",
    "maintenance",
    "force",
    "for_s",
    "why",
    "by"
}
--- A month: whoever means longer means "until I take it back".
local FOR_S_MAX = 30 * 86400
--- Bytes. Escaped for JSON, with everything else of a will, they fit in WILL_BYTES (control/wills.ts).
local WHY_MAX = 200
local BY_MAX = 64
local function bad(field, value, allowed)
    return apiError(
        "BadValue",
        (((("\"" .. field) .. "\" is ") .. showValue(value)) .. "; ") .. allowed
    )
end
local function unknownField(name)
    local nearest = suggest(name, FIELDS)
    local hint = nearest == nil and "" or ("; did you mean \"" .. nearest) .. "\"?"
    return apiError(
        "UnknownField",
        ((("there is no field " .. quote(name)) .. hint) .. "; the fields are ") .. table.concat(FIELDS, ", ")
    )
end
local function readText(fields, name, max)
    local value = fields[name]
    if value == nil or isAbsent(value) then
        return nil, nil
    end
    if type(value) ~= "string" then
        return nil, bad(name, value, "a string is needed")
    end
    if #value > max then
        return nil, apiError(
            "BadValue",
            ((((("\"" .. name) .. "\" has ") .. tostring(#value)) .. " bytes; at most ") .. tostring(max)) .. " are allowed"
        )
    end
    local control = string.find(value, "%c")
    if control ~= nil then
        return nil, bad(name, value, "only printable characters are allowed")
    end
    local ____temp_0
    if value == "" then
        ____temp_0 = nil
    else
        ____temp_0 = value
    end
    return ____temp_0, nil
end
--- drain or maintenance: true sets, false takes back.
local function readSwitch(fields, name, change)
    local value = fields[name]
    if value == nil then
        return nil
    end
    if type(value) ~= "boolean" then
        return bad(name, value, "true or false is needed")
    end
    local ____value_1
    if value then
        ____value_1 = set(change, name)
    else
        ____value_1 = takeBack(change, {name})
    end
    return ____value_1
end
local function readForce(fields, change)
    local value = fields.force
    if value == nil then
        return nil
    end
    if value == "up" then
        return set(change, "force_up")
    end
    if value == "down" then
        return set(change, "force_down")
    end
    if not isAbsent(value) then
        return bad("force", value, "\"up\", \"down\" or null is needed")
    end
    return takeBack(change, {"force_up", "force_down"})
end
local function readDuration(fields, change)
    local value = fields.for_s
    if value == nil or isAbsent(value) then
        return nil
    end
    local allowed = ("a number of seconds, more than 0 and at most " .. tostring(FOR_S_MAX)) .. ", is needed"
    if type(value) ~= "number" or not (value > 0 and value <= FOR_S_MAX) then
        return bad("for_s", value, allowed)
    end
    if change.kind == nil then
        return apiError("BadChange", "\"for_s\" says how long a drain, maintenance or force is to hold, but none is set")
    end
    change.for_s = value
    return nil
end
local function readWords(fields, change)
    local why, why_wrong = readText(fields, "why", WHY_MAX)
    if why_wrong ~= nil then
        return why_wrong
    end
    local by, by_wrong = readText(fields, "by", BY_MAX)
    change.why = why
    change.by = by
    return by_wrong
end
---
-- @param body decoded JSON
-- @returns the change, or the error to answer with
function ____exports.readChange(body)
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
    local change = {ends = {}}
    local wrong = readSwitch(body, "drain", change) or readSwitch(body, "maintenance", change) or readForce(body, change) or readDuration(body, change) or readWords(body, change)
    if wrong ~= nil then
        return nil, wrong
    end
    if change.kind == nil and #change.ends == 0 then
        return nil, apiError("BadChange", "nothing to change: one of drain, maintenance and force is needed")
    end
    return change, nil
end
---
-- @param before what holds now, if anything
-- @returns the will after the change; undefined = none. Made of the same change again, it is the same but for `until_ms`.
function ____exports.applyChange(before, change, now_ms)
    if change.kind == nil then
        local ____temp_3
        if before ~= nil and __TS__ArrayIncludes(change.ends, before.kind) then
            ____temp_3 = nil
        else
            ____temp_3 = before
        end
        return ____temp_3
    end
    local at_ms = (before and before.kind) == change.kind and before.at_ms or now_ms
    local will = {kind = change.kind, at_ms = at_ms}
    if change.for_s ~= nil then
        will.until_ms = now_ms + math_floor(change.for_s * 1000)
    end
    if change.why ~= nil then
        will.why = change.why
    end
    if change.by ~= nil then
        will.by = change.by
    end
    return will
end
return ____exports
