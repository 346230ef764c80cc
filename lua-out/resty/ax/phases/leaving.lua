local ____exports = {}
local ____door_exchange = require("resty.ax.dataplane.door_exchange")
local publishDoors = ____door_exchange.publishDoors
local ____exchange = require("resty.ax.dataplane.exchange")
local publish = ____exchange.publish
local readOthers = ____exchange.readOthers
local readSnapshots = ____exchange.readSnapshots
local ____drain = require("resty.ax.dataplane.drain")
local readDrains = ____drain.readDrains
local ____limits = require("resty.ax.dataplane.limits")
local readLimits = ____limits.readLimits
--- The flush of a worker that shuts down: no timer runs there any more, but its waiters have to learn what the
-- other workers have in flight, or would wait for room that has long been there. Does nothing more often than a
-- flush. Access phase, by the waiter that polls.
function ____exports.flushWhileLeaving(worker, now_ms)
    if now_ms - worker.left_at_ms < worker.config.flush_interval_ms then
        return
    end
    worker.left_at_ms = now_ms
    publish(worker.exchange, worker.upstreams, true, now_ms)
    publishDoors(worker.exchange, worker.upstreams, now_ms)
    readOthers(worker.exchange, worker.upstreams, now_ms)
    readSnapshots(worker.exchange, worker.upstreams, now_ms)
    readLimits(worker.store, worker.upstreams, worker.exchange.decode)
    readDrains(worker.store, worker.upstreams, worker.exchange.decode, now_ms)
end
return ____exports
