-- What picks read of a node is derived when something changes, not at the pick (core/cost.ts): whatever happens, it has
-- to be what would be derived now.
local upstreams = require("upstreams")
local new_store = require("fake_store")
local cost = require("resty.ax.core.cost")
local random = require("resty.ax.core.random")
local apply_snapshot = require("resty.ax.dataplane.apply_snapshot")
local holds = require("resty.ax.dataplane.holds")
local in_flight = require("resty.ax.dataplane.in_flight")
local outcome = require("resty.ax.dataplane.outcome")
local pick = require("resty.ax.dataplane.pick")
local refresh = require("resty.ax.dataplane.refresh")
local requests = require("resty.ax.dataplane.requests")
local reserve = require("resty.ax.dataplane.reserve")

local DERIVED = { "resting_cost", "silent_since_ms", "silence_per_ms", "load_rank" }
local OUTCOMES = { ok = 0, error = 1, fail = 2, aborted = 3, busy = 4 }

local function silent() end

--- What would be derived now.
local function derived_anew(pool)
  local copy = {}
  for name, value in pairs(pool) do
    copy[name] = value
  end
  for _, name in ipairs(DERIVED) do
    copy[name] = {}
  end
  cost.weighAll(copy)
  return copy
end

local function assert_up_to_date(pool, after)
  local anew = derived_anew(pool)
  for _, name in ipairs(DERIVED) do
    for node = 1, pool.n do
      assert.equal(anew[name][node], pool[name][node], ("%s of node %d after %s"):format(name, node - 1, after))
    end
  end
  local least = math.huge
  for k = 1, pool.candidate_count do
    least = math.min(least, pool.inverse_prior[pool.candidates[k] + 1])
  end
  assert.equal(1 / least, pool.highest_prior, "highest prior after " .. after)
end

--- One worker's upstream with requests under way, on which all that can happen happens.
local function new_world(rng, n)
  local world = { now = 10000, live = {}, rng = rng, n = n }
  world.up = upstreams.new({ strategy = "adaptive", nodes = n, store = new_store(), seed = random.drawBelow(rng, 1e6) })
  return world
end

local function take(world)
  if #world.live == 0 then
    return nil
  end
  return table.remove(world.live, 1 + random.drawBelow(world.rng, #world.live))
end

local function any_outcome(world)
  local names = { "ok", "ok", "ok", "error", "fail", "aborted", "busy" }
  return OUTCOMES[names[1 + random.drawBelow(world.rng, #names)]]
end

local events = {}

function events.sent(world)
  local record = requests.newRequestRecord()
  local node = pick.pickNode(world.up, record, world.now, silent)
  if node >= 0 then
    requests.addTry(record, world.up, node)
    in_flight.beginTry(world.up, record, node, world.now)
    table.insert(world.live, record)
  end
end

events.sent_too = events.sent

function events.place_kept(world)
  local record = requests.newRequestRecord()
  if reserve.reserve(world.up, record, world.now, silent) then
    table.insert(world.live, record)
  end
end

function events.place_used(world)
  local record = take(world)
  if record and record.reserved then
    requests.addTry(record, world.up, record.node)
    in_flight.beginReserved(world.up, record, world.now)
  end
  table.insert(world.live, record)
end

function events.ended(world)
  local record = take(world)
  if record then
    in_flight.endTry(record)
  end
end

function events.accounted(world)
  local record = take(world)
  if record and record.tries == 1 then
    local node = record.try_node[1]
    in_flight.endTryUnweighed(record)
    in_flight.noteAnswered(world.up, node, record.start_ms)
    local took = world.now - record.start_ms
    outcome.accountTry(world.up, node, any_outcome(world), took, random.draw(world.rng) < 0.8, world.now)
  end
end

function events.retried(world)
  local record = take(world)
  if record and record.node >= 0 then
    local node = record.node
    in_flight.endTry(record)
    if random.draw(world.rng) < 0.3 then
      outcome.learnBusy(world.up, node, world.now)
    else
      outcome.learnFailure(world.up, node, random.draw(world.rng) < 0.5, world.now)
    end
  end
end

function events.held(world)
  holds.hold(world.up, random.drawBelow(world.rng, world.n), world.now + random.drawBelow(world.rng, 300))
end

function events.released(world)
  holds.release(world.up, random.drawBelow(world.rng, world.n))
end

function events.others_read(world)
  for node = 1, world.n do
    world.up.pool.others_in_flight[node] = random.drawBelow(world.rng, 5)
  end
  refresh.refresh(world.up, world.now)
end

function events.snapshot_taken(world)
  local nodes = {}
  for node = 1, world.n do
    local states = { "online", "online", "ramping", "suspect", "offline" }
    nodes[world.up.pool.ids[node]] = {
      state = states[1 + random.drawBelow(world.rng, #states)],
      weight = random.draw(world.rng) * 2,
      static_weight = random.draw(world.rng),
      success = random.draw(world.rng),
      latency_ms = random.draw(world.rng) < 0.5 and 1 + random.drawBelow(world.rng, 100) or nil,
    }
  end
  apply_snapshot.applySnapshot(world.up, { generation = 1, at_ms = world.now, nodes = nodes }, world.now)
end

function events.time_passed(world)
  world.now = world.now + random.drawBelow(world.rng, 5000)
end

describe("what picks read of a node", function()
  it("is up to date after whatever happens", function()
    local names = {}
    for name in pairs(events) do
      names[#names + 1] = name
    end
    table.sort(names)
    for seed = 1, 40 do
      local rng = random.newRandom(seed)
      local world = new_world(rng, 1 + random.drawBelow(rng, 15))
      for _ = 1, 150 do
        local name = names[1 + random.drawBelow(rng, #names)]
        world.now = world.now + random.drawBelow(rng, 20)
        events[name](world)
        assert_up_to_date(world.up.pool, name .. ", seed " .. seed)
      end
    end
  end)
end)
