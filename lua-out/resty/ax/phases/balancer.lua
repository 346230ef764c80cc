local pcall = pcall
local ____exports = {}
local ____counters = require("resty.ax.dataplane.counters")
local countPick = ____counters.countPick
local ____in_flight = require("resty.ax.dataplane.in_flight")
local beginReserved = ____in_flight.beginReserved
local beginTry = ____in_flight.beginTry
local endTry = ____in_flight.endTry
local ____line = require("resty.ax.dataplane.line")
local abandon = ____line.abandon
local ____outcome = require("resty.ax.dataplane.outcome")
local accountTry = ____outcome.accountTry
local learnBusy = ____outcome.learnBusy
local learnFailure = ____outcome.learnFailure
local ____pick = require("resty.ax.dataplane.pick")
local ALL_FULL = ____pick.ALL_FULL
local pickNode = ____pick.pickNode
local ____request_key = require("resty.ax.dataplane.request_key")
local readKey = ____request_key.readKey
local ____request_class = require("resty.ax.dataplane.request_class")
local readClass = ____request_class.readClass
local ____requests = require("resty.ax.dataplane.requests")
local addTry = ____requests.addTry
local beginVisit = ____requests.beginVisit
local joinFamily = ____requests.joinFamily
local openRequest = ____requests.openRequest
local TRIES_MAX = ____requests.TRIES_MAX
local ____reserve = require("resty.ax.dataplane.reserve")
local hasPlace = ____reserve.hasPlace
local ____retries = require("resty.ax.dataplane.retries")
local mayTry = ____retries.mayTry
local ____sweep = require("resty.ax.dataplane.sweep")
local discard = ____sweep.discard
local ____worker = require("resty.ax.dataplane.worker")
local process = ____worker.process
local ____balancer = require("resty.ax.nginx.balancer")
local allowTries = ____balancer.allowTries
local endTries = ____balancer.endTries
local keepConnection = ____balancer.keepConnection
local lastFailure = ____balancer.lastFailure
local setPeer = ____balancer.setPeer
local ____clock = require("resty.ax.nginx.clock")
local nowMs = ____clock.nowMs
local ____request = require("resty.ax.nginx.request")
local isSubrequest = ____request.isSubrequest
local requestBorn = ____request.requestBorn
local requestFamily = ____request.requestFamily
local requestKey = ____request.requestKey
local ____faults = require("resty.ax.phases.faults")
local fault = ____faults.fault
local report = ____faults.report
local unknownUpstream = ____faults.unknownUpstream
local ____visit = require("resty.ax.phases.visit")
local lastAnswered = ____visit.lastAnswered
local TOO_MANY_REQUESTS = 429
--- The request was here before: a retry, or an internal redirect.
local function resume(record, now_ms)
    local last = record.tries - 1
    local node = record.node
    local upstream = record.upstream
    endTry(record)
    local why, status = lastFailure()
    if why == nil then
        beginVisit(
            record,
            record.tries > 0 and lastAnswered()
        )
        return
    end
    if why == "failed" and node >= 0 and upstream ~= nil and last >= 0 then
        if status == TOO_MANY_REQUESTS then
            learnBusy(upstream, node, now_ms)
        else
            learnFailure(upstream, node, status ~= 502 and status ~= 504, now_ms)
        end
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
        unknownUpstream("balancer", name, now_ms)
        return nil
    end
    local key = requestKey()
    local record = worker.requests.by_key[key]
    if record ~= nil and record.born ~= requestBorn() then
        if record.waiter ~= nil then
            abandon(worker.hall, record.waiter, now_ms)
        end
        discard(worker.requests, record, now_ms)
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
    elseif not record.reserved then
        resume(record, now_ms)
    elseif not hasPlace(upstream, record) then
        endTry(record)
    end
    record.upstream = upstream
    record.start_ms = now_ms
    readClass(upstream, record, report)
    local max_tries = upstream.config.max_tries
    if max_tries > 0 and record.tries - record.earlier_tries >= max_tries then
        endTries()
        return nil
    end
    if not mayTry(upstream, record, now_ms) then
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
    local keepalive = config.lua_keepalive
    if keepalive ~= nil then
        keepConnection(keepalive.idle_timeout_s, keepalive.max_requests)
    end
    if record.tries == record.earlier_tries and config.nodes_from == "nodes" and upstream.usable > 1 then
        allowTries(upstream.usable - 1)
    end
    if record.tries == TRIES_MAX then
        accountOverwritten(record, now_ms)
    end
    addTry(record, upstream, node)
    if record.reserved then
        beginReserved(upstream, record, now_ms)
    else
        beginTry(upstream, record, node, now_ms)
    end
    countPick(upstream.counters, node)
    upstream.picks_total = upstream.picks_total + 1
end
--- Every node has all the requests it may have. Returning without a peer would send the request to one of them all the
-- same, by nginx's round robin; so it gets the 502 that nginx itself gives when every server is at its max_conns.
local function refuse(record)
    local ____record_upstream_tallies_total_0, ____rejected_overloaded_1 = record.upstream.tallies.total, "rejected_overloaded"
    ____record_upstream_tallies_total_0[____rejected_overloaded_1] = ____record_upstream_tallies_total_0[____rejected_overloaded_1] + 1
    endTries()
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
    local node = record.reserved and record.node or chooseGuarded(record)
    if node >= 0 then
        sendGuarded(record, node)
    elseif node == ALL_FULL then
        refuse(record)
    end
end
return ____exports
