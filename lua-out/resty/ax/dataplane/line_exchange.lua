local math_abs = math.abs
local math_huge = math.huge
local math_min = math.min
local tonumber = tonumber
local ____exports = {}
local ____priority = require("resty.ax.core.priority")
local LOWEST_PRIORITY = ____priority.LOWEST_PRIORITY
local ____queue = require("resty.ax.core.queue")
local headKey = ____queue.headKey
local ____worker_keys = require("resty.ax.core.worker_keys")
local lastSlot = ____worker_keys.lastSlot
local lineKey = ____worker_keys.lineKey
--- A worker that has not polled for so long is stuck or dead, and its waiters do not hold up the others'. Many polls,
-- for a busy worker comes late; few of a request's own times.
local STALE_MS = 50
function ____exports.newOthers(name)
    local counts = {}
    do
        local k = 0
        while k < LOWEST_PRIORITY do
            counts[k + 1] = 0
            k = k + 1
        end
    end
    return {
        name = name,
        key = math_huge,
        length = 0,
        counts = counts,
        read_at_ms = -1,
        time_key = lineKey(name, 0),
        keys = {}
    }
end
local function addRecord(others, text, now_ms)
    local at_ms, key, a, b, c, d, e = string.match(text, "^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+)$")
    local at = tonumber(at_ms)
    if at == nil or math_abs(now_ms - at) > STALE_MS then
        return
    end
    others.key = math_min(
        others.key,
        tonumber(key) or math_huge
    )
    local texts = {
        a,
        b,
        c,
        d,
        e
    }
    do
        local k = 0
        while k < LOWEST_PRIORITY do
            local count = tonumber(texts[k + 1]) or 0
            local ____others_counts_0, ____temp_1 = others.counts, k + 1
            ____others_counts_0[____temp_1] = ____others_counts_0[____temp_1] + count
            others.length = others.length + count
            k = k + 1
        end
    end
end
--- Reads what the others have published; once per turn of the event loop.
function ____exports.foldOthers(others, store, own_slot, now_ms)
    if others.read_at_ms == now_ms then
        return
    end
    others.read_at_ms = now_ms
    others.key = math_huge
    others.length = 0
    do
        local k = 0
        while k < LOWEST_PRIORITY do
            others.counts[k + 1] = 0
            k = k + 1
        end
    end
    local last = store.get(others.time_key)
    if type(last) ~= "number" or math_abs(now_ms - last) > STALE_MS then
        return
    end
    local slots = lastSlot(store)
    do
        local slot = 1
        while slot <= slots do
            if slot ~= own_slot then
                local key = others.keys[slot]
                if key == nil then
                    key = lineKey(others.name, slot)
                    others.keys[slot] = key
                end
                local text = store.get(key)
                if type(text) == "string" then
                    addRecord(others, text, now_ms)
                end
            end
            slot = slot + 1
        end
    end
end
--- Tells the others what this worker's queue looks like now.
function ____exports.publishLine(hall, line, now_ms)
    local slot = hall.slot()
    if slot <= 0 then
        return
    end
    local queue = line.queue
    local key = lineKey(line.others.name, slot)
    if queue.length == 0 then
        if line.published then
            hall.store.remove(key)
        end
        line.published = false
        return
    end
    local counts = queue.counts
    local text = string.format(
        "%d %d %d %d %d %d %d",
        now_ms,
        headKey(queue),
        counts[1],
        counts[2],
        counts[3],
        counts[4],
        counts[5]
    )
    line.published = hall.store.set(key, text) or line.published
    hall.store.set(line.others.time_key, now_ms)
end
return ____exports
