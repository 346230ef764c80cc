-- The memory that a simulated gateway's workers share.
local store = require("sim.store")

describe("the simulator's store", function()
  it("forgets what has a life, at the end of it", function()
    local clock = { now_ms = 0 }
    local shared = store.newStore(clock)
    assert.is_true(shared.add("lease", "a", 1))
    assert.is_false(shared.add("lease", "b", 1))
    clock.now_ms = 1000
    assert.is_nil(shared.get("lease"))
    assert.is_true(shared.add("lease", "b"))
    clock.now_ms = 1e9
    assert.equal("b", shared.get("lease"))
  end)

  it("counts from 0 and refuses to count text", function()
    local shared = store.newStore({ now_ms = 0 })
    assert.equal(2, shared.incr("n", 2))
    assert.equal(5, shared.incr("n", 3))
    shared.set("text", "x")
    assert.is_nil(shared.incr("text", 1))
  end)

  it("keeps lists in order", function()
    local shared = store.newStore({ now_ms = 0 })
    assert.equal(1, shared.push("list", "a"))
    assert.equal(2, shared.push("list", "b"))
    assert.equal("a", shared.pop("list"))
    assert.equal("b", shared.pop("list"))
    assert.is_nil(shared.pop("list"))
  end)
end)
