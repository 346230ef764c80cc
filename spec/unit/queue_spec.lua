-- The same vectors as spec/node/queue.test.ts: the queue must give the same order in Lua and in JavaScript.
local cjson = require("cjson.safe")
local queue = require("resty.ax.core.queue")
local random = require("resty.ax.core.random")

local file = assert(io.open("spec/vectors/queue.json"))
local vectors = assert(cjson.decode(file:read("*a")))
file:close()

local HUGE = math.huge
local ANSWERS = { [queue.QUEUE_FULL] = "full", [queue.CLASS_FULL] = "class_full" }

local function new(size, class_sizes, age_ms)
  return queue.newQueue({
    size = size or 1000000,
    class_sizes = class_sizes or { HUGE, HUGE, HUGE, HUGE, HUGE },
    age_ms = age_ms or queue.AGE_MS,
  })
end

describe("the queue", function()
  for _, case in ipairs(vectors.queue) do
    it("gives the order of the rule: " .. case.name, function()
      local q = new(case.size, case.class_sizes, case.age_ms)
      local ids = {}
      for at, op in ipairs(case.ops) do
        local what, now, name = op[1], op[2], op[3]
        if what == "push" then
          local id = queue.push(q, name, op[4], now, op[5] < 0 and HUGE or op[5])
          ids[name] = id >= 0 and id or nil
          assert.equal(op[6], ANSWERS[id] or "queued", "operation " .. at)
        elseif what == "pop" then
          assert.equal(name, queue.pop(q) or "", "operation " .. at)
        elseif what == "expire" then
          assert.equal(name, queue.expire(q, now) or "", "operation " .. at)
        else
          assert.equal(op[4], queue.remove(q, ids[name] or -1), "operation " .. at)
        end
      end
      assert.equal(0, q.length)
    end)
  end

  it("lets nobody starve: a stream of class 1 passes an entry of class 5 for 40 s and no longer", function()
    local q = new()
    queue.push(q, "old", 5, 1000, HUGE)
    local out_at
    for now = 1000, 60000, 100 do
      queue.push(q, "young", 1, now, HUGE)
      if queue.pop(q) == "old" then
        out_at = now
        break
      end
    end
    assert.equal(41000, out_at)
  end)

  it("lifts an entry one line for every ten seconds, up to the first", function()
    local q = new()
    local id = queue.push(q, "x", 4, 0, HUGE)
    for now, level in pairs({ [0] = 4, [9999] = 4, [10000] = 3, [29999] = 2, [30000] = 1, [500000] = 1 }) do
      assert.equal(level, queue.levelOf(q, id, now))
    end
    queue.pop(q)
    assert.equal(0, queue.levelOf(q, id, 0))
  end)

  it("is served in the order of the keys over several queues", function()
    local rng = random.newRandom(4)
    local here, there, all = new(), new(), new()
    for now = 1, 2000 do
      local class = 1 + random.drawBelow(rng, 5)
      queue.push(random.draw(rng) < 0.5 and here or there, now, class, now * 50, HUGE)
      queue.push(all, now, class, now * 50, HUGE)
    end
    -- Keys may be equal in two queues: then either goes first.
    for _ = 1, 2000 do
      local first = queue.headKey(here) < queue.headKey(there) and here or there
      assert.equal(queue.headKey(all), queue.headKey(first))
      queue.pop(first)
      queue.pop(all)
    end
    assert.equal(HUGE, queue.headKey(all))
    assert.is_nil(queue.peek(all))
  end)

  it("takes from one class alone when asked to", function()
    local q = new()
    queue.push(q, "a", 1, 0, HUGE)
    queue.push(q, "b", 3, 1, HUGE)
    queue.push(q, "c", 3, 0, HUGE)
    assert.equal("c", queue.popClass(q, 3))
    assert.equal("b", queue.popClass(q, 3))
    assert.is_nil(queue.popClass(q, 3))
    assert.equal("a", queue.pop(q))
  end)

  it("goes on in its old place when it is put back with the time it came", function()
    local q = new()
    for now = 1, 5 do
      queue.push(q, now, 2, now, HUGE)
    end
    assert.equal(1, queue.pop(q))
    queue.push(q, 1, 2, 1, HUGE)
    assert.equal(1, queue.pop(q))
  end)

  it("expires the earliest deadline first, and only what is due", function()
    local q = new()
    queue.push(q, "late", 1, 0, 300)
    queue.push(q, "soon", 5, 0, 100)
    queue.push(q, "never", 1, 0, HUGE)
    assert.equal(100, queue.nextDeadline(q))
    assert.is_nil(queue.expire(q, 99))
    assert.equal("soon", queue.expire(q, 300))
    assert.equal("late", queue.expire(q, 300))
    assert.is_nil(queue.expire(q, 1e15))
    assert.equal(HUGE, queue.nextDeadline(q))
    assert.equal(1, q.length)
  end)

  it("keeps its order with 100,000 waiting, half of them removed from the middle", function()
    local rng = random.newRandom(9)
    local q, ids = new(), {}
    for k = 1, 100000 do
      ids[k] = queue.push(q, k, 1 + random.drawBelow(rng, 5), k, 1000 + random.drawBelow(rng, 1000000))
    end
    for k = 1, 100000, 2 do
      assert(queue.remove(q, ids[k]))
    end
    assert.equal(50000, q.length)
    local last, count = -1, 0
    while q.length > 0 do
      local key = queue.headKey(q)
      assert(key >= last)
      last, count = key, count + 1
      assert(queue.pop(q) % 2 == 0)
    end
    assert.equal(50000, count)
    assert.equal(HUGE, queue.nextDeadline(q))
  end)

  it("holds on to nothing that has left", function()
    local q = new()
    local weak = setmetatable({}, { __mode = "v" })
    for k = 1, 10 do
      weak[k] = { k }
      queue.push(q, weak[k], 1, k, 5)
    end
    while queue.pop(q) do
    end
    collectgarbage()
    collectgarbage()
    assert.same({}, weak)
  end)
end)
