local ____exports = {}
--- For so long a missed log phase makes more of them likely. Not for ever: the user's own Lua may have thrown once.
local MISSED_FRESH_MS = 600000
--- So many are no accident, but the configuration.
local MISSED_OFTEN = 10
--- Picks without one log() call that make its absence certain.
local PICKS_WITHOUT_LOG = 200
function ____exports.newLogWatch()
    return {seen = false, missed = 0, missed_lately = 0, missed_at_ms = 0}
end
--- Whether the ends of some requests go unseen. Any phase.
function ____exports.missesSome(logs, now_ms)
    return logs.missed > 0 and now_ms - logs.missed_at_ms < MISSED_FRESH_MS
end
--- Whether so many do that no request's end can be relied on. Timer phase.
function ____exports.missesOften(logs, now_ms)
    return logs.missed_lately >= MISSED_OFTEN and ____exports.missesSome(logs, now_ms)
end
--- A request has ended, as is seen now, and its log phase did not run. Any phase.
function ____exports.noteMissed(logs, now_ms)
    logs.missed_lately = ____exports.missesSome(logs, now_ms) and logs.missed_lately + 1 or 1
    logs.missed = logs.missed + 1
    logs.missed_at_ms = now_ms
end
---
-- @param name of the upstream
-- @param picks of it in this worker
-- @param log_ran whether log() has run in this worker, for any request whatsoever
-- @returns why nothing, or not all, is learnt of the upstream's nodes, or undefined when all is well
function ____exports.missingLog(logs, name, picks, log_ran, now_ms)
    local never = not log_ran and picks >= PICKS_WITHOUT_LOG
    if not never and not ____exports.missesSome(logs, now_ms) then
        return nil
    end
    return ((((((("log() has not run for " .. (logs.seen and "some" or "any")) .. " of ") .. tostring(picks)) .. " requests to upstream \"") .. name) .. "\": ") .. "add log_by_lua_block { require(\"resty.ax\").log() } at http level, and to every server or location that has a ") .. "log_by_lua of its own; for subrequests also log_subrequest on"
end
return ____exports
