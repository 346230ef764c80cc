-- p2c: two different nodes, the one with less load; bounded draws.
local upstreams = require("upstreams")
local pick = require("resty.ax.dataplane.pick")
local requests = require("resty.ax.dataplane.requests")
local random = require("resty.ax.core.random")
local peak = require("resty.ax.core.peak")

local function silent() end

local function new(nodes, options, seed)
  return upstreams.new({ strategy = "p2c", nodes = nodes, options = options, seed = seed })
end

local function one_pick(up, record)
  return pick.pickNode(up, record or requests.newRequestRecord(), 1000, silent)
end

local function counts_of(up, n)
  local counts = {}
  for node = 0, up.pool.n - 1 do
    counts[node] = 0
  end
  for _ = 1, n do
    local node = one_pick(up)
    counts[node] = counts[node] + 1
  end
  return counts
end

describe("p2c", function()
  it("never returns the node that loses against every other", function()
    local rng = random.newRandom(9)
    for _ = 1, 500 do
      local n = 2 + random.drawBelow(rng, 20)
      local up = new(n, nil, random.drawBelow(rng, 1e6))
      local worst = 1 + random.drawBelow(rng, n)
      up.pool.in_flight[worst] = 5
      for _ = 1, 20 do
        assert.is_not.equal(worst - 1, one_pick(up))
      end
    end
  end)

  it("does not count open streams as load", function()
    local up = new(2)
    up.pool.in_flight = { 5, 1 }
    up.pool.long_in_flight = { 5, 0 }
    for _ = 1, 50 do
      assert.equal(0, one_pick(up))
    end
  end)

  it("looks at no more than two nodes, whatever their number", function()
    local up = new(1000)
    local reads = 0
    local peaks = up.pool.peak_latency_ms
    up.pool.peak_latency_ms = setmetatable({}, {
      __index = function(_, key)
        reads = reads + 1
        return peaks[key]
      end,
    })
    for _ = 1, 200 do
      one_pick(up)
    end
    assert.equal(400, reads)
  end)

  it("ends, and answers, when one node has nearly all the weight", function()
    local up = new({ { "heavy", { weight = 65535 } }, { "a" }, { "b" }, { "zero", { weight = 0 } } })
    local counts = counts_of(up, 5000)
    assert.equal(5000, counts[0] + counts[1] + counts[2])
    assert.equal(0, counts[3])
  end)

  it("shares idle nodes' picks by weight, as requests in flight per weight become equal", function()
    local up = new({ { "a", { weight = 3 } }, { "b" }, { "c" } })
    for _ = 1, 500 do
      local node = one_pick(up)
      up.pool.in_flight[node + 1] = up.pool.in_flight[node + 1] + 1
    end
    assert.is_true(math.abs(up.pool.in_flight[1] - 300) < 15, "a has " .. up.pool.in_flight[1])
  end)

  it("does not take fast failures for speed", function()
    local up = new(2)
    up.pool.peak_latency_ms = { 1, 10 }
    up.pool.success = { 0.3, 1 }
    assert.same({ [0] = 0, [1] = 200 }, counts_of(up, 200))
  end)

  it("leaves a node at its first slow answer with `peak`, not with `mean`", function()
    local up = new(2)
    up.pool.latency_ms = { 10, 11 }
    up.pool.peak_latency_ms = { 300, 11 }
    assert.equal(0, counts_of(up, 100)[0])
    local mean = new(2, { latency = "mean" })
    mean.pool.latency_ms = { 10, 11 }
    mean.pool.peak_latency_ms = { 300, 11 }
    assert.equal(100, counts_of(mean, 100)[0])
  end)

  it("draws retries from the nodes that are left", function()
    local up = new(3)
    local record = requests.newRequestRecord()
    requests.addTry(record, up, 1)
    up.pool.in_flight = { 4, 0, 0 }
    local found = {}
    for _ = 1, 100 do
      found[one_pick(up, record)] = true
    end
    assert.is_nil(found[1])
    assert.is_true(found[2])
  end)
end)

describe("a peak", function()
  it("rises at once, falls with time only, and never under the answers", function()
    assert.equal(80, peak.nextPeak(10, 80, 0))
    assert.equal(80, peak.nextPeak(80, 10, 0))
    local value = 80
    for _ = 1, 1000 do
      local next_value = peak.nextPeak(value, 10, 100)
      assert.is_true(next_value < value and next_value >= 10)
      value = next_value
    end
    assert.is_true(value < 11)
  end)
end)
