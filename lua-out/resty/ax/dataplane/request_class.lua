local pcall = pcall
local ____exports = {}
local ____cidr = require("resty.ax.core.cidr")
local isInRanges = ____cidr.isInRanges
local ____priority = require("resty.ax.core.priority")
local DEFAULT_PRIORITY = ____priority.DEFAULT_PRIORITY
local roleOfPriority = ____priority.roleOfPriority
local ____error_text = require("resty.ax.dataplane.error_text")
local errorText = ____error_text.errorText
--- What the user's function says; "" = nothing. One that throws or answers nonsense is reported.
local function askFunction(value, upstream, report)
    local ok, answer = pcall(value)
    if ok and type(answer) == "string" then
        return answer
    end
    if ok and answer == nil then
        return ""
    end
    local said = ok and ("returned a " .. type(answer)) .. "; the name of a class is needed" or errorText(answer)
    report("class_source", (("class_source of upstream \"" .. upstream.config.name) .. "\": ") .. said)
    return ""
end
local function mayPromote(upstream, placement)
    if not placement.guarded then
        return true
    end
    local ____opt_0 = upstream.door.class_reader
    local address = ____opt_0 and ____opt_0.address()
    return address ~= nil and isInRanges(address, placement.trusted)
end
local function priorityOfRequest(upstream, placement, report)
    local reader = upstream.door.class_reader
    if reader == nil then
        return DEFAULT_PRIORITY
    end
    local value = reader.value
    local name = reader.is_function and askFunction(value, upstream, report) or (value() or "")
    if name == "" then
        return DEFAULT_PRIORITY
    end
    local priority = placement.priorities[name]
    if priority == nil then
        local ____upstream_door_2, ____unknown_classes_3 = upstream.door, "unknown_classes"
        ____upstream_door_2[____unknown_classes_3] = ____upstream_door_2[____unknown_classes_3] + 1
        return DEFAULT_PRIORITY
    end
    if priority >= DEFAULT_PRIORITY or mayPromote(upstream, placement) then
        return priority
    end
    local ____upstream_door_4, ____capped_classes_5 = upstream.door, "capped_classes"
    ____upstream_door_4[____capped_classes_5] = ____upstream_door_4[____capped_classes_5] + 1
    return DEFAULT_PRIORITY
end
--- Reads the request's class unless it has one for this upstream. Access or balancer phase.
function ____exports.readClass(upstream, record, report)
    local placement = upstream.placement
    if placement == nil or placement.source == nil or record.class_of == upstream then
        return
    end
    record.class_of = upstream
    record.priority = priorityOfRequest(upstream, placement, report)
    record.role = roleOfPriority(record.priority)
end
return ____exports
