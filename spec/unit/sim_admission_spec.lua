-- access(), limits and the queue in the simulator: the library's own code in virtual time.
local engine = require("sim.engine")
local jobs = require("sim_jobs")

local CLASSES = {
  { name = "vip", share = 0.2, work = 1 },
  { name = "batch", share = 0.8, work = 1 },
}

local function upstream(given)
  local all = { class_source = "$class", max_concurrency_per_node = 5, max_overflow_ratio = 0 }
  all.queue = { size = 60, timeout_ms = 500 }
  for key, value in pairs(given or {}) do
    all[key] = value
  end
  return all
end

local function run(given)
  local job = { access = true, rho = 1.5, duration_s = 4, warmup_s = 2, classes = CLASSES, upstream = upstream() }
  for key, value in pairs(given or {}) do
    job[key] = value
  end
  local result = engine.simulate(jobs.job(job))
  assert.equal(result.begun, result.ended)
  assert.same({}, result.faults)
  return result
end

local function reasons(result)
  local seen = {}
  for _, refused in ipairs(result.refused) do
    seen[refused.reason] = refused
  end
  return seen
end

local function class(result, name)
  for _, each in ipairs(result.classes) do
    if each.name == name then
      return each
    end
  end
end

describe("admission in the simulator", function()
  it("under overload uses all of the capacity, serves the first class first, and refuses the rest at once", function()
    local calm = run({ rho = 0.6 })
    local busy = run()
    assert.is_true(busy.goodput_per_s > 0.97 * busy.capacity_per_s, busy.goodput_per_s / busy.capacity_per_s)
    assert.equal(0, busy.error_share)
    assert.equal(0, class(busy, "vip").refused_share)
    assert.is_true(class(busy, "vip").p99_ms < 1.25 * class(calm, "vip").p99_ms)
    assert.is_true(class(busy, "batch").p50_ms > 2 * class(calm, "batch").p50_ms)
    -- A third of the load is too much; all of it is batch.
    assert.is_true(math.abs(busy.refused_share - 1 / 3) < 0.04, busy.refused_share)
    assert.equal(0, reasons(busy).queue_full.p99_ms)
    assert.same({}, calm.refused)
  end)

  it("lets nobody wait longer than the queue's time-out", function()
    local result = run({ upstream = upstream({ queue = { size = 1000, timeout_ms = 100 } }) })
    local timed_out = reasons(result).queue_timeout
    assert.is_true(timed_out.share > 0.2)
    -- The gateway's clock has steps of 1 ms.
    assert.is_true(timed_out.p50_ms >= 99 and timed_out.p99_ms <= 101, timed_out.p99_ms)
  end)

  it("refuses at once where there is no queue, and at the gateway's rate", function()
    local limits = upstream()
    limits.queue = nil
    local full = reasons(run({ upstream = limits }))
    assert.is_true(full.overloaded.share > 0.3)
    local rate = reasons(run({ init = { global_qps_limit = 300 }, rate_per_s = 1200 }))
    -- Two gateways, each with a limit of its own.
    assert.is_true(math.abs(rate.qps.share - 0.5) < 0.05, rate.qps.share)
  end)

  it("refuses without access() what finds every node full", function()
    local result = run({ access = false })
    assert.is_true(reasons(result)["no room"].share > 0.3)
    assert.is_nil(reasons(result).queue_full)
  end)

  it("keeps limits exactly: a pool whose slots are never exceeded has no line behind them", function()
    -- Two gateways with 4 each fill the 8 slots of a node: nobody waits at a node, whatever comes.
    local result = run({
      service = jobs.service({ distribution = "fixed" }),
      upstream = upstream({ max_concurrency_per_node = 4, queue = { size = 1, timeout_ms = 1 } }),
    })
    assert.is_true(result.p999_ms < 20 + 2 * 0.5 + 1 + 1, result.p999_ms)
  end)

  it("does not give what waits to a node that fails at once, although its places are always free", function()
    local nodes = jobs.nodes(6)
    nodes[6] = jobs.node("n6", { events = { jobs.event({ from_s = 3, mode = "black_hole" }) } })
    local result = run({ nodes = nodes, rho = 1.4 })
    -- Of what is too much a third would fit through the hole.
    assert.is_true(result.error_share < 0.02, result.error_share)
    assert.is_true(result.goodput_per_s > 0.95 * result.capacity_per_s * 5 / 6)
  end)

  it("holds nothing back where all nodes fail alike: what does not fail is served", function()
    local share = 0.6
    local function failing(given)
      given.error_share = share
      return jobs.nodes(6, { events = { jobs.event(given) } })
    end
    -- At once: failures take nothing of the nodes' time.
    local at_once = run({ nodes = failing({}), rho = 1.2 })
    assert.is_true(math.abs(at_once.error_share / share - 1) < 0.05, at_once.error_share)
    assert.same({}, at_once.refused)
    -- After their work: the nodes are as busy as with requests that they serve, and of 1 request 0.4 are answered.
    local worked = run({ nodes = failing({ errors_work = true }), rho = 0.8 / (1 - share) })
    assert.is_true(math.abs(worked.error_share / share - 1) < 0.05, worked.error_share)
    assert.same({}, worked.refused)
    local busy = run({ nodes = failing({ errors_work = true }), rho = 1.5 / (1 - share) })
    assert.is_true(math.abs(busy.goodput_per_s / busy.capacity_per_s - 1) < 0.06)
  end)

  it("serves what waits in workers that a reload has replaced", function()
    local nodes = jobs.nodes(3)
    nodes[4] = jobs.node("n4", { joins_at_s = 3 })
    local result = run({ nodes = nodes, workers = 2 })
    assert.equal(0, result.error_share)
    assert.is_true(result.goodput_per_s > 0.9 * result.capacity_per_s)
  end)

  it("gives the same result for the same seed", function()
    assert.same(run({ duration_s = 1 }), run({ duration_s = 1 }))
  end)
end)
