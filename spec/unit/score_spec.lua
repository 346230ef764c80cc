local cjson = require("cjson")
local deltas = require("deltas")
local evidence = require("resty.ax.core.evidence")
local random = require("resty.ax.core.random")
local score = require("resty.ax.core.score")
local windows = require("resty.ax.core.windows")

local MIN_SAMPLES = 20

local function vectors()
  local file = assert(io.open("spec/vectors/score.json"))
  local text = file:read("*a")
  file:close()
  return cjson.decode(text)
end

local function near(expected, found)
  assert.is_true(math.abs(expected - found) < 1e-9, ("expected %g, found %g"):format(expected, found))
end

local function exponential(rng, n, mean_ms)
  local list = {}
  for i = 1, n do
    list[i] = math.floor(-math.log(1 - random.draw(rng)) * mean_ms)
  end
  return list
end

describe("score", function()
  for _, case in ipairs(vectors().scores) do
    it("golden vector: " .. case.name, function()
      local limits = vectors().limits
      local found = score.targetScore(
        score.p99Ratio(case.p99_ms, case.reference_ms, case.confidence or 1),
        score.errorRatio(case.error_rate, limits.error_penalty_from, limits.eject_error_rate),
        score.connRatio(case.in_flight, case.capacity),
        limits
      )
      near(case.score, found)
    end)
  end

  it("compares with the lower median of the nodes", function()
    for _, case in ipairs(vectors().references) do
      assert.equal(case.reference_ms, score.referenceP99(case.p99s_ms))
    end
  end)

  it("moves in steps that are limited in size and in time", function()
    for _, case in ipairs(vectors().steps) do
      near(case.result, score.stepScore(case.score, case.target, case.since_ms, case.step, case.interval_ms))
    end
  end)

  it("takes four steps from 1 to 0.2, and arrives exactly", function()
    local at = 1
    for _ = 1, 3 do
      at = score.stepScore(at, 0.2, 1000, 0.2, 1000)
      assert.is_true(at > 0.2 + 1e-6)
    end
    assert.equal(0.2, score.stepScore(at, 0.2, 1000, 0.2, 1000))
  end)
end)

describe("evidence", function()
  local function warm(ms, err)
    local node = windows.newNodeWindows(5, 60, 0)
    for tick = 1, 100 do
      windows.advanceNode(node, tick * 500)
      windows.feedNode(node, deltas.delta(deltas.same(50, ms), { err = err or 0 }))
    end
    return node
  end

  local function later(node, ticks, latencies, given)
    for tick = 101, 100 + ticks do
      windows.advanceNode(node, tick * 500)
      windows.feedNode(node, deltas.delta(latencies, given))
    end
    return evidence.weigh(node, MIN_SAMPLES)
  end

  it("says little of the latency and nothing of the errors of a node with too few samples", function()
    local node = windows.newNodeWindows(5, 60, 0)
    windows.feedNode(node, deltas.delta(deltas.same(9, 500), { err = 10 }))
    local found = evidence.weigh(node, MIN_SAMPLES)
    assert.is_true(found.p99_confidence > 0 and found.p99_confidence < 0.5)
    assert.equal(0, found.error_rate)
    assert.is_nil(evidence.weigh(windows.newNodeWindows(5, 60, 0), MIN_SAMPLES).p99_ms)
  end)

  it("is the long window's while the short one agrees", function()
    local found = later(warm(40), 3, deltas.same(50, 44))
    assert.is_true(found.p99_ms > 40 and found.p99_ms < 50)
    assert.is_false(found.recovered)
  end)

  it("shows a node that turned slow at the first tick", function()
    local found = later(warm(10), 1, deltas.same(50, 80))
    assert.is_true(found.p99_ms > 75)
  end)

  it("shows a node that recovered once the short window is full of it, and forgets the time before", function()
    local node = warm(80)
    local found = later(node, 10, deltas.same(50, 10))
    assert.is_true(found.recovered)
    assert.is_true(found.p99_ms < 12)
    windows.forgetOlder(node, 110 * 500)
    found = later(node, 10, deltas.same(50, 10))
    assert.is_true(found.p99_ms < 12)
    assert.is_false(found.recovered)
  end)

  it("shows a recovery also of a node that got few requests", function()
    local node = windows.newNodeWindows(5, 60, 0)
    for tick = 1, 100 do
      windows.advanceNode(node, tick * 500)
      windows.feedNode(node, deltas.delta({ 80 }))
    end
    assert.is_true(later(node, 10, { 10, 11 }).recovered)
  end)

  it("does not take a difference under the clock's resolution for a change", function()
    local found = later(warm(5), 10, deltas.same(50, 1))
    assert.is_true(found.p99_ms > 4)
    assert.is_false(found.recovered)
  end)

  it("follows error rates both ways", function()
    assert.equal(0.5, later(warm(10), 10, deltas.same(50, 10), { err = 50 }).error_rate)
    local found = later(warm(10, 50), 10, deltas.same(50, 10))
    assert.equal(0, found.error_rate)
    assert.is_true(found.recovered)
  end)

  it("does not take one error for a change", function()
    local found = later(warm(10), 1, deltas.same(50, 10), { err = 1 })
    assert.is_true(found.error_rate < 0.001)
  end)

  it("finds a change where there is none in less than one window of a thousand", function()
    local changes, looks = 0, 0
    for seed = 1, 40 do
      local rng = random.newRandom(seed)
      local rate = 2 + random.drawBelow(rng, 60)
      local node = windows.newNodeWindows(5, 60, 0)
      for tick = 1, 400 do
        windows.advanceNode(node, tick * 500)
        local err = random.drawBelow(rng, 50) == 0 and 1 or 0
        windows.feedNode(node, deltas.delta(exponential(rng, rate, 20), { err = err }))
        -- Every tenth tick: short windows that share no sample.
        if tick % 10 == 0 then
          looks = looks + 1
          if evidence.weigh(node, MIN_SAMPLES).recovered then
            changes = changes + 1
          end
        end
      end
    end
    assert.is_true(changes / looks < 0.001, ("%d of %d"):format(changes, looks))
  end)
end)
