local math_max = math.max
local math_min = math.min
local ____exports = {}
--- Envoy's default: up to 29 % of the zone's weight may be lost before traffic leaves the zone.
local OVERPROVISIONING = 1.4
--- Requests in flight ÷ capacity from which traffic leaves the zone, linearly until none is left at 1:
-- early enough that the other zones take over before the first request has to wait.
local SPILL_FROM = 0.7
---
-- @returns the share of its traffic that a zone can take, 0..1
function ____exports.roomOf(zone)
    if zone.base_weight <= 0 or zone.capacity <= 0 then
        return 0
    end
    local health = math_min(1, OVERPROVISIONING * zone.weight / zone.base_weight)
    local used = zone.in_flight / zone.capacity
    if used <= SPILL_FROM then
        return health
    end
    return health * math_max(0, (1 - used) / (1 - SPILL_FROM))
end
--- What does not fit goes to the other zones, as far as they have room themselves; what fits nowhere stays.
-- 
-- @returns the share of requests to serve in the own zone, 0..1
function ____exports.localShare(____local, others)
    local room = ____exports.roomOf(____local)
    return room + (1 - room) * (1 - ____exports.roomOf(others))
end
return ____exports
