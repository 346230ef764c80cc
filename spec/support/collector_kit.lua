-- A collector in virtual time: a table for a store, workers that are lists of reports.
local cjson = require("cjson.safe")
local collector = require("resty.ax.collector.collector")
local deltas = require("deltas")
local fake_store = require("fake_store")

local M = {}

local node_defaults = { weight = 1, max_fails = 3, fail_timeout_s = 10, max_conns = 0, backup = false, down = false }

local upstream_defaults = {
  name = "backend",
  window_short_s = 5,
  window_long_s = 60,
  min_samples = 20,
  score_min = 0.2,
  score_max = 1.5,
  weight_step = 0.2,
  weight_step_interval_ms = 1000,
  error_penalty_from = 0.015,
  eject_error_rate = 0.05,
  eject_error_rate_for_s = 30,
  cool_down_s = 60,
  cool_down_max_s = 600,
  ramp_s = 30,
  ramp_from = 0.2,
  return_trial = false,
  slow_start_s = 0,
  slow_start_share = 0.2,
  max_ejected_share = 1,
  panic_threshold = 0.2,
  panic = "spread",
  eject_host = false,
  max_concurrency_per_node = 500,
}

local function with_defaults(given, defaults)
  local result = {}
  for key, value in pairs(defaults) do
    result[key] = value
  end
  for key, value in pairs(given or {}) do
    result[key] = value
  end
  return result
end

function M.node(id, given)
  local node = with_defaults(given, node_defaults)
  node.id, node.host, node.port, node.labels = id, "127.0.0.1", 80, {}
  return node
end

--- An upstream's configuration. nodes: ids, or nodes.
function M.upstream(nodes, given)
  local upstream = with_defaults(given, upstream_defaults)
  upstream.nodes = {}
  for i, node in ipairs(nodes) do
    upstream.nodes[i] = type(node) == "string" and M.node(node) or node
  end
  return upstream
end

--- options: upstreams (list), or nodes and upstream (overrides); store; now_ms; alive (pid → boolean),
--- holder_alive (identity → boolean).
function M.new(options)
  local kit = {
    store = options.store or fake_store(),
    now_ms = options.now_ms or 1000000,
    warnings = {},
    events = {},
    alive = options.alive or {},
  }
  local upstreams = options.upstreams or { M.upstream(options.nodes, options.upstream) }
  local config = { collector_interval_ms = 500, upstreams = {} }
  for _, upstream in ipairs(upstreams) do
    config.upstreams[upstream.name] = upstream
  end
  kit.collector = collector.newCollector(config, {
    store = kit.store,
    encode = cjson.encode,
    decode = cjson.decode,
    pid = options.pid or 100,
    processAlive = function(pid)
      return kit.alive[pid] ~= false
    end,
    onWarning = function(kind, message)
      kit.warnings[#kit.warnings + 1] = kind .. ": " .. message
    end,
    pause = options.pause,
    runningMs = options.runningMs,
    holderAlive = options.holder_alive,
    probes = options.probes,
    wallS = function()
      return 1700000000 + kit.now_ms / 1000
    end,
    onEvent = function(upstream, event)
      kit.events[#kit.events + 1] = { upstream = upstream, event = event }
    end,
  })
  return setmetatable(kit, { __index = M })
end

--- A worker's report: node id → NodeDelta.
function M.report(kit, nodes, upstream, pid)
  kit.store.push("deltas", cjson.encode({
    pid = pid or 1,
    at_ms = kit.now_ms,
    upstreams = { [upstream or "backend"] = nodes },
  }))
end

function M.tick(kit, ms)
  kit.now_ms = kit.now_ms + (ms or 500)
  collector.tick(kit.collector, kit.now_ms)
end

--- Ticks for a time. make(tick) → reports (node id → NodeDelta) of that tick.
function M.run(kit, seconds, make)
  for tick = 1, seconds * 2 do
    if make then
      kit:report(make(tick))
    end
    kit:tick()
  end
end

function M.snapshot(kit, upstream)
  return cjson.decode(kit.store.get("snapshot:" .. (upstream or "backend")))
end

function M.detail(kit, upstream)
  return cjson.decode(kit.store.get("detail:" .. (upstream or "backend")))
end

--- One node's detail.
function M.at(kit, id, upstream)
  return kit:detail(upstream).nodes[id]
end

--- The same answers from every node.
function M.steady(ids, n, ms)
  return function()
    local nodes = {}
    for _, id in ipairs(ids) do
      nodes[id] = deltas.delta(deltas.same(n, ms))
    end
    return nodes
  end
end

return M
