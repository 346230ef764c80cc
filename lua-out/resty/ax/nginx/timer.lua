local ____exports = {}
--- Calls back for as long as the worker lives. init_worker phase.
-- 
-- @param callback gets `true` once, when the worker starts to shut down
-- @returns an error text when nginx refuses the timer
function ____exports.every(interval_ms, callback)
    local ____, err = ngx.timer.every(interval_ms / 1000, callback)
    return err
end
--- Lets the worker serve what waits, then goes on. Timer phase.
function ____exports.pause()
    ngx.sleep(0)
end
return ____exports
