local math_min = math.min
local pcall = pcall
local ____exports = {}
local ____in_flight = require("resty.ax.dataplane.in_flight")
local endTry = ____in_flight.endTry
local ____line = require("resty.ax.dataplane.line")
local endWait = ____line.endWait
local leave = ____line.leave
local poll = ____line.poll
local POLL_MS = ____line.POLL_MS
local roomCame = ____line.roomCame
local ____worker = require("resty.ax.dataplane.worker")
local process = ____worker.process
local ____admission = require("resty.ax.nginx.admission")
local endAborted = ____admission.endAborted
local onAbort = ____admission.onAbort
local ____clock = require("resty.ax.nginx.clock")
local nowMs = ____clock.nowMs
local ____semaphore = require("resty.ax.nginx.semaphore")
local awaitPost = ____semaphore.awaitPost
local drain = ____semaphore.drain
local newSemaphore = ____semaphore.newSemaphore
local post = ____semaphore.post
local ____leaving = require("resty.ax.phases.leaving")
local flushWhileLeaving = ____leaving.flushWhileLeaving
--- Wakes a waiter's thread; does nothing when it has none yet. Any phase.
function ____exports.wake(waiter)
    local semaphore = waiter.semaphore
    if semaphore ~= nil then
        post(semaphore)
    end
end
--- The client has gone. Runs in a thread of its own, while the waiter's sleeps or in the same turn of the event loop
-- in which it is woken for another reason.
-- 
-- @param use of the waiter when it was this request's
local function clientGone(waiter, use)
    local worker = process.worker
    if worker == nil or waiter.use ~= use then
        endAborted()
        return
    end
    waiter.aborted = true
    leave(
        worker.hall,
        waiter,
        nowMs()
    )
    ____exports.wake(waiter)
end
local function watchClient(waiter)
    local use = waiter.use
    onAbort(function()
        clientGone(waiter, use)
    end)
end
--- Sleeps until the waiter is handed a place, or leaves.
local function sleep(worker, waiter)
    local hall = worker.hall
    local semaphore = waiter.semaphore
    while waiter.state == 1 do
        local now_ms = nowMs()
        local left_ms = waiter.deadline_ms - now_ms
        if left_ms <= 0 then
            leave(hall, waiter, now_ms)
            return
        end
        if hall.poller == nil then
            hall.poller = waiter
        end
        local polls = hall.poller == waiter
        awaitPost(
            semaphore,
            polls and math_min(POLL_MS, left_ms) or left_ms
        )
        if polls and waiter.state == 1 then
            if worker.exiting then
                flushWhileLeaving(
                    worker,
                    nowMs()
                )
            end
            poll(
                hall,
                nowMs()
            )
        end
    end
end
--- Waits for the turn of a request that has a waiter. Access phase.
-- 
-- @throws when nginx has no memory for a semaphore, or our code fails; the request has left the queue then
function ____exports.awaitTurn(record)
    local worker = process.worker
    local hall = worker.hall
    local waiter = record.waiter
    if waiter.semaphore == nil then
        waiter.semaphore = newSemaphore()
    end
    if waiter.semaphore == nil then
        leave(
            hall,
            waiter,
            nowMs()
        )
        endWait(hall, waiter, false)
        error("nginx has no memory for a semaphore", 0)
    end
    watchClient(waiter)
    local ok, err = pcall(sleep, worker, waiter)
    local granted = waiter.state == 2
    local aborted = waiter.aborted
    leave(
        hall,
        waiter,
        nowMs()
    )
    endWait(
        hall,
        waiter,
        ok and drain(waiter.semaphore)
    )
    if not ok then
        error(err, 0)
    end
    if not aborted then
        return granted and 0 or 1
    end
    if granted then
        endTry(record)
        roomCame(
            hall,
            record.upstream,
            nowMs()
        )
    end
    return 2
end
return ____exports
