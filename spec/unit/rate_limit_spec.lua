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
    -- Where its slots are, and how far they have been swept.
    assert.is_number(store.values["rate:x:20:swept"])
    store.values["rate:x:20:swept"] = nil
    assert.same({ ["rate:x"] = "20" }, store.values)
  end)

  local function counts(store)
    local n = 0
    for key in pairs(store.values) do
      n = n + (key:find("^rate:x:[%d.]+:%d") and 1 or 0)
    end
    return n
  end

  it("counts anew after a reload with another rate: what was taken before refuses nobody later", function()
    local store, uptime_ms = new_store(), 3600000
    local old = rate_limit.newRateLimit(store, "x", 10000, 1000, uptime_ms - 20000)
    for now = uptime_ms - 20000, uptime_ms do
      for _ = 1, 11 do
        rate_limit.takeToken(old, now)
      end
      if now % 100 == 0 then
        rate_limit.sweepTokens(old, now)
      end
    end
    assert.is_true(counts(store) > 200)
    local new = rate_limit.newRateLimit(store, "x", 5000, 1000, uptime_ms)
    local refused = 0
    -- Slots are twice as long now: the numbers of before come again when the uptime has doubled.
    for now = uptime_ms, 2 * uptime_ms + 20000, 50 do
      refused = refused + (rate_limit.takeToken(new, now) and 0 or 1)
      rate_limit.sweepTokens(new, now)
    end
    assert.equal(0, refused)
    rate_limit.sweepTokens(new, 2 * uptime_ms + 60000)
    assert.equal(0, counts(store))
    assert.equal("40", store.values["rate:x"])
  end)

  it("removes the counts of every configuration before it, slots longer or shorter, and again its own", function()
    local store, now = new_store(), 3600000
    for _, rate in ipairs({ 10000, 5000, 333, 20000, 10000, 77 }) do
      local workers = {}
      for k = 1, 3 do
        workers[k] = rate_limit.newRateLimit(store, "x", rate, 1000, now)
      end
      -- Shorter than the minute for which counts of before are waited for.
      for _ = 1, 200 do
        now = now + 100
        for k = 1, 3 do
          rate_limit.takeToken(workers[k], now)
          rate_limit.sweepTokens(workers[k], now)
        end
      end
    end
    local last = rate_limit.newRateLimit(store, "x", 77, 1000, now)
    for _ = 1, 1500 do
      now = now + 100
      rate_limit.sweepTokens(last, now)
    end
    assert.equal(0, counts(store))
    local left = {}
    for key in pairs(store.values) do
      left[#left + 1] = key:gsub("%d[%d.]*", "N")
    end
    table.sort(left)
    assert.same({ "rate:x", "rate:x:N:swept" }, left)
  end)

  it("sweeps a bounded number at a time, once for all workers, and catches up after a pause", function()
    local store, removed = new_store(), 0
    local remove = store.remove
    store.remove = function(key)
      removed = removed + 1
      remove(key)
    end
    local workers, now = {}, 1e9
    for k = 1, 8 do
      workers[k] = rate_limit.newRateLimit(store, "x", 100000, 500, now)
    end
    for flush = 1, 50 do
      now = now + 100
      removed = 0
      for k = 1, 8 do
        rate_limit.takeToken(workers[k], now)
        rate_limit.sweepTokens(workers[k], now)
      end
      assert.is_true(removed <= 101 or flush == 1 and removed <= 300, "flush " .. flush .. ": " .. removed)
    end
    now = now + 60000
    for _ = 1, 100 do
      now = now + 100
      removed = 0
      rate_limit.sweepTokens(workers[1], now)
      assert.is_true(removed <= 2000)
    end
    assert.equal(0, counts(store))
  end)

  it("with the smallest burst allowed lets the rate through", function()
    local limit = rate_limit.newRateLimit(new_store(), "x", 100000, 500, 1e9)
    local passed = 0
    for now = 1e9 + 1000, 1e9 + 1999 do
      for _ = 1, 110 do
        passed = passed + (rate_limit.takeToken(limit, now) and 1 or 0)
      end
    end
    assert.is_true(passed >= 99000 and passed <= 100500, tostring(passed))
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
