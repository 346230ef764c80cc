local ____exports = {}
local ____cost = require("resty.ax.core.cost")
local weighAll = ____cost.weighAll
local ____candidates = require("resty.ax.dataplane.candidates")
local refreshPlacement = ____candidates.refreshPlacement
local ____holds = require("resty.ax.dataplane.holds")
local releaseHolds = ____holds.releaseHolds
local ____in_flight = require("resty.ax.dataplane.in_flight")
local setLongAside = ____in_flight.setLongAside
--- Brings up to date what follows from the time, and from what the other workers and the collector have published. Flush.
function ____exports.refresh(upstream, now_ms)
    releaseHolds(upstream, now_ms)
    setLongAside(upstream, now_ms)
    weighAll(upstream.pool)
    refreshPlacement(upstream)
end
return ____exports
