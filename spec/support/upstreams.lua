-- Upstream runtimes for specs, without nginx: a configuration, a strategy, a clock that stands still.
local upstream = require("resty.ax.dataplane.upstream")
local candidates = require("resty.ax.dataplane.candidates")
local prepare = require("resty.ax.dataplane.prepare")
local limits = require("resty.ax.dataplane.limits")
local registry = require("resty.ax.core.strategies.registry")
local requests = require("resty.ax.dataplane.requests")
local request_class = require("resty.ax.dataplane.request_class")

local M = {}

local defaults = {
  weight = 1,
  max_fails = 3,
  fail_timeout_s = 10,
  max_conns = 0,
  backup = false,
  down = false,
  zone = "",
  cost = 1,
}

--- A node's configuration; `given` overrides the defaults.
function M.node(id, given)
  local node = { id = id, host = "127.0.0.1", port = 8000, labels = {} }
  for key, value in pairs(defaults) do
    node[key] = value
  end
  for key, value in pairs(given or {}) do
    node[key] = value
  end
  return node
end

local function options_of(strategy, given)
  local options = {}
  for name, field in pairs(strategy.options) do
    options[name] = field.default
  end
  for name, value in pairs(given or {}) do
    options[name] = value
  end
  return options
end

--- An upstream runtime. spec: strategy (name or module table), nodes (list of {id, overrides} or a count),
--- options, seed, config (overrides), store (limits are kept in it), holder.
function M.new(spec)
  local custom = type(spec.strategy) == "table"
  local strategy = custom and spec.strategy or registry.strategies[spec.strategy or "adaptive"]
  local nodes = {}
  if type(spec.nodes) == "number" then
    for k = 1, spec.nodes do
      nodes[k] = M.node("n" .. k)
    end
  else
    for k, node in ipairs(spec.nodes) do
      nodes[k] = M.node(node[1], node[2])
    end
  end
  local config = {
    name = "backend",
    strategy = strategy.name or "custom",
    strategy_module = custom and "spec.custom" or nil,
    strategy_options = options_of(custom and { options = {} } or strategy, spec.options),
    nodes = nodes,
    nodes_from = "nodes",
    max_tries = 0,
    max_concurrency_per_node = 500,
    max_overflow_ratio = 0.1,
    overload_cool_down_s = 30,
    retry_ratio = 0.2,
    retry_min_per_s = 3,
    retry_deadline_ms = 0,
  }
  for key, value in pairs(spec.config or {}) do
    config[key] = value
  end
  local up = upstream.newUpstream(config, strategy, custom, spec.seed or 1)
  if spec.store then
    limits.attachSlots(up, spec.store, spec.holder or 1)
  end
  return up
end

--- A flush after something in the pool has been set by hand: candidates, and the strategy's tables.
function M.flush(up, now_ms)
  candidates.rebuildCandidates(up)
  prepare.prepareWhole(up, now_ms or 1000)
end

--- A reporter that keeps what it was told.
function M.reporter()
  local told = {}
  return function(kind, message)
    told[#told + 1] = { kind = kind, message = message }
  end, told
end

--- The role of a request with a class, as the access or balancer phase reads it.
function M.role_of(up, class)
  local function value()
    return class
  end
  up.door.class_reader = {
    value = value,
    is_function = false,
    address = function()
      return "\127\0\0\1"
    end,
  }
  up.placement.guarded = false
  local record = requests.newRequestRecord()
  request_class.readClass(up, record, function() end)
  return record.role
end

return M
