-- The state machine at work: whole pools, several workers, collectors that follow each other.
local cjson = require("cjson.safe")
local deltas = require("deltas")
local events = require("resty.ax.observe.events")
local fake_store = require("fake_store")
local in_flight = require("resty.ax.dataplane.in_flight")
local kit = require("collector_kit")
local limits = require("resty.ax.dataplane.limits")
local operator = require("resty.ax.core.operator")
local pick = require("resty.ax.dataplane.pick")
local requests = require("resty.ax.dataplane.requests")
local reserve = require("resty.ax.dataplane.reserve")
local apply_snapshot = require("resty.ax.dataplane.apply_snapshot")
local upstreams = require("upstreams")
local wire = require("resty.ax.core.wire")

local six = { "a", "b", "c", "d", "e", "f" }
local shipped = { max_ejected_share = 0.5, return_trial = true, slow_start_s = 120 }

local function dead(ids)
  local nodes = {}
  for _, id in ipairs(ids) do
    nodes[id] = deltas.delta({}, { fail = 5, streak = 5, failures = 5 })
  end
  return nodes
end

local function states(c, ids)
  local counts = {}
  for _, id in ipairs(ids) do
    local state = c:snapshot().nodes[id].state
    counts[state] = (counts[state] or 0) + 1
  end
  return counts
end

local function read_events(c)
  local deps = {
    store = c.store,
    decode = cjson.decode,
    array = function(items)
      return items
    end,
  }
  return events.readEvents(deps, "backend", 100, c.now_ms)
end

describe("a pool whose nodes all fail", function()
  it("loses no more than its share, panics, and says so", function()
    local c = kit.new({ nodes = six, upstream = shipped })
    c:run(5, kit.steady(six, 20, 10))
    c:report(dead(six))
    c:tick()
    assert.same({ ejected = 3, suspect = 3 }, states(c, six))
    assert.is_true(c:snapshot().panic)
    local detail = c:detail()
    assert.equal(1, detail.panics_total)
    assert.is_not_nil(detail.panic_since_ms)
    assert.matches("kept, the pool cannot spare it", detail.nodes.f.reason)
  end)

  it("is itself again when they answer", function()
    local c = kit.new({ nodes = six, upstream = shipped })
    c:report(dead(six))
    c:tick()
    c:run(6, kit.steady(six, 20, 10))
    assert.is_nil(c:snapshot().panic)
    -- Those that were thrown out too: half of the pool might not bear the load of all.
    assert.same({ online = 6 }, states(c, six))
  end)

  it("leaves out those that go on failing", function()
    local c = kit.new({ nodes = six, upstream = shipped })
    c:report(dead(six))
    c:tick()
    local answer = kit.steady({ "b", "c", "d", "e", "f" }, 20, 10)
    c:run(6, function(tick)
      local nodes = answer(tick)
      nodes.a = dead({ "a" }).a
      return nodes
    end)
    assert.is_nil(c:snapshot().panic)
    assert.same({ online = 5, ejected = 1 }, states(c, six))
  end)

  it("of three keeps two, of two one, of one that", function()
    for n, out in ipairs({ 0, 1, 1 }) do
      local ids = {}
      for k = 1, n do
        ids[k] = six[k]
      end
      local c = kit.new({ nodes = ids, upstream = shipped })
      c:report(dead(ids))
      c:tick()
      assert.equal(out, states(c, ids).ejected or 0)
    end
  end)

  it("may lose all its primaries to a good backup", function()
    local nodes = { "a", "b", "c", kit.node("z", { backup = true }) }
    local c = kit.new({ nodes = nodes, upstream = shipped })
    c:report(dead({ "a", "b", "c" }))
    c:tick()
    assert.same({ ejected = 3, online = 1 }, states(c, { "a", "b", "c", "z" }))
    assert.is_nil(c:snapshot().panic)
  end)
end)

describe("two ejected nodes of one host", function()
  local function labelled(id, host)
    local node = kit.node(id)
    node.labels = { host = host }
    return node
  end
  local function pool(options)
    options.return_trial = false
    local nodes = {}
    for k = 1, 8 do
      nodes[k] = labelled("n" .. k, k <= 3 and "m1" or "m2")
    end
    local c = kit.new({ nodes = nodes, upstream = options })
    c:report(dead({ "n1", "n2" }))
    c:tick()
    c:tick()
    return c
  end

  it("point to the host", function()
    local c = pool({})
    local event = read_events(c).events[1]
    assert.same({ "", "trusted", "suspect" }, { event.node, event.from, event.to })
    assert.equal("2 nodes of host m1 are out: the host may be to blame", event.reason)
    assert.equal("online", c:at("n3").state)
  end)

  it("take its others along where that is configured", function()
    local c = pool({ eject_host = true })
    assert.equal("ejected", c:at("n3").state)
    assert.equal("2 nodes of host m1 are out", c:at("n3").reason)
    assert.equal("online", c:at("n4").state)
  end)
end)

describe("a request that a node has not answered for long", function()
  local function waiting(c, ids, age_ms)
    local starts, counts = {}, {}
    for _, id in ipairs(ids) do
      starts[id] = c.now_ms + 500 - age_ms
      counts[id] = 3
    end
    c.store.set("worker:slots", 1)
    local record = { pid = 7, at_ms = c.now_ms + 500 }
    record.in_flight, record.oldest_ms = { backend = counts }, { backend = starts }
    c.store.set("worker:1", cjson.encode(record))
  end

  it("makes the node suspect, unless half of the nodes have such", function()
    local c = kit.new({ nodes = six, alive = { [7] = true } })
    c:run(10, kit.steady(six, 20, 10))
    for tick = 1, 6 do
      waiting(c, { "a" }, 500 * tick)
      c:report(kit.steady({ "b", "c", "d", "e", "f" }, 20, 10)())
      c:tick()
    end
    assert.equal("suspect", c:at("a").state)
    waiting(c, {}, 0)
    c:run(6, kit.steady(six, 20, 10))
    for tick = 1, 6 do
      waiting(c, { "a", "b", "c" }, 500 * tick)
      c:report(kit.steady({ "d", "e", "f" }, 20, 10)())
      c:tick()
    end
    assert.same({ online = 6 }, states(c, six))
  end)

  --- Two requests stay open at a; the others answer. Returns what a went through.
  local function open_ones(c, seconds, each)
    local others = { "b", "c", "d", "e", "f" }
    local start_ms, seen = c.now_ms, {}
    for tick = 1, 2 * seconds do
      waiting(c, { "a" }, c.now_ms + 500 - start_ms)
      c:report(kit.steady(others, 20, 10)())
      each(tick)
      c:tick()
      seen[c:at("a").state] = true
    end
    return seen
  end

  it("does not throw out a node with idle WebSockets and nothing else to do", function()
    local c = kit.new({ nodes = six, alive = { [7] = true } })
    c:run(10, kit.steady(six, 20, 10))
    local seen = open_ones(c, 120, function() end)
    assert.same({ online = true, suspect = true }, seen)
  end)

  it("tells nothing while the node answers others, in whatever workers", function()
    local c = kit.new({ nodes = six, alive = { [7] = true } })
    c:run(10, kit.steady(six, 20, 10))
    local seen = open_ones(c, 120, function()
      c:report({ a = deltas.delta(deltas.same(1, 10)) }, nil, 8)
    end)
    assert.same({ online = true }, seen)
  end)

  it("ends with the answer to the node's trial", function()
    local c = kit.new({ nodes = six, alive = { [7] = true } })
    c:run(10, kit.steady(six, 20, 10))
    local trials = 0
    local seen = open_ones(c, 120, function()
      local key = "trial:backend\na\n" .. (c:at("a").trial or 0)
      if c:at("a").trial and c.store.add(key, 1) then
        trials = trials + 1
        c:report({ a = deltas.delta(deltas.same(1, 10)) }, nil, 8)
      end
    end)
    assert.same({ online = true, suspect = true }, seen)
    assert.is_true(trials >= 3, "trials: " .. trials)
  end)

  it("throws a node out that leaves its trial unanswered, at the time that is set", function()
    local c = kit.new({ nodes = six, alive = { [7] = true } })
    c:run(10, kit.steady(six, 20, 10))
    local trials, out_ms = 0, nil
    local start_ms = c.now_ms
    open_ones(c, 60, function()
      if c:at("a").trial and c.store.add("trial:backend\na\n" .. c:at("a").trial, 1) then
        trials = trials + 1
      end
      if c:at("a").state == "ejected" then
        out_ms = out_ms or c.now_ms - start_ms
      end
    end)
    assert.is_true(out_ms and out_ms >= 29000 and out_ms <= 31500, tostring(out_ms))
    assert.equal(1, trials)
  end)
end)

describe("a node that refuses for load", function()
  it("is degraded for Retry-After, its errors are none, and its share falls", function()
    local c = kit.new({ nodes = six })
    c:run(5, kit.steady(six, 20, 10))
    local nodes = kit.steady(six, 20, 10)()
    nodes.a = deltas.delta({}, { busy = 60, retry_after_ms = 4000 })
    c:report(nodes)
    c:tick()
    local a = c:at("a")
    assert.same({ "degraded", 0, 60 }, { a.state, a.error_rate, a.busy_total })
    assert.is_true(a.weight <= 0.5)
    c:run(5, kit.steady(six, 20, 10))
    assert.equal("online", c:at("a").state)
  end)
end)

describe("trials", function()
  local function half_open(store)
    local c = kit.new({ nodes = six, upstream = shipped, store = store })
    c:run(5, kit.steady(six, 20, 10))
    c:report(dead({ "a" }))
    c:tick()
    c:run(11, kit.steady({ "b", "c", "d", "e", "f" }, 20, 10))
    assert.equal("probing", c:at("a").state)
    return c
  end

  local function worker(c)
    local nodes = {}
    for k, id in ipairs(six) do
      nodes[k] = { id }
    end
    local up = upstreams.new({ strategy = "round_robin", nodes = nodes })
    up.store = c.store
    apply_snapshot.applySnapshot(up, c:snapshot(), c.now_ms)
    return up
  end

  it("keep the place that access() took for them, and take slots", function()
    local c = half_open()
    local up = worker(c)
    limits.attachSlots(up, c.store, 1)
    local record = requests.newRequestRecord()
    assert.is_true(reserve.reserve(up, record, c.now_ms, function() end))
    assert.equal("a", up.pool.ids[record.node + 1])
    assert.equal(record.node, record.slot_node)
    assert.is_true(reserve.hasPlace(up, record))
    up.state[record.node + 1] = "offline"
    assert.is_false(reserve.hasPlace(up, record))
    in_flight.endTry(record)
    assert.equal(0, up.slots.used[1])
  end)

  it("go to another request when the one that has the place gives it up before it is sent", function()
    local c = half_open()
    local up = worker(c)
    limits.attachSlots(up, c.store, 1)
    for _ = 1, 3 do
      local record = requests.newRequestRecord()
      assert.is_true(reserve.reserve(up, record, c.now_ms, function() end))
      assert.equal("a", up.pool.ids[record.node + 1])
      assert.equal(0, up.trials.open_count)
      -- The client has gone, or the room is another worker's.
      in_flight.endTry(record)
      assert.equal(1, up.trials.open_count)
    end
    -- Another worker may have it too.
    local other = worker(c)
    limits.attachSlots(other, c.store, 2)
    local node, record = pick.pickNode(other, requests.newRequestRecord(), c.now_ms, function() end)
    assert.equal("a", other.pool.ids[node + 1])
    assert.is_nil(record)
  end)

  it("stay taken when the place was used, or when another trial has been granted meanwhile", function()
    local c = half_open()
    local up = worker(c)
    limits.attachSlots(up, c.store, 1)
    local record = requests.newRequestRecord()
    assert.is_true(reserve.reserve(up, record, c.now_ms, function() end))
    in_flight.beginReserved(up, record, c.now_ms)
    in_flight.endTry(record)
    assert.equal(0, up.trials.open_count)

    c = half_open()
    up = worker(c)
    limits.attachSlots(up, c.store, 1)
    assert.is_true(reserve.reserve(up, record, c.now_ms, function() end))
    local node = record.node + 1
    up.trials.granted[node] = up.trials.granted[node] + 1
    in_flight.endTry(record)
    assert.equal(0, up.trials.open_count)
  end)

  it("do not read the method of the request that runs while one that waited is picked for", function()
    local c = half_open()
    local up = worker(c)
    local read = 0
    up.mayRepeat = function()
      read = read + 1
      return true
    end
    for k = 1, 101 do
      local record = requests.newRequestRecord()
      record.waiter = {}
      local node = pick.pickNode(up, record, 1000, function() end)
      assert.equal(k == 101, up.pool.ids[node + 1] == "a")
    end
    assert.equal(0, read)
  end)

  local function pick_many(up, n)
    local trials = 0
    for _ = 1, n do
      local node = pick.pickNode(up, requests.newRequestRecord(), 1000, function() end)
      trials = trials + (up.pool.ids[node + 1] == "a" and 1 or 0)
    end
    return trials
  end

  it("are not kept from anybody by a key of the node's former life, which a removed node leaves behind", function()
    local store = fake_store()
    store.set(wire.trialKey("backend", "a", 1), 1)
    local c = half_open(store)
    assert.equal(1, c:snapshot().nodes.a.trial)
    assert.equal(1, pick_many(worker(c), 50))
  end)

  it("go to another request when the one that took them gets no slot", function()
    local c = half_open()
    local up = worker(c)
    up.config.nodes[1].max_conns = 1
    limits.attachSlots(up, c.store, 1)
    -- Another worker's request is at it still.
    c.store.set("slots:backend:a", 1)
    assert.equal(0, pick_many(up, 5))
    for key in pairs(c.store.values) do
      assert.is_nil(key:match("^trial:"))
    end
    c.store.set("slots:backend:a", 0)
    local node = pick.pickNode(up, requests.newRequestRecord(), 2000, function() end)
    assert.equal("a", up.pool.ids[node + 1])
    assert.equal(0, pick_many(worker(c), 50))
  end)

  it("are taken by one request of all workers", function()
    local c = half_open()
    local taken = 0
    for _ = 1, 4 do
      taken = taken + pick_many(worker(c), 50)
    end
    assert.equal(1, taken)
  end)

  it("leave requests alone that must not be sent twice, as long as others come", function()
    local c = half_open()
    local up = worker(c)
    local repeatable = false
    up.mayRepeat = function()
      return repeatable
    end
    assert.equal(0, pick_many(up, 50))
    repeatable = true
    assert.equal(1, pick_many(up, 50))
    local posts = worker(half_open())
    posts.mayRepeat = function()
      return false
    end
    assert.equal(1, pick_many(posts, 150))
  end)

  it("are no WebSockets and event streams, as long as others come", function()
    local c = half_open()
    local up = worker(c)
    local lasts = true
    up.mayLast = function()
      return lasts
    end
    assert.equal(0, pick_many(up, 100))
    lasts = false
    assert.equal(1, pick_many(up, 1))
    local streams = worker(half_open())
    streams.mayLast = function()
      return true
    end
    assert.equal(1, pick_many(streams, 150))
  end)

  it("of a node that is in rotation and silent are none of these at all", function()
    local up = worker(half_open())
    up.state[1] = "suspect"
    local lasts = true
    up.mayLast = function()
      return lasts
    end
    pick_many(up, 300)
    assert.equal(1, up.trials.open_count)
    lasts = false
    pick_many(up, 1)
    assert.equal(0, up.trials.open_count)
  end)

  it("of a strategy by keys go to a request whose key is the node's own, as long as one comes", function()
    local c = half_open()
    local function hashing(strategy)
      local nodes = {}
      for k, id in ipairs(six) do
        nodes[k] = { id }
      end
      local up = upstreams.new({ strategy = strategy, nodes = nodes })
      up.store = c.store
      return up
    end
    local whole = hashing("consistent_hash")
    upstreams.flush(whole)
    local function owner(key)
      local record = requests.newRequestRecord()
      record.hash_key = key
      local node = pick.pickNode(whole, record, 1000, function() end)
      return whole.pool.ids[node + 1]
    end
    local up = hashing("consistent_hash")
    apply_snapshot.applySnapshot(up, c:snapshot(), c.now_ms)
    upstreams.flush(up)
    local trials = 0
    for k = 1, 200 do
      local record = requests.newRequestRecord()
      record.hash_key = k * 7919 % 65521 * 65536
      local node = pick.pickNode(up, record, 1000, function() end)
      local is_trial = up.pool.ids[node + 1] == "a"
      if is_trial then
        trials = trials + 1
        assert.equal("a", owner(record.hash_key))
      end
    end
    assert.equal(1, trials)
    -- Where none of its keys comes, another one has to do.
    local foreign
    for k = 1, 1000 do
      if owner(k * 65537) ~= "a" then foreign = k * 65537 end
    end
    c = half_open()
    up = hashing("consistent_hash")
    apply_snapshot.applySnapshot(up, c:snapshot(), c.now_ms)
    upstreams.flush(up)
    trials = 0
    for _ = 1, 1000 do
      local record = requests.newRequestRecord()
      record.hash_key = foreign
      local node = pick.pickNode(up, record, 1000, function() end)
      if up.pool.ids[node + 1] == "a" then trials = trials + 1 end
    end
    assert.equal(1, trials)
  end)

  it("bring the node back when answered, and out for longer when not; the key is gone then", function()
    local c = half_open()
    pick_many(worker(c), 1)
    c:report({ a = deltas.delta({ 10 }) })
    c:tick()
    assert.equal("ramping", c:at("a").state)
    for key in pairs(c.store.values) do
      assert.is_nil(key:match("^trial:"))
    end
    c = half_open()
    c:report(dead({ "a" }))
    c:tick()
    assert.same({ "ejected", 2 }, { c:at("a").state, c:at("a").ejections })
  end)

  it("go on after a change of the collector", function()
    local c = half_open()
    local next_one = kit.new({ nodes = six, upstream = shipped, store = c.store, now_ms = c.now_ms, pid = 200 })
    next_one:tick()
    assert.equal("probing", next_one:at("a").state)
    next_one:report({ a = deltas.delta({ 10 }) })
    next_one:tick()
    assert.equal("ramping", next_one:at("a").state)
  end)
end)

describe("the operator's will", function()
  it("keeps the time since when it holds, over a change of the collector; another reason shows at once", function()
    local c = kit.new({ nodes = six })
    c:run(2, kit.steady(six, 20, 10))
    local function give(store, why)
      local will = { kind = "maintenance", at_ms = c.now_ms, until_ms = c.now_ms + 60000, why = why }
      store.set(operator.willKey("backend", "a"), cjson.encode(will))
      store.incr(operator.willVersionKey("backend"), 1)
    end
    give(c.store, "disk")
    c:tick()
    local since_ms = c:at("a").since_ms
    local next_one = kit.new({ nodes = six, store = c.store, now_ms = c.now_ms, pid = 200 })
    next_one:tick()
    assert.equal(since_ms, next_one:at("a").since_ms)
    give(c.store, "memory")
    next_one:tick()
    assert.equal("in maintenance by the operator: memory", next_one:at("a").reason)
    assert.equal(since_ms, next_one:at("a").since_ms)
  end)

  it("is obeyed at the next look, and outlives the collector", function()
    local c = kit.new({ nodes = six })
    c:run(2, kit.steady(six, 20, 10))
    local will = cjson.encode({ kind = "maintenance", at_ms = c.now_ms, why = "disk; and more", by = "eve" })
    c.store.set(operator.willKey("backend", "a"), will)
    c.store.incr(operator.willVersionKey("backend"), 1)
    c:tick()
    assert.equal("maintenance", c:at("a").state)
    assert.equal("in maintenance by the operator (eve): disk; and more", c:at("a").reason)
    local next_one = kit.new({ nodes = six, store = c.store, now_ms = c.now_ms, pid = 200 })
    next_one:tick()
    assert.equal("maintenance", next_one:at("a").state)
    next_one.store.remove(operator.willKey("backend", "a"))
    next_one.store.incr(operator.willVersionKey("backend"), 1)
    next_one:tick()
    assert.equal("ramping", next_one:at("a").state)
  end)
end)

describe("events", function()
  it("tell every change, with reason and numbers, over a change of the collector", function()
    local c = kit.new({ nodes = six, upstream = shipped })
    c:run(5, kit.steady(six, 20, 10))
    c:report(dead({ "a" }))
    c:tick()
    local next_one = kit.new({ nodes = six, upstream = shipped, store = c.store, now_ms = c.now_ms, pid = 200 })
    next_one:run(11, kit.steady({ "b", "c", "d", "e", "f" }, 20, 10))
    local log = read_events(next_one)
    assert.same({ 2, 2 }, { log.total, log.state_changes_per_min })
    assert.same({ ["online→ejected"] = 1, ["ejected→probing"] = 1 }, log.transitions)
    local ejected = log.events[2]
    assert.same({ 1, "a", "online", "ejected" }, { ejected.seq, ejected.node, ejected.from, ejected.to })
    assert.equal("5 connection failures in a row (max_fails 3)", ejected.reason)
    assert.equal(5, ejected.numbers.streak)
    assert.is_true(ejected.wall_s > 1600000000)
    assert.equal(2, next_one:detail().state_changes_per_min)
    assert.equal(1, #next_one.events)
    next_one:run(61, kit.steady({ "b", "c", "d", "e", "f" }, 20, 10))
    assert.is_true(next_one:detail().state_changes_per_min < 6)
  end)

  it("are bounded", function()
    local c = kit.new({ nodes = six })
    for _ = 1, 400 do
      c:report({ a = deltas.delta({}, { err = 3, failures = 3 }) })
      c:tick()
      c:report({ a = deltas.delta(deltas.same(20, 10)) })
      c:tick(6000)
      c:tick(6000)
    end
    local kept = 0
    for key in pairs(c.store.values) do
      kept = kept + (key:match("^event:") and 1 or 0)
    end
    assert.equal(256, kept)
    assert.is_true(read_events(c).total >= 800)
  end)
end)

describe("a node that is new to a running gateway", function()
  it("starts slowly; with probes it is pending first; a pool that is mostly new is online at once", function()
    local c = kit.new({ nodes = { "a", "b" } })
    c:run(2, kit.steady({ "a", "b" }, 20, 10))
    local function successor(nodes, probes)
      local options = { nodes = nodes, upstream = shipped, store = c.store, now_ms = c.now_ms }
      options.pid, options.probes = 200, probes
      local next_one = kit.new(options)
      next_one:tick()
      return next_one
    end
    local slow = successor({ "a", "b", "n" })
    assert.equal("ramping", slow:at("n").state)
    assert.is_true(slow:at("n").until_ms - slow.now_ms > 149000)
    c:tick()
    local view = require("resty.ax.core.probe.view").newProbeView()
    local probed = successor({ "a", "b", "n" }, {
      view = function()
        return view
      end,
      askTrial = function()
        return true
      end,
      takeNews = function()
        return true
      end,
      rest = function() end,
      record = function() end,
      summary = function() end,
    })
    assert.equal("pending", probed:at("n").state)
    view.verdict = "pass"
    probed:tick()
    assert.equal("ramping", probed:at("n").state)
    c:tick()
    assert.equal("online", successor({ "a", "x", "y", "z" }):at("y").state)
  end)
end)
