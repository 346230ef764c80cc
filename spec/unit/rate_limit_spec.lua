-- The gateway's rate, exact over workers whatever the order of their steps.
local rate_limit = require("resty.ax.core.rate_limit")
local random = require("resty.ax.core.random")
local new_store = require("fake_store")

-- Most that passed in any interval, less what the rate allows in it.
local function worst_excess(times, rate)
  local worst = 0
  for first = 1, #times do
    for last = first, #times do
      worst = math.max(worst, last - first + 1 - rate * (times[last] - times[first]) / 1000)
    end
  end
  return worst
end

describe("the rate limit", function()
  for _, case in ipairs({
    { rate = 100, burst = 10 },
    { rate = 7, burst = 2 },
    { rate = 1000, burst = 100 },
    { rate = 333, burst = 7 },
    { rate = 0.5, burst = 3 },
  }) do
    local name = "of %s a second lets no more than %d beyond it through, in any interval"
    it(name:format(case.rate, case.burst), function()
      for seed = 1, 5 do
        local rng = random.newRandom(seed)
        local store = new_store()
        local now, times, workers = 100000, {}, {}
        for k = 1, 8 do
          workers[k] = rate_limit.newRateLimit(store, "x", case.rate, case.burst, now)
        end
        local step = 1000 / case.rate
        for _ = 1, 1500 do
          -- Bursts, silence, and now and then a pause in which everything fills up.
          local gap = random.draw(rng)
          now = now + (gap < 0.6 and 0 or gap < 0.98 and random.draw(rng) * step or case.burst * step * 3)
          local worker = workers[1 + random.drawBelow(rng, 8)]
          if rate_limit.takeToken(worker, now) then
            times[#times + 1] = now
          end
          if gap > 0.9 then
            rate_limit.sweepTokens(worker, now)
          end
        end
        assert.is_true(#times > 20)
        local worst = worst_excess(times, case.rate)
        assert.is_true(worst <= case.burst + 1e-6, ("seed %d: %f"):format(seed, worst))
      end
    end)
  end

  it("lets the rate through when it is asked for more, and four fifths of the burst at once", function()
    local limit = rate_limit.newRateLimit(new_store(), "x", 1000, 100, 0)
    local passed = 0
    for _ = 1, 1000 do
      passed = passed + (rate_limit.takeToken(limit, 50000) and 1 or 0)
    end
    assert.is_true(passed >= 80 and passed <= 100, tostring(passed))
    passed = 0
    for now = 50000, 59999 do
      for _ = 1, 3 do
        passed = passed + (rate_limit.takeToken(limit, now) and 1 or 0)
      end
    end
    assert.is_true(passed >= 9900 and passed <= 10000, tostring(passed))
    assert.is_true(rate_limit.retryAfterMs(limit, 59999) <= 20)
  end)

  it("asks the store once a request, and not at all once nothing is left", function()
    local store = new_store()
    local asked = 0
    local incr = store.incr
    store.incr = function(...)
      asked = asked + 1
      return incr(...)
    end
    local limit = rate_limit.newRateLimit(store, "x", 1000, 100, 0)
    while rate_limit.takeToken(limit, 50000) do
    end
    local before = asked
    for _ = 1, 1000 do
      rate_limit.takeToken(limit, 50000)
    end
    assert.equal(before, asked)
    assert.is_true(before <= 110)
  end)

  it("leaves no keys behind, those of a worker that died included", function()
    local store = new_store()
    local dead = rate_limit.newRateLimit(store, "x", 1000, 100, 100000)
    for now = 100000, 100500 do
      rate_limit.takeToken(dead, now)
    end
    local limit = rate_limit.newRateLimit(store, "x", 1000, 100, 101000)
    for now = 101000, 120000, 100 do
      rate_limit.takeToken(limit, now)
      rate_limit.sweepTokens(limit, now)
    end
    rate_limit.sweepTokens(limit, 140000)
    assert.same({}, store.values)
  end)

  it("refuses nobody when the store is full", function()
    local store = new_store()
    store.full = true
    local limit = rate_limit.newRateLimit(store, "x", 1, 2, 0)
    for _ = 1, 10 do
      assert.is_true(rate_limit.takeToken(limit, 5000))
    end
  end)
end)
