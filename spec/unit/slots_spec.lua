-- Concurrency slots, with the workers' steps interleaved at every access to the shared store, and workers that
-- die at any of them.
local slots = require("resty.ax.dataplane.slots")
local marks = require("resty.ax.dataplane.slot_marks")
local leases = require("resty.ax.dataplane.leases")
local core = require("resty.ax.core.slots")
local slot_repair = require("resty.ax.collector.slot_repair")
local random = require("resty.ax.core.random")
local new_store = require("fake_store")

local LIMIT, OVERFLOW, PATIENT = 0, 1, 2

-- A store that gives the other workers their turn before every access.
local function stepping(store)
  local wrapped = {}
  for name, method in pairs(store) do
    if type(method) == "function" then
      wrapped[name] = function(...)
        coroutine.yield()
        return method(...)
      end
    end
  end
  return wrapped
end

local function limits_of(limit, ratio, whole)
  local limits = { limit = { limit, limit }, overflow_ratio = { ratio, ratio }, whole = whole or 0, cool_down_ms = 30 }
  limits.unchosen, limits.moved_overflow_ratio = { false, false }, 0
  return limits
end

local function new(store, holder, limits)
  return slots.newSlots(store, holder, "u", { "a", "b" }, limits)
end

-- What a worker does: takes slots, keeps them for a while, frees them, flushes.
local function work(world, worker, rng)
  local mine = worker.slots
  while true do
    world.now = world.now + 1
    local step = random.draw(rng)
    if step < 0.5 then
      mine.allow = random.draw(rng) < 0.3 and OVERFLOW or LIMIT
      if slots.takeSlot(mine, 2, world.now) then
        local node = random.drawBelow(rng, 2)
        if slots.takeSlot(mine, node, world.now) then
          worker.open[#worker.open + 1] = node
          world.count_one(node, 1)
          world.served = world.served + 1
        else
          slots.freeSlot(mine, 2)
          world.refused = world.refused + 1
        end
      end
    elseif step < 0.9 and #worker.open > 0 then
      local node = table.remove(worker.open, 1 + random.drawBelow(rng, #worker.open))
      world.count_one(node, -1)
      slots.freeSlot(mine, node)
      slots.freeSlot(mine, 2)
    elseif step > 0.97 then
      leases.settleLeases(mine, world.now)
    else
      coroutine.yield()
    end
  end
end

local function start(world, rng)
  world.pid = world.pid + 1
  local pid = tostring(world.pid)
  local worker = { pid = pid, open = {} }
  worker.co = coroutine.create(function()
    local holder = core.claimHolder(world.stepping, pid)
    assert(holder > 0)
    worker.slots = new(world.stepping, holder, world.limits)
    work(world, worker, rng)
  end)
  world.alive[pid] = worker
  world.list[#world.list + 1] = worker
end

local function count(world, node, by)
  for _, at in ipairs({ node, 2 }) do
    world.count[at + 1] = world.count[at + 1] + by
    world.most[at + 1] = math.max(world.most[at + 1], world.count[at + 1])
  end
end

local function play(seed, workers, limits, steps, death)
  local rng = random.newRandom(seed)
  local store = new_store()
  local world = {
    now = 1000,
    pid = 0,
    store = store,
    stepping = stepping(store),
    limits = limits,
    alive = {},
    list = {},
    served = 0,
    refused = 0,
    count = { 0, 0, 0 },
    most = { 0, 0, 0 },
  }
  world.count_one = function(node, by)
    count(world, node, by)
  end
  local repair = slot_repair.newSlotRepair(world.stepping, function(pid)
    return world.alive[pid] ~= nil
  end)
  slot_repair.addUpstream(repair, "u", { "a", "b" }, {})
  world.repair = repair
  local collector = coroutine.create(function()
    while true do
      slot_repair.repairSlots(repair, function() end)
      coroutine.yield()
    end
  end)
  for _ = 1, workers do
    start(world, rng)
  end
  for _ = 1, steps do
    local pick = random.drawBelow(rng, #world.list + 1)
    if pick == 0 then
      -- Mostly a few accesses at a time: a reading during which somebody moves decides nothing.
      for _ = 1, 1 + random.drawBelow(rng, 40) do
        assert(coroutine.resume(collector))
      end
    else
      assert(coroutine.resume(world.list[pick].co))
      -- kill -9 between any two accesses; another worker takes its place.
      if random.draw(rng) < death then
        local dead = table.remove(world.list, pick)
        world.alive[dead.pid] = nil
        for _, node in ipairs(dead.open) do
          count(world, node, -1)
        end
        start(world, rng)
      end
    end
  end
  return world
end

-- Lets everything end: requests, flushes, repair.
local function settle(world)
  for _, worker in ipairs(world.list) do
    if worker.slots then
      worker.slots.store = world.store
    end
  end
  -- Whoever is in the middle of something dies there.
  for _, worker in ipairs(world.list) do
    world.alive[worker.pid] = nil
  end
  world.list = {}
  local repair = slot_repair.newSlotRepair(world.store, function(pid)
    return world.alive[pid] ~= nil
  end)
  slot_repair.addUpstream(repair, "u", { "a", "b" }, {})
  for _ = 1, 2 do
    slot_repair.repairSlots(repair, function() end)
  end
end

-- What a worker's flush does about its number and its leases.
local function flush(worker, store, now_ms)
  local holder = core.keepHolder(store, worker.slots.holder, worker.identity)
  if holder ~= worker.slots.holder then
    slots.setHolder(worker.slots, holder)
  end
  leases.settleLeases(worker.slots, now_ms)
end

describe("slots", function()
  for _, case in ipairs({
    { name = "one worker", workers = 1, limit = 3, ratio = 0, death = 0 },
    { name = "two workers", workers = 2, limit = 4, ratio = 0.25, death = 0 },
    { name = "eight workers", workers = 8, limit = 10, ratio = 0.1, death = 0 },
    { name = "eight workers, blocks", workers = 8, limit = 60, ratio = 0.1, death = 0 },
    { name = "two workers that die", workers = 2, limit = 4, ratio = 0.25, death = 0.01 },
    { name = "eight workers that die", workers = 8, limit = 10, ratio = 0.1, death = 0.004 },
    { name = "a limited upstream", workers = 4, limit = 10, ratio = 0, death = 0.004, whole = 6 },
  }) do
    it("are never exceeded: " .. case.name, function()
      for seed = 1, 8 do
        local limits = limits_of(case.limit, case.ratio, case.whole)
        local world = play(seed, case.workers, limits, 6000, case.death)
        local hard = core.hardLimit(case.limit, case.ratio)
        assert.is_true(world.most[1] <= hard and world.most[2] <= hard, ("seed %d: %d"):format(seed, world.most[1]))
        if case.whole then
          assert.is_true(world.most[3] <= case.whole, ("seed %d: %d"):format(seed, world.most[3]))
        end
        assert.is_true(world.served > 100, ("seed %d: only %d were served"):format(seed, world.served))
        settle(world)
        for _, node in ipairs({ "a", "b", "" }) do
          local left = world.store.get(core.totalKey("u", node)) or 0
          assert.equal(0, left, ("seed %d: slots of %q left after every worker has died"):format(seed, node))
        end
      end
    end)
  end

  it("are all of use: the limit is reached, and not by chance", function()
    local store = new_store()
    local a, b = new(store, 1, limits_of(10, 0.1)), new(store, 2, limits_of(10, 0.1))
    for k = 1, 10 do
      assert.is_true(slots.takeSlot(k % 2 == 0 and a or b, 0, 1))
    end
    assert.is_false(slots.takeSlot(a, 0, 1))
    assert.is_true(marks.isClosed(a, 0, 1))
    a.allow = OVERFLOW
    assert.is_false(marks.isClosed(a, 0, 1))
    assert.is_true(slots.takeSlot(a, 0, 1))
    assert.is_false(slots.takeSlot(a, 0, 1))
    assert.is_true(marks.isClosed(a, 0, 1))
    -- The other worker's request ends: its slot is there for this one.
    slots.freeSlot(b, 0)
    assert.is_true(slots.takeSlot(a, 0, 3))
  end)

  it("cost the store nothing while far from the limit", function()
    local store = new_store()
    local a = new(store, 1, limits_of(500, 0.1))
    for _ = 1, 20 do
      slots.takeSlot(a, 0, 1)
    end
    local writes = store.writes
    for _ = 1, 1000 do
      slots.freeSlot(a, 0)
      slots.takeSlot(a, 0, 1)
    end
    assert.equal(writes, store.writes)
  end)

  it("that lie idle go back with the flush when another worker could use them", function()
    local store = new_store()
    local a, b = new(store, 1, limits_of(500, 0)), new(store, 2, limits_of(500, 0))
    for _ = 1, 300 do
      assert(slots.takeSlot(a, 0, 1))
    end
    for _ = 1, 300 do
      slots.freeSlot(a, 0)
    end
    assert.is_true(a.held[1] >= 300)
    leases.settleLeases(a, 100)
    assert.equal(0, a.held[1])
    for _ = 1, 500 do
      assert.is_true(slots.takeSlot(b, 0, 1))
    end
    assert.is_false(slots.takeSlot(b, 0, 1))
  end)

  it("go back after a second without use", function()
    local store = new_store()
    local a = new(store, 1, limits_of(500, 0))
    slots.takeSlot(a, 0, 1)
    slots.freeSlot(a, 0)
    leases.settleLeases(a, 100)
    assert.is_true(store.get(core.totalKey("u", "a")) > 0)
    leases.settleLeases(a, 1099)
    assert.is_true(store.get(core.totalKey("u", "a")) > 0)
    leases.settleLeases(a, 1100)
    assert.equal(0, store.get(core.totalKey("u", "a")))
  end)

  it("let an overloaded node cool down, but not when nothing else is left", function()
    local store = new_store()
    local a = new(store, 1, limits_of(10, 0.1))
    a.allow = OVERFLOW
    for _ = 1, 11 do
      slots.takeSlot(a, 0, 1)
    end
    assert.is_false(slots.takeSlot(a, 0, 1))
    for _ = 1, 11 do
      slots.freeSlot(a, 0)
    end
    a.allow = LIMIT
    assert.is_true(marks.isClosed(a, 0, 30))
    a.allow = OVERFLOW
    assert.is_false(marks.isClosed(a, 0, 30))
    a.allow = LIMIT
    marks.reopenAll(a, 31)
    assert.is_false(marks.isClosed(a, 0, 31))
    assert.equal(0, a.closed_count)
  end)

  it("of a node that fails are left alone by those that can wait, for as long as answers would have taken", function()
    local store = new_store()
    local a = new(store, 1, limits_of(4, 0.5))
    local function closed(allow, now_ms)
      a.allow_last = allow
      return marks.isClosed(a, 0, now_ms)
    end
    -- No worse than the best: it is left alone by nobody.
    marks.pace(a, 0, 20, 0, 100)
    assert.is_false(closed(PATIENT, 100))
    assert.equal(0, a.closed_count)
    -- 20 ms in one of four places; the best fails half as often.
    marks.pace(a, 0, 20, 2, 100)
    assert.is_true(closed(PATIENT, 109))
    assert.is_false(closed(OVERFLOW, 109))
    assert.is_false(closed(PATIENT, 110))
    for _ = 1, 1000 do
      marks.pace(a, 0, 20, 19, 200)
    end
    assert.is_true(closed(PATIENT, 1199))
    marks.reopenAll(a, 1199)
    assert.equal(1, a.closed_count)
    marks.reopenAll(a, 1200)
    assert.equal(0, a.closed_count)
    assert.is_false(closed(PATIENT, 1200))
  end)

  it("refuse nobody when the store is full: that is no fault of the request", function()
    local store = new_store()
    local a = new(store, 1, limits_of(2, 0))
    store.full = true
    for _ = 1, 5 do
      assert.is_true(slots.takeSlot(a, 0, 1))
    end
    assert.equal(5, a.unleased_total)
    store.full = false
    for _ = 1, 5 do
      slots.freeSlot(a, 0)
    end
    assert.equal(0, a.used[1])
    assert.is_true(slots.takeSlot(a, 0, 1))
    assert.is_true(slots.takeSlot(a, 0, 1))
    assert.is_false(slots.takeSlot(a, 0, 1))
  end)

  it("survive that somebody empties the store: the counts are right again three collector intervals later", function()
    local store = new_store()
    local workers, open = {}, 0
    for k = 1, 2 do
      local identity = "p" .. k
      workers[k] = { identity = identity, slots = new(store, core.claimHolder(store, identity), limits_of(10, 0)) }
    end
    local repair = slot_repair.newSlotRepair(store, function()
      return true
    end)
    slot_repair.addUpstream(repair, "u", { "a", "b" }, {})
    for _ = 1, 5 do
      slot_repair.repairSlots(repair, function() end)
      for _, worker in ipairs(workers) do
        assert.is_true(slots.takeSlot(worker.slots, 0, 1))
        open = open + 1
      end
    end
    for key in pairs(store.values) do
      store.values[key] = nil
    end
    for round = 1, 3 do
      for _, worker in ipairs(workers) do
        flush(worker, store, round * 500)
      end
      slot_repair.repairSlots(repair, function() end)
    end
    assert.equal(open, store.get(core.totalKey("u", "a")))
    for _, worker in ipairs(workers) do
      assert.is_false(slots.takeSlot(worker.slots, 0, 2000))
    end
  end)
end)

describe("numbers of workers", function()
  it("are given once, and again after the collector has seen the process end", function()
    local store = new_store()
    assert.equal(1, core.claimHolder(store, "10:1"))
    assert.equal(2, core.claimHolder(store, "11:1"))
    local repair = slot_repair.newSlotRepair(store, function(identity)
      return identity ~= "10:1"
    end)
    slot_repair.addUpstream(repair, "u", { "a" }, {})
    slot_repair.repairSlots(repair, function() end)
    assert.equal(1, core.claimHolder(store, "12:1"))
    assert.equal(3, core.claimHolder(store, "13:1"))
  end)

  it("are 0 when there is no room", function()
    local store = new_store()
    store.full = true
    assert.equal(0, core.claimHolder(store, "10:1"))
  end)

  it("are not looked for any further when there is no room for one that is free", function()
    local store = new_store()
    core.claimHolder(store, "10:1")
    local add, adds = store.add, 0
    -- Room comes free while the worker looks.
    store.add = function(key, value)
      adds = adds + 1
      return adds > 700 and add(key, value)
    end
    assert.equal(0, core.claimHolder(store, "11:1"))
    assert.equal(3, adds)
    adds = 1000
    assert.equal(2, core.keepHolder(store, 0, "11:1"))
  end)

  it("are a worker's own again after the collector took it for dead by mistake", function()
    local store = new_store()
    local workers, open = {}, 0
    for k = 1, 4 do
      local identity = "p" .. k
      workers[k] = { identity = identity, slots = new(store, core.claimHolder(store, identity), limits_of(10, 0)) }
      assert.is_true(slots.takeSlot(workers[k].slots, 0, 1))
      open = open + 1
    end
    local blind = true
    local repair = slot_repair.newSlotRepair(store, function()
      return not blind
    end)
    slot_repair.addUpstream(repair, "u", { "a", "b" }, {})
    slot_repair.repairSlots(repair, function() end)
    blind = false
    for round = 1, 50 do
      for _, worker in ipairs(workers) do
        flush(worker, store, round * 500)
        -- From the fourth round on the counts are right.
        if round > 3 and slots.takeSlot(worker.slots, 0, round * 500) then
          open = open + 1
        end
      end
      slot_repair.repairSlots(repair, function() end)
    end
    assert.equal(10, open)
    assert.equal(10, store.get(core.totalKey("u", "a")))
    assert.equal(5, core.claimHolder(store, "new"))
  end)

  it("are another one when somebody else has got the worker's own meanwhile, and its slots go along", function()
    local store = new_store()
    local worker = { identity = "p1", slots = new(store, core.claimHolder(store, "p1"), limits_of(10, 0)) }
    for _ = 1, 3 do
      slots.takeSlot(worker.slots, 0, 1)
    end
    core.releaseHolder(store, 1)
    assert.equal(1, core.claimHolder(store, "p2"))
    new(store, 1, limits_of(10, 0))
    flush(worker, store, 100)
    assert.equal(2, worker.slots.holder)
    assert.equal(3, core.heldOf(store.get(core.heldKey("u", "a", 2))))
    assert.equal(0, core.heldOf(store.get(core.heldKey("u", "a", 1))))
  end)

  it("stay as they are in a store without room, and are claimed again when there is some", function()
    local store = new_store()
    core.claimHolder(store, "p1")
    store.values["holder:1"] = nil
    store.full = true
    assert.equal(1, core.keepHolder(store, 1, "p1"))
    store.full = false
    assert.equal(1, core.keepHolder(store, 1, "p1"))
    assert.equal("p1", core.holderOf(store, 1))
  end)

  for _, case in ipairs({ { workers = 64, generations = 1 }, { workers = 16, generations = 4 } }) do
    local name = "are all seen after %d generations of %d workers have gone: nobody's slots are given away"
    it(name:format(case.generations, case.workers), function()
      local store = new_store()
      for i = 1, case.workers * case.generations do
        core.claimHolder(store, "old" .. i)
      end
      local workers = {}
      for i = 1, case.workers do
        workers[i] = new(store, core.claimHolder(store, "new" .. i), limits_of(10, 0))
      end
      local repair = slot_repair.newSlotRepair(store, function(identity)
        return identity:find("^new") ~= nil
      end)
      slot_repair.addUpstream(repair, "u", { "a", "b" }, {})
      local served = 0
      for round = 1, 10 do
        for i = 1, case.workers do
          if slots.takeSlot(workers[i], 0, round * 10) then
            served = served + 1
          end
        end
        slot_repair.repairSlots(repair, function() end)
      end
      assert.equal(10, served)
      assert.equal(1, core.claimHolder(store, "next"))
    end)
  end
end)
