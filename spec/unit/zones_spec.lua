-- The own zone is preferred while it has capacity, and never the reason for having no node.
local upstreams = require("upstreams")
local pool_candidates = require("resty.ax.dataplane.candidates")
local pick = require("resty.ax.dataplane.pick")
local in_flight = require("resty.ax.dataplane.in_flight")
local new_store = require("fake_store")
local slots = require("resty.ax.dataplane.slots")
local requests = require("resty.ax.dataplane.requests")
local random = require("resty.ax.core.random")
local registry = require("resty.ax.core.strategies.registry")
local zones = require("resty.ax.core.zones")

local function silent() end

local function node(id, zone, given)
  local fields = { zone = zone }
  for key, value in pairs(given or {}) do
    fields[key] = value
  end
  return { id, fields }
end

--- Nodes 0 and 1 are local, 2 and 3 are not.
local function new(strategy, given)
  return upstreams.new({
    strategy = strategy or "random",
    nodes = {
      node("a1", "a", given),
      node("a2", "a", given),
      node("b1", "b", given),
      node("c1", "c", given),
    },
    config = { zone = "a" },
    seed = 3,
    store = new_store(),
  })
end

local function local_share(up, n)
  local count = 0
  for _ = 1, n or 2000 do
    local record = requests.newRequestRecord()
    if pick.pickNode(up, record, 1000, silent) < 2 then
      count = count + 1
    end
    in_flight.freeSlots(record)
  end
  return count / (n or 2000)
end

local function set_states(up, states)
  for k, state in ipairs(states) do
    up.state[k] = state
  end
  upstreams.flush(up)
end

describe("a zone", function()
  it("keeps all its traffic while it has capacity, with every strategy", function()
    for name in pairs(registry.strategies) do
      assert.equal(1, local_share(new(name), 300), name)
    end
  end)

  it("hands over smoothly what its lost weight cannot take", function()
    local up = new()
    set_states(up, { "ejected", "online", "online", "online" })
    -- Half of the weight, 1.4 times: 70 %.
    local share = local_share(up, 20000)
    assert.is_true(math.abs(share - 0.7) < 0.017, "share " .. share)
  end)

  it("hands over smoothly as its requests in flight near its capacity", function()
    local up = new(nil, { max_conns = 10 })
    local last = 1
    for running = 0, 9 do
      up.pool.in_flight[1], up.pool.in_flight[2] = running, running
      pool_candidates.refreshPlacement(up)
      local share = local_share(up, 5000)
      assert.is_true(share <= last + 0.02 and share > last - 0.4, running .. " in flight: " .. share)
      last = share
    end
    assert.is_true(last < 0.4)
    for _ = 1, 10 do
      assert.is_true(slots.takeSlot(up.slots, 0, 1) and slots.takeSlot(up.slots, 1, 1))
    end
    assert.equal(0, local_share(up, 200))
  end)

  it("counts a ramp and a low score as lost weight", function()
    local up = new()
    up.pool.weight[1], up.pool.weight[2] = 0.2, 0.3
    upstreams.flush(up)
    assert.is_true(math.abs(local_share(up, 20000) - 0.35) < 0.017)
  end)

  it("is measured by the tier in use: backups are not short of the primaries' weight", function()
    local heavy, spare = { weight = 10 }, { backup = true }
    local up = upstreams.new({
      strategy = "random",
      nodes = { node("a1", "a", heavy), node("b1", "b", heavy), node("a2", "a", spare), node("b2", "b", spare) },
      config = { zone = "a" },
      store = new_store(),
    })
    set_states(up, { "ejected", "ejected", "online", "online" })
    assert.equal(1, up.placement.local_share)
  end)

  it("does not make up for a node lost with one that has more than its base weight", function()
    local up = new()
    up.pool.weight[1] = 3
    set_states(up, { "online", "ejected", "online", "online" })
    assert.is_true(math.abs(up.placement.local_share - 0.7) < 1e-9)
  end)

  it("without a usable node is no reason to fail: the others serve, by themselves", function()
    for name in pairs(registry.strategies) do
      local up = new(name)
      set_states(up, { "ejected", "ejected", "online", "online" })
      assert.equal(0, local_share(up, 100), name)
      assert.is_false(up.panic)
    end
  end)

  it("that no node is in prefers nothing", function()
    local up = upstreams.new({ strategy = "random", nodes = 3, config = { zone = "elsewhere" } })
    local seen = {}
    for _ = 1, 100 do
      seen[pick.pickNode(up, requests.newRequestRecord(), 1000, silent)] = true
    end
    assert.same({ [0] = true, [1] = true, [2] = true }, seen)
  end)

  it("goes before tiers in nothing: other zones' primaries before the own zone's backup", function()
    local up = upstreams.new({
      strategy = "random",
      nodes = { node("a1", "a"), node("a2", "a", { backup = true }), node("b1", "b") },
      config = { zone = "a" },
    })
    set_states(up, { "ejected", "online", "online" })
    for _ = 1, 100 do
      assert.equal(2, pick.pickNode(up, requests.newRequestRecord(), 1000, silent))
    end
  end)

  it("leaves retries the own zone first, then the others, and no node twice", function()
    for name in pairs(registry.strategies) do
      local up = new(name)
      local record = requests.newRequestRecord()
      local order = {}
      for try = 1, 4 do
        order[try] = pick.pickNode(up, record, 1000, silent)
        requests.addTry(record, up, order[try])
      end
      assert.is_true(order[1] < 2 and order[2] < 2 and order[1] ~= order[2], name)
      assert.is_true(order[3] >= 2 and order[4] >= 2 and order[3] ~= order[4], name)
    end
  end)

  it("lets a strategy of the user's own see candidates of one zone at a time", function()
    local seen = {}
    local custom = {
      create = function()
        return {}
      end,
      pick = function(_, _, candidates, count)
        seen[#seen + 1] = count
        return candidates[count]
      end,
    }
    local up = new(custom)
    set_states(up, { "online", "ejected", "online", "online" })
    local nodes = {}
    for _ = 1, 200 do
      nodes[pick.pickNode(up, requests.newRequestRecord(), 1000, silent)] = true
    end
    assert.same({ [0] = true, [3] = true }, nodes)
  end)
end)

describe("the share of the own zone", function()
  it("is within 0..1, rises with its own weight and falls with the others' room", function()
    local rng = random.newRandom(77)
    local function load()
      local base = random.draw(rng) * 10
      return {
        weight = random.draw(rng) * base,
        base_weight = base,
        in_flight = random.drawBelow(rng, 100),
        capacity = random.drawBelow(rng, 100),
      }
    end
    for _ = 1, 3000 do
      local own, others = load(), load()
      local share = zones.localShare(own, others)
      assert.is_true(share >= 0 and share <= 1)
      own.weight = own.weight + 0.1 * own.base_weight
      assert.is_true(zones.localShare(own, others) >= share - 1e-12)
      own.weight = own.weight - 0.1 * own.base_weight
      others.in_flight = others.in_flight + 5
      assert.is_true(zones.localShare(own, others) >= share - 1e-12)
    end
  end)

  it("is 1 when the others have no room either: what fits nowhere stays", function()
    local full = { weight = 1, base_weight = 1, in_flight = 10, capacity = 10 }
    assert.equal(1, zones.localShare(full, full))
  end)
end)
