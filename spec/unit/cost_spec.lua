-- The choice by cost: few candidates are compared in one piece, many in loops; both are to follow the same rule.
local upstreams = require("upstreams")
local cost = require("resty.ax.core.cost")
local random = require("resty.ax.core.random")

local NOW = 100000

local function weigh_all(pool)
  cost.noteHighestPrior(pool)
  cost.weighAll(pool)
end

--- A pool whose nodes differ in everything that the cost is made of.
local function random_pool(rng, n)
  local pool = upstreams.new({ strategy = "random", nodes = n }).pool
  for node = 1, n do
    pool.latency_ms[node] = 1 + random.drawBelow(rng, 40)
    pool.success[node] = random.draw(rng) < 0.2 and 0.5 or 1
    pool.in_flight[node] = random.drawBelow(rng, 6)
    pool.long_in_flight[node] = random.drawBelow(rng, pool.in_flight[node] + 1)
    pool.others_in_flight[node] = random.drawBelow(rng, 6)
    pool.inverse_prior[node] = 1 / (random.draw(rng) < 0.3 and random.draw(rng) or 1)
    pool.last_sample_ms[node] = NOW - random.drawBelow(rng, 100)
    pool.oldest_start_ms[node] = pool.in_flight[node] > 0 and NOW - random.drawBelow(rng, 200) or 0
  end
  weigh_all(pool)
  return pool
end

--- The rule in words: of those within 30 % of the cheapest, the fewest in flight (long ones aside) for its prior,
--- relative to the highest of the pool and rounded; then by turn.
local function chosen(pool, candidates, count, offset)
  local least, least_inverse = math.huge, math.huge
  for k = 1, count do
    least = math.min(least, cost.cost(pool, candidates[k], NOW))
  end
  for node = 1, pool.n do
    least_inverse = math.min(least_inverse, pool.inverse_prior[node])
  end
  local best, best_load
  for turn = 0, count - 1 do
    local node = candidates[(offset + turn) % count + 1]
    if cost.cost(pool, node, NOW) <= least / 0.7 then
      local in_flight = pool.in_flight[node + 1] - pool.long_in_flight[node + 1]
      local load = math.floor((in_flight + 1) * pool.inverse_prior[node + 1] * (1 / least_inverse) + 0.5)
      if best == nil or load < best_load then
        best, best_load = node, load
      end
    end
  end
  return best
end

describe("the cheapest candidate", function()
  it("is the one that the rule names, for every count and offset", function()
    local rng = random.newRandom(5)
    for n = 1, 40 do
      for _ = 1, 20 do
        local pool = random_pool(rng, n)
        local candidates = {}
        for node = 0, n - 1 do
          table.insert(candidates, 1 + random.drawBelow(rng, #candidates + 1), node)
        end
        local count = 1 + random.drawBelow(rng, n)
        local offset = random.drawBelow(rng, count)
        local node = candidates[cost.cheapest(pool, candidates, count, offset, NOW) + 1]
        assert.equal(chosen(pool, candidates, count, offset), node, ("%d of %d from %d"):format(count, n, offset))
      end
    end
  end)

  it("is each of the idle ones in turn, although their scores differ a little", function()
    for _, scale in ipairs({ 0.05, 1, 7 }) do
      for n = 2, 20 do
        local pool = upstreams.new({ strategy = "random", nodes = n }).pool
        for node = 1, n do
          pool.latency_ms[node] = 10
          pool.inverse_prior[node] = 1 / (scale * (0.9 + 0.2 * (node - 1) / (n - 1)))
        end
        weigh_all(pool)
        for offset = 0, n - 1 do
          assert.equal(offset, cost.cheapest(pool, pool.candidates, n, offset, NOW))
        end
      end
    end
  end)

  it("is one of the candidates, whatever is wrong with the measurements", function()
    local rng = random.newRandom(6)
    local wrong = { 0 / 0, math.huge, -math.huge, 0, -1, 1e300 }
    local fields = { "latency_ms", "success", "in_flight", "others_in_flight", "inverse_prior", "last_sample_ms" }
    for _ = 1, 3000 do
      local n = 1 + random.drawBelow(rng, 20)
      local pool = random_pool(rng, n)
      for _ = 1, 3 do
        local field = fields[1 + random.drawBelow(rng, #fields)]
        pool[field][1 + random.drawBelow(rng, n)] = wrong[1 + random.drawBelow(rng, #wrong)]
      end
      weigh_all(pool)
      local offset = random.drawBelow(rng, n)
      local at = cost.cheapest(pool, pool.candidates, n, offset, NOW)
      assert.is_not_nil(pool.candidates[at + 1], tostring(at))
    end
  end)
end)
