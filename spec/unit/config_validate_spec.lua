local cjson = require("cjson.safe")
local options = require("resty.ax.core.config.options")
local problems_of = require("resty.ax.core.config.problems")
local suggest = require("resty.ax.core.config.suggest")
local upstream_options = require("resty.ax.core.config.upstream_options")
local nodes = require("resty.ax.core.config.nodes")
local validate = require("resty.ax.core.config.validate").validate

local function read_vectors(name)
  local file = assert(io.open("spec/vectors/" .. name .. ".json"))
  local vectors = assert(cjson.decode(file:read("*a")))
  file:close()
  return vectors
end

local vectors = read_vectors("config")
local texts = read_vectors("config_texts")

local function check(input)
  local problems = problems_of.newProblems()
  local record = validate(input, options.configFields(vectors.strategies), "", problems)
  local lines = {}
  for i, problem in ipairs(problems.list) do
    lines[i] = problem.path .. ": " .. problem.text
  end
  return lines, record, problems.total
end

--- Problems of one upstream's options, without the path in front.
local function check_upstream(input)
  local lines = check({ upstreams = { u = input } })
  for i, line in ipairs(lines) do
    lines[i] = line:gsub("^upstreams%.u%.?", "")
  end
  return lines
end

describe("configuration vectors", function()
  for _, vector in ipairs(vectors.cases) do
    it(vector.name, function()
      local lines, record, total = check(vector.input)
      assert.same(vector.problems, lines)
      assert.equal(vector.total, total)
      if vector.config then
        assert.same(vector.config, record)
      end
    end)
  end
end)

describe("nearest known words", function()
  for _, case in ipairs(texts.suggestions) do
    it(('"%s" among %s'):format(case.word, table.concat(case.known, ", ")), function()
      local nearest = case.nearest ~= cjson.null and case.nearest or nil
      assert.equal(nearest, suggest.suggest(case.word, case.known))
    end)
  end

  for _, case in ipairs(texts.distances) do
    it(('counts %d edits between "%s" and "%s"'):format(case.edits, case.a, case.b), function()
      assert.equal(case.edits, suggest.distance(case.a, case.b))
    end)
  end
end)

describe("values that only Lua has", function()
  it("takes an empty table as a list and as a map", function()
    assert.same({}, check_upstream({ strategy_options = {} }))
    assert.same(
      { 'nodes: is empty; a list of nodes, { { address = "10.0.0.1:8080" }, ... }, is needed' },
      check_upstream({ nodes = {} })
    )
  end)

  it("names numbers that are none", function()
    assert.same({
      "ramp_from: NaN is not a finite number; a number 0.01..1 is needed",
      "score_max: infinity is not a finite number; a number 1..10 is needed",
      "weight_step: -infinity is not a finite number; a number 0.01..10 is needed",
    }, check_upstream({ ramp_from = 0 / 0, score_max = math.huge, weight_step = -math.huge }))
  end)

  it("refuses a list with holes", function()
    local node = { address = "10.0.0.1:80" }
    assert.same({
      'nodes: a list of 2 with holes in it is given; '
        .. 'a list of nodes, { { address = "10.0.0.1:8080" }, ... }, is needed',
    }, check_upstream({ nodes = { [1] = node, [3] = node } }))
  end)

  it("refuses a mixture of list and map", function()
    local node = { address = "10.0.0.1:80" }
    assert.same({
      'nodes: a mixture of list and map, with the keys "address" and 1 more, is given; '
        .. 'a list of nodes, { { address = "10.0.0.1:8080" }, ... }, is needed',
    }, check_upstream({ nodes = { node, address = "10.0.0.2:80" } }))
    assert.same({
      'nodes[1][1]: "10.0.0.1:80" has no name: its key is the number 1; write name = value',
      'nodes[1].address: is missing; "10.0.0.1:8080", "[::1]:8080" or "unix:/run/x.sock" is needed',
    }, check_upstream({ nodes = { { "10.0.0.1:80", weight = 5 } } }))
  end)

  it("refuses keys that are no strings", function()
    assert.same({
      "upstreams[1.5]: an empty table has no name: its key is the number 1.5; write name = value",
      "upstreams[a function]: 5 has no name: its key is a function; write name = value",
      "upstreams[true]: \"x\" has no name: its key is true; write name = value",
      "upstreams: is empty; a map of upstream names to their options, { backend = {} }, is needed",
    }, check({ upstreams = { [1.5] = {}, [true] = "x", [print] = 5 } }))
  end)

  it("refuses functions, coroutines, userdata and cdata", function()
    local cdata = require("ffi").new("int64_t", 5)
    assert.same({
      "cool_down_s: a cdata is given; a number 1..86400 s is needed",
      "max_tries: a function is given; a whole number 0..1000 is needed",
      "ramp_s: a thread is given; a number 0..3600 s is needed",
      "strategy_module: a userdata is given; a string is needed",
    }, check_upstream({
      max_tries = print,
      ramp_s = coroutine.create(print),
      strategy_module = io.stdout,
      cool_down_s = cdata,
    }))
  end)

  it("passes anything on to a custom strategy", function()
    local given = { f = print, t = { 1, 2, x = {} }, gone = cjson.null }
    local lines, record = check({ upstreams = { u = { strategy_module = "m", strategy_options = given } } })
    assert.same({}, lines)
    assert.same({ f = print, t = given.t }, record.upstreams.u.strategy_options)
  end)

  it("follows the schema, not the value, into cyclic tables", function()
    local cyclic = {}
    for _, key in ipairs({ "upstreams", "nodes", "strategy_options", "labels", "a", "ramp_s" }) do
      cyclic[key] = cyclic
    end
    local lines = check(cyclic)
    assert.is_true(#lines > 0)
    local list = {}
    list[1] = list
    assert.is_true(#check({ upstreams = { u = { nodes = list } } }) > 0)
  end)

  it("cuts long strings between characters", function()
    local text = ("x"):rep(59) .. ("\195\164"):rep(20)
    local line = check_upstream({ strategy = text })[1]
    assert.equal('strategy: "' .. ("x"):rep(59) .. '..."', line:match("^(.-) is not"))
  end)
end)

describe("every number option", function()
  local groups = {
    { upstream_options.upstreamFields(vectors.strategies), "upstreams.u.", function(key, value)
      return { upstreams = { u = { [key] = value } } }
    end },
    { nodes.nodeFields, "upstreams.u.nodes[1].", function(key, value)
      return { upstreams = { u = { nodes = { { address = "10.0.0.1:80", [key] = value } } } } }
    end },
    { options.configFields(vectors.strategies), "", function(key, value)
      return { upstreams = { u = {} }, [key] = value }
    end },
  }

  local function assert_refused(group, key, value)
    local path = group[2] .. key .. ": "
    for _, line in ipairs(check(group[3](key, value))) do
      if line:sub(1, #path) == path then
        return
      end
    end
    error(("%s%s was taken"):format(path, tostring(value)))
  end

  for _, group in ipairs(groups) do
    for key, field in pairs(group[1]) do
      if field.kind == "number" then
        it(group[2] .. key .. " refuses what is outside its range, or no number", function()
          local step = field.integer and 1 or 0.001
          local wrong = { field.min - step, field.max + step, tostring(field.min), true, {}, 0 / 0, math.huge }
          if field.integer then
            wrong[#wrong + 1] = field.min + 0.5
          end
          for _, value in ipairs(wrong) do
            assert_refused(group, key, value)
          end
        end)

        it(group[2] .. key .. " takes its default", function()
          assert.same({}, (check(group[3](key, field.default))))
        end)
      end
    end
  end
end)
