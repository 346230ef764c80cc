local ____exports = {}
local ____adaptive = require("resty.ax.core.strategies.adaptive")
local adaptive = ____adaptive.adaptive
local ____affinity = require("resty.ax.core.strategies.affinity")
local affinity = ____affinity.affinity
local ____consistent_hash = require("resty.ax.core.strategies.consistent_hash")
local consistentHash = ____consistent_hash.consistentHash
local ____ip_hash = require("resty.ax.core.strategies.ip_hash")
local ipHash = ____ip_hash.ipHash
local ____fastest = require("resty.ax.core.strategies.fastest")
local fastest = ____fastest.fastest
local ____goal = require("resty.ax.core.strategies.goal")
local goal = ____goal.goal
local ____least_conn = require("resty.ax.core.strategies.least_conn")
local leastConn = ____least_conn.leastConn
local ____p2c = require("resty.ax.core.strategies.p2c")
local p2c = ____p2c.p2c
local ____random = require("resty.ax.core.strategies.random")
local random = ____random.random
local ____round_robin = require("resty.ax.core.strategies.round_robin")
local roundRobin = ____round_robin.roundRobin
local all = {
    adaptive,
    affinity,
    consistentHash,
    ipHash,
    fastest,
    goal,
    leastConn,
    p2c,
    random,
    roundRobin
}
--- Built-in strategies by the name used in the configuration.
____exports.strategies = {}
for ____, strategy in ipairs(all) do
    ____exports.strategies[strategy.name] = strategy
end
return ____exports
