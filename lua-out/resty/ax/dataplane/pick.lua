local ____exports = {}
local ____ask = require("resty.ax.dataplane.ask")
local ask = ____ask.ask
local ____choose = require("resty.ax.dataplane.choose")
local isRampFull = ____choose.isRampFull
local pickOnce = ____choose.pickOnce
local widen = ____choose.widen
local ____in_flight = require("resty.ax.dataplane.in_flight")
local freeSlots = ____in_flight.freeSlots
local ____log_watch = require("resty.ax.dataplane.log_watch")
local missesSome = ____log_watch.missesSome
local ____request_key = require("resty.ax.dataplane.request_key")
local requestHash = ____request_key.requestHash
local ____slot_marks = require("resty.ax.dataplane.slot_marks")
local areAllFull = ____slot_marks.areAllFull
local isClosed = ____slot_marks.isClosed
local noteAllFull = ____slot_marks.noteAllFull
local reopenAll = ____slot_marks.reopenAll
local ____slots = require("resty.ax.dataplane.slots")
local freeSlot = ____slots.freeSlot
local takeSlot = ____slots.takeSlot
local ____trials = require("resty.ax.dataplane.trials")
local returnTrial = ____trials.returnTrial
--- What `pickNode` answers when every node has all the requests it may have.
____exports.ALL_FULL = -2
--- Strategies are asked so often before any node with room will do: each time one more was found full.
local ASK_MAX = 16
--- Any usable node with room, whatever the strategy thinks; -1 = none.
local function takeAny(upstream, slots, record)
    local scratch = upstream.scratch
    local count = widen(upstream, record, not upstream.panic)
    upstream.turn = upstream.turn + 1
    do
        local k = 0
        while k < count do
            local node = scratch[(k + upstream.turn) % count + 1]
            if takeSlot(slots, node, upstream.request.now_ms) then
                return node
            end
            k = k + 1
        end
    end
    return -1
end
--- One of `allow`'s two rounds: asks the strategy until a node has a slot, then takes any; -1 = every node is full.
local function pickAllowed(upstream, slots, record, report)
    do
        local k = 0
        while k < ASK_MAX do
            local node = pickOnce(upstream, record, report)
            if node < 0 then
                return -1
            end
            if takeSlot(slots, node, upstream.request.now_ms) then
                return node
            end
            returnTrial(upstream, node)
            k = k + 1
        end
    end
    return takeAny(upstream, slots, record)
end
--- Nodes are full: picks until one has a slot, within the limits first, then in what else the request may use.
local function pickWithRoom(upstream, slots, record, report)
    local now_ms = upstream.request.now_ms
    if areAllFull(slots, now_ms) then
        return ____exports.ALL_FULL
    end
    reopenAll(slots, now_ms)
    local node = pickAllowed(upstream, slots, record, report)
    if node >= 0 then
        return node
    end
    slots.allow = slots.allow_last
    node = pickAllowed(upstream, slots, record, report)
    if node >= 0 then
        return node
    end
    if upstream.request.tries == 0 then
        noteAllFull(slots, now_ms)
    end
    return ____exports.ALL_FULL
end
--- In pools up to this size all nodes are looked at as soon as one is full.
local NARROW_MAX = 64
--- In a large pool with a full node here and there most picks do not meet one: so without looking at all of them first.
local function pickUnnarrowed(upstream, slots, report)
    local ____upstream_0 = upstream
    local pool = ____upstream_0.pool
    local request = ____upstream_0.request
    if pool.candidate_count <= NARROW_MAX or request.tries > 0 or upstream.placement ~= nil then
        return -1
    end
    if upstream.trials.open_count > 0 then
        return -1
    end
    local node = ask(
        upstream,
        pool,
        upstream.strategy_state,
        pool.candidates,
        pool.candidate_count,
        report
    )
    if upstream.ramps_limited and isRampFull(upstream, node) then
        return -1
    end
    return not isClosed(slots, node, request.now_ms) and takeSlot(slots, node, request.now_ms) and node or -1
end
--- The first choice, with its slot; -1 = it, or some other node, is full.
local function pickFirst(upstream, slots, record, report)
    if slots.closed_count > 0 then
        return pickUnnarrowed(upstream, slots, report)
    end
    local node = pickOnce(upstream, record, report)
    if node < 0 or takeSlot(slots, node, upstream.request.now_ms) then
        return node
    end
    returnTrial(upstream, node)
    return -1
end
--- The pick of an upstream with limits: the node has a slot for the request.
local function pickSlot(upstream, slots, record, report)
    slots.off = missesSome(upstream.logs, upstream.request.now_ms)
    slots.allow = 0
    if not takeSlot(slots, slots.n, upstream.request.now_ms) then
        return ____exports.ALL_FULL
    end
    upstream.trials.taken = -1
    local node = pickFirst(upstream, slots, record, report)
    if node < 0 then
        node = pickWithRoom(upstream, slots, record, report)
    end
    if node < 0 then
        freeSlot(slots, slots.n)
        return node
    end
    record.slot_upstream = upstream
    record.slot_node = node
    return node
end
--- Picks the node for the next try of a request, and takes its slots. Access and balancer phases.
-- 
-- @param can_wait the request waits when every node is full: it leaves the overflow to those that cannot
-- @returns a node number; -1 when the upstream has no node at all that may be used; ALL_FULL
function ____exports.pickNode(upstream, record, now_ms, report, can_wait)
    if upstream.pool.candidate_count == 0 then
        return -1
    end
    upstream.request.now_ms = now_ms
    upstream.request.tries = record.tries - record.settled_tries
    if upstream.strategy.uses_key == true then
        upstream.request.key = requestHash(upstream, record)
    end
    local slots = upstream.slots
    if slots == nil then
        return pickOnce(upstream, record, report)
    end
    freeSlots(record)
    slots.allow_last = can_wait == true and 2 or 1
    return pickSlot(upstream, slots, record, report)
end
return ____exports
