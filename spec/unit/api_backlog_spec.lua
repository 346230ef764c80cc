-- PATCH of an upstream: draining its backlog.
local api = require("resty.ax.control.api")
local cjson = require("cjson.safe")
local fake_store = require("fake_store")

local QUEUE = { size = 100, timeout_ms = 1000, class_sizes = {}, drain = { from = 0, class_weights = {} } }

local function ask(body, given)
  given = given or {}
  local store = given.store or fake_store()
  local answer = api.route("PATCH", "/upstreams/backend", {
    config = {
      shared_dict = "ax",
      upstreams = {
        backend = { name = "backend", strategy = "adaptive", nodes_from = "nodes", nodes = {}, queue = given.queue },
      },
    },
    store = store,
    encode = cjson.encode,
    decode = cjson.decode,
    processAlive = function()
      return true
    end,
    pid = 1,
    now_ms = 1000,
    clock = function()
      return 1000
    end,
    capacity_bytes = 1,
    free_bytes = 1,
    faults = {},
    read_only = given.read_only or false,
    mount = "/ax",
    user = given.user,
    body = function()
      return body
    end,
  })
  local found = store.get("backlog:backend")
  return answer, found and cjson.decode(found)
end

describe("PATCH of an upstream", function()
  it("has its backlog drained, and the end of that", function()
    local answer, wish = ask({ drain_backlog = true }, { queue = QUEUE, user = "alice" })
    assert.equal(200, answer.status)
    assert.equal("backend", answer.body.name)
    assert.same({ on = true }, wish)
    assert.equal('upstream "backend": its backlog is to be drained, says the operator (alice)', answer.notice)
    wish = select(2, ask({ drain_backlog = false }, { queue = QUEUE }))
    assert.same({ on = false }, wish)
    wish = select(2, ask({ drain_backlog = true, refuse = { "batch", "vip" } }, { queue = QUEUE }))
    assert.same({ on = true, refuse = { true, false, false, false, true } }, wish)
    wish = select(2, ask({ drain_backlog = true, refuse = {} }, { queue = QUEUE }))
    assert.same({ on = true, refuse = { false, false, false, false, false } }, wish)
  end)

  it("answers mistakes with what is wrong, and changes nothing", function()
    local cases = {
      { {}, "BadChange", "nothing to change: drain_backlog is needed" },
      { { drain_backlog = 1 }, "BadValue", '"drain_backlog" is 1; true or false is needed' },
      { { drain_backlg = true }, "UnknownField", 'there is no field "drain_backlg"; did you mean "drain_backlog"?' },
      { { drain_backlog = true, refuse = "batch" }, "BadValue", '"refuse" is "batch"; a list of classes is needed' },
      { { drain_backlog = true, refuse = { "bulk" } }, "BadValue", '"refuse" has "bulk", which is no class here' },
      { { drain_backlog = true, refuse = { 5 } }, "BadValue", '"refuse" has 5, which is no class here' },
      { { drain_backlog = false, refuse = { "batch" } }, "BadChange", '"refuse" says whom a drain refuses' },
      { "x", "BodyNotJson", 'the body is "x"; a JSON object is needed' },
    }
    for _, case in ipairs(cases) do
      local answer, wish = ask(case[1], { queue = QUEUE })
      assert.equal(case[2], answer.body.error.code)
      assert.equal(case[3], answer.body.error.text:sub(1, #case[3]))
      assert.is_nil(wish)
    end
    local answer = ask({ drain_backlog = true })
    assert.equal('upstream "backend" has no queue: there is no backlog to drain', answer.body.error.text)
    assert.equal("MethodDisabled", ask({ drain_backlog = true }, { queue = QUEUE, read_only = true }).body.error.code)
    local full = fake_store()
    full.full = true
    assert.equal("StoreFull", ask({ drain_backlog = true }, { queue = QUEUE, store = full }).body.error.code)
  end)

  it("can change its wish in a full shared dict, or it stays what it was", function()
    local store = fake_store()
    local set = store.set
    -- As a shared dict does it: a value of another length is removed first, and without room not written.
    store.set = function(key, value)
      local old = store.values[key]
      if not store.is_full then
        return set(key, value)
      end
      store.values[key] = old and #old == #value and value or nil
      return store.values[key] ~= nil
    end
    ask({ drain_backlog = true, refuse = { "batch" } }, { queue = QUEUE, store = store })
    store.is_full = true
    local answer, wish = ask({ drain_backlog = false }, { queue = QUEUE, store = store })
    assert.equal(200, answer.status)
    assert.same({ on = false }, wish)
    answer, wish = ask({ drain_backlog = true, refuse = {} }, { queue = QUEUE, store = store })
    assert.equal(200, answer.status)
    assert.is_true(wish.on)
  end)
end)
