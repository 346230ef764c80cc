local math_abs = math.abs
local math_floor = math.floor
local math_huge = math.huge
local tonumber = tonumber
-- Lua Library inline imports
local function __TS__StringSubstring(self, start, ____end)
    if ____end ~= ____end then
        ____end = 0
    end
    if ____end ~= nil and start > ____end then
        start, ____end = ____end, start
    end
    if start >= 0 then
        start = start + 1
    else
        start = 1
    end
    if ____end ~= nil and ____end < 0 then
        ____end = 0
    end
    return string.sub(self, start, ____end)
end

local function __TS__Number(value)
    local valueType = type(value)
    if valueType == "number" then
        return value
    elseif valueType == "string" then
        local numberValue = tonumber(value)
        if numberValue then
            return numberValue
        end
        if value == "Infinity" then
            return math_huge
        end
        if value == "-Infinity" then
            return -math_huge
        end
        local stringWithoutSpaces = string.gsub(value, "%s", "")
        if stringWithoutSpaces == "" then
            return 0
        end
        return 0 / 0
    elseif valueType == "boolean" then
        return value and 1 or 0
    else
        return 0 / 0
    end
end

local function __TS__NumberIsNaN(value)
    return value ~= value
end
-- End of Lua Library inline imports
local ____exports = {}
local leaseKey, leaseText, part, pidOf, ageMs, isFresh, storedTerm, currentTerm, stillHolds, takeTerm, LEASE_STALE_MS, LEASE_BUSY_MS, REFRESH_MS, OLD_LEASES, TERM
--- Gives the office up, so that the next worker that asks has it: this one is exiting. Harmless without it.
function ____exports.resign(candidate)
    if candidate.held == 0 then
        return
    end
    local key = leaseKey(candidate.held)
    if pidOf(candidate.store.get(key)) == candidate.pid then
        candidate.store.remove(key)
    end
    candidate.held = 0
end
function leaseKey(term)
    return "collector:lease:" .. tostring(term)
end
function leaseText(candidate, now_ms)
    return (tostring(candidate.pid) .. ":") .. tostring(math_floor(now_ms))
end
function part(lease, which)
    if type(lease) ~= "string" then
        return nil
    end
    local colon = (string.find(lease, ":", nil, true) or 0) - 1
    if colon < 0 then
        return nil
    end
    local value = __TS__Number(which == "pid" and __TS__StringSubstring(lease, 0, colon) or __TS__StringSubstring(lease, colon + 1))
    local ____Number_isNaN_result_0
    if __TS__NumberIsNaN(value) then
        ____Number_isNaN_result_0 = nil
    else
        ____Number_isNaN_result_0 = value
    end
    return ____Number_isNaN_result_0
end
function pidOf(lease)
    return part(lease, "pid")
end
function ageMs(lease, now_ms)
    local at_ms = part(lease, "at_ms")
    return at_ms == nil and math_huge or now_ms - at_ms
end
function isFresh(candidate, lease, now_ms)
    local age_ms = math_abs(ageMs(lease, now_ms))
    if age_ms < LEASE_STALE_MS then
        return true
    end
    local pid = pidOf(lease)
    return age_ms < LEASE_BUSY_MS and pid ~= nil and candidate.processAlive(pid)
end
function storedTerm(candidate)
    local term = candidate.store.get(TERM)
    if type(term) == "number" then
        return term
    end
    if term ~= nil then
        candidate.store.remove(TERM)
    end
    return 0
end
function currentTerm(candidate)
    local stored = storedTerm(candidate)
    local term = stored > 0 and stored or candidate.seen
    while candidate.store.get(leaseKey(term + 1)) ~= nil do
        term = term + 1
    end
    candidate.seen = term
    return term
end
function stillHolds(candidate, now_ms)
    local ____candidate_1 = candidate
    local store = ____candidate_1.store
    local held = ____candidate_1.held
    local lease = store.get(leaseKey(held))
    if pidOf(lease) ~= candidate.pid or not isFresh(candidate, lease, now_ms) then
        return false
    end
    if ageMs(lease, now_ms) >= REFRESH_MS then
        store.set(
            leaseKey(held),
            leaseText(candidate, now_ms)
        )
    end
    if storedTerm(candidate) == 0 then
        store.incr(TERM, held)
    end
    return currentTerm(candidate) == held
end
function takeTerm(candidate, term, now_ms)
    local store = candidate.store
    if not store.add(
        leaseKey(term),
        leaseText(candidate, now_ms)
    ) then
        return false
    end
    local before = storedTerm(candidate)
    if before >= term then
        store.remove(leaseKey(term))
        return false
    end
    candidate.held = term
    store.incr(TERM, term - before)
    local stored = storedTerm(candidate)
    do
        local old = term - 1
        while old >= term - OLD_LEASES and old > 0 do
            if old <= stored then
                store.remove(leaseKey(old))
            end
            old = old - 1
        end
    end
    if currentTerm(candidate) == term then
        return true
    end
    ____exports.resign(candidate)
    return false
end
LEASE_STALE_MS = 1500
LEASE_BUSY_MS = 10000
REFRESH_MS = 250
OLD_LEASES = 4
TERM = "collector:term"
--- A worker's candidacy. Once per worker process.
-- 
-- @param pid this worker's process
-- @param processAlive whether a process exists
function ____exports.newCandidate(store, pid, processAlive)
    return {
        store = store,
        pid = pid,
        held = 0,
        seen = 0,
        processAlive = processAlive
    }
end
--- Whether this worker is the collector now. Called by every worker at each flush; the answer is good for
-- this moment, so a worker asks right before each tick. A few reads of the store.
-- 
-- @param now_ms monotonic ms
function ____exports.isElected(candidate, now_ms)
    if candidate.held > 0 then
        if stillHolds(candidate, now_ms) then
            return true
        end
        ____exports.resign(candidate)
        return false
    end
    local term = currentTerm(candidate)
    if isFresh(
        candidate,
        candidate.store.get(leaseKey(term)),
        now_ms
    ) then
        return false
    end
    return takeTerm(candidate, term + 1, now_ms)
end
return ____exports
