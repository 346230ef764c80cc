local cjson = require("cjson.safe")
local loadConfig = require("resty.ax.control.config").loadConfig
local nodes = require("resty.ax.core.config.nodes")
local upstream_options = require("resty.ax.core.config.upstream_options")

local strategies = {
  adaptive = { sample = { kind = "number", integer = true, min = 2, max = 64, default = 6, doc = "" } },
  round_robin = {},
}

local function server(host, port, more)
  local line = {
    name = host .. ":" .. port,
    host = host,
    port = port,
    weight = 1,
    max_conns = 0,
    backup = false,
    down = false,
  }
  for key, value in pairs(more or {}) do
    line[key] = value
  end
  return line
end

--- Dependencies that serve given files and upstream blocks, and remember what they were asked.
local function fake(given)
  given = given or {}
  local deps = { strategies = strategies, warnings = {}, logged = {}, adopted_from = {} }
  deps.readFile = function(path)
    local text = (given.files or {})[path]
    if text then
      return text
    end
    return nil, path .. ": No such file or directory"
  end
  deps.decodeJson = cjson.decode
  deps.adopt = function(upstream, conf_path)
    deps.adopted_from[upstream] = conf_path or "found"
    local servers = (given.blocks or {})[upstream]
    if servers then
      return { servers = servers, from = "/etc/nginx/nginx.conf", warnings = given.warnings or {} }
    end
    return nil, ('no upstream block "%s" in /etc/nginx/nginx.conf'):format(upstream)
  end
  deps.warn = function(text)
    table.insert(deps.warnings, text)
  end
  if given.log then
    deps.logError = function(text)
      table.insert(deps.logged, text)
    end
  end
  return deps
end

local function load(source, given)
  local deps = fake(given)
  local config, err = loadConfig(source, deps)
  return config, err, deps
end

local function ids_of(config, name)
  local ids = {}
  for i, node in ipairs(config.upstreams[name].nodes) do
    ids[i] = node.id
  end
  return ids
end

describe("loading a table", function()
  it("gives the model: defaults filled in, addresses parsed, nodes identified", function()
    local config = assert(load({
      upstreams = {
        backend = {
          nodes = {
            { address = "10.0.0.1:8080", weight = 5, labels = { zone = "a" } },
            { address = "[2001:DB8::0:2]:80", name = "two", backup = true },
            { address = "unix:/run/x.sock", down = true },
          },
        },
      },
    }))
    local backend = config.upstreams.backend
    assert.equal("ax", config.shared_dict)
    assert.equal("backend", backend.name)
    assert.equal("nodes", backend.nodes_from)
    assert.same({ sample = 6 }, backend.strategy_options)
    assert.same({
      {
        id = "10.0.0.1:8080", host = "10.0.0.1", port = 8080, weight = 5, max_fails = 10, fail_timeout_s = 30,
        max_conns = 0, backup = false, down = false, zone = "", cost = 1, labels = { zone = "a" },
      },
      {
        id = "two", host = "[2001:db8::2]", port = 80, weight = 1, max_fails = 10, fail_timeout_s = 30,
        max_conns = 0, backup = true, down = false, zone = "", cost = 1, labels = {},
      },
      {
        id = "unix:/run/x.sock", host = "unix:/run/x.sock", port = 0, weight = 1, max_fails = 10, fail_timeout_s = 30,
        max_conns = 0, backup = false, down = true, zone = "", cost = 1, labels = {},
      },
    }, backend.nodes)
  end)

  it("names five mistakes at once", function()
    local config, err = load({
      flush_interval_ms = 5,
      upstreams = {
        backend = {
          stratgy = "adaptive",
          nodes = { { address = "10.0.0.1:80" }, { address = "10.0.0.2:80", weight = "5" } },
          window_short_s = 40,
        },
        elsewhere = {},
      },
    })
    assert.is_nil(config)
    assert.equal(table.concat({
      "lua-resty-ax: 5 problems in the configuration (init):",
      "  1. flush_interval_ms: 5 is too small; a whole number 20..500 ms is needed",
      '  2. upstreams.backend.stratgy: unknown key; did you mean "strategy"?',
      '  3. upstreams.backend.nodes[2].weight: "5" is a string; a number 0..65535 is needed (write 5 without quotes)',
      "  4. upstreams.backend.window_long_s: 60 (the default) is less than 2 times window_short_s, which is 40; "
        .. "at least 80 s is needed",
      "  5. upstreams.elsewhere: no nodes given, and none adopted from nginx: "
        .. 'no upstream block "elsewhere" in /etc/nginx/nginx.conf',
    }, "\n"), err)
  end)

  it("says what it takes when given neither a table nor a path", function()
    for value, shown in pairs({ [5] = "5", [true] = "true", [print] = "a function" }) do
      local config, err = load(value)
      assert.is_nil(config)
      assert.equal(
        "lua-resty-ax: init takes a table of options or the path of a JSON file; " .. shown .. " is given", err
      )
    end
    assert.truthy(select(2, load(nil)):find("nothing is given", 1, true))
  end)

  it("leaves the given table alone", function()
    local options = { upstreams = { backend = { nodes = { { address = "10.0.0.1:80" } } } } }
    load(options)
    assert.same({ upstreams = { backend = { nodes = { { address = "10.0.0.1:80" } } } } }, options)
  end)
end)

describe("loading a JSON file", function()
  it("takes the same options, with null as absent", function()
    local text = [[{ "upstreams": { "backend": { "nodes": null, "strategy": "round_robin" } }, "nginx_conf": null }]]
    local config = assert(load("/etc/ax.json", {
      files = { ["/etc/ax.json"] = text },
      blocks = { backend = { server("10.0.0.1", 80) } },
    }))
    assert.equal("round_robin", config.upstreams.backend.strategy)
    assert.same({ "10.0.0.1:80" }, ids_of(config, "backend"))
  end)

  it("names the file in front of its problems", function()
    local _, err = load("/etc/ax.json", { files = { ["/etc/ax.json"] = "{}" } })
    assert.equal("lua-resty-ax: 1 problem in the configuration (/etc/ax.json):", err:match("^[^\n]+"))
  end)

  it("says which file cannot be read, once, and why", function()
    local _, err = load("/etc/ax.json")
    assert.equal("lua-resty-ax: cannot read the configuration file: /etc/ax.json: No such file or directory", err)
    local deps = fake()
    deps.readFile = function()
      return nil, "Permission denied"
    end
    _, err = loadConfig("/etc/ax.json", deps)
    assert.equal('lua-resty-ax: cannot read the configuration file: "/etc/ax.json": Permission denied', err)
  end)

  it("says where the text is no JSON", function()
    local text = '{\n  "upstreams": {\n    oops\n  }\n}'
    local _, err = load("/etc/ax.json", { files = { ["/etc/ax.json"] = text } })
    assert.truthy(err:find("^lua%-resty%-ax: /etc/ax%.json is not valid JSON: Expected "))
    assert.truthy(err:find(" at character 24 (line 3, column 5)", 1, true))
    assert.truthy(select(2, load("x", { files = { x = "" } })):find("is not valid JSON", 1, true))
  end)

  it("refuses JSON that is no object", function()
    for _, text in ipairs({ "[1]", "5", "null", '"x"', "true" }) do
      local config, err = load("f", { files = { f = text } })
      assert.is_nil(config)
      assert.truthy(err:find("1. configuration: .* a map of options is needed$"), err)
    end
  end)
end)

describe("adopting server lines", function()
  it("takes them as they stand, with our defaults for what is not written", function()
    local config, _, deps = load({ upstreams = { backend = {} }, nginx_conf = "/opt/nginx.conf" }, {
      blocks = {
        backend = {
          server("10.0.0.1", 80, { weight = 5, max_fails = 1, fail_timeout_s = 30, max_conns = 9 }),
          server("[2001:DB8::0:2]", 80, { backup = true }),
          server("unix:/run/x.sock", 0, { name = "unix:/run/x.sock", down = true }),
        },
      },
    })
    local backend = config.upstreams.backend
    assert.equal("/etc/nginx/nginx.conf", backend.nodes_from)
    assert.equal("/opt/nginx.conf", deps.adopted_from.backend)
    assert.same({ "10.0.0.1:80", "[2001:db8::2]:80", "unix:/run/x.sock" }, ids_of(config, "backend"))
    local first, second, third = unpack(backend.nodes)
    assert.same({ 5, 1, 30, 9 }, { first.weight, first.max_fails, first.fail_timeout_s, first.max_conns })
    assert.same({ 1, 10, 30, 0 }, { second.weight, second.max_fails, second.fail_timeout_s, second.max_conns })
    assert.same({ true, false, false, true }, { second.backup, second.down, third.backup, third.down })
    assert.same({}, deps.warnings)
  end)

  it("asks nginx only for upstreams without nodes", function()
    local _, _, deps = load({
      upstreams = { given = { nodes = { { address = "10.0.0.1:80" } } }, wrong = { nodes = 5 }, adopted = {} },
    })
    assert.same({ adopted = "found" }, deps.adopted_from)
  end)

  it("reports adoption problems among all others", function()
    local _, err = load({ upstreams = { a = { ramp_s = -1 }, b = {}, ["c.d"] = {} } }, { blocks = { b = {} } })
    assert.truthy(err:find("4 problems", 1, true))
    assert.truthy(err:find("upstreams.a.ramp_s: -1 is too small", 1, true))
    assert.truthy(err:find('upstreams.a: no nodes given, and none adopted from nginx: no upstream block "a"', 1, true))
    local empty = "upstreams.b: no nodes given, and the upstream block in /etc/nginx/nginx.conf has no server lines"
    assert.truthy(err:find(empty, 1, true))
    assert.truthy(err:find('upstreams["c.d"]: no nodes given', 1, true))
  end)

  it("refuses a block whose servers are all down or all backup", function()
    local _, err = load({ upstreams = { a = {}, b = {} } }, {
      blocks = {
        a = { server("10.0.0.1", 80, { down = true }) },
        b = { server("10.0.0.1", 80, { backup = true }), server("10.0.0.2", 80, { backup = true }) },
      },
    })
    assert.truthy(err:find("upstreams.a: the only server is down; at least one must not be", 1, true))
    assert.truthy(err:find("upstreams.b: all 2 servers are backup; at least one primary is needed", 1, true))
  end)

  it("makes one node of an address that occurs twice, and says so", function()
    local config, _, deps = load({ upstreams = { a = {} } }, {
      blocks = {
        a = {
          server("10.0.0.1", 80, { weight = 2, max_conns = 10 }),
          server("10.0.0.1", 80, { weight = 3, max_conns = 5 }),
          server("10.0.0.1", 80, { weight = 100, down = true }),
          server("10.0.0.2", 80, { weight = 7, backup = true, max_conns = 3 }),
          server("10.0.0.2", 80, { weight = 4 }),
        },
      },
    })
    local first, second = unpack(config.upstreams.a.nodes)
    assert.equal(2, #config.upstreams.a.nodes)
    assert.same({ 5, 15, false }, { first.weight, first.max_conns, first.down })
    assert.same({ 4, 0, false }, { second.weight, second.max_conns, second.backup })
    assert.equal(3, #deps.warnings)
    assert.truthy(deps.warnings[1]:find("upstreams.a: server 10.0.0.1:80 occurs more than once", 1, true))
  end)

  it("brings into range what nginx takes and we do not, and says so", function()
    local config, _, deps = load({ upstreams = { a = {} } }, {
      blocks = { a = { server("10.0.0.1", 80, { weight = 100000, fail_timeout_s = 0 }) } },
    })
    local node = config.upstreams.a.nodes[1]
    assert.same({ 65535, 1 }, { node.weight, node.fail_timeout_s })
    assert.same({
      'upstreams.a.server["10.0.0.1:80"].weight: 100000 is outside 0..65535; 65535 is used',
      'upstreams.a.server["10.0.0.1:80"].fail_timeout_s: 0 is outside 1..86400; 1 is used',
    }, deps.warnings)
  end)

  it("passes on the warnings of the adoption", function()
    local _, _, deps = load({ upstreams = { a = {} } }, {
      blocks = { a = { server("10.0.0.1", 80) } },
      warnings = { "slow_start is ignored" },
    })
    assert.same({ "upstreams.a: slow_start is ignored" }, deps.warnings)
  end)

  it("refuses an address that is none", function()
    local _, err = load({ upstreams = { a = {} } }, { blocks = { a = { server("app", 80) } } })
    assert.truthy(err:find('upstreams.a.server["app:80"].address: "app:80" is a host name', 1, true))
  end)
end)

describe("a text too long for the error log", function()
  local many = { upstreams = { a = {} } }
  for i = 1, 100 do
    many["unknown_" .. i] = true
  end
  local blocks = { a = { server("10.0.0.1", 80) } }

  it("is cut at whole problems, each of which is logged", function()
    local _, err, deps = load(many, { blocks = blocks, log = true })
    assert.is_true(#err < 1900)
    local listed, left = 0, tonumber(err:match("\n  %.%.%. and (%d+) more %(see the log entries above this one%)$"))
    for _ in err:gmatch("\n  %d+%. unknown_%d+: unknown key") do
      listed = listed + 1
    end
    assert.is_true(listed > 10)
    assert.equal(100, listed + left)
    assert.equal(50, #deps.logged)
    assert.truthy(deps.logged[50]:find("^unknown_%d+: unknown key"))
  end)

  it("is given whole when there is no log", function()
    local _, err = load(many, { blocks = blocks })
    assert.truthy(err:find("\n  50. unknown_", 1, true))
    assert.truthy(err:find("\n  ... and 50 more", 1, true))
  end)

  it("is not logged besides when it fits", function()
    local _, _, deps = load({}, { log = true })
    assert.same({}, deps.logged)
  end)
end)

describe("any input", function()
  local known = { "upstreams", "backend", "a", "shared_dict", "nginx_conf", "flush_interval_ms" }
  for _, fields in ipairs({ upstream_options.upstreamFields(strategies), nodes.nodeFields }) do
    local keys = {}
    for key in pairs(fields) do
      keys[#keys + 1] = key
    end
    table.sort(keys)
    for _, key in ipairs(keys) do
      known[#known + 1] = key
    end
  end

  local scalars = {
    0, 1, 2, 0.5, -1, 1e308, 0 / 0, math.huge, -math.huge, true, false, "", "5", "adaptive", "10.0.0.1:80", "[::1]:80",
    "unix:/x", "\0\255", ("x"):rep(10000), cjson.null, print, io.stdout, coroutine.create(print),
    require("ffi").new("int64_t", 1),
  }

  local function one_of(list)
    return list[math.random(#list)]
  end

  local junk

  local function junk_key()
    local dice = math.random()
    if dice < 0.7 then
      return one_of(known)
    elseif dice < 0.85 then
      return math.random(3)
    end
    local key = one_of(scalars)
    return key == key and key or "NaN"
  end

  function junk(depth, seen)
    if depth == 0 or math.random() < 0.4 then
      return one_of(scalars)
    end
    if #seen > 0 and math.random() < 0.1 then
      return one_of(seen)
    end
    local made = {}
    seen[#seen + 1] = made
    for i = 1, math.random(0, 4) do
      made[math.random() < 0.3 and i or junk_key()] = junk(depth - 1, seen)
    end
    return made
  end

  local function assert_result(source)
    local ok, config, err = pcall(loadConfig, source, fake({ blocks = { a = { server("10.0.0.1", 80) } } }))
    assert.is_true(ok, tostring(config))
    if config then
      assert.is_truthy(next(config.upstreams))
      for _, upstream in pairs(config.upstreams) do
        assert.is_true(#upstream.nodes > 0)
      end
      return true
    end
    local total = tonumber(err:match("^lua%-resty%-ax: (%d+) problems? in the configuration"))
    assert.is_true(total >= 1, err)
    assert.truthy(err:find("\n  1%. .+: ."), err)
    return false
  end

  it("gives either a configuration or problems with a path, and never throws", function()
    math.randomseed(21)
    for _ = 1, 1500 do
      local source = junk(6, {})
      if type(source) == "table" then
        assert_result(source)
      end
    end
  end)

  it("does so for a valid configuration with one thing changed", function()
    math.randomseed(22)
    local taken, refused = 0, 0
    for _ = 1, 1500 do
      local node = { address = "10.0.0.1:80", name = "n", weight = 2, labels = { zone = "a" } }
      local upstream = { nodes = { node, { address = "10.0.0.2:80" } }, strategy_options = { sample = 3 }, ramp_s = 5 }
      local source = { upstreams = { a = {}, backend = upstream }, shared_dict = "ax" }
      one_of({ source, source.upstreams, upstream, upstream.nodes, node, node.labels })[junk_key()] = junk(3, {})
      if assert_result(source) then
        taken = taken + 1
      else
        refused = refused + 1
      end
    end
    assert.is_true(taken > 20 and refused > 20, taken .. " taken, " .. refused .. " refused")
  end)
end)
