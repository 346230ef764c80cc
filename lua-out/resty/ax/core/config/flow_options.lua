local math_ceil = math.ceil
local ____exports = {}
local ____rate_limit = require("resty.ax.core.rate_limit")
local BURSTS_A_SECOND_MOST = ____rate_limit.BURSTS_A_SECOND_MOST
local ____problems = require("resty.ax.core.config.problems")
local keyPath = ____problems.keyPath
local report = ____problems.report
local ____show = require("resty.ax.core.config.show")
local showNumber = ____show.showNumber
--- More requests in flight than any machine holds connections for.
local MAX_IN_FLIGHT = 1000000
--- Options of `adaptive_limit`; the fields of core/model.ts AdaptiveLimitConfig.
____exports.adaptiveLimitFields = {min = {
    kind = "number",
    integer = true,
    min = 1,
    max = MAX_IN_FLIGHT,
    default = 5,
    doc = "Least limit in operation, whatever the latency says.",
    reason = "few nodes work on fewer requests at a time, and a limit that is too low cannot find out that it is"
}, probe_limit = {
    kind = "number",
    integer = true,
    min = 1,
    max = MAX_IN_FLIGHT,
    default = 3,
    doc = "Limit of a node while its latency without load is measured; less than it works on at a time.",
    reason = "Envoy's: few enough not to wait for each other, enough for 50 answers in a short time"
}, probe_interval_s = {
    kind = "number",
    min = 1,
    max = 86400,
    default = 60,
    doc = "How often that is measured, one node at a time, where it has not been seen without load anyway. It takes as long as " .. "50 answers do with `probe_limit` in flight, 5 s at most.",
    reason = "Envoy's: about 1 % of the capacity at 20 ms, and a base that is no older than a minute"
}, tolerance = {
    kind = "number",
    min = 1,
    max = 10,
    default = 1.25,
    doc = "How many times the latency without load a node's median may be before its limit is lowered.",
    reason = "Envoy's buffer of 25 %; less takes chance for a queue"
}}
--- Options of `lua_keepalive`; the fields of core/model.ts LuaKeepaliveConfig.
____exports.luaKeepaliveFields = {idle_timeout_s = {
    kind = "number",
    min = 0,
    max = 86400,
    default = 60,
    doc = "How long an idle connection is kept; 0 = until the node closes it.",
    reason = "nginx's own keepalive_timeout"
}, max_requests = {
    kind = "number",
    integer = true,
    min = 0,
    max = 1000000000,
    default = 1000,
    doc = "Requests after which a connection is closed; 0 = any number.",
    reason = "nginx's own keepalive_requests"
}}
--- Options of one upstream that bound what it is given to do (docs/limits.md).
____exports.flowFields = {
    max_concurrency_per_node = {
        kind = "number",
        integer = true,
        min = 1,
        max = MAX_IN_FLIGHT,
        doc = (("Most requests in flight to a node without `max_conns`, over all workers; exact. A node that has so many is left out " .. "([limits.md](limits.md)); past 90 % of it the score falls. Without it a node that has 500 is left ") .. "out while another one has fewer, and no request is refused: a limit that nobody chose must not fail what nginx ") .. "alone would have served."
    },
    adaptive_limit = {
        kind = "object",
        optional = true,
        fields = ____exports.adaptiveLimitFields,
        expected = "a map of options, {} for the defaults,",
        doc = ("Finds out how many requests each node works on at a time, and keeps it from having more in flight, see below and " .. "[limits.md](limits.md#adaptive-limits). Set a `queue` too: while a limit is low, requests wait there. ") .. "`max_concurrency_per_node`, or `max_conns`, stays the most; without either it is 500."
    },
    max_overflow_ratio = {
        kind = "number",
        min = 0,
        max = 1,
        default = 0.1,
        doc = "How far a node may exceed `max_concurrency_per_node` once all nodes have reached it: 0.1 = by a tenth. With a `queue`, " .. "only requests that cannot wait do so: retries, and those without `access()`. `max_conns` is never exceeded.",
        reason = "a short peak over the whole upstream passes; a pile-up does not"
    },
    overload_cool_down_s = {
        kind = "number",
        min = 0,
        max = 3600,
        default = 30,
        doc = "How long a node that has used up its overflow too is left out while others have room; 0 = not.",
        reason = "it has time to work off what it was given; when all are overloaded, none is left out"
    },
    max_concurrency = {
        kind = "number",
        integer = true,
        min = 1,
        max = MAX_IN_FLIGHT,
        doc = "Most requests in flight to the upstream as a whole, over all workers; exact. Without it only the nodes' limits hold."
    },
    lua_keepalive = {
        kind = "object",
        optional = true,
        fields = ____exports.luaKeepaliveFields,
        expected = "a map of options, {} for the defaults,",
        doc = ("Keeps idle connections to the nodes by `balancer.enable_keepalive` (lua-resty-core 0.1.29), see below and " .. "[limits.md](limits.md#connections): a pool of 30 for each node and worker, instead of the block's `keepalive`, which ") .. "must then not be there. Where nginx has no such function the option has no effect, and the error log says so."
    },
    retry_ratio = {kind = "number", min = 0, max = 100, doc = (("Retry budget: retries allowed for each request of the last ten seconds; 0.2 = one for five requests. Beyond it, and " .. "beyond `retry_min_per_s`, a failed try is answered with nginx's 502 instead of being retried. Without it the budget is ") .. "0.2, and binds only while more than a hundred tries fail for each one that is answered: with every node dead, each request would ") .. "be tried at each node; as long as they answer, a retry may serve a request that nginx alone would have served."},
    retry_min_per_s = {
        kind = "number",
        min = 0,
        max = 100000,
        default = 3,
        doc = "Retries a second that are allowed in any case, over all workers, so that little traffic is not left without; each " .. "worker may make one in ten seconds however many they are.",
        reason = "too few to hurt, enough for a node that dies while next to nothing is going on"
    },
    retry_deadline_ms = {
        kind = "number",
        integer = true,
        min = 0,
        max = 3600000,
        default = 0,
        doc = "A request older than this is not tried again; counted from its first try. 0 = no such limit.",
        reason = "nginx's proxy_next_upstream_timeout is what the user wrote"
    }
}
local BURST_MOST = 10000000
--- Options of the whole gateway.
____exports.gatewayFlowFields = {global_qps_limit = {kind = "number", min = 1, max = 10000000, doc = "Most requests a second that `access()` lets through, over all upstreams and workers ([limits.md](limits.md)); over it: " .. "503 at the door. Without it there is no such limit."}, global_qps_burst = {
    kind = "number",
    integer = true,
    min = 2,
    max = BURST_MOST,
    doc = "Requests that may come at once under `global_qps_limit`, after a pause; at least what comes in 5 ms at that rate. " .. "Without it a tenth of the limit, at least 2."
}}
--- A burst that is small against the rate would let a small part of the rate through. Parameters as of ObjectCheck.
function ____exports.checkGatewayFlow(record, _raw, path, problems)
    local rate = record.global_qps_limit
    local burst = record.global_qps_burst
    if rate == nil or burst == nil then
        return
    end
    local least = math_ceil(rate / BURSTS_A_SECOND_MOST)
    if burst >= least then
        return
    end
    report(
        problems,
        keyPath(path, "global_qps_burst"),
        (((showNumber(burst) .. " is too small for global_qps_limit, which is ") .. showNumber(rate)) .. "; ") .. ((("a whole number " .. showNumber(least)) .. "..") .. showNumber(BURST_MOST)) .. " is needed"
    )
end
--- The least limit must not be more than the most. Parameters as of ObjectCheck.
function ____exports.checkAdaptiveLimit(record, path, problems)
    local adaptive = record.adaptive_limit
    local min = adaptive and adaptive.min
    local max = record.max_concurrency_per_node
    if min == nil or max == nil or min <= max then
        return
    end
    report(
        problems,
        keyPath(
            keyPath(path, "adaptive_limit"),
            "min"
        ),
        ((showNumber(min) .. " is more than max_concurrency_per_node, which is ") .. showNumber(max)) .. "; at most that is needed"
    )
end
return ____exports
