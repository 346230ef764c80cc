-- Tables of strategies are made outside of picks: whole at the start, in slices with pauses at a flush.
local upstreams = require("upstreams")
local prepare = require("resty.ax.dataplane.prepare")

--- A module that says how often it was asked to prepare, and for how long it says there is more to do.
local function module_of(given)
  given.pick = given.pick or function(_, _, candidates)
    return candidates[1]
  end
  given.create = given.create or function()
    return {}
  end
  given.options = {}
  return given
end

local function module_up(given, config)
  return upstreams.new({ strategy = module_of(given), nodes = 3, config = config })
end

describe("preparation", function()
  it("is done before the first pick, and goes on at the flush with a pause after each slice", function()
    local left, pauses = 3, 0
    local up = module_up({
      prepare = function()
        left = left - 1
        return left > 0
      end,
    })
    assert.equal(0, left)
    left = 3
    prepare.prepareAll({ up }, 1000, upstreams.reporter(), function()
      pauses = pauses + 1
    end)
    assert.equal(0, left)
    assert.equal(2, pauses)
  end)

  it("of each zone's view has its own state", function()
    local pools = {}
    local up = upstreams.new({
      strategy = module_of({
        create = function(pool)
          return pool
        end,
        prepare = function(state, pool)
          assert.equal(state, pool)
          pools[pool] = true
          return false
        end,
      }),
      nodes = { { "a", { zone = "x" } }, { "b", { zone = "y" } } },
      config = { zone = "x" },
    })
    assert.is_true(pools[up.pool])
    assert.is_true(pools[up.placement.others])
  end)

  it("that throws at the start throws, so that another strategy stands in", function()
    assert.has_error(function()
      module_up({
        prepare = function()
          error("no tables today", 0)
        end,
      })
    end, "no tables today")
  end)

  it("that throws at a flush is reported, and the others go on", function()
    local broken, asked = false, 0
    local bad = module_up({
      prepare = function()
        if broken then
          error("no tables today", 0)
        end
        return false
      end,
    })
    local good = module_up({
      prepare = function()
        asked = asked + 1
        return false
      end,
    })
    broken, asked = true, 0
    local report, told = upstreams.reporter()
    prepare.prepareAll({ bad, good }, 1000, report)
    assert.equal(1, asked)
    assert.equal("strategy", told[1].kind)
    assert.equal('strategy_module "spec.custom" of upstream "backend": prepare: no tables today', told[1].message)
  end)

  it("that never ends, or answers nonsense, does not hold the worker", function()
    assert.has_error(function()
      module_up({
        prepare = function()
          return true
        end,
      })
    end)
    local up = module_up({
      prepare = function()
        return "more, please"
      end,
    })
    prepare.prepareAll({ up }, 1000, upstreams.reporter())
  end)
end)
