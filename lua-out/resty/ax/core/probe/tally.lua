local math_floor = math.floor
local ____exports = {}
local SPAN_MS = 60000
local function newCounts(since_ms)
    return {
        since_ms = since_ms,
        passed = 0,
        failed = 0,
        void = 0,
        sum_ms = 0
    }
end
function ____exports.newTally(now_ms)
    return {
        now = newCounts(now_ms),
        before = newCounts(now_ms)
    }
end
local function advance(tally, now_ms)
    if now_ms - tally.now.since_ms < SPAN_MS then
        return
    end
    tally.before = now_ms - tally.now.since_ms < 2 * SPAN_MS and tally.now or newCounts(now_ms)
    tally.now = newCounts(now_ms)
end
---
-- @param ok undefined: the check ended without a result
function ____exports.countCheck(tally, ok, took_ms, now_ms)
    advance(tally, now_ms)
    local counts = tally.now
    if ok == nil then
        counts.void = counts.void + 1
        return
    end
    if ok then
        counts.passed = counts.passed + 1
    else
        counts.failed = counts.failed + 1
    end
    counts.sum_ms = counts.sum_ms + took_ms
end
---
-- @returns the summary, with 0 running and waiting
function ____exports.summarize(tally, now_ms)
    advance(tally, now_ms)
    local ____tally_0 = tally
    local now = ____tally_0.now
    local before = ____tally_0.before
    local failed = now.failed + before.failed
    local checks = now.passed + before.passed + failed
    local summary = {
        checks = checks,
        failed = failed,
        void = now.void + before.void,
        running = 0,
        waiting = 0
    }
    if checks > 0 then
        summary.pass_rate = math_floor((checks - failed) / checks * 10000 + 0.5) / 10000
        summary.mean_ms = math_floor((now.sum_ms + before.sum_ms) / checks * 10 + 0.5) / 10
    end
    return summary
end
return ____exports
