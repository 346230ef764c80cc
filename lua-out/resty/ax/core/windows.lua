local math_floor = math.floor
local math_max = math.max
local math_min = math.min
local ____exports = {}
local clearTally, clearCounted, addTally, expire, addDelta
local ____histogram = require("resty.ax.core.histogram")
local addSparse = ____histogram.addSparse
local clearCounts = ____histogram.clearCounts
local mergeInto = ____histogram.mergeInto
local subtractFrom = ____histogram.subtractFrom
function clearTally(tally)
    clearCounted(tally)
    tally.span_ms = 0
end
function clearCounted(tally)
    tally.picks = 0
    tally.ok = 0
    tally.err = 0
    tally.fail = 0
    tally.aborted = 0
    tally.busy = 0
    tally.sum_ms = 0
    clearCounts(tally.hist)
end
function addTally(target, source, sign)
    target.picks = target.picks + sign * source.picks
    target.ok = target.ok + sign * source.ok
    target.err = target.err + sign * source.err
    target.fail = target.fail + sign * source.fail
    target.aborted = target.aborted + sign * source.aborted
    target.busy = target.busy + sign * source.busy
    target.sum_ms = target.sum_ms + sign * source.sum_ms
    target.span_ms = target.span_ms + sign * source.span_ms
    if source.ok <= 0 then
        return
    end
    if sign > 0 then
        mergeInto(target.hist, source.hist)
    else
        subtractFrom(target.hist, source.hist)
    end
end
function expire(window, index)
    local slot = window.slots[index + 1]
    if not ____exports.isEmpty(slot) then
        addTally(window.total, slot, -1)
        clearTally(slot)
    else
        local ____window_total_4, ____span_ms_5 = window.total, "span_ms"
        ____window_total_4[____span_ms_5] = ____window_total_4[____span_ms_5] - slot.span_ms
        slot.span_ms = 0
    end
end
function addDelta(tally, delta)
    tally.picks = tally.picks + delta.picks
    tally.ok = tally.ok + delta.ok
    tally.err = tally.err + delta.err
    tally.fail = tally.fail + delta.fail
    tally.aborted = tally.aborted + delta.aborted
    tally.busy = tally.busy + delta.busy
    tally.sum_ms = tally.sum_ms + delta.sum_ms
    if delta.ok > 0 then
        addSparse(tally.hist, delta.hist, 1)
    end
end
---
-- @returns whether nothing happened in it
function ____exports.isEmpty(tally)
    return tally.picks <= 0 and tally.ok <= 0 and tally.err <= 0 and tally.fail <= 0 and tally.aborted <= 0 and tally.busy <= 0
end
--- Puts a tally into the current slot as a whole: it ages out as one.
function ____exports.restore(window, tally)
    addTally(window.slots[window.current % #window.slots + 1], tally, 1)
    addTally(window.total, tally, 1)
end
--- Slots of the short window: 0.5 s each for 5 s, the collector's own interval.
local SHORT_SLOTS = 10
--- Slots of the long window: 5 s each for 60 s. More would cost memory (a histogram each) and tell little more.
local LONG_SLOTS = 12
local function newTally()
    return {
        picks = 0,
        ok = 0,
        err = 0,
        fail = 0,
        aborted = 0,
        busy = 0,
        sum_ms = 0,
        hist = {},
        span_ms = 0
    }
end
---
-- @param length_ms more than 0
-- @param count slots, at least 2
-- @param now_ms monotonic ms
function ____exports.newWindow(length_ms, count, now_ms)
    local slot_ms = length_ms / count
    local slots = {}
    do
        local i = 0
        while i < count do
            slots[i + 1] = newTally()
            i = i + 1
        end
    end
    return {
        slot_ms = slot_ms,
        slots = slots,
        current = math_floor(now_ms / slot_ms),
        total = newTally(),
        since_ms = now_ms,
        last_ms = now_ms
    }
end
--- Forgets everything.
function ____exports.clearWindow(window, now_ms)
    do
        local i = 0
        while i < #window.slots do
            clearTally(window.slots[i + 1])
            i = i + 1
        end
    end
    clearTally(window.total)
    window.current = math_floor(now_ms / window.slot_ms)
    window.since_ms = now_ms
    window.last_ms = now_ms
end
--- Lets the slots expire that `now_ms` leaves behind; what is added next counts as having happened since
-- the last call. Ticks may be uneven; after a gap longer than the window it is empty; a clock that stands
-- still or goes back expires nothing.
function ____exports.advance(window, now_ms)
    local passed_ms = now_ms - window.last_ms
    if passed_ms <= 0 then
        return
    end
    local wanted = math_floor(now_ms / window.slot_ms)
    local count = #window.slots
    local steps = math_min(wanted - window.current, count)
    do
        local step = 1
        while step <= steps do
            expire(window, (window.current + step) % count)
            step = step + 1
        end
    end
    window.current = wanted
    window.last_ms = now_ms
    if steps > 0 and ____exports.isEmpty(window.total) then
        clearCounted(window.total)
    end
    local span_ms = math_min(passed_ms, count * window.slot_ms)
    local ____window_slots_index_0, ____span_ms_1 = window.slots[wanted % count + 1], "span_ms"
    ____window_slots_index_0[____span_ms_1] = ____window_slots_index_0[____span_ms_1] + span_ms
    local ____window_total_2, ____span_ms_3 = window.total, "span_ms"
    ____window_total_2[____span_ms_3] = ____window_total_2[____span_ms_3] + span_ms
end
--- Adds what a worker reported to the current slot: also what arrives late.
function ____exports.add(window, delta)
    addDelta(window.slots[window.current % #window.slots + 1], delta)
    addDelta(window.total, delta)
end
---
-- @returns tries that say something of the node: all but those the client ended
function ____exports.judged(tally)
    return tally.ok + tally.err + tally.fail
end
---
-- @returns failed tries ÷ judged tries, 0..1; 0 without any
function ____exports.errorRate(tally)
    local all = ____exports.judged(tally)
    return all > 0 and (tally.err + tally.fail) / all or 0
end
---
-- @returns mean latency of the successes, ms; undefined without any
function ____exports.meanMs(tally)
    return tally.ok > 0 and tally.sum_ms / tally.ok or nil
end
---
-- @returns how much time the window's counts come from, ms; never less than one slot
function ____exports.coveredMs(window)
    return math_max(window.slot_ms, window.total.span_ms)
end
---
-- @param short_s length of the short window, seconds
-- @param long_s length of the long window, seconds; more than short_s
function ____exports.newNodeWindows(short_s, long_s, now_ms)
    return {
        short = ____exports.newWindow(short_s * 1000, SHORT_SLOTS, now_ms),
        long = ____exports.newWindow(long_s * 1000, LONG_SLOTS, now_ms)
    }
end
--- Lets both windows slide to `now_ms`.
function ____exports.advanceNode(windows, now_ms)
    ____exports.advance(windows.short, now_ms)
    ____exports.advance(windows.long, now_ms)
end
--- Adds what a worker reported to both windows.
function ____exports.feedNode(windows, delta)
    ____exports.add(windows.short, delta)
    ____exports.add(windows.long, delta)
end
--- Forgets everything: the node is judged on new evidence from here.
function ____exports.clearNode(windows, now_ms)
    ____exports.clearWindow(windows.short, now_ms)
    ____exports.clearWindow(windows.long, now_ms)
end
--- Makes the long window forget what the short one does not know: the node is not what it was.
function ____exports.forgetOlder(windows, now_ms)
    local ____windows_6 = windows
    local short = ____windows_6.short
    local long = ____windows_6.long
    ____exports.clearWindow(long, now_ms)
    ____exports.restore(long, short.total)
end
--- A tally of our own that can be filled in, e.g. from the shared store.
function ____exports.emptyTally()
    return newTally()
end
return ____exports
