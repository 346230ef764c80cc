-- consistent_hash, and what it has in common with ip_hash and affinity: who owns which key.
local keyed = require("keyed")
local new_store = require("fake_store")
local slots = require("resty.ax.dataplane.slots")
local random = require("resty.ax.core.random")
local ring = require("resty.ax.core.ring")
local holds = require("resty.ax.dataplane.holds")
local upstreams = require("upstreams")

local function new(nodes, options, seed, strategy)
  return upstreams.new({ strategy = strategy or "consistent_hash", nodes = nodes, options = options, seed = seed })
end

for _, strategy in ipairs({ "affinity", "consistent_hash", "ip_hash" }) do
  describe(strategy .. ": a key's node", function()
    it("is the same on every worker and gateway, whatever the order of the configuration", function()
      local rng = random.newRandom(31)
      for round = 1, 30 do
        local n = 1 + random.drawBelow(rng, 20)
        local function weight_of(k)
          return ({ 1, 5, 100 })[1 + k % 3]
        end
        local a = new(keyed.nodes(n, rng, weight_of), nil, 1, strategy)
        local b = new(keyed.nodes(n, rng, weight_of), nil, 99, strategy)
        local keys = keyed.keys(200, round)
        assert.same(keyed.owners(a, keys), keyed.owners(b, keys))
      end
    end)

    it("moves only when it is out, and back when it returns", function()
      local rng = random.newRandom(37)
      for round = 1, 30 do
        local up = new(keyed.nodes(2 + random.drawBelow(rng, 15), rng), nil, 1, strategy)
        local keys = keyed.keys(300, round)
        local before = keyed.owners(up, keys)
        local gone = before[1]
        keyed.set_state(up, gone, "ejected")
        local without = keyed.owners(up, keys)
        for k in ipairs(keys) do
          assert.not_equal(gone, without[k])
          assert(before[k] == gone or before[k] == without[k], "a key of another node moved")
        end
        keyed.set_state(up, gone, "online")
        assert.same(before, keyed.owners(up, keys))
      end
    end)

    it("is one of those left, however many are out", function()
      local rng = random.newRandom(41)
      local n = 400
      local up = new(keyed.nodes(n, rng), nil, 1, strategy)
      for k = 1, n do
        up.state[k] = "ejected"
      end
      for _, left in ipairs({ "n7", "n391", "n12" }) do
        keyed.set_state(up, left, "online")
      end
      local counts = keyed.count(keyed.owners(up, keyed.keys(3000, 1)))
      local total = (counts.n7 or 0) + (counts.n391 or 0) + (counts.n12 or 0)
      assert.equal(3000, total)
      assert.is_true(counts.n7 > 300 and counts.n391 > 300 and counts.n12 > 300)
      -- None usable: any node rather than an error.
      for _, left in ipairs({ "n7", "n391", "n12" }) do
        keyed.set_state(up, left, "ejected")
      end
      assert.is_truthy(keyed.owner(up, 12345))
    end)

    it("is never one of weight 0 while another has weight, and any when none has", function()
      local up = new({ { "a", { weight = 0 } }, { "b" }, { "c", { weight = 0 } } }, nil, 1, strategy)
      assert.same({ b = 500 }, keyed.count(keyed.owners(up, keyed.keys(500, 3))))
      local zero = new({ { "a", { weight = 0 } }, { "b", { weight = 0 } } }, nil, 1, strategy)
      local counts = keyed.count(keyed.owners(zero, keyed.keys(500, 3)))
      assert.equal(500, counts.a + counts.b)
    end)

    it("is tried once: retries visit every other node before one again", function()
      local rng = random.newRandom(43)
      for round = 1, 100 do
        local n = 1 + random.drawBelow(rng, 12)
        local up = new(keyed.nodes(n, rng), nil, round, strategy)
        local seen = {}
        for _, id in ipairs(keyed.tries(up, random.drawBelow(rng, 4294967296), n)) do
          assert.is_nil(seen[id])
          seen[id] = true
        end
      end
    end)

    it("skips a node that is full, for that request only", function()
      local nodes = { { "a", { max_conns = 1 } }, { "b" }, { "c" } }
      local up = upstreams.new({ strategy = strategy, nodes = nodes, store = new_store() })
      local keys = keyed.keys(300, 5)
      local before = keyed.owners(up, keys)
      assert.is_true(slots.takeSlot(up.slots, 0, 1))
      for k, id in ipairs(keyed.owners(up, keys)) do
        assert.not_equal("a", id)
        assert(before[k] == "a" or before[k] == id)
      end
      slots.freeSlot(up.slots, 0)
      assert.same(before, keyed.owners(up, keys))
    end)

    it("gets its keys back over a ramp, each once", function()
      local up = new({ { "a", { weight = 4 } }, { "b", { weight = 4 } }, { "c", { weight = 4 } } }, nil, 1, strategy)
      local keys = keyed.keys(3000, 7)
      local full = keyed.owners(up, keys)
      local total = keyed.count(full).a
      local last, had = 0, {}
      for _, share in ipairs({ 0.1, 0.3, 0.6, 1 }) do
        keyed.set_weight(up, "a", 4 * share)
        local now = keyed.owners(up, keys)
        local count = keyed.count(now).a or 0
        assert.is_true(count > last)
        last = count
        for k, id in ipairs(now) do
          assert(id == full[k] or full[k] == "a", "a key of another node moved")
          assert(not had[k] or id == "a", "a key that was back moved again")
          had[k] = id == "a"
        end
      end
      assert.equal(total, last)
    end)
  end)
end

describe("consistent_hash", function()
  it("gives one of n nodes that is added or removed about 1/n of the keys, and moves no other", function()
    local rng = random.newRandom(47)
    for round = 1, 30 do
      local n = 2 + random.drawBelow(rng, 20)
      local nodes = keyed.nodes(n, rng)
      local keys = keyed.keys(1000, round)
      local before = keyed.owners(new(nodes), keys)
      local gone = table.remove(nodes)[1]
      local after = keyed.owners(new(nodes), keys)
      local moved = 0
      for k in ipairs(keys) do
        if before[k] ~= after[k] then
          assert.equal(gone, before[k])
          moved = moved + 1
        end
      end
      -- 8 % of the ring and sqrt(1000 / n) of counting, five times each.
      assert.is_true(math.abs(moved - 1000 / n) < 5 * (80 / n + math.sqrt(1000 / n)), n .. ": " .. moved)
    end
  end)

  it("ignores weights, and follows base weights where asked", function()
    local nodes = { { "a", { weight = 1 } }, { "b", { weight = 3 } } }
    local plain = keyed.count(keyed.owners(new(nodes, { points_per_node = 1000 }), keyed.keys(8000, 9)))
    assert.is_true(math.abs(plain.a / 8000 - 0.5) < 0.1)
    local options = { points_per_node = 1000, points_by_weight = true }
    local weighted = keyed.count(keyed.owners(new(nodes, options), keyed.keys(8000, 9)))
    assert.is_true(math.abs(weighted.a / 8000 - 0.25) < 0.06, tostring(weighted.a))
  end)

  it("keeps a hot key's node within load_factor times its share of the requests in flight", function()
    local rng = random.newRandom(53)
    for round = 1, 20 do
      local n = 2 + random.drawBelow(rng, 10)
      local by_weight = round % 2 == 0
      local function weight_of(k)
        return by_weight and 1 + k % 3 or 1
      end
      local options = { load_factor = 1.25, points_by_weight = by_weight }
      local up = new(keyed.nodes(n, rng, weight_of), options)
      local units = 0
      for node = 1, n do
        units = units + up.pool.static_weight[node]
      end
      for k = 1, 300 do
        -- Half of all requests have the same key.
        -- Several in one millisecond: the sum is of now all the same.
        local key = k % 2 == 0 and 77 or random.drawBelow(rng, 4294967296)
        local node = keyed.node_of(up, keyed.owner(up, key, math.floor(k / 20)))
        up.pool.in_flight[node] = up.pool.in_flight[node] + 1
        assert.is_true(up.pool.in_flight[node] <= math.ceil(1.25 * k * up.pool.static_weight[node] / units))
      end
    end
  end)

  it("goes past any number of nodes that are out to the first usable one clockwise", function()
    local up = new(200)
    for node = 0, 199 do
      if node % 25 ~= 0 then
        holds.hold(up, node, 1e9)
      end
    end
    local whole = up.strategy_state.members.ring
    for _, key in ipairs(keyed.keys(500, 5)) do
      local start, k = ring.seek(whole, key), 0
      while up.held_until_ms[ring.nodeAt(whole, start, k) + 1] > 0 do
        k = k + 1
      end
      assert.equal(up.pool.ids[ring.nodeAt(whole, start, k) + 1], keyed.owner(up, key))
    end
  end)

  it("without load_factor gives a hot key to one node only", function()
    local up = new(5)
    local first = keyed.owner(up, 77)
    up.pool.in_flight[keyed.node_of(up, first)] = 1000
    assert.equal(first, keyed.owner(up, 77))
  end)

  it("leaves keys where they are with a bound below 1, where no node has room", function()
    local up, free = new(5, { load_factor = 0.01 }), new(5)
    up.pool.in_flight = { 3, 3, 3, 3, 3 }
    local keys = keyed.keys(200, 9)
    assert.same(keyed.owners(free, keys), keyed.owners(up, keys))
  end)

  it("is at the least distance divided by weight, also round the end of the circle", function()
    local given = {}
    for k = 1, 6 do
      given[k] = { "n" .. k, { weight = k } }
    end
    -- With so few points one key in eighteen is past the last one.
    local up = new(given, { points_per_node = 3, points_by_weight = true })
    local whole = up.strategy_state.members.ring
    for _, key in ipairs(keyed.keys(2000, 15)) do
      local nearest, owner = math.huge, nil
      for k = 0, whole.size - 1 do
        local point = ring.pointAt(whole, 0, k)
        local node = ring.nodeAt(whole, 0, k)
        local distance = ((ring.hashOf(point) - key) % 4294967296 + 0.5) / given[node + 1][2].weight
        if distance < nearest then
          nearest, owner = distance, up.pool.ids[node + 1]
        end
      end
      assert.equal(owner, keyed.owner(up, key))
    end
  end)

  it("bounds a pool of hundreds by the sum of this millisecond", function()
    local up = new(200, { load_factor = 2 })
    local owner = keyed.node_of(up, keyed.owner(up, 77, 1))
    for node = 1, 200 do
      up.pool.in_flight[node] = 10
    end
    up.pool.in_flight[owner] = 30
    assert.not_equal(owner, keyed.node_of(up, keyed.owner(up, 77, 2)))
    up.pool.in_flight[owner] = 15
    assert.equal(owner, keyed.node_of(up, keyed.owner(up, 77, 3)))
  end)

  it("sends the same keys to other zones while the own zone is short of capacity, and leaves the rest", function()
    local nodes = {}
    for k = 1, 8 do
      nodes[k] = { "n" .. k, { zone = k <= 4 and "a" or "b" } }
    end
    local function owners(local_share, seed)
      local up = upstreams.new({ strategy = "consistent_hash", nodes = nodes, seed = seed, config = { zone = "a" } })
      up.placement.local_share = local_share
      return keyed.owners(up, keyed.keys(2000, 3)), up
    end
    local all_local, up = owners(1, 1)
    local half = owners(0.5, 1)
    assert.same(half, (owners(0.5, 99)))
    local moved = 0
    for k in ipairs(half) do
      if half[k] ~= all_local[k] then
        moved = moved + 1
        assert.is_true(keyed.node_of(up, half[k]) > 4)
      end
    end
    assert.is_true(moved > 850 and moved < 1150, tostring(moved))
  end)
end)
