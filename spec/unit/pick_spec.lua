local upstreams = require("upstreams")
local holds = require("resty.ax.dataplane.holds")
local log_watch = require("resty.ax.dataplane.log_watch")
local pick = require("resty.ax.dataplane.pick")
local requests = require("resty.ax.dataplane.requests")
local in_flight = require("resty.ax.dataplane.in_flight")
local new_store = require("fake_store")
local limits = require("resty.ax.dataplane.limits")

local function picked(up, record, report)
  return pick.pickNode(up, record or requests.newRequestRecord(), 1000, report or function() end)
end

local function set_states(up, states)
  for node, state in ipairs(states) do
    up.state[node] = state
  end
  upstreams.flush(up)
end

local function spread(up, n)
  local seen = {}
  for _ = 1, n do
    seen[picked(up)] = true
  end
  return seen
end

local backup_pool = { { "a" }, { "b" }, { "c", { backup = true } } }

describe("tiers", function()
  it("leave backups alone while a primary is usable", function()
    local up = upstreams.new({ strategy = "random", nodes = backup_pool })
    set_states(up, { "ejected", "online", "online" })
    assert.same({ [1] = true }, spread(up, 50))
  end)

  it("use backups when no primary is usable", function()
    local up = upstreams.new({ strategy = "random", nodes = backup_pool })
    set_states(up, { "ejected", "ejected", "online" })
    assert.same({ [2] = true }, spread(up, 50))
    assert.is_false(up.panic)
  end)

  it("spread over all primaries when nothing at all is usable", function()
    local up = upstreams.new({ strategy = "random", nodes = backup_pool })
    set_states(up, { "ejected", "ejected", "ejected" })
    assert.same({ [0] = true, [1] = true }, spread(up, 100))
    assert.is_true(up.panic)
  end)

  it("never use a node the operator took down, not even in panic", function()
    local up = upstreams.new({ strategy = "random", nodes = { { "a", { down = true } }, { "b" } } })
    set_states(up, { "offline", "ejected" })
    assert.same({ [1] = true }, spread(up, 50))
  end)
end)

describe("holds", function()
  it("take a node out at once and give it back when they are over", function()
    local up = upstreams.new({ strategy = "random", nodes = 2 })
    holds.hold(up, 0, 2500)
    assert.same({ [1] = true }, spread(up, 50))
    holds.releaseHolds(up, 2499)
    assert.same({ [1] = true }, spread(up, 50))
    holds.releaseHolds(up, 2500)
    assert.same({ [0] = true, [1] = true }, spread(up, 100))
    assert.equal(0, up.held_count)
  end)

  it("are held once, however many failures come from requests under way", function()
    local up = upstreams.new({ strategy = "random", nodes = 2 })
    holds.hold(up, 0, 2500)
    local version = up.pool.version
    holds.hold(up, 0, 2600)
    assert.equal(version, up.pool.version)
    holds.releaseHolds(up, 2500)
    assert.same({ [1] = true }, spread(up, 50))
    holds.release(up, 0)
    assert.equal(0, up.held_count)
  end)

  it("do not empty the pool", function()
    local up = upstreams.new({ strategy = "random", nodes = 2 })
    holds.hold(up, 0, 2500)
    holds.hold(up, 1, 2500)
    assert.same({ [0] = true, [1] = true }, spread(up, 100))
  end)
end)

describe("retries", function()
  it("go to backups, then to ejected nodes, before a node already tried", function()
    local up = upstreams.new({
      strategy = "adaptive",
      nodes = { { "a" }, { "b", { backup = true } }, { "c" }, { "d", { backup = true } }, { "e", { down = true } } },
    })
    set_states(up, { "online", "online", "ejected", "ejected", "offline" })
    local record = requests.newRequestRecord()
    local order = {}
    for _ = 1, 5 do
      local node = picked(up, record)
      order[#order + 1] = node
      requests.addTry(record, up, node)
    end
    assert.equal(0, order[1])
    assert.equal(1, order[2])
    local rest = { [order[3]] = true, [order[4]] = true }
    assert.same({ [2] = true, [3] = true }, rest)
    -- Everything allowed was tried: any node in rotation will do, the one taken down never.
    assert.equal(0, order[5])
  end)

  it("spread over the backups, though each request makes two picks", function()
    local up = upstreams.new({
      strategy = "random",
      nodes = { { "a" }, { "b", { backup = true } }, { "c", { backup = true } } },
    })
    local counts = { [1] = 0, [2] = 0 }
    for _ = 1, 100 do
      local record = requests.newRequestRecord()
      requests.addTry(record, up, picked(up, record))
      local node = picked(up, record)
      up.picks_total = up.picks_total + 2
      counts[node] = counts[node] + 1
    end
    assert.same({ [1] = 50, [2] = 50 }, counts)
  end)

  it("never go to a node that the operator has taken out, nor to a half-open one before a usable one", function()
    for _, state in ipairs({ "draining", "maintenance", "offline" }) do
      local up = upstreams.new({ strategy = "adaptive", nodes = 3 })
      set_states(up, { "online", state, "probing" })
      up.pool.latency_ms = { 50, 1, 50 }
      local record = requests.newRequestRecord()
      local order = {}
      for k = 1, 4 do
        order[k] = picked(up, record)
        requests.addTry(record, up, order[k])
      end
      assert.same({ 0, 2, 0, 0 }, order)
    end
    for _, state in ipairs({ "pending", "probing", "ejected" }) do
      local up = upstreams.new({ strategy = "adaptive", nodes = { { "a" }, { "b" }, { "c", { backup = true } } } })
      set_states(up, { "online", state, "online" })
      up.pool.latency_ms = { 50, 1, 50 }
      local record = requests.newRequestRecord()
      requests.addTry(record, up, picked(up, record))
      assert.equal(2, picked(up, record))
    end
  end)

  it("remember a bounded number of tries", function()
    local up = upstreams.new({ strategy = "adaptive", nodes = 2 })
    local record = requests.newRequestRecord()
    for _ = 1, 500 do
      requests.addTry(record, up, picked(up, record))
    end
    assert.equal(requests.TRIES_MAX, record.tries)
    assert.is_true(#record.try_node <= requests.TRIES_MAX)
  end)
end)

describe("limits", function()
  local function limited(nodes, config)
    return upstreams.new({ strategy = "random", nodes = nodes, config = config, store = new_store() })
  end

  -- Picks that keep their slots.
  local function fill(up, n)
    local counts = {}
    for _ = 1, n do
      local node = picked(up)
      counts[node] = (counts[node] or 0) + 1
    end
    return counts
  end

  it("are never exceeded: max_conns", function()
    local up = limited({ { "a", { max_conns = 3 } }, { "b", { max_conns = 5 } } })
    assert.same({ [0] = 3, [1] = 5, [pick.ALL_FULL] = 12 }, fill(up, 20))
  end)

  it("leave a full node out while another has room", function()
    local up = limited({ { "a", { max_conns = 3 } }, { "b" } })
    assert.equal(3, fill(up, 100)[0])
  end)

  it("are exceeded by the overflow only when every node has reached its own", function()
    local up = limited(3, { max_concurrency_per_node = 10 })
    assert.same({ [0] = 10, [1] = 10, [2] = 10 }, fill(up, 30))
    assert.same({ [0] = 1, [1] = 1, [2] = 1, [pick.ALL_FULL] = 7 }, fill(up, 10))
  end)

  it("that nobody chose leave a full node out, and refuse nothing", function()
    local up = limited(2)
    up.config.max_concurrency_per_node = nil
    limits.attachSlots(up, new_store(), 1)
    local counts = fill(up, 1200)
    assert.equal(nil, counts[pick.ALL_FULL])
    assert.is_true(counts[0] >= 500 and counts[1] >= 500)
  end)

  it("hold for the upstream as a whole", function()
    local up = limited(3, { max_concurrency = 4 })
    assert.equal(6, fill(up, 10)[pick.ALL_FULL])
  end)

  it("let backups serve what primaries have no room for", function()
    local up = limited({ { "a", { max_conns = 1 } }, { "b", { backup = true, max_conns = 2 } } })
    assert.same({ [0] = 1, [1] = 2, [pick.ALL_FULL] = 1 }, fill(up, 4))
  end)

  it("hold on retries too: a node tried before, but not one that is full", function()
    local up = limited({ { "a", { max_conns = 1 } }, { "b" } })
    picked(up)
    fill(up, 3)
    local record = requests.newRequestRecord()
    requests.addTry(record, up, 1)
    assert.equal(1, picked(up, record))
  end)

  it("give the slot of a pick back with the try, and once", function()
    local up = limited({ { "a", { max_conns = 1 } } })
    local record = requests.newRequestRecord()
    assert.equal(0, picked(up, record))
    assert.equal(pick.ALL_FULL, picked(up))
    in_flight.beginTry(up, record, 0, 1000)
    in_flight.endTry(record)
    in_flight.endTry(record)
    assert.same({ 0, 0 }, up.slots.used)
    assert.equal(0, picked(up, record))
    -- Picked again without a try in between: it has one slot, not two.
    assert.equal(0, picked(up, record))
    assert.same({ 1, 1 }, up.slots.used)
  end)

  it("are not kept where the end of requests goes unseen: they would fill up", function()
    local up = limited({ { "a", { max_conns = 1 } } })
    log_watch.noteMissed(up.logs, 1)
    assert.equal(5, fill(up, 5)[0])
  end)

  it("are kept again when one log phase was missed long ago", function()
    local up = limited({ { "a", { max_conns = 1 } } })
    log_watch.noteMissed(up.logs, -3600000)
    assert.equal(1, fill(up, 5)[0])
  end)

  it("work with zones and classes", function()
    local nodes = { { "a", { zone = "x", max_conns = 2 } }, { "b", { zone = "y", max_conns = 3 } } }
    local up = limited(nodes, { zone = "x", class_source = "vip" })
    assert.same({ [0] = 2, [1] = 3, [pick.ALL_FULL] = 5 }, fill(up, 10))
  end)
end)

describe("a node that ramps", function()
  local function with_ramp(n, config)
    local up = upstreams.new({ strategy = "adaptive", nodes = n, store = new_store(), config = config })
    up.ramp_limit[1], up.ramps_limited = 2, true
    up.pool.in_flight = {}
    for node = 1, n do
      up.pool.in_flight[node] = node == 1 and 2 or 5
    end
    return up
  end

  it("gets no more than its limit while others have room", function()
    for _, n in ipairs({ 2, 20, 100 }) do
      local up = with_ramp(n, { max_concurrency_per_node = 50 })
      for _ = 1, 40 * (n - 1) do
        assert.not_equal(0, picked(up))
      end
    end
  end)

  it("does not make the others be looked at one by one", function()
    local up = with_ramp(100)
    local asked
    up.strategy = setmetatable({
      pick = function(_, _, candidates)
        asked = candidates
        return 50
      end,
    }, { __index = up.strategy })
    assert.equal(50, picked(up))
    assert.equal(up.pool.candidates, asked)
  end)
end)

describe("a strategy module of the user", function()
  local function custom(fn)
    return upstreams.new({ strategy = { name = "mine", options = {}, create = function() end, pick = fn }, nodes = 3 })
  end

  it("is asked with the candidates and answers with a node number from 0", function()
    local up = custom(function(_, pool, candidates, count)
      assert.equal("n3", pool.ids[candidates[count] + 1])
      return candidates[count]
    end)
    local report, told = upstreams.reporter()
    assert.equal(2, picked(up, nil, report))
    assert.equal(0, #told)
  end)

  it("that throws is replaced by the cheapest node, and its message is reported", function()
    local report, told = upstreams.reporter()
    local up = custom(function()
      error("out of ideas")
    end)
    up.pool.latency_ms = { 10, 1, 10 }
    assert.equal(1, picked(up, nil, report))
    assert.equal("strategy", told[1].kind)
    assert.truthy(told[1].message:find("out of ideas", 1, true))
  end)

  it("whose answer or error cannot even be shown costs only its own say", function()
    local hostile = setmetatable({}, {
      __tostring = function()
        error("no text of me")
      end,
    })
    for _, pick_fn in ipairs({
      function()
        return hostile
      end,
      function()
        error(hostile)
      end,
    }) do
      local report, told = upstreams.reporter()
      assert.is_true(picked(custom(pick_fn), nil, report) >= 0)
      assert.truthy(told[1].message:find("a table that cannot be shown", 1, true))
    end
  end)

  for label, answer in pairs({
    ["nothing"] = false,
    ["a string"] = "n1",
    ["a negative number"] = -1,
    ["a number past the end"] = 3,
    ["a fraction"] = 0.5,
    ["NaN"] = 0 / 0,
    ["a table"] = {},
  }) do
    it("that answers " .. label .. " is replaced, and that is reported", function()
      local report, told = upstreams.reporter()
      local up = custom(function()
        return answer or nil
      end)
      assert.is_true(picked(up, nil, report) >= 0)
      assert.equal(1, #told)
      assert.truthy(told[1].message:find("not one of the 3 candidates", 1, true))
    end)
  end
end)
