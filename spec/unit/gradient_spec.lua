-- The adaptive limit: the same vectors as spec/node/gradient.test.ts; what the collector makes of it; who keeps it.
local cjson = require("cjson.safe")
local gradient = require("resty.ax.core.gradient")
local histogram = require("resty.ax.core.histogram")
local adaptive_limit = require("resty.ax.collector.adaptive_limit")
local limits = require("resty.ax.dataplane.limits")
local slots = require("resty.ax.dataplane.slots")
local status = require("resty.ax.observe.limits")
local collector_kit = require("collector_kit")
local deltas = require("deltas")
local fake_store = require("fake_store")
local upstreams = require("upstreams")

local function read(path)
  local file = assert(io.open(path))
  local text = file:read("*a")
  file:close()
  return assert(cjson.decode(text))
end

describe("the adaptive limit", function()
  it("moves as the vectors say", function()
    for _, case in ipairs(read("spec/vectors/gradient.json")) do
      local g = gradient.newGradient(case.options, 0)
      for k, look in ipairs(case.looks) do
        local sparse = look.ok > 0 and { histogram.bucketOf(look.ms), look.ok } or {}
        gradient.observe(g, look.ok, sparse, look.ok * look.ms, look.failed)
        gradient.step(g, case.options, look.in_flight, true, look.now_ms)
        assert.equal(case.results[k].limit, gradient.limitInForce(g, case.options))
        assert.near(case.results[k].operating, g.limit, 1e-5)
      end
    end
  end)
end)

describe("measuring that comes to nothing", function()
  it("is not begun again before its time, however long the limit stays at its least", function()
    local o = { min = 5, max = 100, probe = 3, probe_interval_ms = 60000, tolerance = 1.25 }
    local g = gradient.newGradient(o, 0)
    g.base_ms, g.limit, g.probe_due_ms = 10, 5, 6000000
    local low = 0
    -- 300 s with five requests that last; the others take 40 ms.
    for tick = 1, 600 do
      gradient.observe(g, 30, { histogram.bucketOf(40), 30 }, 30 * 40, 0)
      gradient.step(g, o, 5, true, tick * 500)
      low = low + (g.phase ~= 0 and 1 or 0)
    end
    -- 5 s each, once a minute.
    assert.is_true(low > 0 and low <= 55, "looks at the probe limit: " .. low)
  end)
end)

local OPTIONS = { min = 5, probe_limit = 3, probe_interval_s = 60, tolerance = 1.25 }

local function kit_of(ids, given)
  given = given or {}
  given.adaptive_limit = OPTIONS
  given.max_concurrency_per_node = given.max_concurrency_per_node or 100
  return collector_kit.new({ nodes = ids, upstream = given })
end

--- Says what a worker has in flight, and what its nodes answered.
local function look(kit, nodes, in_flight)
  kit.store.set("worker:slots", 1)
  kit.store.set("worker:1", cjson.encode({ pid = 1, at_ms = kit.now_ms + 500, in_flight = { backend = in_flight } }))
  kit:report(nodes)
  kit:tick()
end

local function limits_of(kit)
  return cjson.decode(kit.store.get("limits:backend"))
end

describe("the collector with adaptive_limit", function()
  it("measures one node after the other, and lowers the limit of the one that is slow under load only", function()
    local kit = kit_of({ "a", "b" })
    local measured_together, times = 0, { a = 0, b = 0 }
    for _ = 1, 60 do
      local now = kit.store.get("limits:backend") and limits_of(kit) or {}
      local function at(id, idle_ms, busy_ms)
        local low = now[id] and now[id].measuring
        return deltas.delta(deltas.same(60, low and idle_ms or busy_ms)), low and 3 or 60
      end
      local a, a_in_flight = at("a", 10, 10)
      local b, b_in_flight = at("b", 10, 40)
      look(kit, { a = a, b = b }, { a = a_in_flight, b = b_in_flight })
      now = limits_of(kit)
      if now.a.measuring and now.b.measuring then
        measured_together = measured_together + 1
      end
      for id in pairs(times) do
        times[id] = times[id] + (now[id].measuring and 1 or 0)
      end
    end
    local now = limits_of(kit)
    assert.equal(0, measured_together)
    assert.is_true(times.a > 0 and times.b > 0)
    assert.near(10, now.a.base_ms, 1)
    assert.equal(100, now.a.limit)
    assert.near(10, now.b.base_ms, 1)
    assert.is_true(now.b.limit < 10, now.b.limit)
  end)

  it("publishes the limit in force without anything to go by, and measures nothing that is idle", function()
    local kit = kit_of({ "a" })
    kit:run(10)
    assert.equal(100, limits_of(kit).a.limit)
    assert.is_nil(limits_of(kit).a.measuring)
    kit.store.remove("limits:backend")
    kit:tick()
    assert.equal(100, limits_of(kit).a.limit)
  end)

  it("goes on where the one before it was, within the configuration of now", function()
    local kit = kit_of({ "a", "b" })
    local known = '{"limit":3,"operating":37.5,"base_ms":12,"probe_due_ms":1e15}'
    kit.store.set("limits:backend", ('{"a":%s,"b":{"limit":9}}'):format(known))
    kit:tick()
    local now = limits_of(kit)
    assert.equal(37, now.a.limit)
    assert.equal(12, now.a.base_ms)
    assert.is_true(now.a.probe_due_ms <= kit.now_ms + 60000)
    -- Without a base nothing is known.
    assert.equal(100, now.b.limit)
    kit.store.set("limits:backend", "nonsense")
    kit_of({ "a" }):tick()
    assert.same({}, kit.warnings)
  end)

  it("does nothing where the option is not set", function()
    local kit = collector_kit.new({ nodes = { "a" } })
    kit:run(2, collector_kit.steady({ "a" }, 100, 50))
    assert.is_nil(kit.store.get("limits:backend"))
    assert.is_nil(adaptive_limit.newAdaptiveLimit({}, {}, 0))
  end)
end)

describe("a worker with adaptive_limit", function()
  local function worker(store, config)
    config = config or {}
    config.adaptive_limit = OPTIONS
    return upstreams.new({ nodes = 2, store = store, config = config })
  end

  it("keeps the limit that is published, without overflow, and its own when that ends", function()
    local store = fake_store()
    local up = worker(store, { max_concurrency_per_node = 20, max_overflow_ratio = 0.5 })
    assert.same({ 20, 30 }, { up.slots.limit[1], up.slots.hard[1] })
    store.set("limits:backend", '{"n1":{"limit":7},"n2":{"limit":90}}')
    limits.readLimits(store, { up }, cjson.decode)
    assert.same({ 7, 7 }, { up.slots.limit[1], up.slots.hard[1] })
    assert.same({ 20, 30 }, { up.slots.limit[2], up.slots.hard[2] })
    local taken = 0
    while slots.takeSlot(up.slots, 0, 1000) do
      taken = taken + 1
    end
    assert.equal(7, taken)
    store.set("limits:backend", '{"n1":{"limit":20}}')
    limits.readLimits(store, { up }, cjson.decode)
    assert.same({ 20, 30 }, { up.slots.limit[1], up.slots.hard[1] })
  end)

  it("takes no nonsense for a limit", function()
    local store = fake_store()
    local up = worker(store)
    for _, text in ipairs({ "nonsense", "[]", '{"n1":5}', '{"n1":{"limit":0}}', '{"n1":{"limit":"9"}}', "" }) do
      store.set("limits:backend", text)
      limits.readLimits(store, { up }, cjson.decode)
      assert.equal(500, up.slots.limit[1])
    end
    store.set("limits:backend", 5)
    limits.readLimits(store, { up }, cjson.decode)
    assert.equal(500, up.slots.limit[1])
  end)

  it("lowered while requests are in flight, ends with them", function()
    local store = fake_store()
    local up = worker(store, { max_concurrency_per_node = 20 })
    for _ = 1, 10 do
      assert.is_true(slots.takeSlot(up.slots, 0, 1000))
    end
    slots.setLimit(up.slots, 0, 3)
    for _ = 1, 8 do
      slots.freeSlot(up.slots, 0)
      assert.is_true(store.get("slots:backend:n1") >= up.slots.used[1])
    end
    assert.equal(2, store.get("slots:backend:n1"))
    assert.is_true(slots.takeSlot(up.slots, 0, 1010))
    assert.is_false(slots.takeSlot(up.slots, 0, 1010))
  end)
end)

describe("the status", function()
  it("shows the limit in force, configured or found", function()
    local config = { name = "backend", max_concurrency_per_node = 50, adaptive_limit = OPTIONS }
    local store = fake_store()
    store.set("limits:backend", '{"a":{"limit":3,"operating":37.5,"base_ms":12,"measuring":true}}')
    local found = status.readAdaptive(store, cjson.decode, config)
    assert.same(
      { limit = 3, adaptive = { operating = 37.5, base_ms = 12, measuring = true } },
      status.nodeLimit(config, { id = "a", max_conns = 0 }, found)
    )
    assert.same({ limit = 50 }, status.nodeLimit(config, { id = "b", max_conns = 0 }, found))
    assert.same({ limit = 4 }, status.nodeLimit(config, { id = "b", max_conns = 4 }, nil))
    config.max_concurrency_per_node = nil
    assert.same({}, status.nodeLimit(config, { id = "b", max_conns = 0 }, nil))
    config.adaptive_limit = nil
    assert.is_nil(status.readAdaptive(store, cjson.decode, config))
  end)
end)
