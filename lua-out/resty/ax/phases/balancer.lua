local ____exports = {}
local ____tries = require("resty.ax.core.tries")
local splitTries = ____tries.splitTries
local ____counters = require("resty.ax.dataplane.counters")
local countPick = ____counters.countPick
local ____in_flight = require("resty.ax.dataplane.in_flight")
local beginTry = ____in_flight.beginTry
local endTry = ____in_flight.endTry
local ____outcome = require("resty.ax.dataplane.outcome")
local accountTry = ____outcome.accountTry
local learnFailure = ____outcome.learnFailure
local ____pick = require("resty.ax.dataplane.pick")
local pickNode = ____pick.pickNode
local ____placement = require("resty.ax.dataplane.placement")
local roleOf = ____placement.roleOf
local ____request_key = require("resty.ax.dataplane.request_key")
local readKey = ____request_key.readKey
local ____requests = require("resty.ax.dataplane.requests")
local addTry = ____requests.addTry
local joinFamily = ____requests.joinFamily
local openRequest = ____requests.openRequest
local TRIES_MAX = ____requests.TRIES_MAX
local ____sweep = require("resty.ax.dataplane.sweep")
local discard = ____sweep.discard
local ____worker = require("resty.ax.dataplane.worker")
local process = ____worker.process
local ____balancer = require("resty.ax.nginx.balancer")
local allowTries = ____balancer.allowTries
local endTries = ____balancer.endTries
local lastFailure = ____balancer.lastFailure
local setPeer = ____balancer.setPeer
local ____clock = require("resty.ax.nginx.clock")
local nowMs = ____clock.nowMs
local ____request = require("resty.ax.nginx.request")
local isSubrequest = ____request.isSubrequest
local requestBorn = ____request.requestBorn
local requestFamily = ____request.requestFamily
local requestKey = ____request.requestKey
local variable = ____request.variable
local ____faults = require("resty.ax.phases.faults")
local fault = ____faults.fault
local report = ____faults.report
--- Whether the last try before an internal redirect got an answer, not a 5xx.
local function lastAnswered()
    local statuses = splitTries(variable("upstream_status") or "")
    do
        local k = #statuses - 1
        while k >= 0 do
            local status = tonumber(statuses[k + 1])
            if status ~= nil then
                return status < 500
            end
            k = k - 1
        end
    end
    return false
end
--- The request was here before: a retry, or an internal redirect.
local function resume(record, now_ms)
    local last = record.tries - 1
    local node = record.node
    local upstream = record.upstream
    endTry(record)
    local why, status = lastFailure()
    if why == nil then
        if lastAnswered() then
            record.settled_tries = record.tries
        end
        record.earlier_tries = record.tries
        return
    end
    if why == "failed" and node >= 0 and upstream ~= nil and last >= 0 then
        learnFailure(upstream, node, status ~= 502 and status ~= 504, now_ms)
        record.try_learnt[last + 1] = true
    end
end
--- The first part: everything before the choice. No loops.
local function enter(name)
    local worker = process.worker
    local now_ms = nowMs()
    if worker == nil then
        fault("not_initialised", "init_worker() has not run in this worker: add it to init_worker_by_lua_block", now_ms)
        return nil
    end
    local upstream = worker.by_name[name]
    if upstream == nil then
        fault("unknown_upstream", ("balancer(\"" .. name) .. "\"): no such upstream in the configuration of init()", now_ms)
        return nil
    end
    local key = requestKey()
    local record = worker.requests.by_key[key]
    if record ~= nil and record.born ~= requestBorn() then
        discard(worker.requests, record)
        record = nil
    end
    if record == nil then
        record = openRequest(
            worker.requests,
            key,
            requestBorn(),
            isSubrequest()
        )
        if record.subrequest then
            joinFamily(
                worker.requests,
                record,
                requestFamily()
            )
        end
    else
        resume(record, now_ms)
    end
    record.upstream = upstream
    record.start_ms = now_ms
    local placement = upstream.placement
    if placement ~= nil and placement.source ~= nil then
        local variable_name = placement.source.variable
        local ____record_2 = record
        local ____roleOf_1 = roleOf
        local ____temp_0
        if variable_name == nil then
            ____temp_0 = placement.source.constant
        else
            ____temp_0 = variable(variable_name)
        end
        ____record_2.role = ____roleOf_1(placement, ____temp_0)
    end
    local max_tries = upstream.config.max_tries
    if max_tries > 0 and record.tries - record.earlier_tries >= max_tries then
        endTries()
        return nil
    end
    readKey(upstream, record, report)
    return record
end
--- The second part: the choice, which has the loops.
local function choose(record)
    return pickNode(record.upstream, record, record.start_ms, report)
end
--- The record has no room for one more try: the last one is accounted now, the log phase will not see it.
local function accountOverwritten(record, now_ms)
    local last = TRIES_MAX - 1
    local outcome = record.try_learnt[last + 1] and 2 or 3
    accountTry(
        record.try_upstream[last + 1],
        record.try_node[last + 1],
        outcome,
        0,
        false,
        now_ms
    )
end
--- The third part: everything after the choice. No loops.
local function send(record, node)
    local upstream = record.upstream
    local now_ms = record.start_ms
    local config = upstream.config
    local given = config.nodes[node + 1]
    local ok, err = setPeer(given.host, given.port)
    if ok ~= true then
        fault("set_peer", (((("upstream \"" .. config.name) .. "\", node \"") .. given.id) .. "\": ") .. (err or "refused"), now_ms)
        return
    end
    if record.tries == record.earlier_tries and config.nodes_from == "nodes" and upstream.usable > 1 then
        allowTries(upstream.usable - 1)
    end
    if record.tries == TRIES_MAX then
        accountOverwritten(record, now_ms)
    end
    addTry(record, upstream, node)
    beginTry(upstream, record, node, now_ms)
    countPick(upstream.counters, node)
    upstream.picks_total = upstream.picks_total + 1
end
local function enterGuarded(name)
    local ok, record = pcall(enter, name)
    if ok then
        return record
    end
    fault(
        "balancer",
        tostring(record),
        nowMs()
    )
    return nil
end
local function chooseGuarded(record)
    local ok, node = pcall(choose, record)
    if ok then
        return node
    end
    fault(
        "balancer",
        tostring(node),
        nowMs()
    )
    return -1
end
local function sendGuarded(record, node)
    local ok, err = pcall(send, record, node)
    if not ok then
        fault(
            "balancer",
            tostring(err),
            nowMs()
        )
    end
end
--- Sends the current try of a request to the node that should serve it now. On any fault of ours it
-- returns without choosing, and nginx's own round robin over the block's `server` lines serves.
-- 
-- In three parts because of how LuaJIT compiles (lj_record.c): a trace that starts at a function's
-- entry cannot contain a loop, and a trace can return through a pcall only if it made it. So the
-- parts around the loop are functions of their own, each with its pcall inside; in one piece, all of
-- it would run in the interpreter, where every FFI call allocates.
-- 
-- balancer_by_lua phase.
-- 
-- @param name an upstream of the configuration
function ____exports.balancer(name)
    local record = enterGuarded(name)
    if record == nil then
        return
    end
    local node = chooseGuarded(record)
    if node >= 0 then
        sendGuarded(record, node)
    end
end
return ____exports
