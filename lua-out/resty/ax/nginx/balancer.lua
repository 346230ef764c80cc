local ____exports = {}
local balancer = require("ngx.balancer")
local setCurrentPeer = balancer.set_current_peer
local getLastFailure = balancer.get_last_failure
--- Status that makes nginx end the request with 502 instead of asking for another peer (NGX_BUSY).
local NO_LIVE_PEER = -3
--- Sends the current try to a peer. Balancer phase.
-- 
-- @param host an IP address (IPv6 in brackets) or "unix:/path"
-- @param port 0 for a unix socket
function ____exports.setPeer(host, port)
    return setCurrentPeer(host, port)
end
--- Whether connections can be kept from Lua: lua-resty-core 0.1.29 and lua-nginx-module 0.10.27 can. The function is
-- looked for, not the version: builds carry patches.
local function canKeepConnections()
    return type(balancer.enable_keepalive) == "function"
end
---
-- @returns what is to be said at the start of an upstream with `lua_keepalive`; undefined = nothing
function ____exports.keepaliveProblem(upstream)
    if canKeepConnections() then
        return nil
    end
    return (("upstreams." .. upstream) .. ".lua_keepalive: this nginx's lua-resty-core has no balancer.enable_keepalive (0.1.29 has); ") .. "the option has no effect: put keepalive into the upstream block, after balancer_by_lua"
end
--- Keeps the connection of the current try for later ones, when it ends well. After `setPeer`. Does nothing where nginx
-- cannot. Balancer phase.
-- 
-- @param idle_timeout_s 0 = for ever
-- @param max_requests 0 = any number
function ____exports.keepConnection(idle_timeout_s, max_requests)
    local ____opt_0 = balancer.enable_keepalive
    if ____opt_0 ~= nil then
        ____opt_0(idle_timeout_s, max_requests)
    end
end
--- Allows more tries. Once per request at most: called on every try, they never end. Balancer phase.
function ____exports.allowTries(count)
    balancer.set_more_tries(count)
end
--- How the previous try ended.
-- 
-- @returns "failed" or "next" and a status; undefined on the first try
function ____exports.lastFailure()
    return getLastFailure()
end
--- Ends the tries: the client gets nginx's 502. Balancer phase.
function ____exports.endTries()
    ngx.exit(NO_LIVE_PEER)
end
return ____exports
