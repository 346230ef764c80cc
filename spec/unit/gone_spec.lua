-- Nodes that have left the configuration: nothing of them stays in the store for good.
local cjson = require("cjson.safe")
local collector_kit = require("collector_kit")
local fake_store = require("fake_store")
local core = require("resty.ax.core.slots")
local operator = require("resty.ax.core.operator")
local slots = require("resty.ax.dataplane.slots")

local HOUR_MS = 3600000

local function limits_of(n)
  local limits = { limit = {}, overflow_ratio = {}, whole = 0, cool_down_ms = 30 }
  limits.unchosen, limits.moved_overflow_ratio = {}, 0
  for k = 1, n do
    limits.limit[k], limits.overflow_ratio[k], limits.unchosen[k] = 10, 0, false
  end
  return limits
end

-- A gateway over reloads: each has a collector and a worker of its own; the worker before it exits.
local function gateway()
  local world = { store = fake_store(), now_ms = 1000000, alive = {}, generation = 0 }
  function world.reload(nodes)
    world.generation = world.generation + 1
    local identity = "w" .. world.generation
    world.alive[identity] = true
    local holder = core.claimHolder(world.store, identity)
    world.worker = slots.newSlots(world.store, holder, "backend", nodes, limits_of(#nodes))
    world.kit = collector_kit.new({
      nodes = nodes,
      store = world.store,
      now_ms = world.now_ms,
      holder_alive = function(asked)
        return world.alive[asked] == true
      end,
    })
    return world.worker, identity
  end
  function world.pass(ms)
    local ticks = 10
    for _ = 1, ticks do
      world.kit:tick(ms / ticks)
    end
    world.now_ms = world.kit.now_ms
  end
  function world.count(pattern)
    local count = 0
    for key in pairs(world.store.values) do
      if key:find(pattern) then
        count = count + 1
      end
    end
    return count
  end
  function world.drain(id)
    world.store.set(operator.willKey("backend", id), cjson.encode({ kind = "drain", at_ms = world.now_ms }))
    world.store.set(operator.willVersionKey("backend"), (world.store.get(operator.willVersionKey("backend")) or 0) + 1)
  end
  return world
end

describe("nodes that have gone", function()
  it("leave no slots behind, however many deployments there are", function()
    local world = gateway()
    local before
    for generation = 1, 50 do
      local worker, identity = world.reload({ "10.0.0." .. generation, "10.0.1." .. generation })
      slots.takeSlot(worker, 0, 1)
      slots.freeSlot(worker, 0)
      if before then
        world.alive[before] = nil
      end
      before = identity
      world.pass(20000)
    end
    assert.is_true(world.count("^held:") <= 3, world.count("^held:"))
    assert.is_true(world.count("^slots:backend:") <= 3, world.count("^slots:backend:"))
  end)

  it("keep the slots of workers that still have requests there", function()
    local world = gateway()
    local old, old_identity = world.reload({ "a", "b" })
    slots.takeSlot(old, 0, 1)
    world.pass(5000)
    world.reload({ "b" })
    world.pass(2 * HOUR_MS)
    assert.equal(1, world.store.get(core.totalKey("backend", "a")))
    slots.freeSlot(old, 0)
    world.pass(5000)
    assert.equal(0, world.count(":a"))
    assert.is_nil(world.store.get("gone:backend"))
    world.alive[old_identity] = nil
    world.pass(5000)
    assert.equal(0, world.count(":a"))
  end)

  it("take the slots of a worker that died with requests there along", function()
    local world = gateway()
    local old, old_identity = world.reload({ "a", "b" })
    slots.takeSlot(old, 0, 1)
    world.pass(5000)
    world.reload({ "b" })
    world.alive[old_identity] = nil
    world.pass(5000)
    assert.equal(0, world.count(":a"))
  end)

  it("come back as the operator left them when they were away for less than an hour", function()
    local world = gateway()
    world.reload({ "a", "b" })
    world.drain("a")
    world.pass(5000)
    world.reload({ "b" })
    world.pass(HOUR_MS / 2)
    world.reload({ "a", "b" })
    world.pass(5000)
    -- Drained, and nothing in flight.
    assert.equal("offline", world.kit:at("a").state)
    -- Being away begins anew.
    world.pass(HOUR_MS)
    world.reload({ "b" })
    world.pass(HOUR_MS * 0.9)
    assert.is_string(world.store.get(operator.willKey("backend", "a")))
  end)

  it("are forgotten after an hour, also over further reloads: another machine at the address is not drained", function()
    local world = gateway()
    world.reload({ "a", "b" })
    world.drain("a")
    world.pass(5000)
    for _ = 1, 3 do
      world.reload({ "b" })
      world.pass(HOUR_MS * 0.4)
    end
    assert.is_nil(world.store.get(operator.willKey("backend", "a")))
    assert.is_nil(world.store.get("gone:backend"))
    world.reload({ "a", "b" })
    world.pass(5000)
    assert.are_not.equal("offline", world.kit:at("a").state)
  end)

  it("are found by what the store says of them, and junk there does no harm", function()
    for _, junk in ipairs({ "", "7", "[]", '{"a":"x","b":1}', "null", '{"a":' }) do
      local world = gateway()
      world.store.set("gone:backend", junk)
      world.reload({ "b" })
      world.pass(2 * HOUR_MS)
      assert.is_nil(world.store.get("gone:backend"))
    end
  end)

  it("are thousands at most", function()
    local world = gateway()
    local many = {}
    for k = 1, 2500 do
      many[k] = "n" .. k
    end
    world.reload(many)
    world.pass(5000)
    world.reload({ "b" })
    for _ = 1, 10 do
      world.pass(5000)
    end
    local left = 0
    for _ in pairs(cjson.decode(world.store.get("gone:backend"))) do
      left = left + 1
    end
    assert.equal(2000, left)
  end)
end)
