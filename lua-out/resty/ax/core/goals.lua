local ____exports = {}
--- Nothing but "full": for goals that take load into the score.
local NO_CEILING = 1
--- Dear nodes start before the cheap ones have queues: waiting would cost more than the node.
local COST_CEILING = 0.8
--- The ceiling people run servers at: room for a burst, and for the share of a node that fails.
local STABILITY_CEILING = 0.7
local function part(name, weight, normaliser)
    return {name = name, weight = weight, normaliser = normaliser}
end
--- Goals by the name used in the configuration. Weights: the signal the goal is named for has 0.6 to 0.7.
____exports.GOALS = {
    latency = {
        doc = "low mean latency",
        signals = {
            part("latency", 0.7, "percentile"),
            part("in_flight", 0.3, "percentile")
        },
        ceiling = NO_CEILING,
        by_cost = false
    },
    p99 = {
        doc = "low tail latency",
        signals = {
            part("p99", 0.7, "percentile"),
            part("in_flight", 0.3, "percentile")
        },
        ceiling = NO_CEILING,
        by_cost = false
    },
    throughput = {
        doc = "most answers: every node in use, by its room and by what it gets done",
        signals = {
            part("in_flight", 0.6, "percentile"),
            part("success", 0.2, "share"),
            part("latency", 0.2, "p95")
        },
        ceiling = NO_CEILING,
        by_cost = false
    },
    cost = {
        doc = "cheap nodes first, dear ones as overflow",
        signals = {
            part("in_flight", 0.6, "percentile"),
            part("latency", 0.4, "percentile")
        },
        ceiling = COST_CEILING,
        by_cost = true
    },
    resource = {
        doc = "nodes with resources left: 1 − (0.5 · cpu + 0.3 · response time + 0.2 · connections)",
        signals = {
            part("cpu", 0.5, "share"),
            part("latency", 0.3, "p95"),
            part("load", 0.2, "share")
        },
        ceiling = NO_CEILING,
        by_cost = false
    },
    stability = {
        doc = "no node over a load ceiling, few errors",
        signals = {
            part("load", 0.6, "share"),
            part("success", 0.2, "share"),
            part("p99", 0.2, "zscore")
        },
        ceiling = STABILITY_CEILING,
        by_cost = false
    }
}
return ____exports
