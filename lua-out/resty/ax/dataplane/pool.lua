local math_max = math.max
local ____exports = {}
local ____cost = require("resty.ax.core.cost")
local inverseOf = ____cost.inverseOf
local ____fraction = require("resty.ax.core.fraction")
local fraction = ____fraction.fraction
local ____model = require("resty.ax.core.model")
local DEFAULT_CAPACITY = ____model.DEFAULT_CAPACITY
--- What a node without any data is taken to answer in, ms, when no other node has data either.
____exports.COLD_LATENCY_MS = 5
--- A node before anything is known of it. Counts are whole numbers, all else has fractions (core/fraction.ts).
local function setNode(pool, node, config)
    local given = config.nodes[node + 1]
    pool.ids[node + 1] = given.id
    pool.weight[node + 1] = fraction(given.weight)
    pool.inverse_prior[node + 1] = inverseOf(given.weight)
    pool.static_weight[node + 1] = fraction(given.weight)
    pool.in_flight[node + 1] = 0
    pool.long_in_flight[node + 1] = 0
    pool.answered_start_ms[node + 1] = fraction(0)
    pool.others_in_flight[node + 1] = fraction(0)
    pool.oldest_start_ms[node + 1] = fraction(0)
    pool.latency_ms[node + 1] = fraction(____exports.COLD_LATENCY_MS)
    pool.peak_latency_ms[node + 1] = fraction(____exports.COLD_LATENCY_MS)
    pool.p99_ms[node + 1] = fraction(-1)
    pool.samples[node + 1] = 0
    pool.success[node + 1] = fraction(1)
    pool.last_pick_ms[node + 1] = fraction(0)
    pool.last_sample_ms[node + 1] = fraction(0)
    pool.max_conns[node + 1] = given.max_conns
    pool.capacity[node + 1] = given.max_conns > 0 and given.max_conns or (config.max_concurrency_per_node or DEFAULT_CAPACITY)
    pool.price[node + 1] = fraction(given.cost)
    pool.candidate_of[node + 1] = -1
end
--- One worker's view of an upstream before its first snapshot: base weights, no load, nothing measured.
function ____exports.newPool(config)
    local n = #config.nodes
    local pool = {
        name = config.name,
        n = n,
        ids = {},
        weight = {},
        inverse_prior = {},
        static_weight = {},
        in_flight = {},
        long_in_flight = {},
        answered_start_ms = {},
        others_in_flight = {},
        oldest_start_ms = {},
        latency_ms = {},
        peak_latency_ms = {},
        p99_ms = {},
        samples = {},
        success = {},
        last_pick_ms = {},
        last_sample_ms = {},
        max_conns = {},
        capacity = {},
        reports = {},
        price = {},
        resting_cost = {},
        silent_since_ms = {},
        silence_per_ms = {},
        load_rank = {},
        highest_prior = 1,
        candidates = {},
        candidate_count = 0,
        candidate_of = {},
        version = 0
    }
    do
        local node = 0
        while node < n do
            setNode(pool, node, config)
            node = node + 1
        end
    end
    return pool
end
--- nginx measures in whole milliseconds: below half of one, nothing is known but "fast".
function ____exports.floorLatency(latency_ms)
    local floored = math_max(latency_ms, 0.5)
    return floored
end
--- Never 0: a node that always fails must stay comparable, and be able to recover.
function ____exports.floorSuccess(success)
    local floored = math_max(success, 0.05)
    return floored
end
return ____exports
