local math_huge = math.huge
local ____exports = {}
local ____request_key = require("resty.ax.core.request_key")
local IPV4_PREFIX_BITS = ____request_key.IPV4_PREFIX_BITS
local IPV6_PREFIX_BITS = ____request_key.IPV6_PREFIX_BITS
local ____ring_options = require("resty.ax.core.ring_options")
local pointsPerNode = ____ring_options.pointsPerNode
local ____ring_walk = require("resty.ax.core.ring_walk")
local admit = ____ring_walk.admit
local clockwise = ____ring_walk.clockwise
local locate = ____ring_walk.locate
local newMembers = ____ring_walk.newMembers
local prepareMembers = ____ring_walk.prepareMembers
--- By the client's address: one client, one node, without a cookie. Addresses that share their first
-- bits count as one client.
-- 
-- nginx's ip_hash takes the address modulo the sum of the weights, so that adding a node moves nearly
-- every client. Here a ring decides, with distances divided by weight (ring_walk.ts). A weighted rendezvous would
-- follow the weights more closely, but has to look at every node: 10,000 of them cost it 200 µs a pick.
____exports.ipHash = {
    name = "ip_hash",
    uses_key = true,
    by_address = true,
    options = {ipv4_prefix_bits = {
        kind = "number",
        integer = true,
        min = 1,
        max = 32,
        default = IPV4_PREFIX_BITS,
        doc = "IPv4 clients whose addresses agree in so many leading bits share a node. 32 = each address by itself.",
        reason = "as nginx's ip_hash: a client that changes its address within its network keeps its node"
    }, ipv6_prefix_bits = {
        kind = "number",
        integer = true,
        min = 1,
        max = 128,
        default = IPV6_PREFIX_BITS,
        doc = "The same for IPv6. IPv4 addresses written as IPv6 (`::ffff:192.0.2.1`) count as IPv4.",
        reason = "hosts change the lower 64 bits at will, for privacy"
    }, port = {kind = "boolean", default = false, doc = "The client's port counts too: spreads the users behind one address over the nodes, " .. "but a user only keeps a node as long as the connection.", reason = "a session that outlives its connection is what ip_hash is chosen for"}, points_per_node = pointsPerNode},
    create = function(pool, options)
        return {members = newMembers(pool, options.points_per_node, true)}
    end,
    prepare = function(state, pool)
        return prepareMembers(state.members, pool)
    end,
    pick = function(state, pool, candidates, count, request)
        locate(state.members, request.key)
        admit(state.members, pool, candidates, count)
        return clockwise(
            state.members,
            pool,
            candidates,
            count,
            request.key,
            math_huge
        )
    end
}
return ____exports
