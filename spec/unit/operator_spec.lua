local cjson = require("cjson.safe")
local deltas = require("deltas")
local kit = require("collector_kit")
local operator = require("resty.ax.core.operator")
local health_states = require("resty.ax.core.health.states")

local function give(store, id, will)
  store.set(operator.willKey("backend", id), cjson.encode(will))
  store.incr(operator.willVersionKey("backend"), 1)
end

local function take_back(store, id)
  store.remove(operator.willKey("backend", id))
  store.incr(operator.willVersionKey("backend"), 1)
end

local function shown(run, id)
  local detail = cjson.decode(run.store.get("detail:backend")).nodes[id]
  local snapshot = cjson.decode(run.store.get("snapshot:backend")).nodes[id]
  assert.equal(detail.state, snapshot.state)
  return detail
end

describe("the operator's will", function()
  local states = { drain = "draining", maintenance = "maintenance", force_down = "offline", force_up = "online" }

  it("decides the state at the next tick, also of an upstream without traffic", function()
    for kind, state in pairs(states) do
      local run = kit.new({ nodes = { "a", "b" } })
      for _ = 1, 5 do
        run:tick()
      end
      give(run.store, "a", { kind = kind, at_ms = run.now_ms, why = "because" })
      run:tick()
      assert.equal(state, shown(run, "a").state)
      assert.truthy(shown(run, "a").reason:find("by the operator: because", 1, true))
      assert.equal("online", shown(run, "b").state)
      take_back(run.store, "a")
      run:tick()
      assert.equal(kind == "force_up" and "online" or "ramping", shown(run, "a").state)
    end
  end)

  it("drains as long as requests are in flight, then is offline", function()
    local run = kit.new({ nodes = { "a", "b" } })
    give(run.store, "a", { kind = "drain", at_ms = run.now_ms })
    local function worker(in_flight)
      run.store.set("worker:slots", 1)
      local record = { pid = 1, at_ms = run.now_ms + 500, in_flight = { backend = { a = in_flight } } }
      run.store.set("worker:1", cjson.encode(record))
      run:tick()
    end
    worker(2)
    assert.equal("draining", shown(run, "a").state)
    worker(1)
    assert.equal("draining", shown(run, "a").state)
    worker(0)
    assert.equal("draining", shown(run, "a").state)
    worker(0)
    worker(0)
    assert.equal("offline", shown(run, "a").state)
  end)

  it("ends at its time, whoever is the collector then", function()
    local run = kit.new({ nodes = { "a", "b" } })
    run:tick()
    give(run.store, "a", { kind = "maintenance", at_ms = run.now_ms, until_ms = run.now_ms + 5000 })
    run:tick()
    local successor = kit.new({ nodes = { "a", "b" }, store = run.store, now_ms = run.now_ms })
    successor:tick()
    assert.equal("maintenance", shown(successor, "a").state)
    for _ = 1, 10 do
      successor:tick()
    end
    assert.not_equal("maintenance", shown(successor, "a").state)
  end)

  it("takes out a node that the configuration takes out no differently", function()
    local run = kit.new({ nodes = { kit.node("a", { down = true }), "b" } })
    give(run.store, "a", { kind = "force_up", at_ms = run.now_ms })
    run:tick()
    assert.equal("offline", shown(run, "a").state)
    assert.equal("down in the configuration", shown(run, "a").reason)
  end)

  it("does not count a node that is kept out as one that others can rely on", function()
    local run = kit.new({ nodes = { "a", "b" } })
    give(run.store, "a", { kind = "drain", at_ms = run.now_ms })
    run:tick()
    for _ = 1, 5 do
      run:report({ b = deltas.delta({}, { fail = 3, streak = 3 }) })
      run:tick()
    end
    assert.equal("suspect", shown(run, "b").state)
    assert.is_true(health_states.isUsable(shown(run, "b").state))
  end)
end)
