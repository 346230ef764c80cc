-- Priority classes: vip to the least loaded nodes, batch away from busy ones, nothing for strangers.
local upstreams = require("upstreams")
local candidates = require("resty.ax.dataplane.candidates")
local pick = require("resty.ax.dataplane.pick")
local requests = require("resty.ax.dataplane.requests")
local random = require("resty.ax.core.random")
local registry = require("resty.ax.core.strategies.registry")
local classes = require("resty.ax.core.classes")
local options = require("resty.ax.core.config.options")
local problems = require("resty.ax.core.config.problems")
local validate = require("resty.ax.core.config.validate")

local function silent() end

local function new(strategy, n, config, seed)
  local given = { class_source = "$class" }
  for key, value in pairs(config or {}) do
    given[key] = value
  end
  return upstreams.new({ strategy = strategy, nodes = n, config = given, seed = seed or 1 })
end

local function load_with(up, in_flight)
  for node, count in ipairs(in_flight) do
    up.pool.in_flight[node] = count
  end
  candidates.refreshPlacement(up)
end

local function picked(up, class, tried)
  local record = requests.newRequestRecord()
  record.role = upstreams.role_of(up, class)
  for _, node in ipairs(tried or {}) do
    requests.addTry(record, up, node)
  end
  return pick.pickNode(up, record, 1000, silent)
end

describe("a vip request", function()
  it("goes to the least loaded quarter, whatever the strategy", function()
    for name in pairs(registry.strategies) do
      local up = new(name, 8)
      load_with(up, { 9, 3, 7, 0, 8, 5, 1, 6 })
      for _ = 1, 50 do
        local node = picked(up, "vip")
        assert.is_true(node == 3 or node == 6, name .. " picked " .. node)
      end
    end
  end)

  it("goes to the least loaded node when all are over what was usual", function()
    local up = new("random", 4)
    load_with(up, { 1, 1, 1, 1 })
    for node, count in ipairs({ 4, 3, 2, 5 }) do
      up.pool.in_flight[node] = count
    end
    assert.equal(2, picked(up, "vip"))
  end)

  it("does not go by what was usual at the last flush in a small pool", function()
    for name in pairs(registry.strategies) do
      for n = 2, 16 do
        local up = new(name, n)
        local loads = {}
        for node = 1, n do
          loads[node] = 2
        end
        load_with(up, loads)
        -- The others have answered since.
        for node = 2, n do
          up.pool.in_flight[node] = 0
        end
        for _ = 1, 20 do
          local node = picked(up, "vip")
          assert.is_true(node > 0, name .. " picked the busy one of " .. n)
        end
      end
    end
  end)

  it("counts load per weight", function()
    local up = upstreams.new({
      strategy = "round_robin",
      nodes = { { "big", { weight = 10 } }, { "small", { weight = 1 } } },
      config = { class_source = "vip" },
    })
    load_with(up, { 5, 2 })
    for _ = 1, 20 do
      assert.equal(0, picked(up, "vip"))
    end
  end)
end)

describe("a batch request", function()
  it("keeps away from the busier half under load, whatever the strategy", function()
    for name in pairs(registry.strategies) do
      local up = new(name, 6)
      load_with(up, { 9, 2, 8, 1, 9, 3 })
      for _ = 1, 50 do
        local node = picked(up, "batch")
        assert.is_true(node == 1 or node == 3 or node == 5, name .. " picked " .. node)
      end
    end
  end)

  it("goes anywhere while nothing is busy", function()
    local up = new("random", 4)
    load_with(up, { 1, 0, 1, 0 })
    local seen = {}
    for _ = 1, 200 do
      seen[picked(up, "batch")] = true
    end
    assert.equal(4, #{ seen[0], seen[1], seen[2], seen[3] })
  end)

  it("does not take a node with one request in flight for busy, where most have none", function()
    local up = new("random", 4)
    load_with(up, { 0, 0, 0, 1 })
    local seen = {}
    for _ = 1, 200 do
      seen[picked(up, "batch")] = true
    end
    assert.is_true(seen[3])
  end)

  it("keeps away from a node past half its capacity even where that is usual", function()
    local up = new("random", 3, { max_concurrency_per_node = 10 })
    load_with(up, { 6, 6, 5 })
    for _ = 1, 50 do
      assert.equal(2, picked(up, "batch"))
    end
  end)

  it("is served all the same when every node is busy", function()
    local up = new("round_robin", 3, { max_concurrency_per_node = 10 })
    load_with(up, { 9, 8, 9 })
    assert.equal(1, picked(up, "batch"))
  end)

  it("goes to no node twice", function()
    local up = new("random", 3)
    load_with(up, { 0, 9, 9 })
    for _ = 1, 20 do
      assert.is_not.equal(0, picked(up, "batch", { 0 }))
      assert.equal(2, picked(up, "batch", { 0, 1 }))
    end
  end)
end)

describe("every role", function()
  it("gets a candidate, whatever the loads, weights, zones and limits", function()
    local rng = random.newRandom(31)
    for _ = 1, 1500 do
      local n = 1 + random.drawBelow(rng, 8)
      local nodes = {}
      for k = 1, n do
        local weight = ({ 0, 1, 100 })[1 + random.drawBelow(rng, 3)]
        local limit = ({ 0, 0, 3 })[1 + random.drawBelow(rng, 3)]
        nodes[k] = { "n" .. k, { weight = weight, max_conns = limit, zone = random.draw(rng) < 0.5 and "a" or "b" } }
      end
      local up = upstreams.new({
        strategy = "least_conn",
        nodes = nodes,
        config = { zone = "a", class_source = "$class" },
        seed = random.drawBelow(rng, 1e6),
      })
      for node = 1, n do
        up.pool.in_flight[node] = random.drawBelow(rng, 6)
        if random.draw(rng) < 0.3 then
          up.state[node] = "ejected"
        end
      end
      upstreams.flush(up)
      for _, class in ipairs({ "vip", "normal", "batch" }) do
        local record = requests.newRequestRecord()
        record.role = upstreams.role_of(up, class)
        local seen = {}
        for _ = 1, n do
          local node = pick.pickNode(up, record, 1000, silent)
          assert.is_true(node >= 0 and node < n)
          assert.is_nil(seen[node])
          seen[node] = true
          requests.addTry(record, up, node)
        end
      end
    end
  end)
end)

describe("a mistake in classes", function()
  local function problems_of(given)
    local found = problems.newProblems()
    given.nodes = { { address = "10.0.0.1:80" } }
    local fields = options.configFields({ adaptive = {} })
    validate.validate({ upstreams = { backend = given } }, fields, "", found)
    local lines = {}
    for k, problem in ipairs(found.list) do
      lines[k] = problem.path:gsub("upstreams%.backend%.", "") .. ": " .. problem.text
    end
    return lines
  end

  it("is named with its place, what is needed and the nearest known word", function()
    assert.same({
      'classes.trading: "vipp" is not known; "vip", "normal", "batch" or a whole number 1..5 is needed; '
        .. 'did you mean "vip"?',
    }, problems_of({ classes = { trading = "vipp" } }))
    assert.same({
      'class_source: "tradng" is no class here; "$variable", "header:Name" or one of "reports", "trading" is needed; '
        .. 'did you mean "trading"?',
    }, problems_of({ class_source = "tradng", classes = { trading = "vip", reports = "batch" } }))
    assert.same({
      'class_source: "header:X Class" is no class source; "$variable", "header:Name", the name of a class, or in a Lua '
        .. "table a function that returns one, is needed",
    }, problems_of({ class_source = "header:X Class" }))
    assert.same({
      'classes: is empty; a map of class names to what they stand for, '
        .. '{ trading = "vip", reports = "batch" }, is needed',
    }, problems_of({ classes = {}, class_source = "vip" }))
  end)
end)

describe("a class", function()
  it("may have any name", function()
    local up = new("random", 2, { classes = { trading = "vip", reports = "batch" } })
    assert.equal(1, upstreams.role_of(up, "trading"))
    assert.equal(2, upstreams.role_of(up, "reports"))
    assert.equal(0, upstreams.role_of(up, "vip"))
  end)

  it("that is unknown, absent or hostile is normal", function()
    local up = new("random", 2)
    for _, name in ipairs({ "", "VIP", "vip ", "__index", "constructor", ("x"):rep(100000), "\0", "vip\r\nX: y" }) do
      assert.equal(0, upstreams.role_of(up, name))
    end
    assert.equal(0, upstreams.role_of(up, nil))
  end)

  it("comes from a variable, a header, or is the same for all", function()
    assert.same({ variable = "ax_class", from_client = false }, classes.parseClassSource("$ax_class"))
    assert.same({ variable = "http_x_job_class", from_client = true }, classes.parseClassSource("header:X-Job-Class"))
    assert.same({ constant = "batch", from_client = false }, classes.parseClassSource("batch"))
    for _, text in ipairs({ "$", "$a-b", "$a b", "header:", "header:X Y", "header:X\n" }) do
      assert.is_nil(classes.parseClassSource(text))
    end
  end)

  it("costs nothing where none is configured", function()
    assert.is_nil(upstreams.new({ strategy = "random", nodes = 2 }).placement)
  end)
end)
