-- GET …/events, on what a collector wrote.
local api = require("resty.ax.control.api")
local cjson = require("cjson.safe")
local deltas = require("deltas")
local kit = require("collector_kit")

local six = { "a", "b", "c", "d", "e", "f" }

local function dead(ids)
  local nodes = {}
  for _, id in ipairs(ids) do
    nodes[id] = deltas.delta({}, { fail = 5, streak = 5, failures = 5 })
  end
  return nodes
end

--- A collector that has seen two nodes die, and what the API says of it.
local function setup()
  local c = kit.new({ nodes = six, upstream = { max_ejected_share = 0.5 } })
  c:run(5, kit.steady(six, 20, 10))
  c:report(dead({ "a" }))
  c:tick()
  c:report(dead({ "b" }))
  c:tick(1000)
  local config = { shared_dict = "ax", upstreams = { backend = kit.upstream(six) } }
  local function ask(args, path)
    local answer = api.route("GET", path or "/upstreams/backend/events", {
      config = config,
      store = c.store,
      encode = cjson.encode,
      decode = cjson.decode,
      processAlive = function()
        return true
      end,
      pid = 1,
      now_ms = c.now_ms + 250,
      clock = function()
        return c.now_ms
      end,
      capacity_bytes = 1,
      free_bytes = 1,
      faults = {},
      read_only = true,
      mount = "/ax",
      args = function()
        return args or {}
      end,
    })
    return answer.status, answer.body
  end
  return ask, c
end

describe("an upstream's events", function()
  it("are shown the newest first, with what was decided and by which figures", function()
    local ask = setup()
    local status, body = ask()
    assert.equal(200, status)
    assert.equal(2, body.total)
    assert.equal(2, body.state_changes_per_min)
    assert.same({ ["online→ejected"] = 2 }, body.transitions)
    local newest = body.events[1]
    assert.same({ 2, "b", 0.25 }, { newest.seq, newest.node, newest.age_s })
    assert.same({ "online", "ejected" }, { newest.from, newest.to })
    assert.equal("5 connection failures in a row (max_fails 3)", newest.reason)
    assert.equal(5, newest.numbers.streak)
    assert.equal("a", body.events[2].node)
  end)

  it("are those of one node, or the newest few, where asked", function()
    local ask = setup()
    local _, body = ask({ node = "a" })
    assert.equal(1, #body.events)
    assert.equal("a", body.events[1].node)
    assert.equal(2, body.total)
    assert.equal(1, body.state_changes_per_min)
    local _, few = ask({ limit = "1", pretty = true }, "/upstreams/backend/events/")
    assert.equal(1, #few.events)
    assert.equal("b", few.events[1].node)
    assert.equal(2, few.state_changes_per_min)
    local status, none = ask({ node = "c" })
    assert.same({ 200, 0 }, { status, #none.events })
  end)

  it("of a node that was taken out of the configuration can still be read", function()
    local ask, c = setup()
    local text = c.store.get("event:backend:1"):gsub('"a"', '"gone"')
    c.store.set("event:backend:1", text)
    local status, body = ask({ node = "gone" })
    assert.same({ 200, 1 }, { status, #body.events })
  end)

  it("are refused by arguments that are wrong, which are named", function()
    local ask = setup()
    local wrong = { "0", "257", "-1", "1.5", "1e1", "", "x", "99999999999999999999", true, { "1", "2" } }
    for _, limit in ipairs(wrong) do
      local status, body = ask({ limit = limit })
      assert.equal(400, status)
      assert.equal("BadValue", body.error.code)
      assert.truthy(body.error.text:find('"limit"', 1, true))
      assert.truthy(body.error.text:find("from 1 to 256", 1, true))
    end
    for _, node in ipairs({ true, "", { "a", "b" } }) do
      local status, body = ask({ node = node })
      assert.same({ 400, "BadValue" }, { status, body.error.code })
    end
    local status, body = ask({ limits = "3" })
    assert.same({ 400, "UnknownField" }, { status, body.error.code })
    assert.truthy(body.error.text:find('did you mean "limit"?', 1, true))
    status, body = ask({ node = "aa" })
    assert.same({ 404, "NodeNotFound" }, { status, body.error.code })
  end)

  it("and everything else that the API shows of an upstream are in its documentation", function()
    local ask, c = setup()
    c:report(dead(six))
    c:tick()
    local file = assert(io.open("docs/api.md"))
    local text = file:read("*a")
    file:close()
    local shown = 0
    local function look(value, except)
      for key in pairs(value) do
        if type(key) == "string" and not except[key] then
          shown = shown + 1
          assert.truthy(text:find("`" .. key .. "[`%[]"), key .. " is not in docs/api.md")
        end
      end
    end
    local _, events = ask()
    look(events, {})
    for _, event in ipairs(events.events) do
      look(event, {})
      look(event.numbers, {})
    end
    local _, upstream = ask({}, "/upstreams/backend")
    look(upstream, {})
    assert.is_true(upstream.panic)
    for _, node in ipairs(upstream.nodes) do
      look(node, {})
      look(node.totals, {})
    end
    assert.is_true(shown > 200)
  end)

  it("are none before anything happened, and an unreadable one is left out", function()
    local ask, c = setup()
    c.store.set("event:backend:2", "no JSON")
    local _, body = ask()
    assert.equal(1, #body.events)
    c.store.remove("events:backend")
    c.store.remove("transitions:backend")
    local status, none = ask()
    assert.same({ 200, 0, 0 }, { status, none.total, #none.events })
  end)
end)
