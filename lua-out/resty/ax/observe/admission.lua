local math_abs = math.abs
local math_floor = math.floor
local ____exports = {}
local ____histogram = require("resty.ax.core.histogram")
local addSparse = ____histogram.addSparse
local cleanSparse = ____histogram.cleanSparse
local newCounts = ____histogram.newCounts
local percentile = ____histogram.percentile
local ____priority = require("resty.ax.core.priority")
local LOWEST_PRIORITY = ____priority.LOWEST_PRIORITY
local ____reject = require("resty.ax.core.reject")
local REJECT_REASONS = ____reject.REJECT_REASONS
local ____values = require("resty.ax.core.values")
local asCount = ____values.asCount
local asNumber = ____values.asNumber
local asRecord = ____values.asRecord
local ____wire = require("resty.ax.core.wire")
local drainKey = ____wire.drainKey
local isDrainFresh = ____wire.isDrainFresh
local WORKER_DEAD_MS = ____wire.WORKER_DEAD_MS
local ____worker_keys = require("resty.ax.core.worker_keys")
local doorKey = ____worker_keys.doorKey
local lastSlot = ____worker_keys.lastSlot
local ____document = require("resty.ax.observe.document")
local jsonList = ____document.jsonList
local function count(store, key)
    return asCount(store.get(key))
end
local function addReport(sums, report)
    local waiting = asRecord(report.waiting)
    local admitted = asRecord(report.admitted)
    local waits = asRecord(report.waits)
    do
        local k = 0
        while k < LOWEST_PRIORITY do
            local ____sums_index_2, ____waiting_3 = sums[k + 1], "waiting"
            ____sums_index_2[____waiting_3] = ____sums_index_2[____waiting_3] + asCount(waiting and waiting[k + 1])
            local ____sums_index_6, ____admitted_7 = sums[k + 1], "admitted"
            ____sums_index_6[____admitted_7] = ____sums_index_6[____admitted_7] + asCount(admitted and admitted[k + 1])
            addSparse(
                sums[k + 1].hist,
                cleanSparse(waits and waits[2 * k + 1]),
                1
            )
            addSparse(
                sums[k + 1].hist,
                cleanSparse(waits and waits[2 * k + 1 + 1]),
                1
            )
            k = k + 1
        end
    end
end
local function sumReports(deps, name, now_ms)
    local sums = {}
    do
        local k = 0
        while k < LOWEST_PRIORITY do
            sums[k + 1] = {
                waiting = 0,
                admitted = 0,
                hist = newCounts()
            }
            k = k + 1
        end
    end
    local slots = lastSlot(deps.store)
    do
        local slot = 1
        while slot <= slots do
            local text = deps.store.get(doorKey(slot))
            local ____temp_12
            if type(text) == "string" then
                ____temp_12 = asRecord(deps.decode(text))
            else
                ____temp_12 = nil
            end
            local record = ____temp_12
            local at_ms = asNumber(record and record.at_ms)
            if record ~= nil and at_ms ~= nil and math_abs(now_ms - at_ms) < WORKER_DEAD_MS then
                local ____asRecord_17 = asRecord
                local ____opt_15 = asRecord(record.upstreams)
                local report = ____asRecord_17(____opt_15 and ____opt_15[name])
                if report ~= nil then
                    addReport(sums, report)
                end
            end
            slot = slot + 1
        end
    end
    return sums
end
local function priorityStatus(priority, sum)
    local status = {priority = priority, waiting = sum.waiting, admitted = sum.admitted}
    if sum.admitted > 0 then
        status.wait_p50_ms = percentile(sum.hist, sum.admitted, 0.5)
        status.wait_p99_ms = percentile(sum.hist, sum.admitted, 0.99)
    end
    return status
end
local function drainStatus(deps, name, now_ms)
    local text = deps.store.get(drainKey(name))
    local ____temp_18
    if type(text) == "string" then
        ____temp_18 = asRecord(deps.decode(text))
    else
        ____temp_18 = nil
    end
    local record = ____temp_18
    if not isDrainFresh(record, now_ms) then
        return nil
    end
    local flags = asRecord(record and record.refuse)
    local refuse = {}
    do
        local k = 0
        while k < LOWEST_PRIORITY do
            if (flags and flags[k + 1]) == true then
                refuse[#refuse + 1] = k + 1
            end
            k = k + 1
        end
    end
    return {
        by = (record and record.by) == "size" and "size" or "operator",
        since_s = math_floor(now_ms - (asNumber(record and record.since_ms) or now_ms)) / 1000,
        refuse = jsonList(refuse),
        extra = asCount(record and record.extra)
    }
end
--- Admission of one upstream. Of several priorities only those that occur are shown.
function ____exports.admissionStatus(deps, config, now_ms)
    local store = deps.store
    local name = config.name
    local refused = {}
    for ____, reason in ipairs(REJECT_REASONS) do
        local refusals = count(store, (("refused:" .. reason) .. ":") .. name)
        if refusals > 0 then
            refused[reason] = refusals
        end
    end
    local status = {
        refused = refused,
        unknown_classes = count(store, "classes:unknown:" .. name),
        capped_classes = count(store, "classes:capped:" .. name)
    }
    local queue = config.queue
    if queue == nil then
        return status
    end
    local sums = sumReports(deps, name, now_ms)
    local priorities = {}
    local waiting = 0
    do
        local k = 0
        while k < LOWEST_PRIORITY do
            waiting = waiting + sums[k + 1].waiting
            if sums[k + 1].waiting + sums[k + 1].admitted > 0 then
                priorities[#priorities + 1] = priorityStatus(k + 1, sums[k + 1])
            end
            k = k + 1
        end
    end
    status.queue = {
        size = queue.size,
        timeout_ms = queue.timeout_ms,
        waiting = waiting,
        priorities = jsonList(priorities)
    }
    status.queue.drain = drainStatus(deps, name, now_ms)
    return status
end
return ____exports
