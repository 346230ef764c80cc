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

describe("upstreams that have gone", function()
  local fake = require("fake_store")
  local deltas = require("deltas")
  local door_exchange = require("resty.ax.dataplane.door_exchange")
  local exchange = require("resty.ax.dataplane.exchange")
  local upstreams = require("upstreams")

  local function begin(store, now_ms, names, alive)
    local list = {}
    for k, name in ipairs(names) do
      list[k] = collector_kit.upstream({ "a", "b" }, { name = name, max_fails = 1 })
    end
    return collector_kit.new({
      store = store,
      now_ms = now_ms,
      upstreams = list,
      holder_alive = function(identity)
        return alive[identity] == true
      end,
    })
  end

  -- A worker that has counted something of each kind, and a collector that has seen it.
  local function live(store, kit, name)
    local holder = core.claimHolder(store, "old")
    local limits = slots.newSlots(store, holder, name, { "a", "b" }, limits_of(2))
    local up = upstreams.new({ nodes = 2, config = { name = name } })
    up.pool.name = name
    up.keyless_total = 1
    for tally in pairs(up.tallies.total) do
      up.tallies.total[tally] = 1
    end
    up.door.refused.qps, up.door.unknown_classes, up.door.capped_classes = 1, 1, 1
    local worker = {
      store = store, pid = 1, slot = 0, encode = cjson.encode, decode = cjson.decode,
      processAlive = function() return true end, onFault = function() end,
    }
    exchange.publish(worker, { up }, false, kit.now_ms)
    door_exchange.publishDoors(worker, { up }, kit.now_ms)
    slots.takeSlot(limits, 0, 1)
    store.set(operator.willKey(name, "a"), cjson.encode({ kind = "drain", at_ms = kit.now_ms }))
    store.set(operator.willVersionKey(name), 1)
    store.set("freed:" .. name, 1)
    store.set("line:0:" .. name, 1)
    kit:report({ b = deltas.delta({}, { fail = 30, streak = 30, failures = 30 }) }, name)
    kit:tick(30000)
    return limits
  end

  local function keys_of(store, name)
    local keys = {}
    for key in pairs(store.values) do
      if key:find(name, 1, true) then
        keys[#keys + 1] = key
      end
    end
    table.sort(keys)
    return keys
  end

  it("leave nothing in the store after an hour, but while a worker has requests there", function()
    local store, alive = fake(), { old = true }
    local kit = begin(store, 1000000, { "gone_one", "stays" }, alive)
    local limits = live(store, kit, "gone_one")
    assert.is_true(#keys_of(store, "gone_one") > 15)
    kit = begin(store, kit.now_ms, { "stays" }, alive)
    kit:tick(1000)
    kit = begin(store, kit.now_ms + HOUR_MS / 2, { "stays" }, alive)
    kit:tick(1000)
    assert.is_true(#keys_of(store, "gone_one") > 15, "it may come back")
    kit:tick(HOUR_MS)
    assert.is_true(#keys_of(store, "gone_one") > 15, "a request is there")
    slots.freeSlot(limits, 0)
    slots.freeSlot(limits, 2)
    kit:tick(1000)
    assert.same({}, keys_of(store, "gone_one"))
    assert.is_true(#keys_of(store, "stays") > 1)
    assert.same({ stays = 0 }, cjson.decode(store.get("upstreams")))
  end)

  it("take the slots of a worker that died there along", function()
    local store, alive = fake(), { old = true }
    local kit = begin(store, 1000000, { "gone_one", "stays" }, alive)
    live(store, kit, "gone_one")
    kit = begin(store, kit.now_ms, { "stays" }, alive)
    kit:tick(1000)
    alive.old = false
    kit:tick(1000)
    kit:tick(HOUR_MS)
    assert.same({}, keys_of(store, "gone_one"))
  end)

  it("are as they were when they come back within the hour, and junk in the list does no harm", function()
    for _, junk in ipairs({ "", "7", "[]", '{"stays":"x","other":{}}', "null" }) do
      local store = fake()
      local kit = begin(store, 1000000, { "gone_one", "stays" }, {})
      kit:tick()
      store.set("upstreams", junk)
      kit = begin(store, kit.now_ms, { "stays" }, {})
      kit:tick(2 * HOUR_MS)
      assert.same({ stays = 0 }, cjson.decode(store.get("upstreams")))
      kit = begin(store, kit.now_ms, { "gone_one", "stays" }, {})
      kit:tick(2 * HOUR_MS)
      kit = begin(store, kit.now_ms, { "stays" }, {})
      kit:tick(HOUR_MS / 2)
      assert.is_string(store.get("detail:gone_one"))
      kit = begin(store, kit.now_ms, { "gone_one", "stays" }, {})
      kit:tick(2 * HOUR_MS)
      assert.is_string(store.get("detail:gone_one"))
    end
  end)
end)

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
