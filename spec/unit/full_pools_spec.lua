-- Pools with full nodes: what a pick costs there, and that it finds the room there is.
local upstreams = require("upstreams")
local fake_store = require("fake_store")
local in_flight = require("resty.ax.dataplane.in_flight")
local pick = require("resty.ax.dataplane.pick")
local requests = require("resty.ax.dataplane.requests")
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
