local cjson = require("cjson.safe")
local upstreams = require("upstreams")
local fake_store = require("fake_store")
local exchange = require("resty.ax.dataplane.exchange")
local snapshots = require("resty.ax.dataplane.snapshots")
local worker_record = require("resty.ax.dataplane.worker_record")
local counters = require("resty.ax.dataplane.counters")

local function worker(store, pid, faults)
  return {
    store = store,
    pid = pid,
    slot = 0,
    encode = cjson.encode,
    decode = function(text)
      return (cjson.decode(text))
    end,
    processAlive = function(asked)
      return asked < 1000
    end,
    onFault = function(code, message)
      faults = faults or {}
      faults[#faults + 1] = { code = code, message = message }
    end,
  }
end

local function busy(count)
  local up = upstreams.new({ nodes = 2 })
  up.pool.in_flight[2] = count
  return up
end

describe("the exchange between workers", function()
  it("adds up the others' requests in flight, not one's own", function()
    local store = fake_store()
    local a, b, c = worker(store, 1), worker(store, 2), worker(store, 3)
    local up_a, up_b, up_c = busy(3), busy(4), busy(0)
    exchange.publish(a, { up_a }, false, 1000)
    exchange.publish(b, { up_b }, false, 1000)
    exchange.publish(c, { up_c }, false, 1000)
    worker_record.readOthers(a, { up_a }, 1050)
    worker_record.readOthers(c, { up_c }, 1050)
    assert.same({ 0, 4 }, up_a.pool.others_in_flight)
    assert.same({ 0, 7 }, up_c.pool.others_in_flight)
  end)

  it("tells of long requests, which are no load to the others either", function()
    local store = fake_store()
    local a, b = worker(store, 1), worker(store, 2)
    local up_a, up_b = busy(0), busy(7)
    up_b.pool.long_in_flight[2] = 5
    exchange.publish(b, { up_b }, false, 1000)
    worker_record.readOthers(a, { up_a }, 1050)
    assert.same({ 0, 2 }, up_a.pool.others_in_flight)
    -- All of them are in flight: whoever drains the node waits for them.
    assert.equal(7, cjson.decode(store.get("worker:1")).in_flight.backend.n2)
  end)

  it("sends the counts of many nodes in several entries, each node once", function()
    local store = fake_store()
    local up = upstreams.new({ nodes = 250 })
    local small = upstreams.new({ nodes = 3, config = { name = "small" } })
    for node = 0, 249 do
      counters.countPick(up.counters, node)
    end
    counters.countPick(small.counters, 1)
    exchange.publish(worker(store, 1), { small, up }, false, 1000)
    local picks, entries, most = 0, 0, 0
    local text = store.pop("deltas")
    while text do
      local nodes = 0
      for _, deltas in pairs(cjson.decode(text).upstreams) do
        for _, delta in pairs(deltas) do
          nodes, picks = nodes + 1, picks + delta.picks
        end
      end
      entries, most = entries + 1, math.max(most, nodes)
      text = store.pop("deltas")
    end
    assert.same({ 251, 3, 100 }, { picks, entries, most })
    assert.is_nil(counters.takeDeltas(up.counters, up.pool.ids))
  end)

  it("keeps what it had no room for, but for the entry that was refused", function()
    local store = fake_store()
    local up = upstreams.new({ nodes = 250 })
    for node = 0, 249 do
      counters.countPick(up.counters, node)
    end
    store.full = true
    local faults = {}
    exchange.publish(worker(store, 1, faults), { up }, false, 1000)
    store.full = false
    assert.is_true(#faults >= 1)
    assert.equal(150, up.counters.dirty_count)
  end)

  it("forgets a worker that has stopped publishing", function()
    local store = fake_store()
    local a, b = worker(store, 1), worker(store, 2)
    local up_a, up_b = busy(0), busy(4)
    exchange.publish(b, { up_b }, false, 1000)
    exchange.publish(a, { up_a }, false, 4000)
    worker_record.readOthers(a, { up_a }, 4000)
    assert.same({ 0, 0 }, up_a.pool.others_in_flight)
  end)

  it("takes records that are none for no worker", function()
    local store = fake_store()
    local me, up = worker(store, 11), busy(1)
    exchange.publish(me, { up }, false, 0)
    for _, text in ipairs({
      '{"pid":1,"at_ms":1}',
      '{"pid":1,"at_ms":1e18,"in_flight":{}}',
      '{"pid":null,"at_ms":"x","in_flight":{}}',
      '{"pid":1,"at_ms":1,"in_flight":{"backend":5}}',
      '{"pid":1,"at_ms":1,"in_flight":{"backend":{"' .. up.pool.ids[1] .. '":"x"}}}',
      '{"pid":1,"at_ms":1,"in_flight":[1]}',
      "[]",
      "null",
    }) do
      store.set("worker:2", text)
      store.set("worker:slots", 2)
      worker_record.readOthers(me, { up }, 1)
      assert.same({ 0, 0 }, up.pool.others_in_flight)
    end
  end)

  it("counts a worker that is shutting down for as long as its process lives", function()
    local store = fake_store()
    local a, draining, gone = worker(store, 1), worker(store, 2), worker(store, 1002)
    local up_a, up_draining, up_gone = busy(0), busy(4), busy(9)
    exchange.publish(draining, { up_draining }, true, 1000)
    exchange.publish(gone, { up_gone }, true, 1000)
    exchange.publish(a, { up_a }, false, 99000)
    worker_record.readOthers(a, { up_a }, 99000)
    assert.same({ 0, 4 }, up_a.pool.others_in_flight)
  end)

  it("gives every worker a slot of its own, also when two take a dead one at once", function()
    local store = fake_store()
    local dead = worker(store, 9)
    exchange.publish(dead, { busy(1) }, false, 1000)
    local a, b = worker(store, 1), worker(store, 2)
    exchange.publish(a, { busy(1) }, false, 9000)
    b.slot = a.slot -- the loser of the race believes that the slot is its own
    exchange.publish(b, { busy(1) }, false, 9100)
    exchange.publish(a, { busy(1) }, false, 9100)
    assert.not_equal(a.slot, b.slot)
    assert.equal(2, store.get("worker:slots"))
  end)

  it("does not grow with generations of workers", function()
    local store = fake_store()
    for generation = 1, 50 do
      for k = 1, 4 do
        exchange.publish(worker(store, generation * 10 + k), { busy(1) }, false, generation * 10000)
      end
    end
    assert.equal(4, store.get("worker:slots"))
  end)

  it("looks for no slot further on when there is no room for one that is free", function()
    local store = fake_store()
    exchange.publish(worker(store, 1), { busy(0) }, false, 1000)
    local add, adds = store.add, 0
    -- Room comes free while the worker looks.
    store.add = function(key, value)
      adds = adds + 1
      return adds > 700 and add(key, value)
    end
    local faults = {}
    local late = worker(store, 2, faults)
    exchange.publish(late, { busy(0) }, false, 1000)
    assert.equal(0, late.slot)
    assert.equal(2, adds)
    assert.equal("store_full", faults[1].code)
    adds = 1000
    exchange.publish(late, { busy(0) }, false, 1100)
    assert.equal(2, late.slot)
    assert.equal(2, store.get("worker:slots"))
  end)

  it("takes no dead worker's record away when there is no room for its own", function()
    local store = fake_store()
    for pid = 1, 3 do
      exchange.publish(worker(store, pid), { busy(0) }, false, 1000)
    end
    -- As a full shared dict does it: a value of another length goes, and the new one finds no room.
    store.set = function(key)
      store.values[key] = nil
      return false
    end
    store.add = function()
      return false
    end
    local late = worker(store, 1001)
    exchange.publish(late, { busy(0) }, false, 100000)
    assert.equal(0, late.slot)
    assert.is_string(store.get("worker:2"))
    assert.is_string(store.get("worker:3"))
  end)

  it("drops the oldest counters when nobody collects them", function()
    local store = fake_store()
    local a = worker(store, 1)
    local up = busy(0)
    for k = 1, 3000 do
      counters.countPick(up.counters, 0)
      exchange.publish(a, { up }, false, k * 100)
    end
    assert.equal(2048, #store.lists.deltas)
    assert.equal(300000, cjson.decode(store.lists.deltas[2048]).at_ms)
  end)

  it("survives a full store: says so, keeps picking by what it has", function()
    local store = fake_store()
    local faults = {}
    local a = worker(store, 1, faults)
    store.full = true
    local up = busy(2)
    counters.countPick(up.counters, 0)
    exchange.publish(a, { up }, false, 1000)
    worker_record.readOthers(a, { up }, 1000)
    assert.equal(2, #faults)
    assert.equal("store_full", faults[1].code)
  end)

  it("decodes a snapshot that says nothing new only once in a while, and pauses between large ones", function()
    local store = fake_store()
    local decoded, pauses = 0, 0
    local a = worker(store, 1)
    a.decode = function(text)
      decoded = decoded + 1
      return cjson.decode(text)
    end
    local ups = {}
    for k = 1, 3 do
      ups[k] = upstreams.new({ nodes = 600, config = { name = "u" .. k } })
    end
    local generation = 0
    local function read(now, state)
      generation = generation + 1
      for k = 1, 3 do
        local node = ('{"state":"%s","weight":1,"static_weight":1,"success":1}'):format(state)
        local text = ('{"generation":%d,"at_ms":%d,"nodes":{"n1":%s}}'):format(generation, now, node)
        store.set("snapshot:u" .. k, text)
      end
      store.set("generation", generation)
      snapshots.readSnapshots(a, ups, now, function()
        pauses = pauses + 1
      end)
      local was = decoded
      decoded = 0
      return was
    end
    assert.equal(3, read(1000, "online"))
    assert.equal(2, pauses)
    assert.equal(0, read(1500, "online"))
    assert.equal(3, read(2000, "suspect"))
    assert.equal(0, read(4900, "suspect"))
    assert.equal(3, read(5000, "suspect"))
  end)

  it("takes over every measurement that a snapshot has", function()
    local store = fake_store()
    local up = busy(0)
    local node = {
      state = "online",
      weight = 0.5,
      static_weight = 2,
      success = 0.9,
      latency_ms = 7,
      samples = 33,
      judged_p99_ms = 81,
    }
    store.set("snapshot:backend", cjson.encode({ generation = 1, at_ms = 1, nodes = { n1 = node } }))
    snapshots.readSnapshots(worker(store, 1), { up }, 50000)
    local pool = up.pool
    assert.same({ 0.5, 2, 1, 0.9, 7, 33, 81 }, {
      pool.weight[1],
      pool.static_weight[1],
      1 / pool.inverse_prior[1],
      pool.success[1],
      pool.latency_ms[1],
      pool.samples[1],
      pool.p99_ms[1],
    })
  end)

  it("lets failures seen here stand until an answer, or until the node comes back", function()
    local store = fake_store()
    local a = worker(store, 1)
    local up = busy(0)
    local function publish(generation, state, success)
      local node = { state = state, weight = 1, static_weight = 1, success = success, latency_ms = 7 }
      store.set("snapshot:backend", cjson.encode({ generation = generation, at_ms = 1, nodes = { n1 = node } }))
      snapshots.readSnapshots(a, { up }, 50000)
    end
    up.pool.success[1] = 0.5
    publish(1, "online", 0.9)
    assert.equal(0.5, up.pool.success[1])
    publish(2, "online", 0.3)
    assert.equal(0.3, up.pool.success[1])
    publish(3, "ramping", 1)
    assert.equal(1, up.pool.success[1])
    for generation, state in ipairs({ "ejected", "offline", "maintenance" }) do
      up.pool.success[1] = 0.3
      -- The last failure was a moment ago.
      up.pool.last_sample_ms[1] = 49999
      publish(2 * generation + 2, state, 1)
      assert.equal(0.3, up.pool.success[1])
      publish(2 * generation + 3, "online", 1)
      assert.equal(1, up.pool.success[1])
    end
  end)

  it("keeps the snapshot it has when the store holds junk, and takes the next good one", function()
    local store = fake_store()
    local faults = {}
    local a = worker(store, 1, faults)
    local up = busy(0)
    local function publish(generation, weight)
      store.set(
        "snapshot:backend",
        cjson.encode({
          generation = generation,
          at_ms = 1000,
          nodes = { n1 = { state = "ejected", weight = weight, static_weight = 1, success = 1, latency_ms = 7 } },
        })
      )
      snapshots.readSnapshots(a, { up }, 50000)
    end
    publish(1, 0.5)
    assert.equal(0.5, up.pool.weight[1])
    assert.equal(7, up.pool.latency_ms[1])
    assert.equal(1, up.pool.candidate_count)
    for _, junk in ipairs({ "{", "[]", "7", '"x"', "null", '{"generation":1}', "" }) do
      store.set("snapshot:backend", junk)
      snapshots.readSnapshots(a, { up }, 50000)
    end
    assert.equal(0.5, up.pool.weight[1])
    assert.equal(7, #faults)
    publish(2, 0.8)
    assert.equal(0.8, up.pool.weight[1])
  end)

  it("takes nothing on trust: junk in a snapshot or a worker's record leaves everything else working", function()
    local store = fake_store()
    local a = worker(store, 1)
    local up = upstreams.new({ nodes = 3 })
    local good = { state = "online", weight = 0.5, static_weight = 0.4, success = 0.9, latency_ms = 12 }
    local partial = { state = "online", weight = 1, success = 1 }
    for _, junk in ipairs({ 5, "x", {}, partial, { state = "best", weight = 1 } }) do
      store.set("snapshot:backend", cjson.encode({ generation = 1, nodes = { n1 = junk, n2 = good } }))
      snapshots.readSnapshots(a, { up }, 50000)
      assert.same({ 1, 0.4, 1 }, up.pool.static_weight)
      assert.equal(3, up.pool.candidate_count)
    end
    store.set("worker:slots", 3)
    store.set("worker:1", cjson.encode({ pid = 7, at_ms = 1000 }))
    store.set("worker:2", cjson.encode({ pid = 8, at_ms = 1000, in_flight = { backend = { n1 = "many", n2 = -4 } } }))
    store.set("worker:3", cjson.encode({ pid = 9, at_ms = 1000, in_flight = { backend = { n3 = 2 } } }))
    worker_record.readOthers(a, { up }, 1100)
    assert.same({ 0, 0, 2 }, up.pool.others_in_flight)
  end)

  it("gives nodes without data the pool's median latency, never zero", function()
    local store = fake_store()
    local up = upstreams.new({ nodes = 4 })
    local node = { state = "online", weight = 1, static_weight = 1, success = 1 }
    local function with(latency)
      local copy = {}
      for key, value in pairs(node) do
        copy[key] = value
      end
      copy.latency_ms = latency
      return copy
    end
    store.set(
      "snapshot:backend",
      cjson.encode({
        generation = 1,
        at_ms = 1,
        nodes = { n1 = with(10), n2 = with(20), n3 = with(90), n4 = with(nil) },
      })
    )
    snapshots.readSnapshots(worker(store, 1), { up }, 50000)
    assert.same({ 10, 20, 90, 20 }, up.pool.latency_ms)
  end)
end)
