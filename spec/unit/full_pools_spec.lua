-- Pools with full nodes: what a pick costs there, and that it finds the room there is.
local upstreams = require("upstreams")
local fake_store = require("fake_store")
local in_flight = require("resty.ax.dataplane.in_flight")
local admission = require("resty.ax.dataplane.admission")
local limits = require("resty.ax.dataplane.limits")
local line = require("resty.ax.dataplane.line")
local pick = require("resty.ax.dataplane.pick")
local slots = require("resty.ax.dataplane.slots")
local requests = require("resty.ax.dataplane.requests")
local slot_marks = require("resty.ax.dataplane.slot_marks")
local random = require("resty.ax.core.random")

local ALL_FULL = pick.ALL_FULL

-- A store that counts accesses.
local function counting()
  local store = fake_store()
  local counted = { accesses = 0 }
  for name, method in pairs(store) do
    counted[name] = type(method) == "function"
        and function(...)
          counted.accesses = counted.accesses + 1
          return method(...)
        end
      or method
  end
  return counted
end

-- Asked how often, and with how many candidates.
local function asking()
  local asked = { times = 0, candidates = 0 }
  local strategy = {
    options = {},
    create = function() end,
    pick = function(_, _, candidates, count, request)
      asked.times = asked.times + 1
      asked.candidates = math.max(asked.candidates, count)
      return candidates[request.now_ms % count + 1]
    end,
  }
  return strategy, asked
end

local function worker(n, store, holder, given)
  local config = { max_concurrency_per_node = 1, max_overflow_ratio = 0 }
  for key, value in pairs(given or {}) do
    config[key] = value
  end
  local strategy, asked = asking()
  return upstreams.new({ strategy = strategy, nodes = n, store = store, holder = holder, config = config }), asked
end

local function silent() end

local function take(up, now_ms)
  local record = requests.newRequestRecord()
  return pick.pickNode(up, record, now_ms, silent), record
end

describe("a pool of thousands", function()
  it("that is full answers so at once, without going through it for each request", function()
    local n = 3000
    local store = counting()
    local up, asked = worker(n, store, 1)
    for node = 1, n do
      store.set("slots:backend:n" .. node, 1)
    end
    assert.equal(ALL_FULL, (take(up, 1000)))
    assert.is_true(asked.times <= 32, asked.times)
    assert.is_true(store.accesses < 12 * n, store.accesses)
    store.accesses, asked.times = 0, 0
    for k = 1, 100 do
      assert.equal(ALL_FULL, (take(up, 1000 + k % 10)))
    end
    assert.is_true(asked.times <= 100, asked.times)
    assert.is_true(store.accesses <= 100, store.accesses)
  end)

  it("with one full node is not gone through either", function()
    local up, asked = worker(3000, fake_store(), 1)
    local first, record = take(up, 1000)
    assert.equal(first, up.pool.candidates[1000 % 3000 + 1])
    -- The same place once more: full now.
    assert.is_true((take(up, 1000)) >= 0)
    assert.equal(1, up.slots.closed_count)
    asked.times = 0
    assert.is_true((take(up, 1005)) >= 0)
    assert.equal(1, asked.times)
    in_flight.freeSlots(record)
  end)
end)

describe("a full pool", function()
  it("costs a worker that goes on asking one read, until somebody frees a place", function()
    for _, n in ipairs({ 6, 60, 600 }) do
      local store = counting()
      local up = worker(n, store, 1)
      local other = worker(n, store, 2)
      local records = {}
      for k = 1, n do
        local _, record = take(other, 1000)
        records[k] = record
      end
      -- Its strategy's answers depend on the time: what one look at all nodes leaves to learn is learnt in a few.
      for now_ms = 2000, 2100, 3 do
        assert.equal(ALL_FULL, (take(up, now_ms)))
      end
      local quiet_ms = math.max(2, n / 250)
      local now_ms, start = 3000, store.accesses
      assert.equal(ALL_FULL, (take(up, now_ms)))
      assert.is_true(store.accesses - start <= n + 40, ("%d for %d nodes"):format(store.accesses - start, n))
      start = store.accesses
      for k = 1, 6 do
        assert.equal(ALL_FULL, (take(up, now_ms + math.ceil(quiet_ms) * k)))
      end
      assert.is_true(store.accesses - start <= 12, ("%d for %d nodes"):format(store.accesses - start, n))
      in_flight.freeSlots(records[n])
      local node = take(up, now_ms + math.ceil(quiet_ms) * 7)
      assert.equal(records[n].node >= 0 and records[n].node or node, node)
      assert.is_true(node >= 0)
    end
  end)

  it("is looked at again after a while even if nobody has said that there is room", function()
    local store = fake_store()
    local up = worker(6, store, 1)
    for k = 1, 6 do
      store.set("slots:backend:n" .. k, 1)
    end
    for now_ms = 1000, 1018, 2 do
      assert.equal(ALL_FULL, (take(up, now_ms)))
    end
    store.set("slots:backend:n3", 0)
    assert.equal(2, (take(up, 1040)))
  end)

  it("is looked at again as soon as a node that has failed may be asked again, though nobody frees anything", function()
    local store = fake_store()
    local up = worker(2, store, 1)
    -- By another worker.
    store.set("slots:backend:n1", 1)
    slot_marks.pace(up.slots, 1, 7, 1, 1000)
    local function take_patient(now_ms)
      return (pick.pickNode(up, requests.newRequestRecord(), now_ms, silent, true))
    end
    for now_ms = 1000, 1006 do
      assert.equal(ALL_FULL, take_patient(now_ms))
    end
    -- A refusal is believed for 2 ms.
    assert.equal(1, take_patient(1008))
  end)

  it("has room as soon as another worker frees some, also at a node that was refused just before", function()
    local store = fake_store()
    local up, other = worker(2, store, 1), worker(2, store, 2)
    local _, first = take(other, 999)
    -- Node 1 or 2 is refused; the other one has the last room.
    local last = take(up, 1000)
    assert.is_true(last >= 0)
    assert.equal(ALL_FULL, (take(up, 1001)))
    in_flight.freeSlots(first)
    assert.is_true((take(up, 1003)) >= 0)
  end)
end)

describe("a pick among full nodes", function()
  for _, n in ipairs({ 1, 3, 100, 1000 }) do
    it(("finds what room there is: %d nodes, two workers"):format(n), function()
      local rng = random.newRandom(n)
      local store = fake_store()
      local workers = { worker(n, store, 1), (worker(n, store, 2)) }
      local running, now_ms, served = {}, 1000, 0
      local function free_one()
        local at = 1 + random.drawBelow(rng, #running)
        in_flight.freeSlots(running[at])
        running[at] = running[#running]
        running[#running] = nil
      end
      for _ = 1, 600 do
        now_ms = now_ms + 1
        if random.draw(rng) < 0.05 then
          -- Long enough for both to have another look.
          now_ms = now_ms + 3 + n / 250
        end
        local quiet_ms = now_ms
        for k = 1, 2 do
          local node, record = take(workers[k], now_ms)
          while node >= 0 do
            served = served + 1
            running[#running + 1] = record
            node, record = take(workers[k], now_ms)
          end
          assert.equal(ALL_FULL, node)
        end
        assert.is_true(#running <= n)
        -- What this worker frees it may use in the same turn; nothing else has room.
        if #running == n then
          local last = running[#running]
          in_flight.freeSlots(last)
          running[#running] = nil
          local owner = last.slot_upstream == workers[1] and workers[1] or workers[2]
          local node, record = take(owner, quiet_ms)
          assert.is_true(node >= 0)
          running[#running + 1] = record
        end
        for _ = 1, random.drawBelow(rng, 3) do
          if #running > 0 then
            free_one()
          end
        end
      end
      -- Nothing freed for a while: after it the room there is gets used to the last place, by either worker.
      now_ms = now_ms + 3 + n / 250
      local node, record = take(workers[1], now_ms)
      while node >= 0 do
        running[#running + 1] = record
        node, record = take(workers[1], now_ms)
      end
      assert.equal(n, #running)
      assert.is_true(served > n)
    end)
  end

  it("does not take what a retry may not use for full", function()
    local up = worker(2, fake_store(), 1)
    local record = requests.newRequestRecord()
    requests.addTry(record, up, 0)
    local blocked = requests.newRequestRecord()
    requests.addTry(blocked, up, 0)
    local node = pick.pickNode(up, record, 1000, silent)
    assert.equal(1, node)
    assert.is_true(pick.pickNode(up, blocked, 1000, silent) ~= 1)
    in_flight.freeSlots(blocked)
    assert.equal(0, (take(up, 1000)))
  end)
end)

describe("the overflow of an upstream with a queue", function()
  local QUEUE = { size = 100, timeout_ms = 10000, class_sizes = {} }

  local function setting(n, given)
    local config = { max_concurrency_per_node = 4, max_overflow_ratio = 0.5, queue = QUEUE }
    for key, value in pairs(given or {}) do
      config[key] = value
    end
    local store = fake_store()
    local up = worker(n, store, 1, config)
    local g = { up = up, store = store, sent = {} }
    g.hall = line.newHall(store, function()
      return 1
    end, function() end, silent)
    if config.queue then
      line.addLine(g.hall, up, { 100, 100, 100, 100, 100 }, { 100, 100, 100, 100, 100 })
    end
    function g.come(now_ms)
      local record = requests.newRequestRecord()
      local verdict = admission.admit(g.hall, up, record, now_ms, math.huge)
      if verdict == 0 then
        requests.addTry(record, up, record.node)
        in_flight.beginReserved(up, record, now_ms)
        g.sent[#g.sent + 1] = record
      end
      return verdict
    end
    function g.retry(record, now_ms)
      in_flight.endTry(record)
      local node = pick.pickNode(up, record, now_ms, silent)
      if node >= 0 then
        requests.addTry(record, up, node)
        in_flight.beginTry(up, record, node, now_ms)
      end
      return node
    end
    function g.most()
      local most = 0
      for node = 1, n do
        most = math.max(most, store.get("slots:backend:n" .. node) or 0)
      end
      return most
    end
    return g
  end

  local function fill(g, now_ms)
    local passed = 0
    for _ = 1, 40 do
      if g.come(now_ms) == 0 then
        passed = passed + 1
      end
    end
    return passed
  end

  it("is left to retries: their node may have died while all others are full", function()
    local g = setting(3)
    assert.equal(12, fill(g, 1000))
    local moved = 0
    for _, record in ipairs(g.sent) do
      if record.node == 0 and g.retry(record, 1000) > 0 then
        moved = moved + 1
      end
    end
    -- Four requests of the dead node; two others with room for two more each.
    assert.equal(4, moved)
    assert.equal(6, g.most())
  end)

  it("is not used by those that wait, however long every node is overloaded", function()
    local g = setting(2)
    assert.equal(8, fill(g, 1000))
    for _, record in ipairs(g.sent) do
      if record.node == 0 then
        g.retry(record, 1000)
      end
    end
    assert.equal(6, g.most())
    -- Node 1 is over its limit by the retries: what ends there makes no room before it is below the limit.
    local ended = 0
    for _, record in ipairs(g.sent) do
      if record.node == 1 and ended < 2 then
        in_flight.endTry(record)
        ended = ended + 1
      end
    end
    local before = g.up.pool.in_flight[2]
    line.roomCame(g.hall, g.up, 1010)
    assert.equal(before, g.up.pool.in_flight[2])
    assert.equal(4, g.up.pool.in_flight[1])
    -- It cools down, being overloaded, but where nothing else is left it is used all the same.
    for _, record in ipairs(g.sent) do
      if record.node == 1 then
        in_flight.endTry(record)
        break
      end
    end
    line.roomCame(g.hall, g.up, 1020)
    assert.equal(before, g.up.pool.in_flight[2])
  end)

  it("is there for everybody where nothing can wait", function()
    local g = setting(2, { queue = false })
    g.up.config.queue = nil
    assert.equal(12, fill(g, 1000))
  end)

  it("bounds adaptive limits too, for retries only", function()
    local g = setting(2, { adaptive_limit = {}, max_concurrency_per_node = 100 })
    for node = 0, 1 do
      slots.setLimit(g.up.slots, node, 4)
    end
    assert.equal(8, fill(g, 1000))
    local moved = 0
    for _, record in ipairs(g.sent) do
      if record.node == 0 and g.retry(record, 1000) > 0 then
        moved = moved + 1
      end
    end
    assert.equal(2, moved)
    assert.equal(6, g.most())
  end)

  it("makes nobody wait for a limit that nobody chose", function()
    local g = setting(1)
    g.up.config.max_concurrency_per_node = nil
    limits.attachSlots(g.up, g.store, 1)
    local passed = 0
    for _ = 1, 600 do
      if g.come(1000) == 0 then
        passed = passed + 1
      end
    end
    assert.equal(600, passed)
  end)
end)
