local math_floor = math.floor
local math_min = math.min
local math_sqrt = math.sqrt
-- Lua Library inline imports
local function __TS__ArraySort(self, compareFn)
    if compareFn ~= nil then
        table.sort(
            self,
            function(a, b) return compareFn(nil, a, b) < 0 end
        )
    else
        table.sort(self)
    end
    return self
end
-- End of Lua Library inline imports
local ____exports = {}
local ____cost = require("resty.ax.core.cost")
local inverseOf = ____cost.inverseOf
local ____fraction = require("resty.ax.core.fraction")
local fraction = ____fraction.fraction
local ____states = require("resty.ax.core.health.states")
local isUsableState = ____states.isUsable
local ____candidates = require("resty.ax.dataplane.candidates")
local rebuildCandidates = ____candidates.rebuildCandidates
local ____pool = require("resty.ax.dataplane.pool")
local COLD_LATENCY_MS = ____pool.COLD_LATENCY_MS
local floorLatency = ____pool.floorLatency
local floorSuccess = ____pool.floorSuccess
--- Own samples older than this yield to the snapshot's: the other workers know better by then.
local OWN_SAMPLE_FRESH_MS = 3000
--- What a snapshot says of trials and of the limits of ramps.
local function takeLimits(upstream, node, given)
    local trial = given.trial or 0
    if trial ~= upstream.trials.granted[node + 1] then
        upstream.trials.granted[node + 1] = trial
        upstream.trials.open[node + 1] = trial > 0
    end
    if upstream.trials.open[node + 1] then
        local ____upstream_trials_0, ____open_count_1 = upstream.trials, "open_count"
        ____upstream_trials_0[____open_count_1] = ____upstream_trials_0[____open_count_1] + 1
    end
    upstream.ramp_limit[node + 1] = given.ramp_limit or 0
    if upstream.ramp_limit[node + 1] > 0 then
        upstream.ramps_limited = true
    end
end
local function medianLatency(snapshot)
    local known = {}
    for ____, node in pairs(snapshot.nodes) do
        if node.latency_ms ~= nil then
            known[#known + 1] = node.latency_ms
        end
    end
    if #known == 0 then
        return COLD_LATENCY_MS
    end
    __TS__ArraySort(
        known,
        function(____, a, b) return a - b end
    )
    return known[math_floor(#known / 2) + 1]
end
--- Takes over a snapshot: states and weights always, measurements where this worker has no fresh ones of its own.
function ____exports.applySnapshot(upstream, snapshot, now_ms)
    local pool = upstream.pool
    local median_ms = medianLatency(snapshot)
    upstream.ruled_panic = snapshot.panic == true
    upstream.trials.open_count = 0
    upstream.ramps_limited = false
    do
        local node = 0
        while node < pool.n do
            local given = snapshot.nodes[pool.ids[node + 1]]
            if given ~= nil then
                local was_out = not isUsableState(upstream.state[node + 1]) and isUsableState(given.state)
                local is_back = was_out or upstream.state[node + 1] ~= given.state and given.state == "ramping"
                takeLimits(upstream, node, given)
                if is_back then
                    upstream.counters.streak[node + 1] = 0
                end
                upstream.state[node + 1] = upstream.config.nodes[node + 1].down and "offline" or given.state
                pool.weight[node + 1] = fraction(given.weight)
                pool.static_weight[node + 1] = fraction(given.static_weight)
                pool.inverse_prior[node + 1] = inverseOf(math_sqrt(given.weight * given.static_weight))
                pool.p99_ms[node + 1] = fraction(given.judged_p99_ms or -1)
                if is_back or now_ms - pool.last_sample_ms[node + 1] > OWN_SAMPLE_FRESH_MS then
                    pool.latency_ms[node + 1] = floorLatency(given.latency_ms or median_ms)
                    pool.peak_latency_ms[node + 1] = pool.latency_ms[node + 1]
                    pool.samples[node + 1] = given.samples or 0
                    local success = is_back and given.success or math_min(given.success, pool.success[node + 1])
                    pool.success[node + 1] = floorSuccess(success)
                end
            end
            node = node + 1
        end
    end
    rebuildCandidates(upstream)
end
return ____exports
