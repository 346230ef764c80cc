local math_min = math.min
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
local ____cidr = require("resty.ax.core.cidr")
local parseCidr = ____cidr.parseCidr
local ____classes = require("resty.ax.core.classes")
local DEFAULT_CLASSES = ____classes.DEFAULT_CLASSES
local newLoads = ____classes.newLoads
local parseClassSource = ____classes.parseClassSource
local ____priority = require("resty.ax.core.priority")
local priorityOf = ____priority.priorityOf
local ____random = require("resty.ax.core.random")
local newRandom = ____random.newRandom
local ____zones = require("resty.ax.core.zones")
local localShare = ____zones.localShare
local function prioritiesOf(config)
    local priorities = {}
    for name, meaning in pairs(config.classes or DEFAULT_CLASSES) do
        priorities[name] = priorityOf(meaning)
    end
    return priorities
end
local function trustedOf(config)
    local trusted = {}
    for ____, text in ipairs(config.trusted_clients or ({})) do
        local range = parseCidr(text)
        if range ~= nil then
            trusted[#trusted + 1] = range
        end
    end
    return trusted
end
--- Of a function nothing is known but that it is not the client.
local function sourceOf(config)
    local given = config.class_source
    if given == nil then
        return nil
    end
    local ____temp_0
    if type(given) == "string" then
        ____temp_0 = parseClassSource(given)
    else
        ____temp_0 = {from_client = false}
    end
    return ____temp_0
end
---
-- @param pool the upstream's pool, whose arrays are shared
-- @returns undefined when neither zone nor class_source is configured
function ____exports.newPlacement(config, pool, seed)
    if config.zone == nil and config.class_source == nil then
        return nil
    end
    local is_local = {}
    do
        local node = 0
        while node < pool.n do
            is_local[node + 1] = config.zone == nil or config.nodes[node + 1].zone == config.zone
            node = node + 1
        end
    end
    local source = sourceOf(config)
    return {
        random = newRandom(seed + 1),
        is_local = is_local,
        others = __TS__ObjectAssign(
            {},
            pool,
            {
                candidates = {},
                candidate_count = 0,
                candidate_of = {unpack(pool.candidate_of)}
            }
        ),
        others_state = nil,
        local_share = 1,
        loads = newLoads(),
        others_loads = newLoads(),
        source = source,
        priorities = prioritiesOf(config),
        guarded = (source and source.from_client) == true and not config.trust_client_class,
        trusted = trustedOf(config)
    }
end
--- Moves candidates of other zones to the other view. Without any of the own zone all stay: then there is
-- nothing to prefer.
function ____exports.splitByZone(placement, pool)
    local others = placement.others
    local ____local = 0
    do
        local k = 0
        while k < pool.candidate_count do
            if placement.is_local[pool.candidates[k + 1] + 1] then
                ____local = ____local + 1
            end
            k = k + 1
        end
    end
    others.candidate_count = 0
    others.version = others.version + 1
    if ____local == 0 or ____local == pool.candidate_count then
        return
    end
    local kept = 0
    local moved = 0
    do
        local k = 0
        while k < pool.candidate_count do
            local node = pool.candidates[k + 1]
            if placement.is_local[node + 1] then
                pool.candidates[kept + 1] = node
                kept = kept + 1
            else
                others.candidates[moved + 1] = node
                moved = moved + 1
            end
            k = k + 1
        end
    end
    pool.candidate_count = kept
    others.candidate_count = moved
end
--- What the nodes of a view can take, and of how much.
local function zoneLoad(placement, nodes, view, ____local)
    local load = {weight = 0, base_weight = 0, in_flight = 0, capacity = 0}
    local tier = nodes[view.candidates[1] + 1].backup
    do
        local node = 0
        while node < view.n do
            local given = nodes[node + 1]
            if placement.is_local[node + 1] == ____local and given.backup == tier and not given.down then
                load.base_weight = load.base_weight + given.weight
            end
            node = node + 1
        end
    end
    do
        local k = 0
        while k < view.candidate_count do
            local node = view.candidates[k + 1]
            load.weight = load.weight + math_min(view.weight[node + 1], nodes[node + 1].weight)
            load.in_flight = load.in_flight + (view.in_flight[node + 1] + view.others_in_flight[node + 1])
            load.capacity = load.capacity + view.capacity[node + 1]
            k = k + 1
        end
    end
    return load
end
--- Brings the share of the own zone up to date.
function ____exports.updateShare(placement, pool, nodes)
    if placement.others.candidate_count == 0 then
        placement.local_share = 1
        return
    end
    placement.local_share = localShare(
        zoneLoad(placement, nodes, pool, true),
        zoneLoad(placement, nodes, placement.others, false)
    )
end
return ____exports
