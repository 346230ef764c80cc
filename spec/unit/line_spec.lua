-- The admission queue over workers that share a store: order, hand-over, races, and workers that die.
local upstreams = require("upstreams")
local fake_store = require("fake_store")
local line = require("resty.ax.dataplane.line")
local admission = require("resty.ax.dataplane.admission")
local requests = require("resty.ax.dataplane.requests")
local in_flight = require("resty.ax.dataplane.in_flight")
local random = require("resty.ax.core.random")

local PASS, WAIT, REFUSE = 0, 1, 2
local WAITING, GRANTED, LEFT = 1, 2, 3

local function each(value)
  return { value, value, value, value, value }
end

-- Workers of one gateway; `room` is the limit of its only node, exact over all of them.
local function gateway(n, room, given)
  given = given or {}
  local store = fake_store()
  store.set("worker:slots", n)
  local g = { store = store, workers = {}, running = 0, max_running = 0, granted = {} }
  for slot = 1, n do
    local up = upstreams.new({
      strategy = "random",
      store = store,
      holder = slot,
      nodes = { { "a", { max_conns = room } } },
      config = { queue = { size = given.size or 100, timeout_ms = given.timeout_ms or 10000, class_sizes = {} } },
    })
    local worker = { up = up, slot = slot, woken = {} }
    local function wake(waiter)
      worker.woken[#worker.woken + 1] = waiter
      if waiter.state == GRANTED then
        g.granted[#g.granted + 1] = waiter.record
      end
    end
    worker.hall = line.newHall(store, function()
      return slot
    end, wake, function() end)
    line.addLine(worker.hall, up, given.size_of or each(given.size or 100), given.class_size or each(math.huge))
    g.workers[slot] = worker
  end
  function g.sync()
    local total = 0
    for _, worker in ipairs(g.workers) do
      total = total + worker.up.pool.in_flight[1]
    end
    g.running = total
    g.max_running = math.max(g.max_running, total)
  end
  function g.come(slot, priority, now_ms, patience_ms)
    local worker = g.workers[slot]
    local record = requests.newRequestRecord()
    record.priority = priority or 3
    record.at = slot
    g.sync()
    local verdict, reason = admission.admit(worker.hall, worker.up, record, now_ms, patience_ms or math.huge)
    g.sync()
    return record, verdict, reason
  end
  function g.finish(record, now_ms)
    in_flight.endTry(record)
    g.sync()
    line.roomCame(g.workers[record.at].hall, g.workers[record.at].up, now_ms)
    g.sync()
  end
  function g.poll(slot, now_ms)
    g.sync()
    line.poll(g.workers[slot].hall, now_ms)
    g.sync()
  end
  function g.waiting(slot)
    return g.workers[slot].up.door.line.queue.length
  end
  return g
end

describe("the door", function()
  it("lets in while there is room, then has requests wait", function()
    local g = gateway(1, 2)
    local _, first = g.come(1, 3, 1000)
    local _, second = g.come(1, 3, 1000)
    local _, third = g.come(1, 3, 1000)
    assert.same({ PASS, PASS, WAIT }, { first, second, third })
    assert.equal(1, g.waiting(1))
  end)

  it("refuses past the size, past the share of the class, and those without patience", function()
    local g = gateway(1, 1, { size_of = { 3, 2, 2, 2, 1 }, class_size = { math.huge, math.huge, 1, math.huge, 5 } })
    g.come(1, 3, 1000)
    local function verdict(priority, patience_ms)
      local _, what, why = g.come(1, priority, 1001, patience_ms)
      return why or what
    end
    assert.equal("queue_timeout", verdict(3, 0))
    assert.equal(WAIT, verdict(5))
    assert.equal("queue_full", verdict(5))
    assert.equal(WAIT, verdict(3))
    assert.equal("queue_full", verdict(4))
    assert.equal(WAIT, verdict(1))
    assert.equal("queue_full", verdict(1))
  end)

  it("counts the other workers' waiters against the size", function()
    local g = gateway(2, 1, { size = 2 })
    g.come(1, 3, 1000)
    g.come(1, 3, 1000)
    g.come(1, 3, 1000)
    local _, _, why = g.come(2, 3, 1001)
    assert.equal("queue_full", why)
  end)

  it("refuses at once where no queue is configured", function()
    local g = gateway(1, 1)
    g.workers[1].up.door.line = nil
    g.come(1, 3, 1000)
    local _, verdict, why = g.come(1, 3, 1000)
    assert.same({ REFUSE, "overloaded" }, { verdict, why })
  end)
end)

describe("a place that comes free", function()
  it("goes to the best class, and within a class to the first", function()
    local g = gateway(1, 1)
    local running = g.come(1, 3, 1000)
    local batch, normal, later, vip = g.come(1, 5, 1001), g.come(1, 3, 1002), g.come(1, 3, 1003), g.come(1, 1, 1004)
    for _, expected in ipairs({ vip, normal, later, batch }) do
      g.finish(running, 1010)
      running = g.granted[#g.granted]
      assert.equal(expected, running)
    end
    assert.equal(1, g.max_running)
  end)

  it("goes to nobody who comes later", function()
    local g = gateway(1, 1)
    local running = g.come(1, 3, 1000)
    local waiting = g.come(1, 3, 1001)
    in_flight.endTry(running)
    local _, verdict = g.come(1, 3, 1002)
    assert.equal(WAIT, verdict)
    g.poll(1, 1004)
    assert.equal(waiting, g.granted[1])
  end)

  it("is left to a better waiter of another worker, which has it at its next poll", function()
    local g = gateway(2, 1)
    local running = g.come(1, 3, 1000)
    local batch = g.come(1, 5, 1001)
    local vip = g.come(2, 1, 1050)
    g.poll(1, 1050)
    g.finish(running, 1051)
    assert.equal(WAITING, batch.waiter.state)
    g.poll(2, 1052)
    assert.equal(vip, g.granted[1])
    assert.equal(1, g.max_running)
  end)

  it("is not left to one that came a moment earlier: that would cost more than it is worth", function()
    local g = gateway(2, 1)
    local running = g.come(1, 3, 1000)
    g.come(2, 3, 1001)
    local second = g.come(1, 3, 1001 + line.OVERTAKE_MS)
    g.poll(2, 1007)
    g.finish(running, 1008)
    assert.equal(second, g.granted[1])
  end)

  it("goes to no newcomer in another worker while somebody waits", function()
    local g = gateway(2, 1)
    local running = g.come(1, 3, 1000)
    g.come(1, 3, 1001)
    in_flight.endTry(running)
    local _, verdict = g.come(2, 3, 1010)
    assert.equal(WAIT, verdict)
    local _, vip = g.come(2, 1, 1010)
    assert.equal(PASS, vip)
  end)

  it("is taken after all when the other worker has no use for it, or is dead", function()
    local g = gateway(2, 1)
    local running = g.come(1, 3, 1000)
    local mine = g.come(1, 3, 1001)
    g.come(2, 1, 1002)
    g.finish(running, 1010)
    assert.equal(WAITING, mine.waiter.state)
    for now_ms = 1012, 1030, 2 do
      -- The other worker lives and publishes, but does not take the place.
      local other = g.workers[2]
      other.up.slots.limit[2] = 1
      other.up.slots.refused_ms[2] = now_ms
      line.poll(other.hall, now_ms)
      g.poll(1, now_ms)
    end
    assert.equal(mine, g.granted[1])

    g = gateway(2, 1)
    running = g.come(1, 3, 1000)
    mine = g.come(1, 3, 1001)
    g.come(2, 1, 1002)
    g.finish(running, 1100)
    assert.equal(mine, g.granted[1])
  end)
end)

describe("hand-over races in one turn of the event loop", function()
  local function setting()
    local g = gateway(1, 1)
    local running = g.come(1, 3, 1000)
    local waiting = g.come(1, 3, 1001)
    return g, running, waiting, waiting.waiter, g.workers[1].hall
  end

  it("handed over, then timed out: the place is its own", function()
    local g, running, waiting, waiter, hall = setting()
    g.finish(running, 1010)
    line.leave(hall, waiter, 1010)
    assert.equal(GRANTED, waiter.state)
    line.endWait(hall, waiter, true)
    g.finish(waiting, 1020)
    assert.equal(0, g.running)
  end)

  it("timed out, then a place comes: it is for the next", function()
    local g, running, waiting, waiter, hall = setting()
    local next_one = g.come(1, 3, 1002)
    line.leave(hall, waiter, 1010)
    assert.equal(LEFT, waiter.state)
    g.finish(running, 1010)
    assert.equal(next_one, g.granted[1])
    assert.equal(-1, waiting.node)
  end)

  it("handed over, then the client's leaving: the place comes back once", function()
    local g, running, waiting, waiter, hall = setting()
    local next_one = g.come(1, 3, 1002)
    g.finish(running, 1010)
    line.leave(hall, waiter, 1010)
    line.endWait(hall, waiter, true)
    g.finish(waiting, 1010)
    g.finish(waiting, 1010)
    assert.equal(next_one, g.granted[2])
    assert.equal(1, g.running)
  end)

  it("killed while asleep: out of the queue, its semaphore used by nobody else", function()
    local g, running, _, waiter, hall = setting()
    line.abandon(hall, waiter, 1010)
    assert.equal(0, g.waiting(1))
    assert.equal(0, hall.free_count)
    g.finish(running, 1011)
    assert.equal(0, g.running)
  end)
end)

describe("the poller", function()
  it("is replaced when it leaves, also when the one woken for it leaves at once", function()
    local g = gateway(1, 1)
    g.come(1, 3, 1000)
    local a, b, c = g.come(1, 3, 1001), g.come(1, 3, 1002), g.come(1, 3, 1003)
    local worker = g.workers[1]
    worker.hall.poller = a.waiter
    local waiters = { a.waiter, b.waiter, c.waiter }
    worker.woken = {}
    line.leave(worker.hall, waiters[1], 1004)
    line.endWait(worker.hall, waiters[1], true)
    assert.equal(waiters[2], worker.woken[1])
    line.leave(worker.hall, waiters[2], 1004)
    line.endWait(worker.hall, waiters[2], true)
    assert.equal(waiters[3], worker.woken[2])
  end)
end)

describe("any course of events", function()
  it("serves each once or not at all, never over the limit, and ends with nothing kept", function()
    local rng = random.newRandom(41)
    for _ = 1, 60 do
      local n = 1 + random.drawBelow(rng, 3)
      local room = 1 + random.drawBelow(rng, 3)
      local g = gateway(n, room, { size = 20 })
      local now_ms, live, served = 1000, {}, 0
      for _ = 1, 400 do
        now_ms = now_ms + random.drawBelow(rng, 3)
        local what = random.drawBelow(rng, 10)
        if what < 4 then
          local record, verdict = g.come(1 + random.drawBelow(rng, n), 1 + random.drawBelow(rng, 5), now_ms)
          if verdict ~= REFUSE then
            live[#live + 1] = record
          end
        elseif what < 7 and #live > 0 then
          local k = 1 + random.drawBelow(rng, #live)
          local record = table.remove(live, k)
          local hall, waiter = g.workers[record.at].hall, record.waiter
          if waiter ~= nil and random.draw(rng) < 0.3 then
            line.abandon(hall, waiter, now_ms)
          elseif waiter ~= nil then
            line.leave(hall, waiter, now_ms)
            line.endWait(hall, waiter, true)
          end
          if record.node >= 0 then
            served = served + 1
          end
          g.finish(record, now_ms)
        else
          g.poll(1 + random.drawBelow(rng, n), now_ms)
        end
        assert.is_true(g.running <= room)
      end
      for _, record in ipairs(live) do
        if record.waiter ~= nil then
          line.abandon(g.workers[record.at].hall, record.waiter, now_ms)
        end
        g.finish(record, now_ms)
      end
      assert.is_true(served > 0)
      g.sync()
      assert.equal(0, g.running)
      for slot = 1, n do
        assert.equal(0, g.waiting(slot))
        assert.is_nil(g.store.get("line:" .. slot .. ":backend"))
      end
    end
  end)
end)

--- Twice as many requests as there are places for, in virtual time: the share of the places that is in use.
local function utilisation(workers, poll_ms, seed)
  local rng = random.newRandom(seed)
  local room, service_ms = 10, 50
  local g = gateway(workers, room, { size = 100000, timeout_ms = 1e9 })
  local running, busy_ms = {}, 0
  local next_poll = {}
  for slot = 1, workers do
    next_poll[slot] = slot
  end
  local now_ms = 1000
  local due = 1000
  while now_ms < 11000 do
    now_ms = now_ms + 1
    while due <= now_ms do
      due = due - math.log(1 - random.draw(rng)) * service_ms / (2 * room)
      local slot = 1 + random.drawBelow(rng, workers)
      local record, verdict = g.come(slot, random.draw(rng) < 0.2 and 1 or 5, now_ms)
      if verdict == 0 then
        running[#running + 1] = { record = record, ends = now_ms + service_ms }
      end
    end
    local function collect()
      for k = #g.granted, 1, -1 do
        running[#running + 1] = { record = g.granted[k], ends = now_ms + service_ms }
        g.granted[k] = nil
      end
    end
    for k = #running, 1, -1 do
      if running[k].ends <= now_ms then
        local record = running[k].record
        table.remove(running, k)
        g.finish(record, now_ms)
      end
    end
    collect()
    for slot = 1, workers do
      if next_poll[slot] <= now_ms then
        next_poll[slot] = now_ms + poll_ms
        g.poll(slot, now_ms)
      end
    end
    collect()
    if now_ms > 2000 then
      busy_ms = busy_ms + #running
    end
  end
  return busy_ms / (room * (now_ms - 2000))
end

describe("under twice the load", function()
  it("no place is empty for long between two requests: in a worker at once, across workers within a poll", function()
    -- A millisecond of fifty is the model's own step.
    assert.is_true(utilisation(1, 2, 1) > 0.995)
    for _, workers in ipairs({ 2, 4 }) do
      local share = utilisation(workers, line.POLL_MS, workers)
      assert.is_true(share > 0.99, ("%d workers: %g"):format(workers, share))
    end
  end)
end)
