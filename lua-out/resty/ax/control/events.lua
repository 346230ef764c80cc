local tonumber = tonumber
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
local ____show = require("resty.ax.core.config.show")
local quote = ____show.quote
local showValue = ____show.showValue
local ____suggest = require("resty.ax.core.config.suggest")
local suggest = ____suggest.suggest
local ____events = require("resty.ax.core.health.events")
local EVENTS_MAX = ____events.EVENTS_MAX
local ____events = require("resty.ax.observe.events")
local readEvents = ____events.readEvents
local ____errors = require("resty.ax.control.errors")
local apiError = ____errors.apiError
--- `pretty` is the document's, on every path.
local ARGUMENTS = {"node", "limit", "pretty"}
local function unknownArgument(args)
    local names = {}
    for name in pairs(args) do
        names[#names + 1] = name
    end
    table.sort(names)
    for ____, name in ipairs(names) do
        if not __TS__ArrayIncludes(ARGUMENTS, name) then
            local nearest = suggest(name, ARGUMENTS)
            local hint = nearest == nil and "" or ("; did you mean \"" .. nearest) .. "\"?"
            return apiError(
                "UnknownField",
                ((("there is no argument " .. quote(name)) .. hint) .. "; there are ") .. table.concat(ARGUMENTS, ", ")
            )
        end
    end
    return nil
end
local function readLimit(value)
    if value == nil then
        return EVENTS_MAX
    end
    local is_number = type(value) == "string" and (string.find(value, "^%d+$")) ~= nil
    local ____is_number_0
    if is_number then
        ____is_number_0 = tonumber(value)
    else
        ____is_number_0 = nil
    end
    local limit = ____is_number_0
    return limit ~= nil and limit >= 1 and limit <= EVENTS_MAX and limit or nil
end
---
-- @param isNode whether the configuration has a node of that id
-- @returns the document, or the error to answer with
function ____exports.showEvents(deps, upstream, isNode)
    local args = deps.args()
    local unknown = unknownArgument(args)
    if unknown ~= nil then
        return unknown
    end
    local limit = readLimit(args.limit)
    if limit == nil then
        local text = ((("\"limit\" is " .. showValue(args.limit)) .. "; a whole number from 1 to ") .. tostring(EVENTS_MAX)) .. " is needed"
        return apiError("BadValue", text)
    end
    local node = args.node
    if node ~= nil and (type(node) ~= "string" or node == "") then
        return apiError(
            "BadValue",
            ("\"node\" is " .. showValue(node)) .. "; the id of one node is needed"
        )
    end
    local body = readEvents(
        deps,
        upstream.name,
        limit,
        deps.now_ms,
        node
    )
    if node ~= nil and #body.events == 0 and not isNode(node) then
        return {unknown_node = node}
    end
    return {status = 200, body = body}
end
return ____exports
