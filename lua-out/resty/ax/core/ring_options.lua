local ____exports = {}
local ____ring = require("resty.ax.core.ring")
local POINTS_PER_NODE = ____ring.POINTS_PER_NODE
--- The option `points_per_node` of every strategy with a ring.
____exports.pointsPerNode = {
    kind = "number",
    integer = true,
    min = 1,
    max = 2000,
    default = POINTS_PER_NODE,
    doc = "Points of each node on the ring. More make shares more even and the ring larger: 8 bytes a point and worker. " .. "All gateways need the same number.",
    reason = "libketama's and nginx's number: shares differ by about 8 %"
}
return ____exports
