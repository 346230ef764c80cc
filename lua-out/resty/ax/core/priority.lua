local math_floor = math.floor
local ____exports = {}
--- Priority of a request in the admission queue: 1 (highest) … 5. Requests without a class have 3.
____exports.HIGHEST_PRIORITY = 1
____exports.DEFAULT_PRIORITY = 3
____exports.LOWEST_PRIORITY = 5
local BY_NAME = {vip = 1, normal = 3, batch = 5}
--- What a class may stand for, for messages.
____exports.MEANINGS = "\"vip\", \"normal\", \"batch\" or a whole number 1..5"
---
-- @param meaning what the option `classes` says of a class: "vip", "normal", "batch", or 1..5
-- @returns the priority, or undefined when it is none of these
function ____exports.priorityOf(meaning)
    if type(meaning) == "string" then
        return BY_NAME[meaning]
    end
    if type(meaning) ~= "number" or meaning ~= math_floor(meaning) then
        return nil
    end
    return meaning >= ____exports.HIGHEST_PRIORITY and meaning <= ____exports.LOWEST_PRIORITY and meaning or nil
end
---
-- @returns which nodes requests of a priority go to: the two ends have a role of their own
function ____exports.roleOfPriority(priority)
    if priority == ____exports.HIGHEST_PRIORITY then
        return 1
    end
    return priority == ____exports.LOWEST_PRIORITY and 2 or 0
end
return ____exports
