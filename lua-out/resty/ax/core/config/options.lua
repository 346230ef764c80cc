-- Lua Library inline imports
local function __TS__ObjectAssign(target, ...)
    local sources = {...}
    for i = 1, #sources do
        local source = sources[i]
        if type(source) == "table" then
            for key in pairs(source) do
                target[key] = source[key]
            end
        end
    end
    return target
end
-- End of Lua Library inline imports
local ____exports = {}
local ____flow_options = require("resty.ax.core.config.flow_options")
local gatewayFlowFields = ____flow_options.gatewayFlowFields
local ____rules = require("resty.ax.core.config.rules")
local checkUpstream = ____rules.checkUpstream
local ____texts = require("resty.ax.core.config.texts")
local checkName = ____texts.checkName
local checkNotEmpty = ____texts.checkNotEmpty
local ____upstream_options = require("resty.ax.core.config.upstream_options")
local upstreamFields = ____upstream_options.upstreamFields
--- Options of the whole gateway.
local gatewayFields = {
    shared_dict = {
        kind = "string",
        check = checkName,
        default = "ax",
        doc = "Name of the `lua_shared_dict` that the workers share.",
        reason = "the name in the shipped configuration"
    },
    nginx_conf = {kind = "string", check = checkNotEmpty, doc = "Path of nginx.conf, to read `server` lines from. Needed only where it cannot be found from the running process."},
    tune_jit = {kind = "boolean", default = true, doc = ("Whether `init()` lets LuaJIT compile longer traces, for all Lua of this nginx: with what OpenResty's LuaJIT has by " .. "default (`maxtrace=8000`, `maxrecord=16000`, `maxmcode=40960`) where it is another, and `maxirconst=1000`. Limits ") .. "of your own (`jit.opt.start`) hold when they are set after `init()`.", reason = "with LuaJIT's own limits, half of a pick is interpreted"},
    flush_interval_ms = {
        kind = "number",
        integer = true,
        min = 20,
        max = 500,
        default = 100,
        doc = "How often a worker publishes its counters and takes in the other workers' requests in flight.",
        reason = "counts 0.1 s old still show a pile-up early; the write costs microseconds"
    },
    collector_interval_ms = {
        kind = "number",
        integer = true,
        min = 100,
        max = 5000,
        default = 500,
        doc = "How often the collecting worker computes scores, weights and states.",
        reason = "ten looks in a short window; steps of the weight are rate limited besides"
    }
}
---
-- @param strategies options of every built-in strategy, by its name
-- @returns the schema of the whole configuration
function ____exports.configFields(strategies)
    return __TS__ObjectAssign(
        {upstreams = {
            kind = "map",
            required = true,
            non_empty = true,
            key_doc = "name",
            key_check = checkName,
            expected = "a map of upstream names to their options, { backend = {} },",
            of = {
                kind = "object",
                fields = upstreamFields(strategies),
                check = function(record, raw, path, problems) return checkUpstream(
                    strategies,
                    record,
                    raw,
                    path,
                    problems
                ) end,
                expected = "a map of options, {} for the defaults,",
                doc = "One upstream."
            },
            doc = "The upstreams to schedule, by the name of their nginx `upstream` block. At least one."
        }},
        gatewayFields,
        gatewayFlowFields
    )
end
return ____exports
