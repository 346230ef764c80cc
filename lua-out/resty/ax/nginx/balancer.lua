local ____exports = {}
local balancer = require("ngx.balancer")
--- Status that makes nginx end the request with 502 instead of asking for another peer (NGX_BUSY).
local NO_LIVE_PEER = -3
--- Sends the current try to a peer. Balancer phase.
-- 
-- @param host an IP address (IPv6 in brackets) or "unix:/path"
-- @param port 0 for a unix socket
function ____exports.setPeer(host, port)
    return balancer.set_current_peer(host, port)
end
--- Allows more tries. Once per request at most: called on every try, they never end. Balancer phase.
function ____exports.allowTries(count)
    balancer.set_more_tries(count)
end
--- How the previous try ended.
-- 
-- @returns "failed" or "next" and a status; undefined on the first try
function ____exports.lastFailure()
    return balancer.get_last_failure()
end
--- Ends the tries: the client gets nginx's 502. Balancer phase.
function ____exports.endTries()
    ngx.exit(NO_LIVE_PEER)
end
return ____exports
