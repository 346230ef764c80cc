-- One request through the data plane without nginx: what the balancer and log phases do around their
-- calls into nginx. Shared by the pick benchmark and the JIT check.
local upstreams = require("upstreams")
local pick = require("resty.ax.dataplane.pick")
local requests = require("resty.ax.dataplane.requests")
local in_flight = require("resty.ax.dataplane.in_flight")
local outcome = require("resty.ax.dataplane.outcome")
local counters = require("resty.ax.dataplane.counters")
local random = require("resty.ax.core.random")

local M = {}

local function silent() end

--- An upstream of n nodes that has seen some traffic.
function M.warm_upstream(strategy, n)
  local up = upstreams.new({ strategy = strategy, nodes = n, seed = 5 })
  local rng = random.newRandom(17)
  for node = 1, n do
    up.pool.latency_ms[node] = 5 + random.draw(rng) * 20
    up.pool.in_flight[node] = random.drawBelow(rng, 3)
    up.pool.last_pick_ms[node] = 1000
  end
  return up
end

--- Only the pick.
function M.pick_only(up, record, now_ms)
  record.tries = 0
  record.hash_key = (record.hash_key + 2654435761) % 4294967296
  return pick.pickNode(up, record, now_ms, silent)
end

--- Balancer phase, then log phase.
function M.request(up, table_, key, now_ms)
  local record = requests.openRequest(table_, key, now_ms, false)
  record.hash_key = key * 2654435761 % 4294967296
  local node = pick.pickNode(up, record, now_ms, silent)
  requests.addTry(record, up, node)
  in_flight.beginTry(up, record, node, now_ms)
  counters.countPick(up.counters, node)
  in_flight.endTry(record)
  outcome.accountTry(up, node, 0, 7 + node % 5, true, now_ms + 7)
  requests.closeRequest(table_, record)
  return node
end

return M
