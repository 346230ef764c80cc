local api = require("resty.ax.control.api")
local cjson = require("cjson.safe")
local document = require("resty.ax.observe.document")
local fake_store = require("fake_store")
local operator = require("resty.ax.core.operator")

local NOW = 5000000

local function node(id)
  return {
    id = id,
    host = "127.0.0.1",
    port = 80,
    weight = 1,
    max_fails = 3,
    fail_timeout_s = 10,
    max_conns = 0,
    backup = false,
    down = false,
    labels = {},
  }
end

local function setup(options)
  options = options or {}
  local kit = { store = options.store or fake_store(), now_ms = NOW }
  local upstream = { name = "backend", strategy = "adaptive", nodes_from = "nodes", nodes = {} }
  for i, id in ipairs({ "10.0.0.1:80", "unix:/run/a.sock", "app one", "b" }) do
    upstream.nodes[i] = node(id)
  end
  function kit.ask(method, path, body)
    local answer = api.route(method, path, {
      config = { shared_dict = "ax", upstreams = { backend = upstream } },
      store = kit.store,
      encode = cjson.encode,
      decode = cjson.decode,
      processAlive = function()
        return true
      end,
      pid = 1,
      now_ms = kit.now_ms,
      clock = function()
        return kit.now_ms
      end,
      capacity_bytes = 1,
      free_bytes = 1,
      faults = {},
      read_only = options.read_only or false,
      mount = "/ops/ax",
      user = options.user,
      body = function()
        if type(body) == "string" then
          return cjson.decode(body)
        end
        return body
      end,
    })
    return answer.status, answer.body, answer
  end
  function kit.patch(id, body)
    return kit.ask("PATCH", "/upstreams/backend/nodes/" .. id, body)
  end
  function kit.kind(id)
    local _, shown = kit.ask("GET", "/upstreams/backend/nodes/" .. id)
    return shown.operator and shown.operator.kind
  end
  return kit
end

local function keys(store)
  local count = 0
  for key, value in pairs(store.values) do
    if key:find("^operator:.*\n") then
      count = count + 1
      assert.is_table(cjson.decode(value))
    end
  end
  return count
end

describe("changing a node", function()
  it("sets and takes back each will", function()
    local kit = setup()
    for _, case in ipairs({
      { { drain = true }, { drain = false }, "drain" },
      { { maintenance = true }, { maintenance = false }, "maintenance" },
      { { force = "up" }, { force = cjson.null }, "force_up" },
      { { force = "down" }, { force = cjson.null }, "force_down" },
    }) do
      assert.equal(200, (kit.patch("b", case[1])))
      assert.equal(case[3], kit.kind("b"))
      assert.is_nil(kit.kind("10.0.0.1:80"))
      assert.equal(200, (kit.patch("b", case[2])))
      assert.is_nil(kit.kind("b"))
    end
    assert.equal(0, keys(kit.store))
  end)

  it("takes back what is named, and nothing else", function()
    local kit = setup()
    kit.patch("b", { maintenance = true })
    kit.patch("b", { drain = false, force = cjson.null })
    assert.equal("maintenance", kit.kind("b"))
    kit.patch("b", { maintenance = false, drain = true })
    assert.equal("drain", kit.kind("b"))
  end)

  it("is the same twice as once, but for the time from which for_s counts", function()
    local kit = setup()
    local _, first = kit.patch("b", { drain = true, why = "w", for_s = 60 })
    assert.equal(60, first.operator.until_s)
    kit.now_ms = NOW + 10000
    local _, again, answer = kit.patch("b", { drain = true, why = "w", for_s = 60 })
    assert.equal(10, again.operator.since_s)
    assert.equal(60, again.operator.until_s)
    assert.is_nil(answer.notice)
    kit.now_ms = NOW + 70000
    assert.is_nil(kit.kind("b"))
  end)

  it("says who and why, and logs it once", function()
    local kit = setup({ user = "carol" })
    local _, shown, answer = kit.patch("b", { drain = true, why = 'kernel "6.1"' })
    assert.equal("carol", shown.operator.by)
    assert.equal('upstream "backend", node "b": drained by the operator (carol): kernel "6.1"', answer.notice)
    local _, other = kit.patch("b", { drain = true, by = "dave" })
    assert.equal("dave", other.operator.by)
    assert.is_nil(other.operator.why)
    local _, _, back = kit.patch("b", { drain = false })
    assert.equal('upstream "backend", node "b": no longer what the operator said', back.notice)
  end)

  it("finds nodes whatever their ids hold, as nginx decodes them", function()
    local kit = setup()
    for _, id in ipairs({ "10.0.0.1:80", "unix:/run/a.sock", "app one", "b/" }) do
      assert.equal(200, (kit.patch(id, { drain = true })), id)
    end
    assert.equal(4, keys(kit.store))
  end)

  it("refuses what is wrong, naming it, and changes nothing", function()
    local kit = setup()
    kit.patch("b", { maintenance = true, why = "before" })
    local before = kit.store.values[operator.willKey("backend", "b")]
    for _, case in ipairs({
      { { drian = true }, "UnknownField", 'did you mean "drain"?' },
      { { drain = "true" }, "BadValue", '"drain" is "true"; true or false is needed' },
      { { drain = 1 }, "BadValue", "true or false" },
      { { drain = cjson.null }, "BadValue", "true or false" },
      { { maintenance = {} }, "BadValue", "true or false" },
      { { force = "UP" }, "BadValue", '"up", "down" or null' },
      { { force = true }, "BadValue", '"up", "down" or null' },
      { { drain = true, maintenance = true }, "BadChange", "one of them at a time" },
      { { drain = true, force = "up" }, "BadChange", "one of them at a time" },
      { {}, "BadChange", "nothing to change" },
      { { why = "x" }, "BadChange", "nothing to change" },
      { { drain = false, for_s = 5 }, "BadChange", '"for_s"' },
      { { drain = true, for_s = 0 }, "BadValue", "more than 0" },
      { { drain = true, for_s = -1 }, "BadValue", "more than 0" },
      { { drain = true, for_s = 1e300 }, "BadValue", "at most 2592000" },
      { { drain = true, for_s = "60" }, "BadValue", "number of seconds" },
      { { drain = true, why = string.rep("x", 201) }, "BadValue", "at most 200" },
      { { drain = true, why = "a\nb" }, "BadValue", "printable" },
      { { drain = true, why = 7 }, "BadValue", "string" },
      { { drain = true, by = string.rep("x", 65) }, "BadValue", "at most 64" },
      { '[{"drain":true}]', "BodyNotJson", "a JSON object is needed" },
      { "7", "BodyNotJson", "a JSON object is needed" },
      { '"drain"', "BodyNotJson", "a JSON object is needed" },
      { "null", "BodyNotJson", "a JSON object is needed" },
    }) do
      local status, body = kit.patch("b", case[1])
      assert.equal(400, status)
      assert.equal(case[2], body.error.code)
      assert.equal(400, body.error.status)
      assert.equal("docs/api.md#" .. case[2]:lower(), body.error.href)
      assert.truthy(body.error.text:find(case[3], 1, true), body.error.text)
      assert.equal(before, kit.store.values[operator.willKey("backend", "b")])
    end
  end)

  it("answers 503 when there is no room, changing nothing; what is there can still be changed", function()
    local kit = setup()
    kit.store.full = true
    assert.equal(503, (kit.patch("b", { drain = true })))
    assert.equal(0, keys(kit.store))
    kit.store.full = false
    kit.patch("b", { drain = true, why = "short" })
    local length = #kit.store.values[operator.willKey("backend", "b")]
    kit.patch("b", { force = "down", why = string.rep('"', 200), by = string.rep("\\", 64), for_s = 2592000 })
    assert.equal(length, #kit.store.values[operator.willKey("backend", "b")])
  end)

  it("is refused where the location is read_only", function()
    local kit = setup({ read_only = true })
    local status, body, answer = kit.patch("b", { drain = true })
    assert.equal(405, status)
    assert.equal("MethodDisabled", body.error.code)
    assert.equal("GET, HEAD", answer.allow)
    assert.equal(0, keys(kit.store))
  end)
end)

describe("paths", function()
  it("that do not exist are answered with those that do, where the API is mounted", function()
    local kit = setup()
    local status, body = kit.ask("GET", "/nonsense")
    assert.equal(404, status)
    assert.truthy(body.error.text:find("try /ops/ax/v1/upstreams, ", 1, true))
    for _, path in ipairs({ "/upstreams/backend/x", "/upstreamsx", "/upstreams/backend/nodes/b/x", "" }) do
      assert.equal(404, (kit.ask("GET", path)), path)
    end
  end)

  it("with an unknown upstream or node name the nearest one, and how ids look", function()
    local kit = setup()
    local _, body = kit.ask("PATCH", "/upstreams/backent/nodes/b", { drain = true })
    assert.equal("UpstreamNotFound", body.error.code)
    assert.truthy(body.error.text:find('did you mean "backend"?', 1, true))
    local _, unknown = kit.patch("10.0.0.2:80", { drain = true })
    assert.equal("NodeNotFound", unknown.error.code)
    assert.truthy(unknown.error.text:find('like "10.0.0.1:80"', 1, true))
  end)

  it("say which methods they take", function()
    local kit = setup()
    for path, allow in pairs({
      ["/upstreams"] = "GET, HEAD",
      ["/upstreams/backend"] = "GET, HEAD, PATCH",
      ["/upstreams/backend/nodes"] = "GET, HEAD",
      ["/upstreams/backend/nodes/b"] = "GET, HEAD, PATCH",
    }) do
      local status, body, answer = kit.ask("DELETE", path)
      assert.equal(405, status)
      assert.equal("MethodNotAllowed", body.error.code)
      assert.equal(allow, answer.allow)
    end
  end)

  it("show one node, all nodes, one upstream, everything", function()
    local kit = setup()
    local _, one = kit.ask("GET", "/upstreams/backend/nodes/unix:/run/a.sock")
    assert.equal("unix:/run/a.sock", one.id)
    local _, list = kit.ask("GET", "/upstreams/backend/nodes")
    assert.equal(4, #list)
    local _, upstream = kit.ask("HEAD", "/upstreams/backend/")
    assert.equal("backend", upstream.name)
    local _, all = kit.ask("GET", "/upstreams")
    assert.equal("backend", all.upstreams[1].name)
  end)
end)

describe("a document's text", function()
  it("has its keys in one order, lists and objects told apart, slashes as they are", function()
    local value = {
      nodes = document.jsonList({}),
      zeta = { 1, 2.5, true },
      alpha = {},
      id = "unix:/x",
      state = "up",
      warnings = document.jsonList({ "w" }),
    }
    local text = '{"id":"unix:/x","state":"up","alpha":{},"zeta":[1,2.5,true],"warnings":["w"],"nodes":[]}'
    assert.equal(text, document.documentText(value, false))
    assert.equal("{\n  \"a\": [\n    1\n  ],\n  \"b\": {}\n}", document.documentText({ b = {}, a = { 1 } }, true))
  end)

  it("is valid JSON and UTF-8 whatever the strings hold", function()
    local random = require("resty.ax.core.random")
    local source = random.newRandom(7)
    for _ = 1, 2000 do
      local bytes = {}
      for k = 1, 8 do
        bytes[k] = string.char(math.floor(random.draw(source) * 256))
      end
      local text = document.documentText({ table.concat(bytes) }, false)
      assert.is_table(cjson.decode(text), text)
      assert.is_nil(text:find("%c"))
    end
    assert.equal('["grün €😀"]', document.documentText({ "grün €😀" }, false))
    local overlong, surrogate, too_high = "\224\128\128", "\237\160\128", "\244\144\128\128"
    for _, bad in ipairs({ "\255", "\192\128", overlong, surrogate, too_high, "\226\130", "\128" }) do
      local text = document.documentText({ bad }, false)
      assert.equal("", (text:gsub("\239\191\189", ""):gsub('[%["%]]', "")))
    end
  end)

  it("writes what is no number in JSON as null", function()
    assert.equal("[null,null,null]", document.documentText({ 0 / 0, 1 / 0, -1 / 0 }, false))
  end)
end)
