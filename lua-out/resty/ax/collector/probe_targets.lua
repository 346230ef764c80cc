local math_floor = math.floor
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
local ____http = require("resty.ax.core.probe.http")
local planHttp = ____http.planHttp
local ____record = require("resty.ax.core.probe.record")
local restoreProbe = ____record.restoreProbe
local ____results = require("resty.ax.core.probe.results")
local newNodeProbe = ____results.newNodeProbe
local ____rounds = require("resty.ax.core.probe.rounds")
local newRound = ____rounds.newRound
local offsetPlaceMs = ____rounds.offsetPlaceMs
local placeMs = ____rounds.placeMs
local ____tally = require("resty.ax.core.probe.tally")
local newTally = ____tally.newTally
local function newLine()
    return {targets = {}, kinds = {}, first = 0}
end
function ____exports.isEmpty(line)
    return line.first >= #line.targets
end
function ____exports.push(line, target, kind)
    line.targets[#line.targets + 1] = target
    line.kinds[#line.kinds + 1] = kind
end
--- Forgets what is gone once it is more than what is left.
function ____exports.compact(line)
    if line.first < 64 or line.first * 2 < #line.targets then
        return
    end
    local left = #line.targets - line.first
    local targets = {}
    local kinds = {}
    do
        local i = 0
        while i < left do
            targets[i + 1] = line.targets[line.first + i + 1]
            kinds[i + 1] = line.kinds[line.first + i + 1]
            i = i + 1
        end
    end
    line.targets = targets
    line.kinds = kinds
    line.first = 0
end
--- The two kinds of rounds of an upstream. Places by upstream and node: a node of two upstreams is checked apart.
local function planRounds(upstream, now_ms)
    local ____upstream_0 = upstream
    local config = ____upstream_0.config
    local targets = ____upstream_0.targets
    local tcp_ms = math_floor(config.tcp_interval_s * 1000 + 0.5)
    local tcp_places = {}
    local http_places = {}
    local http_ms = config.http == nil and 0 or math_floor(config.http.interval_s * 1000 + 0.5)
    do
        local i = 0
        while i < #targets do
            local name = (upstream.name .. "\n") .. targets[i + 1].node.id
            if tcp_ms > 0 then
                tcp_places[i + 1] = placeMs(name, tcp_ms)
            end
            if http_ms > 0 then
                http_places[i + 1] = tcp_ms > 0 and offsetPlaceMs(name, tcp_ms, http_ms) or placeMs(name, http_ms)
            end
            i = i + 1
        end
    end
    if tcp_ms > 0 then
        upstream.tcp = newRound(tcp_places, tcp_ms, now_ms)
    end
    if http_ms > 0 then
        upstream.http = newRound(http_places, http_ms, now_ms)
    end
end
local function newUpstreamTarget(given, config, now_ms)
    local ____given_name_2 = given.name
    local ____config_3 = config
    local ____temp_1
    if config.http == nil then
        ____temp_1 = nil
    else
        ____temp_1 = planHttp(config.http, given.name)
    end
    local upstream = {
        name = ____given_name_2,
        config = ____config_3,
        plan = ____temp_1,
        targets = {},
        by_id = {},
        trials = newLine(),
        waiting = newLine(),
        waiting_hanging = newLine(),
        running = 0,
        running_hanging = 0,
        hanging_last = false,
        news = true,
        tally = newTally(now_ms)
    }
    do
        local i = 0
        while i < #given.nodes do
            do
                local node = given.nodes[i + 1]
                if node.down then
                    goto __continue18
                end
                local target = {
                    upstream = upstream,
                    node = node,
                    probe = newNodeProbe(),
                    tcp_busy = false,
                    http_busy = false,
                    hanging = false,
                    rests = false
                }
                upstream.targets[#upstream.targets + 1] = target
                upstream.by_id[node.id] = target
            end
            ::__continue18::
            i = i + 1
        end
    end
    planRounds(upstream, now_ms)
    return upstream
end
---
-- @param now_ms monotonic ms; the first checks are due within one interval from here, not at once
-- @returns undefined when no upstream has probes
function ____exports.newProber(config, now_ms)
    local prober = {upstreams = {}, by_name = {}, running = 0, turn = 0}
    local names = {}
    for name in pairs(config.upstreams) do
        names[#names + 1] = name
    end
    __TS__ArraySort(names)
    do
        local i = 0
        while i < #names do
            local given = config.upstreams[names[i + 1]]
            if given.probe ~= nil then
                local upstream = newUpstreamTarget(given, given.probe, now_ms)
                prober.upstreams[#prober.upstreams + 1] = upstream
                prober.by_name[given.name] = upstream
            end
            i = i + 1
        end
    end
    local ____temp_4
    if #prober.upstreams == 0 then
        ____temp_4 = nil
    else
        ____temp_4 = prober
    end
    return ____temp_4
end
--- Takes over what the collector before had found of an upstream's nodes.
-- 
-- @param details nodes of detail:<upstream>, from the store: not trusted
function ____exports.restoreProbes(prober, name, details, now_ms)
    local upstream = prober.by_name[name]
    if upstream == nil then
        return
    end
    do
        local i = 0
        while i < #upstream.targets do
            local target = upstream.targets[i + 1]
            restoreProbe(target.probe, details[target.node.id], upstream.config, now_ms)
            i = i + 1
        end
    end
end
return ____exports
