local ____exports = {}
local semaphore = require("ngx.semaphore")
---
-- @returns a semaphore with nothing posted; undefined when nginx has no memory for it
function ____exports.newSemaphore()
    local made = semaphore.new(0)
    return made
end
--- Waits for a post, or until the time is over; which of the two it was, the caller knows from its own state: both
-- can happen in one turn of the event loop. Access phase.
-- 
-- @param timeout_ms 0 or more
function ____exports.awaitPost(made, timeout_ms)
    made:wait(timeout_ms / 1000)
end
--- Wakes the request that waits. Any phase, log and balancer included.
function ____exports.post(made)
    made:post(1)
end
--- Takes back posts that nobody waited for. Access phase; does not wait.
-- 
-- @returns whether the semaphore is as new, and may be used by another request
function ____exports.drain(made)
    do
        local posts = made:count()
        while posts > 0 do
            made:wait(0)
            posts = posts - 1
        end
    end
    return made:count() == 0
end
return ____exports
