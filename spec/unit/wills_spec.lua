local cjson = require("cjson.safe")
local fake_store = require("fake_store")
local operator = require("resty.ax.core.operator")
local wills = require("resty.ax.collector.wills")

local NOW = 1000000

--- A reader with a store that counts reads.
local function setup(nodes)
  local store = fake_store()
  local counted = setmetatable({ reads = 0 }, { __index = store })
  function counted.get(key)
    counted.reads = counted.reads + 1
    return store.get(key)
  end
  local kit = { store = counted, known = wills.newWills(), warnings = {} }
  local deps = {
    store = counted,
    decode = cjson.decode,
    onWarning = function(_, message)
      table.insert(kit.warnings, message)
    end,
  }
  local records = {}
  for i, id in ipairs(nodes) do
    records[i] = { config = { id = id } }
  end
  function kit.give(id, will)
    store.set(operator.willKey("u", id), type(will) == "string" and will or cjson.encode(will))
    store.incr(operator.willVersionKey("u"), 1)
  end
  function kit.take_back(id)
    store.remove(operator.willKey("u", id))
    store.incr(operator.willVersionKey("u"), 1)
  end
  function kit.refresh(now_ms)
    return wills.refreshWills(deps, "u", records, kit.known, now_ms or NOW)
  end
  function kit.kind(id, now_ms)
    local will = wills.willOf(kit.known, id, now_ms or NOW)
    return will and will.kind
  end
  return kit
end

describe("the collector's view of the operator's wills", function()
  it("costs one read when nothing changed, however many nodes there are", function()
    local nodes = {}
    for i = 1, 1000 do
      nodes[i] = "n" .. i
    end
    local kit = setup(nodes)
    kit.refresh()
    kit.give("n7", { kind = "drain", at_ms = NOW })
    assert.is_true(kit.refresh())
    local before = kit.store.reads
    assert.is_false(kit.refresh())
    assert.equal(before + 1, kit.store.reads)
    assert.equal("drain", kit.kind("n7"))
  end)

  it("follows a will that is given, replaced and taken back", function()
    local kit = setup({ "a", "b" })
    assert.is_false(kit.refresh())
    for _, kind in ipairs({ "drain", "maintenance", "force_up", "force_down" }) do
      kit.give("a", { kind = kind, at_ms = NOW })
      assert.is_true(kit.refresh())
      assert.equal(kind, kit.kind("a"))
      assert.is_nil(kit.kind("b"))
    end
    kit.take_back("a")
    assert.is_true(kit.refresh())
    assert.is_nil(kit.kind("a"))
  end)

  it("ends a will at its time, and says once that it did", function()
    local kit = setup({ "a", "b" })
    kit.give("a", { kind = "force_up", at_ms = NOW, until_ms = NOW + 1000 })
    kit.give("b", { kind = "drain", at_ms = NOW, until_ms = NOW + 5000 })
    kit.refresh()
    assert.is_false(kit.refresh(NOW + 999))
    assert.equal("force_up", kit.kind("a", NOW + 999))
    assert.is_true(kit.refresh(NOW + 1000))
    assert.is_nil(kit.kind("a", NOW + 1000))
    assert.is_false(kit.refresh(NOW + 1500))
    assert.equal("drain", kit.kind("b", NOW + 1500))
    assert.is_true(kit.refresh(NOW + 5000))
  end)

  it("forgets wills when the store was emptied", function()
    local kit = setup({ "a" })
    kit.give("a", { kind = "drain", at_ms = NOW })
    kit.refresh()
    for key in pairs(kit.store.values) do
      kit.store.values[key] = nil
    end
    assert.is_true(kit.refresh())
    assert.is_nil(kit.kind("a"))
  end)

  it("removes what cannot be read, once, and goes on with the others", function()
    local kit = setup({ "a", "b", "c", "d", "e" })
    kit.give("a", "{nonsense")
    kit.give("b", { kind = "sleep", at_ms = NOW })
    kit.give("c", { kind = "drain" })
    kit.give("d", "7")
    kit.give("e", { kind = "drain", at_ms = NOW, until_ms = "soon", why = {}, by = 3 })
    kit.refresh()
    assert.equal(4, #kit.warnings)
    assert.same({ kind = "drain", at_ms = NOW }, wills.willOf(kit.known, "e", NOW))
    kit.give("e", { kind = "drain", at_ms = NOW })
    kit.refresh()
    assert.equal(4, #kit.warnings)
  end)
end)

describe("a will in words", function()
  it("says what, who and why", function()
    assert.equal("drained by the operator", operator.willText({ kind = "drain", at_ms = 1 }))
    assert.equal(
      "forced up by the operator (alice): the check is wrong",
      operator.willText({ kind = "force_up", at_ms = 1, by = "alice", why = "the check is wrong" })
    )
  end)
end)

describe("the keys of wills", function()
  it("differ for every pair of upstream and node", function()
    assert.not_equal(operator.willKey("a:b", "c"), operator.willKey("a", "b:c"))
    assert.not_equal(operator.willKey("a", "b"), operator.willVersionKey("a"))
  end)
end)
