-- Goals: scores from signals, two choices by them, ceilings, cheap nodes first.
local cjson = require("cjson.safe")
local upstreams = require("upstreams")
local apply_snapshot = require("resty.ax.dataplane.apply_snapshot")
local candidates = require("resty.ax.dataplane.candidates")
local prepare = require("resty.ax.dataplane.prepare")
local pick = require("resty.ax.dataplane.pick")
local requests = require("resty.ax.dataplane.requests")
local random = require("resty.ax.core.random")
local scoring = require("resty.ax.core.scoring")
local goals = require("resty.ax.core.goals")
local options = require("resty.ax.core.config.options")
local problems = require("resty.ax.core.config.problems")
local validate = require("resty.ax.core.config.validate")
local registry = require("resty.ax.core.strategies.registry")

local function silent() end

local function new(goal, nodes, given)
  local spec_options = { goal = goal }
  for key, value in pairs(given or {}) do
    spec_options[key] = value
  end
  return upstreams.new({ strategy = "goal", nodes = nodes, options = spec_options, seed = 9 })
end

local function one_pick(up, record)
  return pick.pickNode(up, record or requests.newRequestRecord(), 1000, silent)
end

local function shares(up, n)
  local counts = {}
  for node = 0, up.pool.n - 1 do
    counts[node] = 0
  end
  for _ = 1, n do
    local node = one_pick(up)
    counts[node] = counts[node] + 1 / n
  end
  return counts
end

--- Sets measurements, as a snapshot does.
local function know(up, field, values)
  for node, value in ipairs(values) do
    up.pool[field][node] = value
    up.pool.samples[node] = 100
  end
  upstreams.flush(up)
end

local function fill(up)
  local node = one_pick(up)
  up.pool.in_flight[node + 1] = up.pool.in_flight[node + 1] + 1
  return node
end

local file = assert(io.open("spec/vectors/scoring.json"))
local vectors = assert(cjson.decode(file:read("*a")))
file:close()

local function score(scorer, pool, nodes, scores)
  scoring.measureSignals(scorer, pool, nodes, #nodes)
  scoring.scoreNodes(scorer, pool, nodes, 0, #nodes, scores)
end

describe("scores", function()
  for _, case in ipairs(vectors.cases) do
    it(case.name, function()
      local nodes, samples, scores = {}, {}, {}
      for k, ms in ipairs(case.latency_ms) do
        nodes[k], samples[k] = k - 1, ms < 0 and 0 or 1
      end
      local scorer = scoring.newScorer({ { name = "latency", weight = 2, normaliser = case.normaliser } })
      local pool = { latency_ms = case.latency_ms, samples = samples }
      score(scorer, pool, nodes, scores)
      for k, expected in ipairs(case.scores) do
        assert.is_true(math.abs(expected - scores[k]) < 1e-9, ("node %d: %.17g"):format(k, scores[k]))
      end
    end)
  end

  it("are 0..1 for every goal, whatever the raw values, and better for a node better in everything", function()
    local rng = random.newRandom(21)
    for name, goal in pairs(goals.GOALS) do
      for _ = 1, 40 do
        local n = 2 + random.drawBelow(rng, 400)
        local up = new(name, n)
        for node = 1, n do
          up.pool.latency_ms[node] = 10 ^ (random.draw(rng) * 5)
          up.pool.p99_ms[node] = random.draw(rng) < 0.2 and -1 or 10 ^ (random.draw(rng) * 5)
          up.pool.success[node] = 0.5 + random.draw(rng) / 2
          up.pool.samples[node] = random.drawBelow(rng, 3)
          up.pool.in_flight[node] = 1 + random.drawBelow(rng, 100)
        end
        up.pool.latency_ms[1], up.pool.p99_ms[1], up.pool.success[1] = 0.5, 0.5, 1
        up.pool.in_flight[1], up.pool.samples[1] = 0, 5
        local scores = {}
        score(scoring.newScorer(goal.signals), up.pool, up.pool.candidates, scores)
        for k = 1, n do
          assert.is_true(scores[k] >= 0 and scores[k] <= 1)
          assert.is_true(scores[1] >= scores[k] - 1e-9, name)
        end
      end
    end
  end)

  it("are 0..1 for a node with data among many without, whichever nodes the sample looks at", function()
    for name in pairs(scoring.NORMALISERS) do
      local scorer = scoring.newScorer({ { name = "latency", weight = 1, normaliser = name } })
      -- A gateway that has just started: one node of a thousand has answered.
      for answered = 1, 8 do
        local up = new("latency", 1000)
        up.pool.samples[answered] = 3
        local scores = {}
        score(scorer, up.pool, up.pool.candidates, scores)
        for k = 1, 1000 do
          assert.is_true(scores[k] >= 0 and scores[k] <= 1, ("%s, node %d: %s"):format(name, k, scores[k]))
        end
      end
    end
  end)

  it("compare with the P95 of the last seconds, not of one moment", function()
    local scorer = scoring.newScorer({ { name = "latency", weight = 1, normaliser = "p95" } })
    local scores = {}
    local calm = { latency_ms = { 10, 100 }, samples = { 1, 1 } }
    score(scorer, { latency_ms = { 100, 100 }, samples = { 1, 1 } }, { 0, 1 }, scores)
    score(scorer, calm, { 0, 1 }, scores)
    assert.is_true(scores[1] > 0.85 and scores[1] < 0.95)
    for _ = 1, 100 do
      score(scorer, calm, { 0, 1 }, scores)
    end
    assert.is_true(math.abs(scores[1]) < 0.01, "10 ms is the P95 of two by then")
  end)
end)

describe("the goal", function()
  it("latency prefers the fast, without giving them everything", function()
    local up = new("latency", 4)
    know(up, "latency_ms", { 5, 50, 50, 50 })
    local found = shares(up, 20000)
    assert.is_true(found[0] > 0.4 and found[0] < 0.8)
    assert.is_true(found[1] > 0.05)
  end)

  it("p99 looks at the tail, not at the mean", function()
    local up = new("p99", 2)
    know(up, "latency_ms", { 5, 20 })
    know(up, "p99_ms", { 900, 60 })
    assert.is_true(shares(up, 5000)[1] > 0.7)
  end)

  it("throughput keeps every node in use", function()
    local up = new("throughput", 5)
    know(up, "latency_ms", { 10, 12, 40, 60, 80 })
    for _ = 1, 400 do
      fill(up)
    end
    for node = 1, 5 do
      assert.is_true(up.pool.in_flight[node] >= 40)
    end
  end)

  it("cost uses the cheap nodes first, and the dear ones for what is over the ceiling", function()
    local up = new("cost", {
      { "dear", { cost = 5, max_conns = 10 } },
      { "cheap", { cost = 1, max_conns = 10 } },
      { "middle", { cost = 2, max_conns = 10 } },
    })
    local order = {}
    for k = 1, 24 do
      order[k] = fill(up)
    end
    for k = 1, 24 do
      -- 8 of 10 each: the ceiling is 0.8.
      assert.equal(({ 1, 2, 0 })[math.ceil(k / 8)], order[k])
    end
    -- All at the ceiling: spread, no node over its limit.
    for _ = 1, 6 do
      fill(up)
    end
    assert.same({ 10, 10, 10 }, up.pool.in_flight)
  end)

  it("cost returns to the cheap node as soon as it has room", function()
    local up = new("cost", { { "cheap", { max_conns = 10 } }, { "dear", { cost = 9, max_conns = 10 } } })
    up.pool.in_flight[1] = 8
    assert.equal(1, one_pick(up))
    up.pool.in_flight[1] = 7
    assert.equal(0, one_pick(up))
  end)

  it("stability takes no node over its ceiling while another is under", function()
    local rng = random.newRandom(4)
    for _ = 1, 300 do
      local n = 2 + random.drawBelow(rng, 6)
      local up = new("stability", n, { ceiling = 0.5 })
      local room = 0
      for node = 1, n do
        up.pool.capacity[node] = 10
        up.pool.in_flight[node] = random.drawBelow(rng, 8)
        room = room + math.max(0, 5 - up.pool.in_flight[node])
      end
      for _ = 1, room do
        local node = fill(up)
        assert.is_true(up.pool.in_flight[node + 1] <= 5)
      end
      assert.is_true(one_pick(up) >= 0)
    end
  end)
end)

describe("the goal resource", function()
  --- Scores of three nodes that differ in what they report.
  local function scores_of(cpu)
    local up = new("resource", 3)
    know(up, "latency_ms", { 20, 20, 20 })
    up.pool.reports.cpu = cpu
    upstreams.flush(up)
    return up.strategy_state.scores
  end

  it("is the reference score: 1 - (0.5 cpu + 0.3 response time + 0.2 connections)", function()
    local found = scores_of({ 0.2, 0.4, 0.9 })
    -- All answer in as long as the P95, and none has a connection.
    for node, cpu in ipairs({ 0.2, 0.4, 0.9 }) do
      assert.is_true(math.abs(found[node] - (1 - (0.5 * cpu + 0.3))) < 1e-9, node .. ": " .. found[node])
    end
  end)

  it("takes a node that reports nothing for the mean of the others, and goes by the rest when none does", function()
    local found = scores_of({ 0.2, -1, 0.8 })
    assert.is_true(math.abs(found[2] - (found[1] + found[3]) / 2) < 1e-9)
    found = scores_of(nil)
    assert.is_true(found[1] == found[2] and found[2] == found[3])
    local up = new("resource", 3)
    know(up, "latency_ms", { 5, 50, 50 })
    -- Scores 0.72, 0.45, 0.45: it is one of the two drawn, and wins.
    assert.is_true(math.abs(shares(up, 9000)[0] - (1 - (0.9 / 1.62) ^ 2)) < 0.03)
  end)
end)

describe("goal", function()
  it("picks at random when no node scores anything", function()
    local up = new("latency", 3, { signals = { { name = "latency", weight = 1, normaliser = "p95" } } })
    know(up, "latency_ms", { 50, 50, 50 })
    for _, share in pairs(shares(up, 9000)) do
      assert.is_true(math.abs(share - 1 / 3) < 0.03)
    end
  end)

  --- Shares of picks from a list: retries of requests that have tried the last node.
  local function listed_shares(up, n)
    local record = requests.newRequestRecord()
    requests.addTry(record, up, up.pool.n - 1)
    local counts = {}
    for node = 0, up.pool.n - 2 do
      counts[node] = 0
    end
    for _ = 1, n do
      local node = one_pick(up, record)
      counts[node] = counts[node] + 1 / n
    end
    return counts
  end

  it("draws from lists too: equal nodes and better ones get their shares", function()
    local up = new("latency", 4)
    for _, share in pairs(listed_shares(up, 9000)) do
      assert.is_true(math.abs(share - 1 / 3) < 0.03)
    end
    know(up, "latency_ms", { 50, 5, 50, 50 })
    local found = listed_shares(up, 9000)
    assert.is_true(found[1] > 0.5 and found[1] < 0.95)
    assert.is_true(found[0] > 0.02 and found[2] > 0.02)
  end)

  it("gives a node of a list nothing over its ceiling while another is under its own", function()
    local limit = { max_conns = 10 }
    local up = new("latency", { { "a", limit }, { "b", limit }, { "c", limit }, { "tried" } }, { ceiling = 0.5 })
    up.pool.in_flight = { 5, 0, 9, 0 }
    assert.same({ [0] = 0, 1, 0 }, listed_shares(up, 1))
    for _ = 1, 100 do
      assert.equal(1, listed_shares(up, 1)[1])
    end
    -- All over it: the fewest requests in flight.
    up.pool.in_flight = { 8, 9, 7, 0 }
    assert.same({ [0] = 0, 0, 1 }, listed_shares(up, 1))
  end)

  it("takes the cheapest nodes of a list that are under the ceiling", function()
    local up = new("cost", {
      { "dear", { cost = 5, max_conns = 10 } },
      { "cheap", { cost = 1, max_conns = 10 } },
      { "middle", { cost = 2, max_conns = 10 } },
      { "tried" },
    })
    up.pool.in_flight = { 0, 7, 0, 0 }
    assert.same({ [0] = 0, 1, 0 }, listed_shares(up, 1))
    up.pool.in_flight = { 0, 8, 0, 0 }
    assert.same({ [0] = 0, 0, 1 }, listed_shares(up, 1))
    up.pool.in_flight = { 0, 8, 8, 0 }
    assert.same({ [0] = 1, 0, 0 }, listed_shares(up, 1))
  end)

  it("lets no node's score fall so low that nobody sees it recover", function()
    local signals = { { name = "latency", weight = 1, normaliser = "p95" } }
    local up = new("latency", 40, { signals = signals })
    local known = {}
    for node = 1, 40 do
      known[node] = node <= 3 and 100 or 10
    end
    know(up, "latency_ms", known)
    for node = 1, 3 do
      assert.is_true(up.strategy_state.share[node] >= 0.02)
      assert.is_true(up.strategy_state.share[node] < 0.1)
    end
  end)

  it("draws from a list of nodes of weight 0, too, when there is nothing else", function()
    local up = new("cost", { { "a", { weight = 0 } }, { "b", { weight = 0 } }, { "c", { cost = 0 } } })
    local record = requests.newRequestRecord()
    requests.addTry(record, up, 2)
    local counts = { [0] = 0, [1] = 0 }
    for _ = 1, 3000 do
      local node = one_pick(up, record)
      counts[node] = counts[node] + 1
    end
    assert.is_true(math.abs(counts[0] / 3000 - 0.5) < 0.05)
  end)

  it("takes signals of the user's own, and their direction", function()
    local up = upstreams.new({
      strategy = "goal",
      nodes = { { "light", { weight = 1 } }, { "heavy", { weight = 2 } } },
      options = {
        goal = "latency",
        signals = { { name = "latency", weight = 1, normaliser = "percentile", direction = "high" } },
      },
    })
    know(up, "latency_ms", { 100, 10 })
    local upside_down = shares(up, 5000)[0]
    assert.is_true(upside_down > 0.6)
  end)

  it("never takes failures for speed", function()
    local up = new("latency", 2)
    know(up, "latency_ms", { 1, 20 })
    up.pool.success[1] = 0.2
    -- By the old table, live load turns all away but those for which both draws are the node.
    assert.is_true(shares(up, 2000)[0] < 0.75)
    upstreams.flush(up)
    assert.is_true(shares(up, 2000)[0] < 0.02)
  end)

  it("scores anew when a snapshot comes, not per pick", function()
    local up = new("latency", 2)
    know(up, "latency_ms", { 10, 100 })
    one_pick(up)
    up.pool.latency_ms[1], up.pool.latency_ms[2] = 100, 10
    assert.is_true(shares(up, 2000)[0] > 0.7)
    local nodes = {}
    for k, ms in ipairs({ 100, 10 }) do
      nodes["n" .. k] = { state = "online", weight = 1, static_weight = 1, success = 1, latency_ms = ms, samples = 50 }
    end
    apply_snapshot.applySnapshot(up, { generation = 1, at_ms = 9000, nodes = nodes }, 9000)
    assert.is_true(shares(up, 2000)[0] > 0.7, "picks build nothing: the old table until the flush has made the new")
    prepare.prepareWhole(up, 9000)
    assert.is_true(shares(up, 2000)[0] < 0.3)
  end)

  it("scores very many nodes a slice at a time, and picks by the old scores until all are done", function()
    local up = new("latency", 2500)
    know(up, "latency_ms", (function()
      local list = {}
      for node = 1, 2500 do
        list[node] = node <= 1250 and 200 or 10
      end
      return list
    end)())
    local function slow_share()
      local slow = 0
      for _ = 1, 2000 do
        slow = slow + (one_pick(up) < 1250 and 1 or 0)
      end
      return slow / 2000
    end
    assert.is_true(slow_share() < 0.2)
    for node = 1, 2500 do
      up.pool.latency_ms[node] = node <= 1250 and 10 or 200
    end
    candidates.rebuildCandidates(up)
    local slices = 0
    repeat
      assert.is_true(slow_share() < 0.2)
      slices = slices + 1
    until not up.strategy.prepare(up.strategy_state, up.pool, 1000)
    assert.equal(3, slices)
    assert.is_true(slow_share() > 0.8)
  end)

  it("tells what is wrong with its options, and what was probably meant", function()
    local found = problems.newProblems()
    local fields = options.configFields({ goal = registry.strategies.goal.options })
    validate.validate({
      upstreams = {
        backend = {
          strategy = "goal",
          nodes = { { address = "10.0.0.1:80" } },
          strategy_options = {
            goal = "latncy",
            signals = {
              { name = "cpus", normaliser = "percentil", weight = 0 },
              { name = "latency", normaliser = "share", direction = "lo" },
            },
          },
        },
      },
    }, fields, "", found)
    local lines = {}
    for k, problem in ipairs(found.list) do
      lines[k] = problem.path:gsub("upstreams%.backend%.strategy_options%.?", "") .. ": " .. problem.text
    end
    table.sort(lines)
    assert.equal(
      'goal: "latncy" is not known; one of "cost", "latency", "p99", "resource", "stability", "throughput" is '
        .. 'needed; did you mean "latency"?',
      lines[1]
    )
    assert.truthy(lines[2]:find('signals[1].name: "cpus" is not known; one of "cost", "cpu", "in_flight"', 1, true))
    assert.truthy(lines[3]:find('did you mean "percentile"?', 1, true))
    assert.equal("signals[1].weight: 0 is too small; a number 0.001..1000 is needed", lines[4])
    assert.truthy(lines[5]:find('signals[2].direction: "lo" is not known', 1, true))
    assert.equal(
      'signals[2].normaliser: "share" takes signals that are shares (0..1); "latency" is none',
      lines[6]
    )
    assert.equal(6, #lines)
  end)
end)
