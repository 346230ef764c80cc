local ____exports = {}
--- Calls back for as long as the worker lives. init_worker phase.
-- 
-- @param callback gets `true` once, when the worker starts to shut down
-- @returns an error text when nginx refuses the timer
function ____exports.every(interval_ms, callback)
    local ____, err = ngx.timer.every(interval_ms / 1000, callback)
    return err
end
--- 0 would do, but an nginx without OpenResty's patches (Debian's) logs a warning at each such call. 1 ms is the least
-- that its timers tell from 0.
local PAUSE_S = 0.001
--- Lets the worker serve what waits, then goes on. Timer phase.
function ____exports.pause()
    ngx.sleep(PAUSE_S)
end
return ____exports
