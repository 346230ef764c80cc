local deltas = require("deltas")
local histogram = require("resty.ax.core.histogram")
local random = require("resty.ax.core.random")
local windows = require("resty.ax.core.windows")

local fields = { "picks", "ok", "err", "fail", "aborted", "sum_ms" }

local function random_delta(rng)
  local latencies = {}
  for i = 1, random.drawBelow(rng, 5) do
    latencies[i] = random.drawBelow(rng, 300)
  end
  return deltas.delta(latencies, { err = random.drawBelow(rng, 2), fail = random.drawBelow(rng, 2) })
end

--- What a window must hold: all that was added in its last slots, summed anew.
local function brute_force(window, added, now_ms)
  local oldest = math.floor(now_ms / window.slot_ms) - #window.slots + 1
  local total = { picks = 0, ok = 0, err = 0, fail = 0, aborted = 0, sum_ms = 0, hist = {} }
  for _, entry in ipairs(added) do
    if math.floor(entry.at_ms / window.slot_ms) >= oldest then
      for _, field in ipairs(fields) do
        total[field] = total[field] + entry.delta[field]
      end
      histogram.addSparse(total.hist, entry.delta.hist, 1)
    end
  end
  return total
end

local function assert_same_tally(expected, tally)
  for _, field in ipairs(fields) do
    assert.equal(expected[field], tally[field], field)
  end
  assert.same(histogram.toSparse(expected.hist), histogram.toSparse(tally.hist))
end

describe("a sliding window", function()
  it("equals the sum of its slots, over uneven ticks and gaps", function()
    for seed = 1, 20 do
      local rng = random.newRandom(seed)
      local now_ms = 100000 + random.drawBelow(rng, 1000)
      local window = windows.newWindow(5000, 10, now_ms)
      local added = {}
      for _ = 1, 200 do
        now_ms = now_ms + random.drawBelow(rng, random.drawBelow(rng, 20) == 0 and 12000 or 900)
        windows.advance(window, now_ms)
        for _ = 1, random.drawBelow(rng, 3) do
          local delta = random_delta(rng)
          windows.add(window, delta)
          added[#added + 1] = { at_ms = now_ms, delta = delta }
        end
        assert_same_tally(brute_force(window, added, now_ms), window.total)
      end
    end
  end)

  it("is empty after a gap longer than itself", function()
    local window = windows.newWindow(5000, 10, 1000)
    windows.add(window, deltas.delta({ 10, 20 }, { fail = 3 }))
    windows.advance(window, 1000 + 3600000)
    assert.is_true(windows.isEmpty(window.total))
    assert.equal(0, window.total.sum_ms)
    assert.same({}, histogram.toSparse(window.total.hist))
  end)

  it("is exactly empty after fractions of milliseconds came and went", function()
    local window = windows.newWindow(5000, 10, 0)
    for tick = 1, 40 do
      windows.advance(window, tick * 300)
      windows.add(window, deltas.delta({ 0.1 * tick, 0.7 }))
    end
    windows.advance(window, 40 * 300 + 5000)
    assert.equal(0, window.total.sum_ms)
  end)

  it("keeps what it has when the clock stands still or goes back", function()
    local window = windows.newWindow(5000, 10, 10000)
    windows.add(window, deltas.delta({ 10 }))
    windows.advance(window, 10000)
    windows.advance(window, 4000)
    assert.equal(1, window.total.ok)
    windows.advance(window, 14400)
    assert.equal(1, window.total.ok)
    windows.advance(window, 15100)
    assert.equal(0, window.total.ok)
  end)

  it("knows the time its counts come from", function()
    local window = windows.newWindow(5000, 10, 100250)
    for tick = 1, 3 do
      windows.advance(window, 100250 + tick * 500)
    end
    assert.equal(1500, windows.coveredMs(window))
    for tick = 4, 100 do
      windows.advance(window, 100250 + tick * 500)
    end
    assert.equal(5000, windows.coveredMs(window))
    windows.clearWindow(window, 200000)
    assert.equal(500, windows.coveredMs(window), "never less than a slot: rates must not explode")
  end)
end)

describe("a node's windows", function()
  it("forget after their own lengths", function()
    local node = windows.newNodeWindows(5, 60, 0)
    windows.feedNode(node, deltas.delta({ 10, 30 }, { err = 1, aborted = 4 }))
    assert.equal(20, windows.meanMs(node.short.total))
    assert.equal(1 / 3, windows.errorRate(node.short.total), "what the client ended is not judged")
    windows.advanceNode(node, 6000)
    assert.equal(0, node.short.total.ok)
    assert.is_nil(windows.meanMs(node.short.total))
    assert.equal(2, node.long.total.ok)
    windows.advanceNode(node, 66000)
    assert.equal(0, node.long.total.ok)
  end)

  it("can forget what was before the short one", function()
    local node = windows.newNodeWindows(5, 60, 0)
    windows.feedNode(node, deltas.delta(deltas.same(50, 80)))
    windows.advanceNode(node, 20000)
    windows.feedNode(node, deltas.delta(deltas.same(7, 5)))
    windows.forgetOlder(node, 20000)
    assert.same({ 7, 35 }, { node.long.total.ok, node.long.total.sum_ms })
    assert.same({ 5, 7 }, histogram.toSparse(node.long.total.hist))
    windows.advanceNode(node, 90000)
    assert.is_true(windows.isEmpty(node.long.total))
  end)

  it("take in another window's tally as one slot that ages out", function()
    local node = windows.newNodeWindows(5, 60, 0)
    local tally = windows.emptyTally()
    tally.picks, tally.ok, tally.sum_ms = 4, 4, 40
    histogram.addCount(tally.hist, 10, 4)
    windows.restore(node.long, tally)
    windows.advanceNode(node, 50000)
    assert.equal(4, node.long.total.ok)
    windows.advanceNode(node, 61000)
    assert.is_true(windows.isEmpty(node.long.total))
  end)
end)
