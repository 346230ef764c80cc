local math_huge = math.huge
local math_min = math.min
local ____exports = {}
local ____queue = require("resty.ax.core.queue")
local keyOf = ____queue.keyOf
local AGE_MS = ____queue.AGE_MS
local headKey = ____queue.headKey
local newQueue = ____queue.newQueue
local peek = ____queue.peek
local push = ____queue.push
local remove = ____queue.remove
local ____drain = require("resty.ax.dataplane.drain")
local nextWaiter = ____drain.nextWaiter
local takeOut = ____drain.takeOut
local ____in_flight = require("resty.ax.dataplane.in_flight")
local endTry = ____in_flight.endTry
local ____line_exchange = require("resty.ax.dataplane.line_exchange")
local foldOthers = ____line_exchange.foldOthers
local newOthers = ____line_exchange.newOthers
local publishLine = ____line_exchange.publishLine
local ____reserve = require("resty.ax.dataplane.reserve")
local reserve = ____reserve.reserve
--- How often a worker with waiters looks for room that others have freed, ms.
____exports.POLL_MS = 2
--- How much later than another worker's best waiter one of our own may have come, and be served first, ms.
____exports.OVERTAKE_MS = 5
--- Room left to another worker for so long, and still there: that one has no use for it (its best waiter has tried the
-- node already; it has another configuration), ms.
local YIELD_MS = 4 * ____exports.POLL_MS
--- Free waiters kept, with a semaphore each.
local FREE_MAX = 1024
function ____exports.newHall(store, slot, wake, report)
    return {
        store = store,
        slot = slot,
        wake = wake,
        report = report,
        lines = {},
        poller = nil,
        free = {},
        free_count = 0
    }
end
--- Gives the upstream a queue.
function ____exports.addLine(hall, upstream, size_of, class_size)
    local config = upstream.config.queue
    local size = config and config.size or 0
    local line = {
        upstream = upstream,
        queue = newQueue({size = size, class_sizes = {
            size,
            size,
            size,
            size,
            size
        }, age_ms = AGE_MS}),
        others = newOthers(upstream.config.name),
        drain = nil,
        published = false,
        room_since_ms = 0,
        size_of = size_of,
        class_size = class_size,
        timeout_ms = config and config.timeout_ms or 0
    }
    upstream.door.line = line
    local ____hall_lines_4 = hall.lines
    ____hall_lines_4[#____hall_lines_4 + 1] = line
    return line
end
---
-- @returns whether somebody, here or in another worker, is to be served before an entry with this key
function ____exports.isBehind(hall, line, key, now_ms)
    if headKey(line.queue) <= key then
        return true
    end
    foldOthers(
        line.others,
        hall.store,
        hall.slot(),
        now_ms
    )
    return line.others.key + ____exports.OVERTAKE_MS < key
end
local function takeWaiter(hall)
    if hall.free_count > 0 then
        hall.free_count = hall.free_count - 1
        return hall.free[hall.free_count + 1]
    end
    return {
        state = 0,
        use = 0,
        line = nil,
        record = nil,
        id = -1,
        enqueued_ms = 0,
        deadline_ms = 0,
        aborted = false,
        semaphore = nil
    }
end
--- Puts a request into the queue; its record then has a waiter.
-- 
-- @param patience_ms longest wait the client has in mind
-- @returns why it may not wait, or undefined
function ____exports.join(hall, line, record, now_ms, patience_ms)
    local wait_ms = math_min(line.timeout_ms, patience_ms)
    if wait_ms <= 0 then
        return "queue_timeout"
    end
    foldOthers(
        line.others,
        hall.store,
        hall.slot(),
        now_ms
    )
    local at = record.priority - 1
    local queue = line.queue
    if queue.length + line.others.length >= line.size_of[at + 1] then
        return "queue_full"
    end
    if queue.counts[at + 1] + line.others.counts[at + 1] >= line.class_size[at + 1] then
        return "queue_full"
    end
    local waiter = takeWaiter(hall)
    local id = push(
        queue,
        waiter,
        record.priority,
        now_ms,
        math_huge
    )
    if id < 0 then
        return "queue_full"
    end
    waiter.state = 1
    waiter.line = line
    waiter.record = record
    waiter.id = id
    waiter.enqueued_ms = now_ms
    waiter.deadline_ms = now_ms + wait_ms
    waiter.aborted = false
    record.waiter = waiter
    if headKey(queue) == keyOf(record.priority, now_ms, AGE_MS) then
        publishLine(hall, line, now_ms)
    end
    return nil
end
--- Whether the room there is belongs to another worker's waiter; keeps count of how long it has been left alone.
local function yieldsRoom(line, now_ms)
    if line.others.key + ____exports.OVERTAKE_MS >= headKey(line.queue) then
        line.room_since_ms = 0
        return false
    end
    if line.room_since_ms == 0 then
        line.room_since_ms = now_ms
    end
    if now_ms - line.room_since_ms < YIELD_MS then
        return true
    end
    line.room_since_ms = 0
    return false
end
--- Hands what room there is to the waiters whose turn it is, in order. Any phase.
function ____exports.serve(hall, line, now_ms)
    local queue = line.queue
    if queue.length == 0 then
        return
    end
    foldOthers(
        line.others,
        hall.store,
        hall.slot(),
        now_ms
    )
    while queue.length > 0 do
        local waiter = nextWaiter(line)
        local record = waiter.record
        if not reserve(line.upstream, record, now_ms, hall.report) then
            line.room_since_ms = 0
            break
        end
        if yieldsRoom(line, now_ms) then
            endTry(record)
            break
        end
        takeOut(line, waiter)
        waiter.state = 2
        hall.wake(waiter)
    end
    publishLine(hall, line, now_ms)
end
--- Room has come free in this worker.
function ____exports.roomCame(hall, upstream, now_ms)
    local line = upstream.door.line
    if line ~= nil and line.queue.length > 0 then
        ____exports.serve(hall, line, now_ms)
    end
end
--- What the poller does when it wakes.
function ____exports.poll(hall, now_ms)
    for ____, line in ipairs(hall.lines) do
        if line.queue.length > 0 then
            ____exports.serve(hall, line, now_ms)
        end
    end
end
--- Any waiter may be the poller: wakes one, and it finds the place vacant.
local function passPoll(hall)
    hall.poller = nil
    for ____, line in ipairs(hall.lines) do
        local waiter = peek(line.queue)
        if waiter ~= nil then
            hall.wake(waiter)
            return
        end
    end
end
--- The waiter leaves the queue without a place: time-out, or its client has gone. No effect when it has been served.
function ____exports.leave(hall, waiter, now_ms)
    if waiter.state ~= 1 then
        return
    end
    waiter.state = 3
    local line = waiter.line
    remove(line.queue, waiter.id)
    publishLine(hall, line, now_ms)
end
--- The request's waiting is over, however it ended.
-- 
-- @param clean nothing is left on the semaphore: another request may use it
function ____exports.endWait(hall, waiter, clean)
    if waiter.record ~= nil then
        waiter.record.waiter = nil
    end
    waiter.record = nil
    waiter.line = nil
    waiter.state = 0
    waiter.use = waiter.use + 1
    if hall.poller == waiter or hall.poller == nil then
        passPoll(hall)
    end
    if clean and hall.free_count < FREE_MAX then
        hall.free[hall.free_count + 1] = waiter
        hall.free_count = hall.free_count + 1
    end
end
--- The request ended while its thread slept: nothing will wake it any more. Log phase.
function ____exports.abandon(hall, waiter, now_ms)
    ____exports.leave(hall, waiter, now_ms)
    ____exports.endWait(hall, waiter, false)
end
return ____exports
