local upstreams = require("upstreams")
local outcome = require("resty.ax.dataplane.outcome")
local counters = require("resty.ax.dataplane.counters")

local Ok, Err, Fail, Aborted = 0, 1, 2, 3

describe("live measurements", function()
  it("follow a change of latency within about a second, at any rate of requests", function()
    for _, gap_ms in ipairs({ 1, 10, 100, 1000 }) do
      local up = upstreams.new({ nodes = 1 })
      local now = 100000
      for _ = 1, 3000 / gap_ms do
        now = now + gap_ms
        outcome.accountTry(up, 0, Ok, 80, true, now)
      end
      assert.is_true(up.pool.latency_ms[1] > 60, gap_ms .. " ms: " .. up.pool.latency_ms[1])
    end
  end)

  it("never let a failure count as a fast answer", function()
    local up = upstreams.new({ nodes = 1 })
    up.pool.latency_ms[1] = 40
    for now = 1, 50 do
      outcome.accountTry(up, 0, Err, 0, true, now)
      outcome.accountTry(up, 0, Fail, 0, true, now)
    end
    assert.equal(40, up.pool.latency_ms[1])
    assert.is_true(up.pool.success[1] <= 0.06 and up.pool.success[1] > 0)
  end)

  it("hold nothing against a node when the client goes away", function()
    local up = upstreams.new({ nodes = 1 })
    outcome.accountTry(up, 0, Aborted, 0, true, 5)
    assert.equal(1, up.pool.success[1])
    assert.equal(0, up.counters.streak[1])
    assert.equal(0, up.held_count)
  end)

  it("do not take the requests that a pause delayed for a slow node", function()
    local up = upstreams.new({ nodes = 1 })
    for k = 1, 100 do
      outcome.accountTry(up, 0, Ok, 20, true, 100000 + k * 10)
    end
    -- 250 ms of silence, then what was sent before it.
    for _ = 1, 3 do
      outcome.accountTry(up, 0, Ok, 270, true, 101250)
    end
    assert.is_true(up.pool.latency_ms[1] < 30)
  end)

  it("believe the first answer of all more than the first one after a long silence", function()
    local up = upstreams.new({ nodes = 1 })
    up.pool.latency_ms[1] = 100
    outcome.accountTry(up, 0, Ok, 0, true, 1e6)
    assert.is_true(math.abs(up.pool.latency_ms[1] - 30) < 1e-9)
    up.pool.latency_ms[1] = 100
    outcome.accountTry(up, 0, Ok, 0, true, 2e6)
    assert.is_true(math.abs(up.pool.latency_ms[1] - 60) < 1e-9)
  end)

  it("forgive failures within a few hundred successes, however fast these come", function()
    local up = upstreams.new({ nodes = 1 })
    outcome.accountTry(up, 0, Ok, 1, true, 100000)
    up.pool.success[1] = 0.3
    for _ = 1, 1000 do
      outcome.accountTry(up, 0, Ok, 1, true, 100000)
    end
    assert.is_true(up.pool.success[1] > 0.99)
  end)

  it("find a node that has become slow within a few dozen answers", function()
    local up = upstreams.new({ nodes = 1 })
    for k = 1, 100 do
      outcome.accountTry(up, 0, Ok, 20, true, 100000 + k * 10)
    end
    for k = 1, 40 do
      outcome.accountTry(up, 0, Ok, 200, true, 101000 + k * 10)
    end
    assert.is_true(up.pool.latency_ms[1] > 150)
  end)

  it("learn from clients that gave up waiting that the node is no faster than that", function()
    local up = upstreams.new({ nodes = 1 })
    up.pool.latency_ms[1] = 10
    for k = 1, 5 do
      outcome.accountTry(up, 0, Aborted, 1000, true, 100000 + k * 1000)
    end
    assert.is_true(up.pool.latency_ms[1] > 500)
    assert.equal(1, up.pool.success[1])
    -- One that left early says nothing.
    local before = up.pool.latency_ms[1]
    outcome.accountTry(up, 0, Aborted, 3, true, 107000)
    assert.equal(before, up.pool.latency_ms[1])
  end)

  it("do not write off a node for one failure after a long silence", function()
    local up = upstreams.new({ nodes = 1 })
    outcome.accountTry(up, 0, Err, 0, true, 1e9)
    assert.is_true(up.pool.success[1] >= 0.5)
  end)

  it("take a node back at once that turns out to have answered", function()
    local up = upstreams.new({ nodes = { { "a", { max_fails = 1 } }, { "b" } } })
    -- At the retry a 502 may be nginx's "refused" or the node's own answer; the log phase can tell.
    outcome.learnFailure(up, 0, false, 10)
    assert.equal(1, up.pool.candidate_count)
    outcome.accountTry(up, 0, Err, 0, false, 12)
    assert.equal(2, up.pool.candidate_count)
    assert.equal(0, up.held_count)
  end)

  it("keep a node out of this worker's picks after max_fails connection failures in a row", function()
    local up = upstreams.new({ nodes = { { "a", { max_fails = 3 } }, { "b" } } })
    outcome.accountTry(up, 0, Fail, 0, true, 10)
    outcome.accountTry(up, 0, Fail, 0, true, 11)
    assert.equal(2, up.pool.candidate_count)
    outcome.accountTry(up, 0, Fail, 0, true, 12)
    assert.equal(1, up.pool.candidate_count)
    assert.equal(1, up.pool.candidates[1])
  end)

  it("start the row again at any answer, also a 500", function()
    for _, answer in ipairs({ Ok, Err }) do
      local up = upstreams.new({ nodes = { { "a", { max_fails = 2 } }, { "b" } } })
      outcome.accountTry(up, 0, Fail, 0, true, 10)
      outcome.accountTry(up, 0, answer, 5, true, 11)
      outcome.accountTry(up, 0, Fail, 0, true, 12)
      assert.equal(2, up.pool.candidate_count)
    end
  end)

  it("never keep out a node with max_fails 0", function()
    local up = upstreams.new({ nodes = { { "a", { max_fails = 0 } }, { "b" } } })
    for now = 1, 100 do
      outcome.accountTry(up, 0, Fail, 0, true, now)
    end
    assert.equal(2, up.pool.candidate_count)
  end)

  it("are not taught the same failure twice", function()
    local up = upstreams.new({ nodes = { { "a", { max_fails = 2 } }, { "b" } } })
    outcome.learnFailure(up, 0, false, 10)
    local success = up.pool.success[1]
    outcome.accountTry(up, 0, Fail, 0, false, 12)
    assert.equal(success, up.pool.success[1])
    assert.equal(1, up.counters.streak[1])
    assert.equal(1, up.counters.fail[1])
  end)
end)

describe("counters", function()
  it("come out once, keyed by identity, and start again from zero", function()
    local up = upstreams.new({ nodes = 2 })
    counters.countPick(up.counters, 1)
    counters.countOutcome(up.counters, 1, Ok, 12)
    counters.countOutcome(up.counters, 1, Ok, 12)
    counters.countOutcome(up.counters, 1, Err, 0)
    local deltas = counters.takeDeltas(up.counters, up.pool.ids)
    assert.is_nil(deltas.n1)
    assert.equal(1, deltas.n2.picks)
    assert.equal(2, deltas.n2.ok)
    assert.equal(1, deltas.n2.err)
    assert.equal(24, deltas.n2.sum_ms)
    assert.equal(2, deltas.n2.hist[2])
    assert.is_nil(counters.takeDeltas(up.counters, up.pool.ids))
    counters.countPick(up.counters, 1)
    assert.equal(0, counters.takeDeltas(up.counters, up.pool.ids).n2.ok)
  end)
end)
