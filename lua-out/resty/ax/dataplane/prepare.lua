local pcall = pcall
local ____exports = {}
local ____error_text = require("resty.ax.dataplane.error_text")
local errorText = ____error_text.errorText
--- More slices than any table takes: a module of the user's that never says "done" must not hold the worker.
local SLICES_MAX = 100000
--- Nodes looked at between two pauses: about a millisecond's work.
local NODES_PER_PAUSE = 10000
--- One slice for one of the upstream's views.
-- 
-- @returns whether there is more to do
local function prepareView(upstream, state, pool, now_ms, report)
    local strategy = upstream.strategy
    if strategy.prepare == nil then
        return false
    end
    if not upstream.strategy_is_custom then
        return strategy.prepare(state, pool, now_ms)
    end
    if report == nil then
        return strategy.prepare(state, pool, now_ms) == true
    end
    local ok, answer = pcall(strategy.prepare, state, pool, now_ms)
    if ok then
        return answer == true
    end
    report(
        "strategy",
        (((("strategy_module \"" .. tostring(upstream.config.strategy_module)) .. "\" of upstream \"") .. upstream.config.name) .. "\": prepare: ") .. errorText(answer)
    )
    return false
end
--- One slice for each of the upstream's views.
local function prepareSlice(upstream, now_ms, report)
    local more = prepareView(
        upstream,
        upstream.strategy_state,
        upstream.pool,
        now_ms,
        report
    )
    local placement = upstream.placement
    if placement == nil or placement.others_state == nil then
        return more
    end
    return prepareView(
        upstream,
        placement.others_state,
        placement.others,
        now_ms,
        report
    ) or more
end
--- Prepares an upstream whole, without a pause. init_worker phase.
-- 
-- @throws what the user's module throws: then it has no tables to pick by
function ____exports.prepareWhole(upstream, now_ms)
    do
        local k = 0
        while k < SLICES_MAX do
            if not prepareSlice(upstream, now_ms) then
                return
            end
            k = k + 1
        end
    end
    error(
        ("prepare: not done after " .. tostring(SLICES_MAX)) .. " slices",
        0
    )
end
--- Prepares all upstreams. Timer phase.
-- 
-- @param pause lets the worker serve what waits; absent where there is nothing to wait for
function ____exports.prepareAll(upstreams, now_ms, report, pause)
    local nodes = 0
    for ____, upstream in ipairs(upstreams) do
        local more = true
        do
            local k = 0
            while more and k < SLICES_MAX do
                more = prepareSlice(upstream, now_ms, report)
                nodes = nodes + upstream.pool.n
                if pause ~= nil and (more or nodes >= NODES_PER_PAUSE) then
                    nodes = 0
                    pause()
                end
                k = k + 1
            end
        end
    end
end
return ____exports
