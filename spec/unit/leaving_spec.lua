-- What a worker that shuts down still tells the others: it has no timers any more.
local cjson = require("cjson.safe")
local leaving = require("resty.ax.phases.leaving")
local holds = require("resty.ax.dataplane.holds")
local fake_store = require("fake_store")
local upstreams = require("upstreams")

local function worker_with(live)
  local store = fake_store()
  local up = upstreams.new({ nodes = 3 })
  local worker = {
    config = { flush_interval_ms = 100 },
    store = store,
    upstreams = { up },
    requests = { live = live },
    left_at_ms = 0,
    exchange = {
      store = store, pid = 1, slot = 1, encode = cjson.encode, decode = cjson.decode,
      processAlive = function() return true end, onFault = function() end,
    },
  }
  local writes = 0
  for _, name in ipairs({ "set", "add" }) do
    local write = store[name]
    store[name] = function(key, value)
      writes = writes + (key == "worker:1" and 1 or 0)
      return write(key, value)
    end
  end
  return worker, up, store, function() return writes end
end

describe("a worker that shuts down", function()
  it("lets go of nodes that it has held out: no flush does so any more", function()
    local worker, up = worker_with(1000)
    holds.hold(up, 1, 2000)
    assert.equal(2, up.pool.candidate_count)
    leaving.publishWhileLeaving(worker, 1999)
    assert.equal(2, up.pool.candidate_count)
    leaving.publishWhileLeaving(worker, 2100)
    assert.equal(3, up.pool.candidate_count)
  end)

  it("weighs its nodes by what the other workers have in flight, whenever a waiter has it read that", function()
    local worker, up, store = worker_with(1000)
    local idle = up.pool.resting_cost[2]
    store.set("worker:slots", 2)
    local others = { pid = 2, at_ms = 2000, in_flight = { backend = { [up.pool.ids[2]] = 5 } } }
    store.set("worker:2", cjson.encode(others))
    leaving.flushWhileLeaving(worker, 2000)
    assert.equal(5, up.pool.others_in_flight[2])
    assert.is_true(up.pool.resting_cost[2] > idle)
  end)

  it("says what it has in flight no more often than a flush, as long as many requests are left", function()
    local worker, up, store, writes = worker_with(1000)
    for now = 1000, 1999 do -- The first, and one every 100 ms.
      up.pool.in_flight[1] = now
      leaving.publishWhileLeaving(worker, now)
    end
    assert.equal(10, writes())
    assert.is_true(cjson.decode(store.get("worker:1")).exiting)
  end)

  it("says it at every end of one of the last: nothing may come after that", function()
    local worker, up, store, writes = worker_with(70)
    for left = 69, 0, -1 do
      worker.requests.live = left
      up.pool.in_flight[1] = left
      leaving.publishWhileLeaving(worker, 1000)
      if left < 64 then
        local told = cjson.decode(store.get("worker:1")).in_flight.backend
        assert.equal(left > 0 and left or nil, told and told[up.pool.ids[1]])
      end
    end
    assert.equal(65, writes())
  end)
end)
