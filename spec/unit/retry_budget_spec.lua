local retry_budget = require("resty.ax.core.retry_budget")
local retries = require("resty.ax.dataplane.retries")
local requests = require("resty.ax.dataplane.requests")
local random = require("resty.ax.core.random")
local counters = require("resty.ax.dataplane.counters")
local upstreams = require("upstreams")

describe("the retry budget", function()
  it("agrees with a count over the last ten whole seconds", function()
    for seed = 1, 20 do
      local rng = random.newRandom(seed)
      local budget = retry_budget.newRetryBudget(0.2, 3)
      local asked, made, now = {}, {}, 1000
      local function count(times)
        local sum = 0
        for _, at in ipairs(times) do
          sum = sum + (math.floor(at / 1000) > math.floor(now / 1000) - retry_budget.WINDOW_S and 1 or 0)
        end
        return sum
      end
      for _ = 1, 600 do
        now = now + random.drawBelow(rng, random.draw(rng) < 0.02 and 20000 or 100)
        if random.draw(rng) < 0.5 then
          retry_budget.depositRequest(budget, now)
          asked[#asked + 1] = now
        else
          local expected = count(made) + 1 <= count(asked) * 0.2 + 30 + 1e-9
          assert.equal(expected, retry_budget.withdrawRetry(budget, now))
          if expected then
            made[#made + 1] = now
          end
        end
      end
    end
  end)

  it("of nothing allows nothing", function()
    local budget = retry_budget.newRetryBudget(0, 0)
    retry_budget.depositRequest(budget, 1000)
    assert.is_false(retry_budget.withdrawRetry(budget, 1000))
  end)
end)

describe("a retry budget that nobody chose", function()
  local function spent()
    local budget = retry_budget.newRetryBudget(nil, 0)
    for k = 1, 1000 do
      retry_budget.depositRequest(budget, 1000)
      assert.is_true(retry_budget.withdrawRetry(budget, 1000), k)
    end
    return budget
  end

  local function allows(budget, now_ms)
    return retry_budget.withdrawRetry(budget, now_ms)
  end

  it("denies nothing before it is known what becomes of tries, nor for a few failures", function()
    local budget = spent()
    retry_budget.noteOutcomes(budget, 0, 100, 1000)
    assert.is_true(allows(budget, 1000))
    retry_budget.noteOutcomes(budget, 0, 1, 1000)
    assert.is_false(allows(budget, 1000))
  end)

  it("denies nothing while one try in a hundred is answered, whatever the rate", function()
    local rng = random.newRandom(1)
    local budget = retry_budget.newRetryBudget(nil, 0)
    for flush = 1, 1000 do
      local now_ms = 5000 + 100 * flush
      local answered = 1 + random.drawBelow(rng, 20)
      for _ = 1, 20 do
        assert.is_true(allows(budget, now_ms))
      end
      retry_budget.noteOutcomes(budget, answered, answered * 100, now_ms)
    end
  end)

  it("binds while nothing is answered, and no longer than that", function()
    local budget = spent()
    retry_budget.noteOutcomes(budget, 5000, 0, 1000)
    -- Answers of up to two seconds ago count: an outage has begun only just now.
    retry_budget.noteOutcomes(budget, 0, 5000, 2100)
    assert.is_true(allows(budget, 2100))
    retry_budget.noteOutcomes(budget, 0, 5000, 3100)
    assert.is_false(allows(budget, 3100))
    -- Nothing new: as before.
    retry_budget.noteOutcomes(budget, 0, 0, 3200)
    assert.is_false(allows(budget, 3200))
    retry_budget.noteOutcomes(budget, 1, 99, 3300)
    assert.is_true(allows(budget, 3300))
    retry_budget.noteOutcomes(budget, 0, 5000, 4400)
    assert.is_false(allows(budget, 4400))
    -- And it is over when nothing has happened for a while.
    retry_budget.noteOutcomes(budget, 0, 0, 7000)
    assert.is_true(allows(budget, 7000))
  end)

  it("hears of answers and failures of all nodes with the flush", function()
    local up = upstreams.new({ nodes = 3, config = { retry_min_per_s = 0 } })
    up.retry_budget = retry_budget.newRetryBudget(nil, 0)
    for _ = 1, 67 do
      counters.countOutcome(up.counters, 0, 1, 0)
      counters.countOutcome(up.counters, 1, 2, 0)
      counters.countOutcome(up.counters, 2, 4, 0)
    end
    retries.weighRetries(up, 1000)
    assert.is_true(up.retry_budget.binds)
    counters.takeDeltas(up.counters, up.pool.ids)
    counters.countOutcome(up.counters, 2, 0, 5)
    retries.weighRetries(up, 2000)
    assert.is_false(up.retry_budget.binds)
  end)

  it("lets retries pass from the first answer on, before the flush tells of it", function()
    for _, chosen in ipairs({ false, true }) do
      local up = upstreams.new({ nodes = 2, config = { retry_min_per_s = 0 } })
      up.retry_budget = retry_budget.newRetryBudget(chosen and 0 or nil, 0)
      up.retry_budget.binds = true
      local record = requests.newRequestRecord()
      assert.is_true(retries.mayTry(up, record, 1000))
      requests.addTry(record, up, 0)
      assert.is_false(retries.mayTry(up, record, 1000))
      counters.countOutcome(up.counters, 1, 0, 5)
      assert.equal(not chosen, retries.mayTry(up, record, 1000))
    end
  end)

  it("which was chosen binds whatever becomes of tries", function()
    local budget = retry_budget.newRetryBudget(0.2, 0)
    retry_budget.noteOutcomes(budget, 5000, 0, 1000)
    assert.is_false(allows(budget, 1000))
  end)
end)

describe("further tries", function()
  local function retry(up, now_ms)
    local record = requests.newRequestRecord()
    assert.is_true(retries.mayTry(up, record, now_ms))
    requests.addTry(record, up, 0)
    return record
  end

  it("of the first failure is made by each of many workers, unless there are to be none in any case", function()
    local budget = retry_budget.newRetryBudget(0.2, 3)
    retry_budget.shareReserve(budget, 64)
    retry_budget.depositRequest(budget, 1000)
    assert.is_true(retry_budget.withdrawRetry(budget, 1001))
    assert.is_false(retry_budget.withdrawRetry(budget, 1002))
    local none = retry_budget.newRetryBudget(0.2, 0)
    retry_budget.shareReserve(none, 64)
    retry_budget.depositRequest(none, 1000)
    assert.is_false(retry_budget.withdrawRetry(none, 1001))
  end)

  it("beyond the budget are not made, and counted", function()
    local up = upstreams.new({ nodes = 3, config = { retry_ratio = 0.5, retry_min_per_s = 0 } })
    local made = 0
    for _ = 1, 100 do
      made = made + (retries.mayTry(up, retry(up, 1000), 1000) and 1 or 0)
    end
    assert.equal(50, made)
    assert.equal(50, up.tallies.total.retries)
    assert.equal(50, up.tallies.total.retries_denied)
  end)

  it("after the deadline are not made; it begins anew with a redirect", function()
    local up = upstreams.new({ nodes = 3, config = { retry_deadline_ms = 500 } })
    local record = retry(up, 1000)
    assert.is_true(retries.mayTry(up, record, 1499))
    assert.is_false(retries.mayTry(up, record, 1500))
    assert.equal(1, up.tallies.total.retries_late)
    record.earlier_tries = record.tries
    assert.is_true(retries.mayTry(up, record, 9000))
  end)
end)
