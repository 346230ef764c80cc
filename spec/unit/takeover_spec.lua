-- What a new collector (after an election, or a reload) makes of what the last one left in the store.
local cjson = require("cjson.safe")
local deltas = require("deltas")
local kit = require("collector_kit")
local random = require("resty.ax.core.random")
local tally_text = require("resty.ax.collector.tally_text")
local windows = require("resty.ax.core.windows")
local histogram = require("resty.ax.core.histogram")

local six = { "a", "b", "c", "d", "e", "f" }

local function one_slow(ids)
  return function()
    local nodes = kit.steady(ids or six, 50, 10)()
    nodes.a = deltas.delta(deltas.same(20, 80))
    return nodes
  end
end

--- Another collector over the same store, `ms` later.
local function successor(c, ms, options)
  options = options or { nodes = six }
  options.store, options.now_ms, options.pid = c.store, c.now_ms + (ms or 0), 200
  return kit.new(options)
end

describe("a collector that takes over", function()
  it("goes on with scores, also while nothing comes in", function()
    local c = kit.new({ nodes = six })
    c:run(20, one_slow())
    assert.equal(0.2, c:at("a").score)
    local next_one = successor(c, 1000)
    next_one:tick()
    assert.equal(0.2, next_one:snapshot().nodes.a.weight)
    assert.equal(200, next_one:detail().collector_pid)
    next_one:run(10)
    assert.equal(0.2, next_one:at("a").score)
    assert.is_true(next_one:at("a").target_score == 0.2, "the long window was taken over")
  end)

  it("keeps scores also when their windows were never written, but not for ever", function()
    local c = kit.new({ nodes = six })
    c:run(4, one_slow())
    local score = c:at("a").score
    assert.is_true(score < 0.5)
    for _ = 1, 5 do
      c = successor(c, 300)
      c:run(3)
      assert.equal(score, c:at("a").score)
    end
    c:run(70)
    assert.equal(1, c:at("a").score)
  end)

  it("does not keep a score against new evidence", function()
    local c = kit.new({ nodes = six })
    c:run(4, one_slow())
    local next_one = successor(c, 300)
    next_one:run(6, kit.steady(six, 50, 10))
    assert.equal(1, next_one:at("a").score)
  end)

  it("publishes at its first tick what picks need, although it has seen nothing", function()
    local c = kit.new({ nodes = six })
    c:run(10, function()
      local nodes = kit.steady(six, 50, 10)()
      nodes.a = deltas.delta(deltas.same(10, 80), { err = 90 })
      return nodes
    end)
    local next_one = successor(c)
    next_one:tick()
    local a = next_one:snapshot().nodes.a
    assert.equal(80, a.latency_ms)
    assert.is_true(a.success < 0.12)
  end)

  it("sees a recovery as fast as its predecessor would have", function()
    local c = kit.new({ nodes = six })
    c:run(60, one_slow())
    local next_one = successor(c, 500)
    next_one:run(11, kit.steady(six, 50, 10))
    assert.is_true(next_one:at("a").score > 0.95)
  end)

  it("goes on with ejections, ramps and their reasons", function()
    local c = kit.new({ nodes = six })
    for _, id in ipairs({ "a", "b" }) do
      c:report({ [id] = deltas.delta({}, { fail = 3, streak = 3 }) })
      c:tick(id == "b" and 11000 or 500)
    end
    assert.same({ "ramping", "ejected" }, { c:at("a").state, c:at("b").state })
    local before = c:detail().nodes
    local next_one = successor(c, 2000)
    next_one:tick()
    local after = next_one:detail().nodes
    for _, id in ipairs({ "a", "b" }) do
      for _, field in ipairs({ "state", "since_ms", "until_ms", "ejections" }) do
        assert.equal(before[id][field], after[id][field], id .. " " .. field)
      end
    end
    assert.equal(before.b.reason, after.b.reason)
    assert.matches("^back after 11 s out; 2%d%.?%d* %% of its share$", after.a.reason)
    next_one:tick(before.b.until_ms - next_one.now_ms)
    assert.equal("ramping", next_one:at("b").state)
  end)

  it("goes on counting the time of too many errors", function()
    local failing = function()
      local nodes = kit.steady(six, 50, 10)()
      nodes.a = deltas.delta(deltas.same(40, 10), { err = 10 })
      return nodes
    end
    local c = kit.new({ nodes = six })
    c:run(20, failing)
    local next_one = successor(c)
    next_one:tick()
    next_one:run(9, failing)
    assert.equal("suspect", next_one:at("a").state)
    next_one:run(1, failing)
    assert.equal("ejected", next_one:at("a").state)
    assert.matches("^error rate 20 %% for 30 s", next_one:at("a").reason)
  end)

  it("goes on with totals", function()
    local c = kit.new({ nodes = six })
    c:run(5, function()
      return { a = deltas.delta({ 10, 20 }, { err = 3, fail = 1, aborted = 2 }) }
    end)
    local next_one = successor(c)
    next_one:report({ a = deltas.delta({ 10 }) })
    next_one:tick()
    local a = next_one:at("a")
    assert.same(
      { 81, 21, 30, 10, 20 },
      { a.picks_total, a.ok_total, a.err_total, a.fail_total, a.aborted_total }
    )
  end)

  it("keeps scores and states of any age, but not windows older than they are long", function()
    local c = kit.new({ nodes = six })
    c:run(20, one_slow())
    local next_one = successor(c, 3600000)
    next_one:tick()
    local a = next_one:at("a")
    assert.is_nil(a.p99_long_ms)
    assert.is_true(a.score >= 0.2 and a.score <= 0.4)
  end)

  it("does not hold an ejected node's old windows against it", function()
    local c = kit.new({ nodes = six })
    c:run(10, one_slow())
    c:report({ a = deltas.delta({}, { fail = 3, streak = 3 }) })
    c:tick()
    assert.equal("ejected", c:at("a").state)
    local next_one = successor(c)
    next_one:tick()
    assert.is_nil(next_one:at("a").p99_long_ms)
    assert.is_not_nil(next_one:at("b").p99_long_ms)
  end)

  it("lets old windows fade also when it is itself replaced every few seconds", function()
    local c = kit.new({ nodes = six })
    c:run(60, one_slow())
    -- Not so much faster that a recovery would be seen in it.
    for _ = 1, 30 do
      c = successor(c)
      c:run(6, kit.steady(six, 50, 60))
    end
    assert.is_true(c:at("a").p99_long_ms < 64)
    assert.is_true(math.abs(c:at("a").score - 1) < 0.001)
  end)
end)

describe("an edited configuration", function()
  it("lets a new node ramp up among warm ones, and forgets one that is gone", function()
    local c = kit.new({ nodes = six })
    c:run(10, one_slow())
    local next_one = successor(c, 0, { nodes = { "b", "a", "new" } })
    next_one:tick()
    local nodes = next_one:snapshot().nodes
    assert.same({ "ramping", 0.2 }, { nodes.new.state, nodes.new.weight })
    assert.equal("new in the configuration; 20 % of its share", next_one:at("new").reason)
    assert.same({ "online", "online" }, { nodes.a.state, nodes.b.state })
    assert.is_nil(nodes.c)
    next_one:run(30)
    assert.equal("online", next_one:at("new").state)
  end)

  it("releases a node when only ejected ones are left", function()
    local c = kit.new({ nodes = { "a", "b", "c" } })
    for _, id in ipairs({ "b", "a" }) do
      c:report({ [id] = deltas.delta({}, { fail = 3, streak = 3 }) })
      c:tick(3000)
    end
    local next_one = successor(c, 0, { nodes = { "a", "b" } })
    next_one:tick()
    assert.same({ "ejected", "ramping" }, { next_one:at("a").state, next_one:at("b").state })
    assert.matches("^back early, every node was out; ", next_one:at("b").reason)
  end)

  it("takes a node down, and another time back by a ramp", function()
    local c = kit.new({ nodes = { "a", "b" } })
    c:run(2)
    local down = successor(c, 0, { nodes = { kit.node("a", { down = true }), "b" } })
    down:tick()
    assert.equal("offline", down:snapshot().nodes.a.state)
    local back = successor(down, 0, { nodes = { "a", "b" } })
    back:tick()
    assert.equal("ramping", back:at("a").state)
    assert.equal("back in the configuration; 20 % of its share", back:at("a").reason)
  end)

  it("takes effect on base weights at once, with the score kept", function()
    local c = kit.new({ nodes = six })
    c:run(20, one_slow())
    local next_one = successor(c, 0, { nodes = { kit.node("a", { weight = 10 }), "b", "c" } })
    next_one:tick()
    assert.equal(2, next_one:snapshot().nodes.a.weight)
  end)
end)

describe("what is unreadable in the store", function()
  local texts = {
    "",
    "{",
    "7",
    "null",
    "[]",
    '{"nodes":3}',
    '{"nodes":{"a":7,"b":[]}}',
    '{"at_ms":"x","nodes":{"a":"7,x,,9"}}',
    '{"at_ms":1000000,"nodes":{"a":"7,x,,9"}}',
  }

  it("never stops a collector from starting", function()
    for _, text in ipairs(texts) do
      for _, key in ipairs({ "detail:backend", "windows:backend", "generation", "worker:1", "worker:slots" }) do
        local c = kit.new({ nodes = six })
        c.store.set("worker:slots", 1)
        c.store.set(key, text)
        c:run(11, kit.steady(six, 20, 10))
        assert.equal(c.now_ms, c:snapshot().at_ms, key .. " " .. text)
        assert.equal("number", type(c.store.get("generation")))
      end
    end
  end)

  it("is warned of once, and started afresh", function()
    local c = kit.new({ nodes = six })
    c.store.set("detail:backend", '{"nodes":')
    c:run(5)
    assert.same({ "store_corrupt: detail:backend is unreadable; started afresh" }, c.warnings)
    assert.equal("online", c:at("a").state)
  end)

  it("is survived in every field, whatever it is replaced with", function()
    local c = kit.new({ nodes = six })
    c:run(20, one_slow())
    c:report({ b = deltas.delta({}, { fail = 3, streak = 3 }) })
    c:tick()
    local detail = c:detail()
    local fields = {}
    for field in pairs(detail.nodes.b) do
      fields[#fields + 1] = field
    end
    for _, field in ipairs(fields) do
      for _, nonsense in ipairs({ "x", -1, 1e300, { 1 }, true }) do
        local damaged = c:detail()
        damaged.nodes.b[field] = nonsense
        damaged.nodes.a[field] = nonsense
        c.store.set("detail:backend", cjson.encode(damaged))
        local next_one = successor(c, 500)
        next_one:run(2, one_slow())
        local a = next_one:at("a")
        assert.is_true(a.score >= 0.2 and a.score <= 1.5, field)
        assert.is_true(next_one:snapshot().nodes.b.weight > 0, field)
        assert.is_true((next_one:at("b").until_ms or 0) <= next_one.now_ms + 630000, field)
      end
    end
  end)
end)

describe("a window's text", function()
  it("brings back half of many samples, all of few, in eighths", function()
    local rng = random.newRandom(1)
    for _ = 1, 50 do
      local n = 1 + random.drawBelow(rng, 100)
      local latencies = {}
      for i = 1, n do
        latencies[i] = random.drawBelow(rng, 200000)
      end
      local node = windows.newNodeWindows(5, 60, 0)
      windows.feedNode(node, deltas.delta(latencies, { err = 2, aborted = 1 }))
      local tally = tally_text.parseTally(tally_text.tallyText(node.long.total), 20)
      local share = n + 2 > 40 and 0.5 or 1
      assert.same({ n * share, 2 * share, share }, { tally.ok, tally.err, tally.aborted })
      assert.equal(node.long.total.sum_ms * share, tally.sum_ms)
      for bucket = 1, histogram.BUCKETS do
        assert.equal((node.long.total.hist[bucket] or 0) * share, tally.hist[bucket] or 0)
      end
    end
  end)
end)
