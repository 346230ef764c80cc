-- The simulator against queueing theory and against itself. Seeds are fixed; bounds leave room for chance.
local cjson = require("cjson")
local engine = require("sim.engine")
local jobs = require("sim_jobs")
local registry = require("resty.ax.core.strategies.registry")

local function run(given)
  return engine.simulate(jobs.job(given))
end

local function near(expected, actual, tolerance, what)
  local off = math.abs(actual - expected) / expected
  local text = ("%s: %.4f, expected %.4f ± %.0f %%"):format(what, actual, expected, tolerance * 100)
  assert.is_true(off <= tolerance, text)
end

--- Erlang's C formula: the chance to have to wait (Erlang 1917).
local function erlang_c(servers, load)
  local term, sum = 1, 0
  for k = 0, servers - 1 do
    sum = sum + term
    term = term * load / (k + 1)
  end
  local last = term * servers / (servers - load)
  return last / (sum + last)
end

local function queue(servers, rho, bound)
  return run({
    bound = bound,
    rho = rho,
    network_ms = 0,
    timeout_ms = 1e6,
    duration_s = 60,
    service = jobs.service({ mean_ms = 2 }),
    nodes = jobs.nodes(1, { slots = servers }),
  })
end

describe("the simulator", function()
  it("gives M/M/1's waits and P99", function()
    for _, rho in ipairs({ 0.5, 0.7 }) do
      local result = queue(1, rho, "random_split")
      local mean_ms = 2 / (1 - rho)
      near(mean_ms * rho, result.mean_wait_ms, 0.1, "mean wait")
      -- The time in an M/M/1 system is exponential.
      near(mean_ms * math.log(100), result.p99_ms, 0.1, "P99")
    end
  end)

  it("gives M/M/c's waits", function()
    local servers, rho = 4, 0.8
    local expected = erlang_c(servers, servers * rho) * 2 / (servers * (1 - rho))
    near(expected, queue(servers, rho, "shared_queue").mean_wait_ms, 0.1, "mean wait, shared queue")
    near(expected, queue(servers, rho, "random_split").mean_wait_ms, 0.1, "mean wait, one node")
  end)

  it("ends work by timers of whole steps, without a bias", function()
    local service = jobs.service({ distribution = "fixed", mean_ms = 5.2, timer_ms = 1 })
    local result = run({ bound = "oracle", rho = 0.05, network_ms = 0, service = service })
    near(5, result.mean_ms, 0.02, "mean of 5.2 ms by a timer of 1 ms")
    assert.is_true(result.p999_ms > 5.5 and result.p999_ms < 6)
    local short = run({ bound = "oracle", rate_per_s = 100, network_ms = 0, service = jobs.service({
      distribution = "fixed",
      mean_ms = 0.4,
      timer_ms = 1,
    }) })
    assert.equal(0, short.p999_ms)
  end)

  it("lets no strategy beat one queue over equal slots", function()
    local bound = run({ bound = "shared_queue", rho = 0.8 })
    for name in pairs(registry.strategies) do
      local result = run({ strategy = name, rho = 0.8 })
      assert.equal(bound.begun, result.begun)
      assert.is_true(result.mean_wait_ms >= bound.mean_wait_ms, name)
      assert.is_true(result.p99_ms >= 0.98 * bound.p99_ms, name)
    end
  end)

  it("orders the bounds: shared queue, oracle, random split", function()
    local shared = run({ bound = "shared_queue", rho = 0.8 }).mean_wait_ms
    local oracle = run({ bound = "oracle", rho = 0.8 }).mean_wait_ms
    local random = run({ bound = "random_split", rho = 0.8 }).mean_wait_ms
    assert.is_true(shared < oracle and oracle < random)
  end)

  it("gives the same result for the same seed, another for another", function()
    local function text(seed)
      local result = run({ seed = seed, duration_s = 3 })
      return cjson.encode({ result.p99_ms, result.mean_ms, result.shares, result.series.p99_ms })
    end
    assert.equal(text(7), text(7))
    assert.are_not.equal(text(7), text(8))
  end)

  it("ends every request once, whatever happens to the nodes", function()
    local troubles = {
      { mode = "down", from_s = 1, for_s = 1, every_s = 3 },
      { mode = "hang", from_s = 1, for_s = 2 },
      { mode = "black_hole", from_s = 1 },
      { error_share = 0.3 },
      { speed = 0, for_s = 0.3, every_s = 2 },
    }
    for _, trouble in ipairs(troubles) do
      for _, player in ipairs({ {}, { bound = "shared_queue" }, { bound = "oracle" }, { bound = "random_split" } }) do
        local nodes = jobs.nodes(3)
        nodes[1].events = { jobs.event(trouble) }
        nodes[4] = jobs.node("n4", { joins_at_s = 2 })
        local result = run({ bound = player.bound, nodes = nodes, warmup_s = 0, duration_s = 4, timeout_ms = 500 })
        assert.equal(result.begun, result.ended)
        assert.equal(result.begun, result.requests)
      end
    end
  end)

  it("ends every request also when all nodes are gone", function()
    local nodes = jobs.nodes(3, { events = { jobs.event({ mode = "down" }) } })
    local result = run({ nodes = nodes, rate_per_s = 100, warmup_s = 0, duration_s = 2 })
    assert.equal(result.begun, result.ended)
    assert.equal(1, result.error_share)
    assert.equal(3, result.tries_per_request)
  end)

  it("shows a node that answers 500 at once as a trap for least connections, not for adaptive", function()
    local nodes = jobs.nodes(6)
    nodes[1].events = { jobs.event({ mode = "black_hole", from_s = 5 }) }
    local trapped = run({ strategy = "least_conn", nodes = nodes, workers = 1 })
    local adaptive = run({ strategy = "adaptive", nodes = nodes, workers = 1 })
    -- A suspect's share is all that health leaves such a node until the 30 s of its errors are over; before there was
    -- such a state, least connections sent it more than a fair share of all requests.
    assert.is_true(trapped.error_share > 10 * adaptive.error_share)
    assert.is_true(adaptive.error_share < 0.01)
  end)

  it("breaks off and retries what a node had when it goes down", function()
    local nodes = jobs.nodes(6)
    nodes[1].events = { jobs.event({ mode = "down", from_s = 6 }) }
    local result = run({ nodes = nodes })
    assert.equal(0, result.error_share)
    assert.is_true(result.tries_per_request > 1)
    local unretried = run({ nodes = nodes, retry = { error = false, timeout = false, http_500 = false } })
    assert.is_true(unretried.error_share > 0)
    assert.equal(1, unretried.tries_per_request)
  end)

  it("brings nodes in by a reload, without an error", function()
    local nodes = jobs.nodes(4)
    nodes[5] = jobs.node("n5", { joins_at_s = 7 })
    local result = run({ nodes = nodes, rate_per_s = 800 })
    assert.equal(0, result.error_share)
    assert.equal(0, #result.faults)
    -- A new node begins with a fifth of its share: 0.2 of 4.2.
    assert.is_true(result.shares[5] > 0.035 and result.shares[5] < 0.07, "share " .. result.shares[5])
  end)

  it("names what is wrong with the options of a strategy", function()
    assert.has_error(function()
      run({ strategy_options = { revisit = 1 } })
    end)
  end)
end)
