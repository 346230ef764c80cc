local upstreams = require("upstreams")
local upstream = require("resty.ax.dataplane.upstream")
local pick = require("resty.ax.dataplane.pick")
local requests = require("resty.ax.dataplane.requests")

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
    upstream.hold(up, 0, 2500)
    assert.same({ [1] = true }, spread(up, 50))
    upstream.releaseHolds(up, 2499)
    assert.same({ [1] = true }, spread(up, 50))
    upstream.releaseHolds(up, 2500)
    assert.same({ [0] = true, [1] = true }, spread(up, 100))
    assert.equal(0, up.held_count)
  end)

  it("do not empty the pool", function()
    local up = upstreams.new({ strategy = "random", nodes = 2 })
    upstream.hold(up, 0, 2500)
    upstream.hold(up, 1, 2500)
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

describe("max_conns", function()
  it("skips a full node, counting all workers", function()
    local up = upstreams.new({ strategy = "random", nodes = { { "a", { max_conns = 3 } }, { "b" } } })
    up.pool.in_flight[1] = 1
    up.pool.others_in_flight[1] = 2
    assert.same({ [1] = true }, spread(up, 50))
  end)

  it("uses a backup with room when every primary is full", function()
    local up = upstreams.new({
      strategy = "random",
      nodes = { { "a", { max_conns = 1 } }, { "b", { backup = true } } },
    })
    up.pool.in_flight[1] = 1
    assert.equal(1, picked(up))
  end)

  it("still picks a node when all are full, and says so", function()
    local up = upstreams.new({ strategy = "random", nodes = { { "a", { max_conns = 1 } } } })
    up.pool.in_flight[1] = 1
    local report, told = upstreams.reporter()
    assert.equal(0, picked(up, nil, report))
    assert.equal("overflow", told[1].kind)
    assert.truthy(told[1].message:find("backend", 1, true))
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
