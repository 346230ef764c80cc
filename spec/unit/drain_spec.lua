-- Working off a backlog: the same vectors as spec/node/drain.test.ts; who decides, who is refused, whose turn it is.
local cjson = require("cjson.safe")
local drain = require("resty.ax.core.drain")
local plan = require("resty.ax.core.drain_plan")
local admission = require("resty.ax.dataplane.admission")
local dataplane = require("resty.ax.dataplane.drain")
local in_flight = require("resty.ax.dataplane.in_flight")
local line = require("resty.ax.dataplane.line")
local requests = require("resty.ax.dataplane.requests")
local collector_kit = require("collector_kit")
local deltas = require("deltas")
local fake_store = require("fake_store")
local upstreams = require("upstreams")
local wire = require("resty.ax.core.wire")

local function read(path)
  local file = assert(io.open(path))
  local text = file:read("*a")
  file:close()
  return assert(cjson.decode(text))
end

local vectors = read("spec/vectors/drain.json")

describe("a drain", function()
  for _, case in ipairs(vectors.steps) do
    it("goes " .. case.name, function()
      local state, over = drain.newDrain(0), false
      for k, look in ipairs(case.looks) do
        local now_ms, waiting, latency_ms, error_rate, extra = unpack(look)
        assert.is_false(over)
        local seen = {
          waiting = waiting,
          latency_ms = latency_ms ~= cjson.null and latency_ms or nil,
          error_rate = error_rate,
        }
        over = drain.stepDrain(state, seen, case.max_extra, 5000, now_ms)
        assert.equal(extra, state.extra, "look " .. k)
      end
      assert.equal(case.over, over)
    end)
  end

  it("takes the classes by weight", function()
    for _, case in ipairs(vectors.turns) do
      local credits, counts = { 0, 0, 0, 0, 0 }, case.counts
      for k, expected in ipairs(case.turns) do
        local class = drain.nextClass(case.weights, credits, counts)
        assert.equal(expected, class, "turn " .. k)
        if class > 0 then
          drain.noteClassServed(case.weights, credits, counts, class)
          counts[class] = counts[class] - 1
        end
      end
    end
  end)
end)

local DRAIN = { from = 0, class_weights = {}, max_extra_ratio = 0.25 }

local function queue_of(given)
  local options = { size = 100, timeout_ms = 10000, class_sizes = {}, drain = {} }
  for key, value in pairs(DRAIN) do
    options.drain[key] = value
  end
  for key, value in pairs(given or {}) do
    options.drain[key] = value
  end
  return options
end

describe("the plan of a drain", function()
  local function plan_of(config, given)
    config.nodes = config.nodes or { { max_conns = 0 }, { max_conns = 0 } }
    return plan.drainPlan(config, queue_of(given))
  end

  it("refuses all but the highest priority, or the classes that are named", function()
    assert.same({ false, true, true, true, true }, plan_of({}).refuse)
    assert.same({ false, false, false, false, true }, plan_of({}, { refuse = { "batch" } }).refuse)
    assert.same({ false, false, false, false, false }, plan_of({}, { refuse = {} }).refuse)
    local classes = { gold = 1, lead = 4 }
    local given = { refuse = { "gold", "lead" } }
    assert.same({ true, false, false, true, false }, plan_of({ classes = classes }, given).refuse)
    assert.same({ 16, 8, 4, 99, 1 }, plan_of({ classes = classes }, { class_weights = { lead = 99 } }).weights)
  end)

  it("exceeds limits that somebody has chosen, not max_conns, nor those that are found", function()
    assert.equal(0, plan_of({}).max_extra)
    assert.equal(10, plan_of({ max_concurrency_per_node = 20 }).max_extra)
    local nodes = { { max_conns = 0 }, { max_conns = 9 } }
    assert.equal(5, plan_of({ max_concurrency_per_node = 20, nodes = nodes }).max_extra)
    assert.equal(3, plan_of({ max_concurrency_per_node = 20, max_concurrency = 12 }).max_extra)
    assert.equal(0, plan_of({ max_concurrency_per_node = 20, adaptive_limit = {} }).max_extra)
    assert.equal(0, plan_of({ max_concurrency_per_node = 20 }, { max_extra_ratio = 0 }).max_extra)
  end)
end)

describe("the collector and a backlog", function()
  local function have_workers(kit, count)
    kit.store.set("worker:slots", count)
    for slot = 1, count do
      kit.store.set("worker:" .. slot, cjson.encode({ pid = slot, at_ms = kit.now_ms }))
    end
  end

  local function kit_of(given, store)
    local upstream = { queue = queue_of(given), max_concurrency_per_node = 40 }
    local kit = collector_kit.new({ nodes = { "a" }, upstream = upstream, store = store })
    have_workers(kit, 2)
    return kit
  end

  --- One look, with so many waiting in two workers.
  local function look(kit, waiting, ms)
    for slot = 1, 2 do
      local report = { waiting = { 0, 0, slot == 1 and waiting or 0, 0, 0 }, admitted = {}, waits = {} }
      local record = { pid = slot, at_ms = kit.now_ms, upstreams = { backend = report } }
      kit.store.set("door:" .. slot, cjson.encode(record))
    end
    kit:report({ a = deltas.delta(deltas.same(20, 50)) })
    kit:tick(ms or 500)
    local text = kit.store.get("drain:backend")
    return text and cjson.decode(text)
  end

  it("drains when an operator says so, steps up, and ends by itself", function()
    local kit = kit_of()
    assert.is_nil(look(kit, 50))
    kit.store.set("backlog:backend", '{"on":true}')
    local now = look(kit, 50)
    assert.equal("operator", now.by)
    assert.same({ false, true, true, true, true }, now.refuse)
    for _ = 1, 30 do
      now = look(kit, 50)
    end
    assert.equal(10, now.extra)
    assert.truthy(look(kit, 0))
    assert.is_nil(look(kit, 0))
    assert.is_nil(kit.store.get("backlog:backend"))
    assert.is_nil(look(kit, 100))
  end)

  it("refuses whom the operator says, and ends when told to", function()
    local kit = kit_of()
    kit.store.set("backlog:backend", '{"on":true,"refuse":[false,false,false,false,true]}')
    assert.same({ false, false, false, false, true }, look(kit, 50).refuse)
    kit.store.set("backlog:backend", '{"on":false}')
    assert.is_nil(look(kit, 50))
    assert.is_nil(kit.store.get("backlog:backend"))
  end)

  it("begins by itself when the queue has been nearly full for two seconds, and only where that is wanted", function()
    local kit = kit_of({ from = 0.9 })
    assert.is_nil(look(kit, 95))
    assert.is_nil(look(kit, 95, 1000))
    assert.is_nil(look(kit, 80))
    assert.is_nil(look(kit, 95))
    assert.is_nil(look(kit, 95, 1000))
    assert.equal("size", look(kit, 95, 1000).by)
    local off = kit_of({ from = 0 })
    for _ = 1, 20 do
      assert.is_nil(look(off, 100))
    end
  end)

  it("does not begin by itself again what an operator has ended, before the queue has been half empty", function()
    local kit = kit_of({ from = 0.9 })
    for _ = 1, 6 do
      look(kit, 95)
    end
    kit.store.set("backlog:backend", '{"on":false}')
    for _ = 1, 20 do
      assert.is_nil(look(kit, 95))
    end
    look(kit, 44)
    local now
    for _ = 1, 6 do
      now = look(kit, 95)
    end
    assert.equal("size", now.by)
  end)

  it("does not begin by itself again what an operator has ended before, in a new collector either", function()
    local kit = kit_of({ from = 0.9 })
    for _ = 1, 6 do
      look(kit, 95)
    end
    kit.store.set("backlog:backend", '{"on":false}')
    look(kit, 95)
    local after = kit_of({ from = 0.9 }, kit.store)
    after.now_ms = kit.now_ms
    for _ = 1, 20 do
      assert.is_nil(look(after, 95))
    end
    look(after, 44)
    assert.is_nil(after.store.get("backlog:backend"))
    local now
    for _ = 1, 6 do
      now = look(after, 95)
    end
    assert.equal("size", now.by)
  end)

  it("does what the operator says after he has ended one", function()
    local kit = kit_of({ from = 0.9 })
    kit.store.set("backlog:backend", '{"on":false}')
    assert.is_nil(look(kit, 95))
    kit.store.set("backlog:backend", '{"on":true}')
    assert.equal("operator", look(kit, 95).by)
  end)

  it("reads every worker's report once a tick, whatever the number of upstreams, and pauses meanwhile", function()
    local list = {}
    for u = 1, 20 do
      list[u] = collector_kit.upstream({ "a" }, { name = "u" .. u, queue = queue_of({ from = 0.9 }) })
    end
    local pauses = 0
    local kit = collector_kit.new({
      upstreams = list,
      pause = function()
        pauses = pauses + 1
      end,
    })
    local reports, hist = {}, {}
    for bucket = 0, 40 do
      hist[#hist + 1], hist[#hist + 2] = bucket, 5
    end
    for u = 1, 20 do
      reports["u" .. u] = { waiting = { 0, 0, u == 7 and 5 or 0, 0, 0 }, admitted = {}, waits = { hist, hist } }
    end
    have_workers(kit, 32)
    local function tell()
      for slot = 1, 32 do
        kit.store.set("door:" .. slot, cjson.encode({ pid = 1, at_ms = kit.now_ms, upstreams = reports }))
      end
    end
    tell()
    kit:tick()
    local reads = 0
    local get = kit.store.get
    kit.store.get = function(key)
      reads = reads + (key:find("^door:") and 1 or 0)
      return get(key)
    end
    pauses = 0
    for _ = 1, 4 do
      tell()
      kit:tick()
    end
    assert.equal(4 * 32, reads)
    assert.is_true(pauses >= 4 * 10, "pauses: " .. pauses)
    -- 32 workers with 5 waiting each: more than 90 for two seconds.
    tell()
    kit:tick()
    assert.is_truthy(get("drain:u7"))
    assert.is_nil(get("drain:u8"))
  end)

  it("is believed for longer where the collector looks more seldom", function()
    local kit = kit_of()
    kit.collector.config.collector_interval_ms = 5000
    kit.store.set("backlog:backend", '{"on":true}')
    look(kit, 50)
    local record = cjson.decode(kit.store.get("drain:backend"))
    assert.is_true(wire.isDrainFresh(record, record.at_ms + 5100))
    assert.is_false(wire.isDrainFresh(record, record.at_ms + 15100))
    assert.is_false(wire.isDrainFresh({ at_ms = 1000 }, 6100))
    assert.is_false(wire.isDrainFresh({ at_ms = 1000, stale_ms = 1e12 }, 40000))
    assert.is_false(wire.isDrainFresh({}, 0))
  end)

  it("goes on where the one before it was, unless that is long ago", function()
    local kit = kit_of()
    kit.store.set("backlog:backend", '{"on":true,"refuse":[false,false,false,false,true]}')
    for _ = 1, 12 do
      look(kit, 50)
    end
    local before = look(kit, 50)
    assert.equal(10, before.extra)
    local next_one = kit_of(nil, kit.store)
    next_one.now_ms = kit.now_ms
    local now = look(next_one, 50)
    assert.same({ 10, before.since_ms }, { now.extra, now.since_ms })
    assert.same({ false, false, false, false, true }, now.refuse)
    kit.store.remove("backlog:backend")
    local late = kit_of(nil, kit.store)
    late.now_ms = kit.now_ms + 60000
    assert.is_nil(look(late, 50))
  end)

  it("passes over what is unreadable", function()
    local kit = kit_of({ from = 0.9 })
    for _, text in ipairs({ "nonsense", "[]", '{"on":"yes"}', '{"on":true,"refuse":5}', 7 }) do
      kit.store.set("backlog:backend", text)
      kit.store.set("drain:backend", text)
      kit.store.set("door:1", text)
      kit:tick()
    end
    assert.same({}, kit.warnings)
  end)
end)

describe("a worker while a backlog is drained", function()
  local function gateway(config, nodes)
    local store = fake_store()
    store.set("worker:slots", 1)
    config.queue = queue_of()
    local up = upstreams.new({ strategy = "random", store = store, nodes = nodes, config = config })
    local g = { store = store, up = up, granted = {} }
    g.hall = line.newHall(store, function()
      return 1
    end, function(waiter)
      g.granted[#g.granted + 1] = waiter.record
    end, function() end)
    local each = { 100, 100, 100, 100, 100 }
    line.addLine(g.hall, up, each, { 1e9, 1e9, 1e9, 1e9, 1e9 })
    function g.come(priority, now_ms, tries)
      local record = requests.newRequestRecord()
      record.priority = priority
      record.tries = tries or 0
      local verdict, reason = admission.admit(g.hall, up, record, now_ms, math.huge)
      return record, verdict, reason
    end
    function g.drain(given, now_ms)
      if given then
        given.at_ms = given.at_ms or now_ms
        store.set("drain:backend", cjson.encode(given))
      else
        store.remove("drain:backend")
      end
      dataplane.readDrains(store, { up }, cjson.decode, now_ms)
    end
    return g
  end

  local ALL_BUT_FIRST = { false, true, true, true, true }

  it("refuses new requests of the classes named, but not a redirect's, until it is over", function()
    local g = gateway({}, { { "a", { max_conns = 1 } } })
    g.drain({ refuse = ALL_BUT_FIRST, weights = { 1, 1, 1, 1, 1 }, extra = 0 }, 1000)
    local _, verdict, reason = g.come(3, 1000)
    assert.same({ 2, "draining" }, { verdict, reason })
    assert.equal(0, select(2, g.come(1, 1000)))
    assert.equal(1, select(2, g.come(3, 1000, 1)))
    -- The collector says nothing any more.
    g.drain({ at_ms = 1000, refuse = ALL_BUT_FIRST, weights = { 1, 1, 1, 1, 1 }, extra = 0 }, 7000)
    assert.equal(1, select(2, g.come(3, 7000)))
    g.drain({ refuse = ALL_BUT_FIRST, weights = { 1, 1, 1, 1, 1 }, extra = 0 }, 8000)
    assert.equal(2, select(2, g.come(3, 8000)))
    g.drain(nil, 8500)
    assert.equal(1, select(2, g.come(3, 8500)))
  end)

  it("serves those who wait by weight, however old they are", function()
    local g = gateway({}, { { "a", { max_conns = 1 } } })
    local running = g.come(1, 1000)
    for k = 1, 12 do
      g.come(5, 1000 + k)
    end
    for k = 1, 12 do
      g.come(1, 90000 + k)
    end
    g.drain({ refuse = ALL_BUT_FIRST, weights = { 3, 1, 1, 1, 1 }, extra = 0 }, 91000)
    local order = {}
    for k = 1, 16 do
      in_flight.endTry(running)
      line.roomCame(g.hall, g.up, 91000 + k)
      running = g.granted[#g.granted]
      order[k] = running.priority
    end
    assert.equal("1151115111511151", table.concat(order))
    g.drain(nil, 92000)
    in_flight.endTry(running)
    line.roomCame(g.hall, g.up, 92000)
    -- By age again.
    assert.equal(5, g.granted[#g.granted].priority)
  end)

  it("lets more through where a limit was chosen, and takes that back", function()
    local config = { max_concurrency_per_node = 10, max_overflow_ratio = 0, max_concurrency = 15 }
    local g = gateway(config, { { "a" }, { "b" }, { "c", { max_conns = 3 } } })
    local limit = g.up.slots.limit
    g.drain({ refuse = ALL_BUT_FIRST, weights = { 1, 1, 1, 1, 1 }, extra = 5 }, 1000)
    assert.same({ 13, 13, 3, 20 }, { limit[1], limit[2], limit[3], limit[4] })
    g.drain(nil, 1500)
    assert.same({ 10, 10, 3, 15 }, { limit[1], limit[2], limit[3], limit[4] })
  end)

  it("takes no nonsense", function()
    local g = gateway({}, { { "a", { max_conns = 1 } } })
    g.come(1, 1000)
    g.come(3, 1000)
    for _, text in ipairs({ "nonsense", "[]", '{"at_ms":1000}', '{"at_ms":1000,"weights":[0,-1,"x"],"extra":"y"}' }) do
      g.store.set("drain:backend", text)
      dataplane.readDrains(g.store, { g.up }, cjson.decode, 1000)
      line.poll(g.hall, 1000)
    end
    assert.equal(1, g.up.door.line.queue.length)
  end)
end)
