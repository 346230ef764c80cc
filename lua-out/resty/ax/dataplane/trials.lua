local ____exports = {}
local claim
local ____wire = require("resty.ax.core.wire")
local trialKey = ____wire.trialKey
local ____ask = require("resty.ax.dataplane.ask")
local ask = ____ask.ask
local ____slot_marks = require("resty.ax.dataplane.slot_marks")
local isClosed = ____slot_marks.isClosed
function claim(upstream, store, node)
    upstream.trials.open[node + 1] = false
    local ____upstream_trials_6, ____open_count_7 = upstream.trials, "open_count"
    ____upstream_trials_6[____open_count_7] = ____upstream_trials_6[____open_count_7] - 1
    upstream.trials.passed = 0
    if not store.add(
        trialKey(upstream.pool.name, upstream.pool.ids[node + 1], upstream.trials.granted[node + 1]),
        1
    ) then
        return false
    end
    upstream.trials.taken = node
    return true
end
--- Picks that may pass a trial on because their request must not be sent twice, or its key belongs to another node; then
-- any takes it. Of keys a half-open node has `ramp_from` of its part: a fifth of 1 in n.
local PATIENCE = 100
local PATIENCE_PER_NODE = 20
--- A request that waited is picked for while another one runs: its method cannot be read, so it counts as not repeatable.
local function mayRepeat(upstream, record)
    return upstream.mayRepeat == nil or record.waiter == nil and upstream.mayRepeat()
end
--- A WebSocket or an event stream: that it is not over soon is no sign of anything. Not read for one that waited.
local function mayLast(upstream, record)
    return upstream.mayLast ~= nil and record.waiter == nil and upstream.mayLast()
end
--- This worker has just been refused a slot for it.
local function isFull(upstream, node)
    return upstream.slots ~= nil and isClosed(upstream.slots, node, upstream.request.now_ms)
end
--- Nothing was sent on the trial: another request may have it, here or in another worker.
-- 
-- @param trial its number
function ____exports.giveTrialBack(upstream, node, trial)
    local ____upstream_0 = upstream
    local store = ____upstream_0.store
    local trials = ____upstream_0.trials
    if store == nil or trials.granted[node + 1] ~= trial or trials.open[node + 1] then
        return
    end
    trials.open[node + 1] = true
    trials.open_count = trials.open_count + 1
    store.remove(trialKey(upstream.pool.name, upstream.pool.ids[node + 1], trial))
end
--- The pick that took a trial got no slot at the node.
function ____exports.returnTrial(upstream, node)
    if upstream.trials.taken ~= node then
        return
    end
    upstream.trials.taken = -1
    ____exports.giveTrialBack(upstream, node, upstream.trials.granted[node + 1])
end
--- Whether the request would come to the node if it were back: others would miss its cache, or lose their session.
local function ownsKey(upstream, node, report)
    local ____upstream_1 = upstream
    local pool = ____upstream_1.pool
    local scratch = ____upstream_1.scratch
    local count = 0
    do
        local k = 0
        while k < pool.candidate_count do
            if pool.candidates[k + 1] ~= node then
                scratch[count + 1] = pool.candidates[k + 1]
                count = count + 1
            end
            k = k + 1
        end
    end
    scratch[count + 1] = node
    return ask(
        upstream,
        pool,
        upstream.strategy_state,
        scratch,
        count + 1,
        report
    ) == node
end
---
-- @returns the half-open node that this request is to try; -1 = none. Asks for each trial once. Access and balancer
-- phases; for a request that waited, any phase of another one.
function ____exports.takeTrial(upstream, record, report)
    local store = upstream.store
    if store == nil then
        return -1
    end
    local by_key = upstream.strategy.uses_key == true
    local patience = by_key and PATIENCE + PATIENCE_PER_NODE * upstream.pool.n or PATIENCE
    local is_patient = upstream.trials.passed < patience
    local lasts = mayLast(upstream, record)
    if is_patient and (lasts or not mayRepeat(upstream, record)) then
        local ____upstream_trials_2, ____passed_3 = upstream.trials, "passed"
        ____upstream_trials_2[____passed_3] = ____upstream_trials_2[____passed_3] + 1
        return -1
    end
    local passed = false
    do
        local node = 0
        while node < upstream.pool.n do
            local fits = not lasts or upstream.state[node + 1] == "probing"
            if fits and upstream.trials.open[node + 1] and not isFull(upstream, node) then
                if by_key and is_patient and not ownsKey(upstream, node, report) then
                    passed = true
                elseif claim(upstream, store, node) then
                    return node
                end
            end
            node = node + 1
        end
    end
    if passed then
        local ____upstream_trials_4, ____passed_5 = upstream.trials, "passed"
        ____upstream_trials_4[____passed_5] = ____upstream_trials_4[____passed_5] + 1
    end
    return -1
end
return ____exports
