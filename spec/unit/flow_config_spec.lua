-- Mistakes in the options of limits: each one stops the start, and names key, value and what is allowed.
local flow_options = require("resty.ax.core.config.flow_options")
local options = require("resty.ax.core.config.options")
local problems = require("resty.ax.core.config.problems")
local validate = require("resty.ax.core.config.validate")
local registry = require("resty.ax.core.strategies.registry")

local by_strategy = {}
for name, strategy in pairs(registry.strategies) do
  by_strategy[name] = strategy.options
end

local function load(upstream, gateway)
  upstream.nodes = { { address = "10.0.0.1:80" } }
  local found = problems.newProblems()
  local given = gateway or {}
  given.upstreams = { backend = upstream }
  local fields = options.configFields(by_strategy)
  local config = validate.validate(given, fields, "", found, flow_options.checkGatewayFlow)
  local texts = {}
  for k, problem in ipairs(found.list) do
    texts[k] = problem.path:gsub("^upstreams%.backend%.", "") .. ": " .. problem.text
  end
  return texts, config.upstreams.backend
end

describe("limits in the configuration", function()
  local NAN = 0 / 0
  local bad = {
    max_concurrency_per_node = { 0, -1, 1.5, 1000001, NAN, "10" },
    max_overflow_ratio = { -0.1, 1.1, NAN },
    overload_cool_down_s = { -1, 3601 },
    max_concurrency = { 0, -5, 2.5 },
    retry_ratio = { -0.1, 101 },
    retry_min_per_s = { -1, NAN },
    retry_deadline_ms = { -1, 0.5 },
    retry_after_s = { -1, 3601 },
  }
  for key, values in pairs(bad) do
    it("refuse bad values of " .. key, function()
      for _, value in ipairs(values) do
        local texts = load({ [key] = value })
        assert.equal(1, #texts, key .. " = " .. tostring(value))
        assert.equal(key .. ": ", texts[1]:sub(1, #key + 2))
        assert.truthy(texts[1]:find(" is needed", 1, true))
      end
    end)
  end

  it("refuse bad values of the gateway's rate", function()
    for _, given in ipairs({ { "global_qps_limit", 0 }, { "global_qps_limit", -1 }, { "global_qps_burst", 1 } }) do
      local texts = load({}, { [given[1]] = given[2] })
      assert.equal(1, #texts)
      assert.equal(("%s: %d is too small"):format(given[1], given[2]), texts[1]:match("^[^;]+"))
    end
  end)

  it("refuse a burst that is small against the rate, and would let only a part of it through", function()
    local texts = load({}, { global_qps_limit = 100000, global_qps_burst = 2 })
    assert.same({
      "global_qps_burst: 2 is too small for global_qps_limit, which is 100000; a whole number 500..10000000 is needed",
    }, texts)
    assert.same({}, (load({}, { global_qps_limit = 100000, global_qps_burst = 500 })))
    assert.same({}, (load({}, { global_qps_limit = 100, global_qps_burst = 2 })))
    assert.same({}, (load({}, { global_qps_limit = 10000000 })))
  end)

  it("have no adaptive_limit unless it is given, and defaults when it is empty", function()
    local _, config = load({})
    assert.is_nil(config.adaptive_limit)
    _, config = load({ adaptive_limit = {} })
    assert.same({ min = 5, probe_limit = 3, probe_interval_s = 60, tolerance = 1.25 }, config.adaptive_limit)
  end)

  it("refuse mistakes in adaptive_limit", function()
    local function first(given)
      local texts = load({ adaptive_limit = given })
      assert.equal(1, #texts)
      return texts[1]
    end
    assert.equal("adaptive_limit: true is a boolean; a map of options, {} for the defaults, is needed", first(true))
    assert.equal("adaptive_limit.min: 0 is too small; a whole number 1..1000000 is needed", first({ min = 0 }))
    assert.equal(
      "adaptive_limit.probe_limit: -3 is too small; a whole number 1..1000000 is needed",
      first({ probe_limit = -3 })
    )
    assert.equal(
      "adaptive_limit.probe_interval_s: 0 is too small; a number 1..86400 s is needed",
      first({ probe_interval_s = 0 })
    )
    assert.equal("adaptive_limit.tolerance: 0.9 is too small; a number 1..10 is needed", first({ tolerance = 0.9 }))
    assert.equal(
      'adaptive_limit.probe: unknown key; known are "min", "probe_interval_s", "probe_limit", "tolerance"',
      first({ probe = 3 })
    )
    assert.same({
      "adaptive_limit.min: 20 is more than max_concurrency_per_node, which is 10; at most that is needed",
    }, (load({ max_concurrency_per_node = 10, adaptive_limit = { min = 20 } })))
  end)

  it("refuse mistakes in lua_keepalive", function()
    local _, config = load({ lua_keepalive = {} })
    assert.same({ idle_timeout_s = 60, max_requests = 1000 }, config.lua_keepalive)
    _, config = load({})
    assert.is_nil(config.lua_keepalive)
    local mistakes = { { idle_timeout_s = -1 }, { max_requests = 1.5 }, { max_requests = -1 }, { pool = 5 }, 60 }
    for _, given in ipairs(mistakes) do
      local texts = load({ lua_keepalive = given })
      assert.equal(1, #texts)
      assert.truthy(texts[1]:find("^lua_keepalive"))
    end
  end)

  it("refuse a load_factor that leaves no node room, and take 0 for none", function()
    local function with(factor)
      return load({ strategy = "consistent_hash", strategy_options = { load_factor = factor } })
    end
    assert.same({}, (with(0)))
    assert.same({}, (with(1.01)))
    for _, factor in ipairs({ 0.5, 1, 1.005, -1 }) do
      local need = "a number 0 or 1.01..100 is needed"
      assert.same({ ("strategy_options.load_factor: %s is too small; %s"):format(factor, need) }, (with(factor)))
    end
  end)
end)
