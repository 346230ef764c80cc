local ____exports = {}
local ____door_exchange = require("resty.ax.dataplane.door_exchange")
local publishDoors = ____door_exchange.publishDoors
local ____exchange = require("resty.ax.dataplane.exchange")
local publish = ____exchange.publish
local ____snapshots = require("resty.ax.dataplane.snapshots")
local readSnapshots = ____snapshots.readSnapshots
local ____worker_record = require("resty.ax.dataplane.worker_record")
local readOthers = ____worker_record.readOthers
local ____holds = require("resty.ax.dataplane.holds")
local releaseHolds = ____holds.releaseHolds
local ____refresh = require("resty.ax.dataplane.refresh")
local refresh = ____refresh.refresh
local ____drain = require("resty.ax.dataplane.drain")
local readDrains = ____drain.readDrains
local ____limits = require("resty.ax.dataplane.limits")
local readLimits = ____limits.readLimits
--- Requests left from which on each end is published at once: nothing may come after it that would, for hours where
-- streams are open.
local LAST_REQUESTS = 64
local function send(worker, now_ms)
    worker.left_at_ms = now_ms
    publish(worker.exchange, worker.upstreams, true, now_ms)
    publishDoors(worker.exchange, worker.upstreams, now_ms)
    for ____, upstream in ipairs(worker.upstreams) do
        releaseHolds(upstream, now_ms)
    end
end
--- A request of a worker that shuts down has ended: tells the others what is left. As long as many are, no more often
-- than a flush: with a thousand nodes it takes half a millisecond. Log phase.
function ____exports.publishWhileLeaving(worker, now_ms)
    local is_due = now_ms - worker.left_at_ms >= worker.config.flush_interval_ms
    if is_due or worker.requests.live < LAST_REQUESTS then
        send(worker, now_ms)
    end
end
--- The flush of a worker that shuts down: no timer runs there any more, but its waiters have to learn what the
-- other workers have in flight, or would wait for room that has long been there. Does nothing more often than a
-- flush. Access phase, by the waiter that polls.
function ____exports.flushWhileLeaving(worker, now_ms)
    if now_ms - worker.left_at_ms < worker.config.flush_interval_ms then
        return
    end
    send(worker, now_ms)
    readOthers(worker.exchange, worker.upstreams, now_ms)
    readSnapshots(worker.exchange, worker.upstreams, now_ms)
    readLimits(worker.store, worker.upstreams, worker.exchange.decode)
    readDrains(worker.store, worker.upstreams, worker.exchange.decode, now_ms)
    for ____, upstream in ipairs(worker.upstreams) do
        refresh(upstream, now_ms)
    end
end
return ____exports
