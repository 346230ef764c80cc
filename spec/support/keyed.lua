-- Picks by key, and changes to an upstream as the collector would make them.
local in_flight = require("resty.ax.dataplane.in_flight")
local pick = require("resty.ax.dataplane.pick")
local random = require("resty.ax.core.random")
local requests = require("resty.ax.dataplane.requests")
local upstreams = require("upstreams")

local M = {}

local function silent() end

--- The node's identity that a first try with this key goes to.
function M.owner(up, key, now_ms)
  local record = requests.newRequestRecord()
  record.hash_key = key
  local node = pick.pickNode(up, record, now_ms or 1000, silent)
  in_flight.freeSlots(record)
  return up.pool.ids[node + 1]
end

--- Identities of the nodes that a request with this key tries, one after the other.
function M.tries(up, key, n)
  local record = requests.newRequestRecord()
  record.hash_key = key
  local ids = {}
  for k = 1, n do
    local node = pick.pickNode(up, record, 1000, silent)
    requests.addTry(record, up, node)
    ids[k] = up.pool.ids[node + 1]
  end
  return ids
end

function M.keys(n, seed)
  local rng = random.newRandom(seed)
  local keys = {}
  for k = 1, n do
    keys[k] = random.drawBelow(rng, 4294967296)
  end
  return keys
end

--- Owner of every key.
function M.owners(up, keys)
  local owners = {}
  for k, key in ipairs(keys) do
    owners[k] = M.owner(up, key)
  end
  return owners
end

function M.count(owners)
  local counts = {}
  for _, id in ipairs(owners) do
    counts[id] = (counts[id] or 0) + 1
  end
  return counts
end

function M.node_of(up, id)
  for node = 1, up.pool.n do
    if up.pool.ids[node] == id then
      return node
    end
  end
end

function M.set_state(up, id, state)
  up.state[M.node_of(up, id)] = state
  upstreams.flush(up)
end

--- Sets the current weight, and the one without scores where given.
function M.set_weight(up, id, weight, static_weight)
  up.pool.weight[M.node_of(up, id)] = weight
  up.pool.static_weight[M.node_of(up, id)] = static_weight or weight
  upstreams.flush(up)
end

--- A list of n nodes, in an order of its own.
function M.nodes(n, rng, weight_of)
  local nodes = {}
  for k = 1, n do
    nodes[k] = { "n" .. k, { weight = weight_of and weight_of(k) or 1 } }
  end
  for k = n, 2, -1 do
    local j = 1 + random.drawBelow(rng, k)
    nodes[k], nodes[j] = nodes[j], nodes[k]
  end
  return nodes
end

return M
