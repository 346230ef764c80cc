-- One request through the data plane without nginx: what the balancer and log phases do around their
-- calls into nginx. Shared by the pick benchmark and the JIT check.
local upstreams = require("upstreams")
local pick = require("resty.ax.dataplane.pick")
local requests = require("resty.ax.dataplane.requests")
local in_flight = require("resty.ax.dataplane.in_flight")
local outcome = require("resty.ax.dataplane.outcome")
local counters = require("resty.ax.dataplane.counters")
local new_store = require("fake_store")
local reports = require("resty.ax.dataplane.reports")
local random = require("resty.ax.core.random")
local cost = require("resty.ax.core.cost")

local M = {}

local function silent() end

--- What two of three answers carry, with the option `orca`.
M.report = "TEXT cpu_utilization=0.3"

--- An upstream of n nodes that has seen some traffic. config: overrides.
function M.warm_upstream(strategy, n, config)
  local up = upstreams.new({ strategy = strategy, nodes = n, seed = 5, store = new_store(), config = config })
  local rng = random.newRandom(17)
  for node = 1, n do
    up.pool.latency_ms[node] = 5 + random.draw(rng) * 20
    up.pool.in_flight[node] = random.drawBelow(rng, 3)
    -- Divided, because times and shares have fractions (core/fraction.ts).
    up.pool.last_pick_ms[node] = 1000 / 1
    -- As in life: some nodes answered just now, some owe an answer, and the other workers have requests there, too.
    up.pool.last_sample_ms[node] = (990 + random.drawBelow(rng, 10)) / 1
    up.pool.oldest_start_ms[node] = (up.pool.in_flight[node] > 0 and 980 + random.drawBelow(rng, 20) or 0) / 1
    up.pool.others_in_flight[node] = random.drawBelow(rng, 3) / 1
    up.pool.success[node] = (random.draw(rng) < 0.2 and 0.97 or 1) / 1
  end
  cost.weighAll(up.pool)
  return up
end

--- Only the pick, and its slot given back.
function M.pick_only(up, record, now_ms)
  record.tries = 0
  record.hash_key = (record.hash_key + 2654435761) % 4294967296
  local node = pick.pickNode(up, record, now_ms, silent)
  in_flight.freeSlots(record)
  return node
end

--- The balancer phase up to the choice, the choice, and what follows it; then the log phase. Apart, as the phases are.
function M.open(table_, key, now_ms)
  local record = requests.openRequest(table_, key, now_ms, false)
  record.hash_key = key * 2654435761 % 4294967296
  return record
end

function M.choose(up, record, now_ms)
  return pick.pickNode(up, record, now_ms, silent)
end

function M.send(up, record, node, now_ms)
  requests.addTry(record, up, node)
  in_flight.beginTry(up, record, node, now_ms)
  counters.countPick(up.counters, node)
end

function M.log(up, table_, record, node, now_ms)
  in_flight.endTryUnweighed(record)
  outcome.accountTry(up, node, 0, 7 + node % 5, true, now_ms + 7)
  if up.reports and now_ms >= up.reports.due_ms[node + 1] then
    reports.takeReport(up.reports, up.counters, node, record.key % 3 > 0 and M.report or nil, now_ms)
  end
  requests.closeRequest(table_, record)
end

--- All of it.
function M.request(up, table_, key, now_ms)
  local record = M.open(table_, key, now_ms)
  local node = M.choose(up, record, now_ms)
  M.send(up, record, node, now_ms)
  M.log(up, table_, record, node, now_ms)
  return node
end

--- A request that stays in flight; nil when every node is full.
function M.hold(up, key, now_ms)
  local record = requests.newRequestRecord()
  record.hash_key = key * 2654435761 % 4294967296
  local node = pick.pickNode(up, record, now_ms, silent)
  if node < 0 then
    return nil
  end
  in_flight.beginTry(up, record, node, now_ms)
  return record
end

function M.let_go(record)
  in_flight.endTry(record)
end

local retried = requests.newRequestRecord()

--- The pick of a retry, after a first try at node 0.
function M.retry(up, key, now_ms)
  retried.tries = 0
  retried.hash_key = key * 2654435761 % 4294967296
  requests.addTry(retried, up, 0)
  return pick.pickNode(up, retried, now_ms, silent)
end

return M
