-- The same vectors as spec/node/core.test.ts: core/ must give the same in Lua and in JavaScript.
local cjson = require("cjson.safe")
local random = require("resty.ax.core.random")
local cost = require("resty.ax.core.cost")
local tries = require("resty.ax.core.tries")
local weighted = require("resty.ax.core.weighted")

local file = assert(io.open("spec/vectors/core.json"))
local vectors = assert(cjson.decode(file:read("*a")))
file:close()

describe("seeded random numbers", function()
  it("are the minimal standard generator's (its published check value)", function()
    local source = { state = vectors.minstd.seed_state }
    for _ = 1, vectors.minstd.draws do
      random.draw(source)
    end
    assert.equal(vectors.minstd.state, source.state)
  end)
end)

describe("cost", function()
  for _, case in ipairs(vectors.cost) do
    it(case.name, function()
      local now_ms = 100000
      local pool = {
        in_flight = { case.in_flight },
        others_in_flight = { case.others },
        latency_ms = { case.latency_ms },
        success = { case.success },
        long_in_flight = { 0 },
        inverse_prior = { cost.inverseOf(case.weight) },
        last_sample_ms = { case.last_answer_age_ms > 0 and now_ms - case.last_answer_age_ms or 0 },
        oldest_start_ms = { case.oldest_age_ms > 0 and now_ms - case.oldest_age_ms or 0 },
        resting_cost = {},
        silent_since_ms = {},
        silence_per_ms = {},
        load_rank = {},
        highest_prior = 1,
      }
      cost.weigh(pool, 0)
      local found = cost.cost(pool, 0, now_ms)
      assert.is_true(math.abs(found - case.cost) <= case.cost * 1e-9, tostring(found))
    end)
  end
end)

describe("nginx's lists of tries", function()
  for _, case in ipairs(vectors.tries) do
    it(("%q"):format(case.text), function()
      assert.same(case.values, tries.splitTries(case.text))
    end)
  end

  for _, case in ipairs(vectors.matches) do
    it("matched with ours: " .. case.name, function()
      assert.same(case.matched, tries.matchTries(case.ours, case.nginx))
    end)
  end
end)

describe("alias tables", function()
  for _, case in ipairs(vectors.alias) do
    it("give every item its share: " .. cjson.encode(case.weights), function()
      local n = #case.weights
      local alias = weighted.newAliasTable()
      weighted.buildAliasTable(alias, case.weights, n)
      local shares = {}
      for k = 1, n do
        shares[k] = 0
      end
      for k = 1, n do
        local kept = math.min(1, alias.threshold[k])
        shares[k] = shares[k] + kept / n
        shares[alias.alias[k] + 1] = shares[alias.alias[k] + 1] + (1 - kept) / n
      end
      for k = 1, n do
        assert.is_true(math.abs(shares[k] - case.shares[k]) < 1e-9, k .. ": " .. shares[k])
      end
    end)
  end
end)

describe("the compiled library", function()
  it("brings along what TypeScriptToLua needs, so that it cannot clash with another such library", function()
    local out = io.popen("grep -rl lualib_bundle lua-out; find lua-out -name 'lualib*'")
    assert.equal("", out:read("*a"))
    out:close()
  end)
end)
