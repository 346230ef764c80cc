-- fastest: shares by response time; few samples are not believed; failures are never fast.
local upstreams = require("upstreams")
local prepare = require("resty.ax.dataplane.prepare")
local pick = require("resty.ax.dataplane.pick")
local requests = require("resty.ax.dataplane.requests")
local outcome = require("resty.ax.dataplane.outcome")
local apply_snapshot = require("resty.ax.dataplane.apply_snapshot")
local random = require("resty.ax.core.random")

local function silent() end

--- Nodes with these latencies, all believed.
local function new(latencies, options)
  local up = upstreams.new({ strategy = "fastest", nodes = #latencies, options = options, seed = 11 })
  for node, latency_ms in ipairs(latencies) do
    up.pool.latency_ms[node] = latency_ms
    up.pool.samples[node] = 100
  end
  upstreams.flush(up, 1000)
  return up
end

local function shares(up, n, now)
  local counts = {}
  for node = 0, up.pool.n - 1 do
    counts[node] = 0
  end
  for _ = 1, n do
    local node = pick.pickNode(up, requests.newRequestRecord(), now or 1000, silent)
    counts[node] = counts[node] + 1 / n
  end
  return counts
end

local function near(expected, found, tolerance)
  assert.is_true(math.abs(expected - found) < tolerance, ("%.3f instead of %.3f"):format(found, expected))
end

describe("fastest", function()
  it("gives a node twice as fast four times the requests, or twice with sharpness 1", function()
    near(0.8, shares(new({ 10, 20 }), 20000)[0], 0.015)
    near(2 / 3, shares(new({ 10, 20 }, { sharpness = 1 }), 20000)[0], 0.02)
  end)

  it("does not believe a latency of few samples: the node counts as the mean of the others", function()
    local up = new({ 10, 20, 1 })
    up.pool.samples[3] = 19
    upstreams.flush(up)
    local found = shares(up, 30000)
    -- 1/10², 1/20², 1/15²
    near(0.590, found[0], 0.02)
    near(0.262, found[2], 0.02)
    up.pool.samples[3] = 20
    upstreams.flush(up)
    assert.is_true(shares(up, 5000, 2000)[2] > 0.9)
  end)

  it("follows the weights of nodes that are equally fast", function()
    local up = new({ 10, 10 })
    up.pool.static_weight[2] = 3
    upstreams.flush(up, 1000)
    near(0.75, shares(up, 20000)[1], 0.015)
  end)

  it("spreads evenly while nothing is known", function()
    local up = upstreams.new({ strategy = "fastest", nodes = 4 })
    for _, share in pairs(shares(up, 20000)) do
      near(0.25, share, 0.02)
    end
  end)

  it("never takes fast failures for speed, and turns away before the table is rebuilt", function()
    local up = new({ 10, 10 })
    shares(up, 10)
    for _ = 1, 10 do
      outcome.accountTry(up, 0, 1, 0, true, 1000)
    end
    assert.equal(10, up.pool.latency_ms[1])
    -- Two rejections in a row can still let it pass once in four.
    assert.is_true(shares(up, 4000)[0] < 0.15)
    prepare.prepareWhole(up, 1200)
    assert.is_true(shares(up, 4000, 1200)[0] < 0.001)
  end)

  it("turns from a node that has become slow, at once", function()
    local up = new({ 10, 10 })
    shares(up, 10)
    up.pool.latency_ms[1] = 100
    assert.is_true(shares(up, 4000)[0] < 0.15)
  end)

  it("leaves no node for good for being slow", function()
    local up = new({ 1, 1, 1, 5000 })
    local share = shares(up, 60000)[3]
    assert.is_true(share > 0.001 and share < 0.006, "share " .. share)
  end)

  it("counts samples where latencies are learnt", function()
    local up = upstreams.new({ strategy = "fastest", nodes = 2 })
    for _ = 1, 3 do
      outcome.accountTry(up, 1, 0, 8, true, 1000)
    end
    outcome.accountTry(up, 1, 1, 0, true, 1000)
    assert.same({ 0, 3 }, up.pool.samples)
  end)

  it("takes samples and P99 over from the snapshot", function()
    local up = upstreams.new({ strategy = "fastest", nodes = 2 })
    local known = { state = "online", weight = 1, static_weight = 1, success = 1, latency_ms = 7 }
    known.samples, known.judged_p99_ms = 31, 40
    local unknown = { state = "online", weight = 1, static_weight = 1, success = 1 }
    apply_snapshot.applySnapshot(up, { generation = 1, at_ms = 9000, nodes = { n1 = known, n2 = unknown } }, 9000)
    assert.same({ 31, 0 }, up.pool.samples)
    assert.same({ 40, -1 }, up.pool.p99_ms)
  end)

  it("prefers the fast among the nodes left for a retry", function()
    local rng = random.newRandom(5)
    local up = new({ 10, 20, 50 })
    local record = requests.newRequestRecord()
    requests.addTry(record, up, 0)
    local slow = 0
    for _ = 1, 2000 do
      local node = pick.pickNode(up, record, 1000 + random.drawBelow(rng, 5), silent)
      assert.is_not.equal(0, node)
      slow = slow + (node == 2 and 1 or 0)
    end
    -- 1/20² to 1/50²
    near(4 / 29, slow / 2000, 0.03)
  end)
end)
