-- Jobs for the simulator as the command line would make them; `given` overrides fields.
local M = {}

function M.node(id, given)
  local node = { id = id, slots = 8, speed = 1, weight = 1, max_conns = 0, joins_at_s = 0, events = {} }
  for key, value in pairs(given or {}) do
    node[key] = value
  end
  return node
end

--- How long requests take.
function M.service(given)
  local service = { distribution = "exponential", mean_ms = 20, cv = 1, heavy_share = 0.05, heavy_factor = 20 }
  service.alpha, service.spread, service.timer_ms = 1.5, 1000, 0
  for key, value in pairs(given) do
    service[key] = value
  end
  return service
end

--- What happens to a node.
function M.event(given)
  local event = { from_s = 0, for_s = 0, every_s = 0, speed = 1, mode = "up", error_share = 0, errors_work = false }
  for key, value in pairs(given) do
    event[key] = value
  end
  return event
end

function M.nodes(n, given)
  local nodes = {}
  for k = 1, n do
    nodes[k] = M.node("n" .. k, given)
  end
  return nodes
end

function M.job(given)
  local job = {
    name = "spec",
    seed = 1,
    strategy = "adaptive",
    strategy_options = {},
    duration_s = 10,
    warmup_s = 5,
    gateways = 2,
    workers = 2,
    rho = 0.7,
    rate_per_s = 0,
    steps = {},
    service = M.service({}),
    clients = 0,
    think_ms = 0,
    classes = {},
    streams = { share = 0, mean_s = 10 },
    step_ms = 1000,
    network_ms = 0.5,
    timeout_ms = 2000,
    error_ms = 0.1,
    retry = { error = true, timeout = true, http_500 = false },
    nodes = M.nodes(6),
    access = false,
    upstream = {},
    init = {},
  }
  for key, value in pairs(given or {}) do
    job[key] = value
  end
  return job
end

return M
