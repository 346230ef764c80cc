-- Lua Library inline imports
local function __TS__ObjectKeys(obj)
    local result = {}
    local len = 0
    for key in pairs(obj) do
        len = len + 1
        result[len] = key
    end
    return result
end

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

local function __TS__ArrayPush(self, ...)
    local items = {...}
    local len = #self
    for i = 1, #items do
        len = len + 1
        self[len] = items[i]
    end
    return len
end
-- End of Lua Library inline imports
local ____exports = {}
local ____states = require("resty.ax.core.health.states")
local STATES = ____states.STATES
--- In rotation, and not on a ramp.
local SERVING = {"online", "degraded", "suspect"}
local IN_ROTATION = {"online", "degraded", "suspect", "ramping"}
local TAKEN = {"draining", "offline", "maintenance"}
local ANY = __TS__ObjectKeys(STATES)
--- Every move there is, besides a node's first state (online when the gateway starts; pending or ramping when it is new to
-- a running one). docs/health.md shows this table, and specs hold the machine to it.
____exports.TRANSITIONS = {
    {from = ANY, when = "`down` in the configuration, or forced down", to = "offline", lasts = ""},
    {from = ANY, when = "maintenance", to = "maintenance", lasts = ""},
    {from = ANY, when = "drain", to = "draining", lasts = "at least 2 s: until every worker has heard of it"},
    {from = {"draining", "maintenance"}, when = "drain, with nothing in flight any more", to = "offline", lasts = ""},
    {from = ANY, when = "forced up", to = "online", lasts = "as the operator said; nothing throws it out"},
    {from = TAKEN, when = "given back", to = "ramping", lasts = "`ramp_s`"},
    {from = TAKEN, when = "given back, and `ramp_s` is 0", to = "online", lasts = ""},
    {from = {"pending"}, when = "probes pass, or no verdict in 60 s", to = "ramping", lasts = "`slow_start_s` + `ramp_s`"},
    {from = {"pending"}, when = "the same, and both are 0", to = "online", lasts = ""},
    {from = SERVING, when = "3 failures in a row of any kind", to = "suspect", lasts = "at least `window_short_s`"},
    {from = SERVING, when = "error rate over `eject_error_rate`", to = "suspect", lasts = ""},
    {from = SERVING, when = "no answer to what it has, far longer than usual", to = "suspect", lasts = "until it answers"},
    {from = SERVING, when = "it would be ejected, but the pool cannot spare it", to = "suspect", lasts = ""},
    {from = SERVING, when = "429, or 503 with Retry-After", to = "degraded", lasts = "Retry-After, at most 30 s"},
    {from = SERVING, when = "slow probes in a row", to = "degraded", lasts = "until a usual one"},
    {from = SERVING, when = "3 reports in a row with its answers of over 85 % busy (`orca`)", to = "degraded", lasts = "until one under 80 %, or none for 10 s"},
    {from = SERVING, when = "P99 over 3 × the typical node's", to = "degraded", lasts = "until under 2 ×"},
    {from = SERVING, when = "none of this any more", to = "online", lasts = ""},
    {from = IN_ROTATION, when = "`max_fails` connection failures in a row", to = "ejected", lasts = "`fail_timeout` · 2ⁿ⁻¹"},
    {from = {"suspect"}, when = "connection failures, and no answer for `window_short_s`", to = "ejected", lasts = "`fail_timeout` · 2ⁿ⁻¹"},
    {from = {"ramping"}, when = "the first try since its return does not connect", to = "ejected", lasts = "`fail_timeout` · 2ⁿ⁻¹"},
    {from = IN_ROTATION, when = "error rate over `eject_error_rate` for `eject_error_rate_for_s`", to = "ejected", lasts = "`cool_down_s` · 2ⁿ⁻¹"},
    {from = {"suspect"}, when = "3 failures in a row or more, and nothing else for `eject_error_rate_for_s`", to = "ejected", lasts = "`cool_down_s` · 2ⁿ⁻¹"},
    {from = IN_ROTATION, when = "no answer to 2 requests or more for `eject_error_rate_for_s`, nor to a trial", to = "ejected", lasts = "`cool_down_s` · 2ⁿ⁻¹"},
    {from = IN_ROTATION, when = "its probes fail", to = "ejected", lasts = "until they pass"},
    {from = IN_ROTATION, when = "two nodes of its host are out (`eject_host`)", to = "ejected", lasts = "`cool_down_s` · 2ⁿ⁻¹"},
    {from = {"ejected"}, when = "the cool-down is over", to = "probing", lasts = ""},
    {from = {"ejected"}, when = "its probes pass again", to = "ramping", lasts = "`ramp_s`"},
    {from = {"ejected"}, when = "the cool-down is over, without `return_trial`", to = "ramping", lasts = "`ramp_s`"},
    {from = {"ejected", "probing"}, when = "every node is out, and this one is the next", to = "ramping", lasts = "`ramp_s`"},
    {from = {"ejected", "probing"}, when = "in panic, and it answers", to = "online", lasts = ""},
    {from = {"probing"}, when = "the trial passes", to = "ramping", lasts = "`ramp_s`"},
    {from = {"probing"}, when = "the trial fails, or has no answer in 10 s", to = "ejected", lasts = "as before, · 2"},
    {from = {"ejected", "probing"}, when = "any of these, and `ramp_s` is 0", to = "online", lasts = ""},
    {from = {"ramping"}, when = "the ramp is over", to = "online", lasts = ""},
    {from = {"ramping"}, when = "the ramp is over, and it fails or is slow", to = "suspect", lasts = ""},
    {from = {"ramping"}, when = "the ramp is over, and it is slow", to = "degraded", lasts = ""}
}
---
-- @returns whether the table has a line from one state to the other
function ____exports.isTransition(from, to)
    do
        local i = 0
        while i < #____exports.TRANSITIONS do
            if ____exports.TRANSITIONS[i + 1].to == to and __TS__ArrayIncludes(____exports.TRANSITIONS[i + 1].from, from) then
                return true
            end
            i = i + 1
        end
    end
    return false
end
local function fromText(from)
    if from == ANY then
        return "any"
    end
    return table.concat(from, ", ")
end
---
-- @returns the two tables of docs/health.md, as Markdown
function ____exports.healthTables()
    local lines = {"| state | new requests | what it is | what ends it |", "|---|---|---|---|"}
    do
        local i = 0
        while i < #ANY do
            local facts = STATES[ANY[i + 1]]
            lines[#lines + 1] = ((((((("| " .. ANY[i + 1]) .. " | ") .. (facts.usable and "yes" or "no")) .. " | ") .. facts.what) .. " | ") .. facts.ends) .. " |"
            i = i + 1
        end
    end
    __TS__ArrayPush(lines, "", "| from | when | to | for |", "|---|---|---|---|")
    do
        local i = 0
        while i < #____exports.TRANSITIONS do
            local line = ____exports.TRANSITIONS[i + 1]
            lines[#lines + 1] = ((((((("| " .. fromText(line.from)) .. " | ") .. line.when) .. " | ") .. line.to) .. " | ") .. line.lasts) .. " |"
            i = i + 1
        end
    end
    return table.concat(lines, "\n")
end
return ____exports
