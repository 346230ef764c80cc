local ____exports = {}
local ____operator = require("resty.ax.core.operator")
local willKey = ____operator.willKey
local willVersionKey = ____operator.willVersionKey
local ____values = require("resty.ax.core.values")
local padded = ____values.padded
--- Wills are padded to one length. A value that replaces one of the same length is written in place by the shared
-- dict; with another length it would first be removed, and in a full dict be lost. So whatever was written once can be
-- changed whatever happens.
local WILL_BYTES = 768
--- Sets a node's will, or takes it back. All or nothing.
-- 
-- @param will undefined: none
-- @returns false when the store is full; nothing has changed then
function ____exports.writeWill(deps, upstream, id, will)
    local ____deps_0 = deps
    local store = ____deps_0.store
    local key = willKey(upstream, id)
    local version = willVersionKey(upstream)
    if will == nil then
        if store.get(key) == nil then
            return true
        end
        store.remove(key)
        store.incr(version, 1)
        return true
    end
    local text = deps.encode(will)
    if text == nil or store.incr(version, 0) == nil then
        return false
    end
    if not store.set(
        key,
        padded(text, WILL_BYTES)
    ) then
        return false
    end
    store.incr(version, 1)
    return true
end
return ____exports
