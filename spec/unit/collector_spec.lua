local cjson = require("cjson.safe")
local deltas = require("deltas")
local kit = require("collector_kit")
local random = require("resty.ax.core.random")

local six = { "a", "b", "c", "d", "e", "f" }

--- Answers of `ms` from all, of `slow_ms` from "a", which gets `share` of the others' requests.
local function one_slow(slow_ms, share)
  return function()
    local nodes = {}
    for _, id in ipairs(six) do
      nodes[id] = deltas.delta(deltas.same(50, 10))
    end
    nodes.a = deltas.delta(deltas.same(math.floor(50 * (share or 1)), slow_ms))
    return nodes
  end
end

local function ticks_until(self, limit, make, done)
  for tick = 1, limit do
    self:report(make(tick))
    self:tick()
    if done() then
      return tick
    end
  end
  return math.huge
end

describe("the first tick", function()
  it("publishes every node at its base weight, with nothing made up", function()
    local c = kit.new({ nodes = { kit.node("a", { weight = 5 }), "b", kit.node("c", { down = true }) } })
    c:tick()
    local snapshot = c:snapshot()
    assert.equal(c.store.get("generation"), snapshot.generation)
    assert.equal(c.now_ms, snapshot.at_ms)
    assert.same({ state = "online", weight = 5, static_weight = 5, success = 1 }, snapshot.nodes.a)
    assert.equal("offline", snapshot.nodes.c.state)
    local detail = c:detail()
    assert.equal(100, detail.collector_pid)
    assert.equal("in rotation", detail.nodes.b.reason)
    assert.equal("down in the configuration", detail.nodes.c.reason)
    assert.is_nil(detail.p99_ms)
    assert.same({}, c.warnings)
  end)
end)

describe("scores", function()
  it("of equal nodes are 1", function()
    local c = kit.new({ nodes = six })
    c:run(30, kit.steady(six, 50, 20))
    for _, id in ipairs(six) do
      assert.equal(1, c:at(id).score)
    end
  end)

  it("of nodes with few samples fall no further than those samples are worth, and never rise", function()
    local function run(latency)
      local c = kit.new({ nodes = six })
      c:run(20, function(tick)
        local nodes = kit.steady(six, 50, 20)()
        nodes.a = nil
        if tick % 5 == 0 then
          nodes.a = deltas.delta({ latency })
        end
        return nodes
      end)
      return c:at("a").score
    end
    assert.equal(1, run(1))
    -- 8 of the 20 samples that a full judgement takes: 0.4 of the most that latency takes off.
    assert.is_true(math.abs(run(900) - 0.6) < 1e-9)
  end)

  it("rise again after a dozen usual answers in a row, however few a slow node gets", function()
    local function slow_then(latency)
      local c = kit.new({ nodes = six })
      c:run(20, function()
        local nodes = kit.steady(six, 50, 10)()
        nodes.a = deltas.delta(deltas.same(50, 80))
        return nodes
      end)
      assert.is_true(c:at("a").score < 0.3)
      c:run(20, function()
        local nodes = kit.steady(six, 50, 10)()
        nodes.a = deltas.delta({ latency })
        return nodes
      end)
      return c:at("a").score
    end
    assert.is_true(slow_then(9) > 0.9)
    assert.is_true(slow_then(60) < 0.3)
  end)

  it("multiply the base weight", function()
    local c = kit.new({ nodes = { kit.node("a", { weight = 10 }), "b", "c" } })
    c:run(20, function()
      return {
        a = deltas.delta(deltas.same(50, 40)),
        b = deltas.delta(deltas.same(50, 20)),
        c = deltas.delta(deltas.same(50, 20)),
      }
    end)
    local a = c:snapshot().nodes.a
    assert.is_true(a.weight > 4.5 and a.weight < 5.5)
    assert.equal(10, a.static_weight)
  end)

  it("fall step by step when a node turns slow, and rise again within seconds of its recovery", function()
    local c = kit.new({ nodes = six })
    c:run(70, one_slow(10))
    local seen = {}
    local down = ticks_until(c, 100, one_slow(80, 0.1), function()
      seen[#seen + 1] = c:at("a").score
      return c:at("a").score == 0.2
    end)
    assert.is_true(down <= 10, "five seconds: four steps of a second")
    for i = 2, #seen do
      assert.is_true(seen[i - 1] - seen[i] <= 0.2 + 1e-9)
    end
    c:run(60, one_slow(80, 0.1))
    assert.equal(0.2, c:at("a").score)
    local up = ticks_until(c, 100, one_slow(10, 0.1), function()
      return c:at("a").score > 0.95
    end)
    assert.is_true(up <= 24, "short window and four steps, not the long window's minute: " .. up)
    c:run(60, one_slow(10))
    assert.equal(1, c:at("a").score)
    assert.equal(1, c:at("b").score)
  end)

  it("of a slow node do not depend on its share of the requests", function()
    for _, share in ipairs({ 0.1, 0.3, 1, 3 }) do
      local c = kit.new({ nodes = six })
      c:run(30, one_slow(80, share))
      assert.equal(0.2, c:at("a").score)
      assert.equal(1, c:at("b").score)
    end
  end)

  it("of the one fast node rise", function()
    local c = kit.new({ nodes = six })
    c:run(30, one_slow(1))
    assert.is_true(c:at("a").score > 1.3)
  end)

  it("of equal nodes keep close together in spite of the noise of sampling", function()
    local lowest, highest, moves = 2, 0, 0
    for seed = 1, 4 do
      local rng = random.newRandom(seed)
      local c = kit.new({ nodes = six })
      local before
      for tick = 1, 240 do
        local nodes = {}
        for _, id in ipairs(six) do
          local latencies = {}
          for i = 1, 40 + random.drawBelow(rng, 20) do
            latencies[i] = math.floor(-math.log(1 - random.draw(rng)) * 20)
          end
          nodes[id] = deltas.delta(latencies, { err = random.drawBelow(rng, 20) == 0 and 1 or 0 })
        end
        c:report(nodes)
        c:tick()
        if tick > 120 then
          local weight = c:snapshot().nodes.a.weight
          moves = math.max(moves, math.abs(weight - (before or weight)))
          before = weight
          for _, id in ipairs(six) do
            lowest = math.min(lowest, c:snapshot().nodes[id].weight)
            highest = math.max(highest, c:snapshot().nodes[id].weight)
          end
        end
      end
    end
    assert.is_true(lowest > 0.9 and highest < 1.1, ("%g .. %g"):format(lowest, highest))
    assert.is_true(moves < 0.05, "from tick to tick: " .. moves)
  end)

  it("fall with errors, and not with what the client ended", function()
    local c = kit.new({ nodes = six })
    c:run(20, function()
      local nodes = one_slow(10)()
      nodes.a = deltas.delta(deltas.same(387, 10), { err = 13 })
      nodes.b = deltas.delta(deltas.same(50, 10), { aborted = 100 })
      return nodes
    end)
    assert.is_true(math.abs(c:at("a").score - 0.85) < 0.01, "half way from 1.5 % to 5 %: " .. c:at("a").score)
    assert.equal(1, c:at("b").score)
  end)

  it("fall when a node is nearly full", function()
    local c = kit.new({ nodes = { kit.node("a", { max_conns = 10 }), "b" } })
    c.store.set("worker:slots", 1)
    c.alive[7] = true
    for _ = 1, 10 do
      local record = { pid = 7, at_ms = c.now_ms + 500, in_flight = { backend = { a = 10 } } }
      c.store.set("worker:1", cjson.encode(record))
      c:tick()
    end
    assert.is_true(math.abs(c:at("a").score - 0.6) < 1e-6)
    assert.equal(1, c:at("b").score)
  end)
end)

describe("connection failures", function()
  local function new()
    local c = kit.new({ nodes = six })
    c:run(5, kit.steady(six, 20, 10))
    return c
  end

  it("add up over workers, so that a dead node is out after max_fails in all", function()
    local c = new()
    for worker = 1, 3 do
      c:report({ a = deltas.delta({}, { fail = 1, streak = 1 }) }, "backend", worker)
    end
    c:tick()
    assert.equal("ejected", c:snapshot().nodes.a.state)
    assert.equal("3 connection failures in a row (max_fails 3)", c:at("a").reason)
  end)

  it("add up over ticks", function()
    local c = new()
    for expected = 1, 3 do
      c:report({ a = deltas.delta({}, { fail = 1, streak = expected }) })
      c:tick()
      assert.equal(expected < 3 and "online" or "ejected", c:at("a").state)
    end
  end)

  it("are no longer in a row once another worker had an answer, be it a 5xx", function()
    local c = new()
    c:report({ a = deltas.delta({}, { fail = 2, streak = 2 }) }, "backend", 1)
    c:report({ a = deltas.delta({}, { err = 1 }) }, "backend", 2)
    c:report({ a = deltas.delta({}, { fail = 2, streak = 4 }) }, "backend", 1)
    c:tick()
    -- Five failures of any kind are one row; that ejects nobody.
    assert.equal("suspect", c:at("a").state)
  end)

  it("after the last answer count from there", function()
    local c = new()
    c:report({ a = deltas.delta(deltas.same(20, 10), { fail = 5, streak = 2 }) })
    c:tick()
    assert.equal("online", c:at("a").state)
    c:report({ a = deltas.delta({}, { fail = 1, streak = 3 }) })
    c:tick()
    assert.equal("ejected", c:at("a").state)
  end)

  it("are forgotten after fail_timeout", function()
    local c = new()
    c:report({ a = deltas.delta({}, { fail = 2, streak = 2 }) })
    c:run(11)
    c:report({ a = deltas.delta({}, { fail = 1, streak = 3 }) })
    c:tick()
    -- Not a row of three any more for max_fails; that it has only failed for a minute still makes it suspect.
    assert.equal("suspect", c:at("a").state)
  end)
end)

describe("a dead node", function()
  local function dead(ids)
    return function()
      local nodes = {}
      for _, id in ipairs(ids) do
        nodes[id] = deltas.delta({}, { fail = 5, streak = 5 })
      end
      return nodes
    end
  end

  it("leaves no trace in what it is judged by when it returns", function()
    local c = kit.new({ nodes = six })
    c:run(5, kit.steady(six, 20, 10))
    c:report(dead({ "a" })())
    c:tick()
    local a = c:snapshot().nodes.a
    assert.same({ "ejected", 1 }, { a.state, a.success })
    assert.is_nil(a.latency_ms)
    c:run(11)
    a = c:snapshot().nodes.a
    assert.equal("ramping", a.state)
    assert.is_true(a.weight >= 0.2 and a.weight < 0.25 and a.static_weight == a.weight)
    c:run(31, kit.steady(six, 20, 10))
    a = c:snapshot().nodes.a
    assert.same({ "online", 1, 10 }, { a.state, a.weight, a.latency_ms })
  end)

  it("that is still dead goes out again at its first request, for longer", function()
    local c = kit.new({ nodes = six })
    c:run(1, dead({ "a" }))
    c:run(10)
    assert.equal("ramping", c:at("a").state)
    c:report({ a = deltas.delta({}, { fail = 1, streak = 1 }) })
    c:tick()
    local a = c:at("a")
    assert.same({ "ejected", 2 }, { a.state, a.ejections })
    assert.is_true(a.until_ms - a.since_ms >= 20000)
  end)

  it("stays when it is the last one; with all of them dead, one stays", function()
    local c = kit.new({ nodes = six })
    c:run(3, dead(six))
    local left = 0
    for _, node in pairs(c:snapshot().nodes) do
      left = left + (node.state == "suspect" and 1 or 0)
    end
    assert.equal(1, left)
    assert.matches("kept, the pool cannot spare it", c:at("f").reason)
  end)
end)

describe("requests in flight", function()
  local function record(self, slot, given)
    given.in_flight = { backend = { a = given.count }, unknown = { x = 1 } }
    self.store.set("worker:" .. slot, cjson.encode(given))
  end

  it("are the sum over living workers; ended ones' records are removed", function()
    local c = kit.new({ nodes = six, alive = { [3] = false, [5] = false } })
    c.store.set("worker:slots", 6)
    record(c, 1, { pid = 1, at_ms = c.now_ms + 400, count = 1 })
    record(c, 2, { pid = 2, at_ms = c.now_ms - 60000, exiting = true, count = 10 })
    record(c, 3, { pid = 3, at_ms = c.now_ms - 60000, count = 100 })
    record(c, 4, { pid = 4, at_ms = c.now_ms - 60000, count = 1000 })
    record(c, 5, { pid = 5, at_ms = c.now_ms, exiting = true, count = 10000 })
    c:tick()
    assert.equal(11, c:at("a").in_flight)
    assert.is_nil(c.store.get("worker:3"))
    assert.is_nil(c.store.get("worker:5"))
    assert.is_not_nil(c.store.get("worker:4"), "stopped, not ended")
    assert.same({}, c.warnings)
  end)

  it("are looked for in no more slots than are taken: there were more workers during a reload", function()
    local c = kit.new({ nodes = six, alive = { [3] = false, [4] = false } })
    c.store.set("worker:slots", 6)
    record(c, 1, { pid = 1, at_ms = c.now_ms + 400, count = 1 })
    record(c, 2, { pid = 2, at_ms = c.now_ms - 60000, count = 2 })
    record(c, 3, { pid = 3, at_ms = c.now_ms - 60000, count = 100 })
    record(c, 4, { pid = 4, at_ms = c.now_ms, exiting = true, count = 100 })
    for slot = 2, 4 do
      c.store.set("door:" .. slot, "{}")
      c.store.set("line:" .. slot .. ":backend", "1 1 1 0 0 0 0")
    end
    c:tick()
    assert.equal(2, c.store.get("worker:slots"), "stopped, not ended")
    assert.is_nil(c.store.get("door:3"))
    assert.is_nil(c.store.get("line:4:backend"))
    assert.equal("{}", c.store.get("door:2"))
    assert.is_string(c.store.get("line:2:backend"))
  end)

  it("are nobody's when the record is unreadable", function()
    local c = kit.new({ nodes = six })
    c.store.set("worker:slots", 2)
    c.store.set("worker:1", "{")
    record(c, 2, { pid = 2, at_ms = c.now_ms, count = 3 })
    c:tick()
    assert.equal(3, c:at("a").in_flight)
    assert.equal(1, #c.warnings)
  end)
end)

describe("workers' reports", function()
  it("that name what is not configured are passed over silently", function()
    local c = kit.new({ nodes = { "a" } })
    c:report({ gone = deltas.delta({ 1 }), a = deltas.delta({ 1 }) })
    c:report({ a = deltas.delta({ 1 }) }, "other")
    c:tick()
    assert.equal(1, c:at("a").ok_total)
    assert.same({}, c.warnings)
  end)

  it("that are broken are counted, and do not stop the others", function()
    local c = kit.new({ nodes = { "a" } })
    for _, text in ipairs({ "{", "7", "[]", '{"upstreams":3}', "" }) do
      c.store.push("deltas", text)
    end
    c.store.push("deltas", '{"upstreams":{"backend":{"a":7}}}')
    c.store.push("deltas", '{"upstreams":{"backend":{"a":{"ok":"x","fail":-1,"err":null,"hist":[1],"picks":1e999}}}}')
    c.store.push("deltas", '{"upstreams":{"backend":{"a":{"ok":1,"sum_ms":10}}}}')
    c.store.push("deltas", '{"upstreams":{"backend":{"a":{"ok":2,"sum_ms":20,"hist":[10,2]}}}}')
    c:tick()
    assert.equal(5, #c.warnings)
    assert.equal(3, c:at("a").ok_total)
    assert.equal(10, c:snapshot().nodes.a.latency_ms)
  end)

  it("show as rates, shares and percentiles", function()
    local c = kit.new({ nodes = { "a", "b" } })
    c:run(20, function()
      return { a = deltas.delta(deltas.same(30, 10)), b = deltas.delta(deltas.same(9, 10), { err = 1 }) }
    end)
    local detail = c:detail()
    assert.same({ 60, 20, 80 }, {
      detail.nodes.a.requests_per_s,
      detail.nodes.b.requests_per_s,
      detail.requests_per_s,
    })
    assert.same({ 0.75, 0.1 }, { detail.nodes.a.share, detail.nodes.b.error_rate })
    assert.equal(10, detail.nodes.a.p50_ms)
    assert.is_true(math.abs(detail.p99_ms - 10) <= 0.5)
    assert.equal(40, detail.nodes.b.err_total)
  end)

  it("make a success share that one failure of one does not make 0, and that recovers", function()
    local c = kit.new({ nodes = { "a", "b" } })
    c:report({ a = deltas.delta({}, { err = 1 }) })
    c:tick()
    assert.equal(0.6667, c:snapshot().nodes.a.success)
    c:run(10, function()
      return { a = deltas.delta({}, { err = 100 }) }
    end)
    assert.is_true(c:snapshot().nodes.a.success < 0.01)
    -- Without requests it stays bad for as long as the long window remembers.
    c:run(12)
    assert.is_true(c:snapshot().nodes.a.success < 0.01)
    c:run(120)
    assert.equal(1, c:snapshot().nodes.a.success)
  end)
end)

describe("an idle upstream", function()
  it("is published again with a new stamp, and wakes up", function()
    local c = kit.new({ nodes = six })
    c:run(5, kit.steady(six, 20, 10))
    c:run(90)
    local before = c:snapshot()
    c:tick()
    local after = c:snapshot()
    assert.same(before.nodes, after.nodes)
    assert.same({ before.at_ms + 500, before.generation + 1 }, { after.at_ms, after.generation })
    assert.equal(after.at_ms, c:detail().at_ms)
    assert.is_nil(after.nodes.a.latency_ms)
    c:report({ a = deltas.delta({ 30 }) })
    c:tick()
    assert.equal(30, c:snapshot().nodes.a.latency_ms)
  end)
end)

describe("many nodes", function()
  local ids = {}
  for i = 1, 600 do
    ids[i] = ("n%03d"):format(i)
  end

  it("take turns in being detailed, but a change of state shows at once", function()
    local c = kit.new({ nodes = ids })
    c:tick()
    c:run(5, kit.steady(ids, 2, 10))
    for _, id in ipairs(ids) do
      assert.is_true(c:at(id).picks_total >= 10, "no older than two rounds of three ticks")
    end
    c:report({ n300 = deltas.delta({}, { fail = 3, streak = 3 }), n599 = deltas.delta({}, { fail = 3, streak = 3 }) })
    c:tick()
    assert.same({ "ejected", "ejected" }, { c:at("n300").state, c:at("n599").state })
    assert.equal("ejected", c:snapshot().nodes.n300.state)
  end)

  it("are worked on with pauses, during which another tick does nothing", function()
    local c, pauses
    pauses = 0
    c = kit.new({
      nodes = ids,
      pause = function()
        pauses = pauses + 1
        local generation = c.store.get("generation")
        require("resty.ax.collector.collector").tick(c.collector, c.now_ms + 100)
        assert.equal(generation, c.store.get("generation"))
      end,
    })
    c:run(2, kit.steady(ids, 2, 10))
    assert.is_true(pauses >= 4)
    assert.equal(4, c.store.get("generation"))
  end)

  it("come to the same with a pause at every look at the clock as without any", function()
    local function play(pause, runningMs)
      local c = kit.new({ nodes = ids, pause = pause, runningMs = runningMs })
      for tick = 1, 24 do
        local said = kit.steady(ids, 2, 10)()
        said.n7 = deltas.delta({}, { err = 3, failures = 3 })
        said.n8 = tick < 6 and deltas.delta({}, { fail = 3, streak = 3 }) or nil
        c:report(said)
        c:tick()
      end
      -- A successor, in the same way.
      local options = { nodes = ids, store = c.store, now_ms = c.now_ms, pause = pause, runningMs = runningMs }
      local next_one = kit.new(options)
      next_one:tick()
      return c.store.values
    end
    local clock_ms, pauses = 0, 0
    local paused = play(function()
      pauses = pauses + 1
    end, function()
      clock_ms = clock_ms + 1
      return clock_ms
    end)
    assert.is_true(pauses > 24 * #ids / 16, pauses)
    assert.same(play(), paused)
  end)

  it("do not pause while the clock says that no time has passed", function()
    local c = kit.new({
      nodes = ids,
      pause = function()
        error("paused")
      end,
      runningMs = function()
        return 5
      end,
    })
    c:run(2, kit.steady(ids, 2, 10))
    assert.equal(4, c.store.get("generation"))
  end)

  it("go on after a tick that was killed in a pause", function()
    local broken = true
    local c = kit.new({
      nodes = ids,
      pause = function()
        if broken then
          error("killed")
        end
      end,
    })
    assert.has_error(function()
      c:run(1, kit.steady(ids, 2, 10))
    end)
    broken = false
    c:tick(6000)
    assert.equal(c.now_ms, c:snapshot().at_ms)
    assert.equal(#ids, c.collector.node_count)
  end)
end)

describe("the shared store", function()
  it("when full, is warned of once an episode, and used again when there is room", function()
    local c = kit.new({ nodes = six })
    c:run(2, kit.steady(six, 20, 10))
    c.store.full = true
    c:run(10)
    assert.equal(1, #c.warnings)
    assert.matches("store_full: no room for snapshot:backend", c.warnings[1], 1, true)
    c.store.full = false
    c:run(2)
    assert.equal(c.now_ms, c:snapshot().at_ms)
    c.store.full = true
    c:run(2)
    assert.equal(2, #c.warnings)
  end)

  it("heals when any key is deleted, with a generation that never falls", function()
    local c = kit.new({ nodes = six })
    c:run(20, one_slow(80))
    local generation = c.store.get("generation")
    local keys = {}
    for key in pairs(c.store.values) do
      keys[#keys + 1] = key
    end
    assert.is_true(#keys >= 4)
    for _, key in ipairs(keys) do
      -- A lost entry of the event log is lost.
      local is_event = key:find("^event:") ~= nil
      c.store.remove(key)
      c:run(5, one_slow(80))
      assert.is_true(is_event or c.store.get(key) ~= nil, key)
      assert.is_true(c.store.get("generation") > generation)
      generation = c.store.get("generation")
      assert.equal(0.2, c:at("a").score)
    end
    assert.same({}, c.warnings)
  end)
end)
