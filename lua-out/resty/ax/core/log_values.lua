local ____exports = {}
--- Values of nginx's log variables as numbers, by a look-up instead of a conversion: there are few different ones, and
-- converting "0.012" costs LuaJIT about as much as a whole pick (docs/performance.md). Both tables are
-- filled once, when the module is loaded, and never change; the caller converts what is not in them.
local STATUS_MIN = 100
local STATUS_MAX = 599
--- Longer times are rare, and nobody notices what converting them costs.
local TABLE_MS = 1000
local function statusTable()
    local ____table = {}
    do
        local status = STATUS_MIN
        while status <= STATUS_MAX do
            ____table[tostring(status)] = status
            status = status + 1
        end
    end
    return ____table
end
local function timeTable()
    local ____table = {}
    do
        local ms = 0
        while ms < TABLE_MS do
            local zeros = ms < 10 and "00" or (ms < 100 and "0" or "")
            ____table[("0." .. zeros) .. tostring(ms)] = ms
            ms = ms + 1
        end
    end
    return ____table
end
local statuses = statusTable()
local times_ms = timeTable()
---
-- @returns the status of a single try as nginx writes it, 100..599; undefined for "-" and for lists of tries
function ____exports.statusOf(text)
    return statuses[text]
end
---
-- @returns ms, of a time below a second as nginx writes it, in seconds ("0.012"); undefined for all else
function ____exports.shortTimeOf(text)
    return times_ms[text]
end
return ____exports
