local math_max = math.max
local math_min = math.min
local pcall = pcall
local ____exports = {}
local runOne, tidy, begin, beginDue, shift, SHIFT_MS, LONGEST_SLEEP_MS, SHORTEST_SLEEP_MS, BEGUN_AT_A_TIME, OVERDUE_MS
local ____clock = require("resty.ax.nginx.clock")
local nowMs = ____clock.nowMs
function runOne(source, running)
    local ok, err = pcall(source.run, running.check)
    running.over = true
    if not ok then
        source.abandon(
            running.check,
            tostring(err)
        )
    end
end
function tidy(source, all, end_all)
    local now_ms = nowMs()
    local left = {}
    for ____, running in ipairs(all) do
        if not running.over and (end_all or now_ms > running.ends_ms) then
            running.over = true
            if running.thread ~= nil then
                ngx.thread.kill(running.thread)
            end
            source.abandon(running.check, nil)
        end
        if not running.over then
            left[#left + 1] = running
        end
    end
    return left
end
function begin(source, check, now_ms)
    local ends_ms = now_ms + source.timeoutMs(check) + OVERDUE_MS
    local running = {check = check, ends_ms = ends_ms, over = false}
    running.thread = ngx.thread.spawn(runOne, source, running)
    return running
end
function beginDue(source, all)
    local now_ms = nowMs()
    local next_ms = source.prepare(now_ms)
    do
        local begun = 0
        while begun < BEGUN_AT_A_TIME do
            local check = source.take(now_ms)
            if check == nil then
                return math_min(
                    LONGEST_SLEEP_MS,
                    math_max(SHORTEST_SLEEP_MS, next_ms - now_ms)
                )
            end
            all[#all + 1] = begin(source, check, now_ms)
            begun = begun + 1
        end
    end
    return SHORTEST_SLEEP_MS
end
function shift(source)
    local ends_ms = nowMs() + SHIFT_MS
    local all = {}
    local begins = true
    while begins or #all > 0 do
        if not source.wanted() or ngx.worker.exiting() then
            tidy(source, all, true)
            return
        end
        if begins and nowMs() >= ends_ms then
            begins = false
            ____exports.startRunner(source)
        end
        ngx.sleep((begins and beginDue(source, all) or LONGEST_SLEEP_MS) / 1000)
        all = tidy(source, all, false)
    end
end
--- Begins to make checks, and goes on until `wanted` says no. Timer or init_worker phase.
function ____exports.startRunner(source)
    local ____, err = ngx.timer.at(
        0,
        function(premature)
            if not premature then
                shift(source)
            end
        end
    )
    if err ~= nil then
        source.onRefused(err)
    end
end
SHIFT_MS = 3000
LONGEST_SLEEP_MS = 50
SHORTEST_SLEEP_MS = 5
BEGUN_AT_A_TIME = 32
OVERDUE_MS = 1000
return ____exports
