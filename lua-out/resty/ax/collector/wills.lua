local math_huge = math.huge
local math_min = math.min
local ____exports = {}
local ____operator = require("resty.ax.core.operator")
local isInForce = ____operator.isInForce
local parseWill = ____operator.parseWill
local willKey = ____operator.willKey
local willVersionKey = ____operator.willVersionKey
function ____exports.newWills()
    return {version = nil, by_id = {}, count = 0, next_expiry_ms = math_huge}
end
local function readWill(deps, upstream, id)
    local key = willKey(upstream, id)
    local text = deps.store.get(key)
    if text == nil then
        return nil
    end
    local will = parseWill(deps.decode(tostring(text)))
    if will == nil then
        deps.onWarning(
            "store_corrupt",
            ((willVersionKey(upstream) .. ": the operator's will for node ") .. id) .. " is unreadable; removed"
        )
        deps.store.remove(key)
    end
    return will
end
local function readAll(deps, upstream, nodes, wills)
    wills.by_id = {}
    wills.count = 0
    do
        local i = 0
        while i < #nodes do
            local id = nodes[i + 1].config.id
            local will = readWill(deps, upstream, id)
            if will ~= nil then
                wills.by_id[id] = will
                wills.count = wills.count + 1
            end
            i = i + 1
        end
    end
end
local function findNextExpiry(wills, now_ms)
    local next_ms = math_huge
    for id in pairs(wills.by_id) do
        local ____opt_0 = wills.by_id[id]
        local until_ms = ____opt_0 and ____opt_0.until_ms
        if until_ms ~= nil and until_ms > now_ms then
            next_ms = math_min(next_ms, until_ms)
        end
    end
    return next_ms
end
--- Brings the wills of an upstream up to date. Cheap when none has changed: one read of the store.
-- 
-- @param nodes of the upstream
-- @param now_ms monotonic ms
-- @returns whether any may be another than at the last call: given, changed, taken back or expired
function ____exports.refreshWills(deps, upstream, nodes, wills, now_ms)
    local stored = deps.store.get(willVersionKey(upstream))
    local version = type(stored) == "number" and stored or nil
    local changed = version ~= wills.version
    local expired = now_ms >= wills.next_expiry_ms
    if changed then
        wills.version = version
        readAll(deps, upstream, nodes, wills)
    end
    if changed or expired then
        wills.next_expiry_ms = findNextExpiry(wills, now_ms)
    end
    return changed or expired
end
---
-- @returns the will that holds for the node now, or undefined
function ____exports.willOf(wills, id, now_ms)
    local will = wills.by_id[id]
    return will ~= nil and isInForce(will, now_ms) and will or nil
end
return ____exports
