local hot_keys = require("resty.ax.core.hot_keys")
local keyed = require("keyed")
local random = require("resty.ax.core.random")
local upstreams = require("upstreams")

local function new(nodes, options, seed)
  return upstreams.new({ strategy = "affinity", nodes = nodes, options = options, seed = seed })
end

local function different(owners)
  local n = 0
  for _ in pairs(keyed.count(owners)) do
    n = n + 1
  end
  return n
end

describe("affinity", function()
  it("follows the current weights within the window", function()
    local up = new({ { "a" }, { "b" }, { "c" } })
    keyed.set_weight(up, "a", 0.2)
    keyed.set_weight(up, "b", 1)
    keyed.set_weight(up, "c", 1.5)
    local counts = keyed.count(keyed.owners(up, keyed.keys(20000, 3)))
    for id, weight in pairs({ a = 0.2, b = 1, c = 1.5 }) do
      local share = weight / 2.7
      -- Five standard deviations of the count.
      local bound = 5 * math.sqrt(20000 * share * (1 - share))
      assert.is_true(math.abs(counts[id] - 20000 * share) < bound, id .. ": " .. counts[id])
    end
  end)

  it("moves only one node's keys when its weight is lowered, in proportion, and back", function()
    local rng = random.newRandom(67)
    for round = 1, 40 do
      local n = 2 + random.drawBelow(rng, 20)
      local up = new(keyed.nodes(n, rng))
      for k = 1, n do
        keyed.set_weight(up, "n" .. k, ({ 0.2, 1, 1.5, 100 })[1 + random.drawBelow(rng, 4)], 100)
      end
      local keys = keyed.keys(400, round)
      local before = keyed.owners(up, keys)
      local node = keyed.node_of(up, before[1])
      local weight = up.pool.weight[node]
      keyed.set_weight(up, before[1], weight * 0.5)
      local lowered = keyed.owners(up, keys)
      for k in ipairs(keys) do
        assert(before[k] == lowered[k] or before[k] == before[1], "a key of another node moved")
      end
      keyed.set_weight(up, before[1], weight)
      assert.same(before, keyed.owners(up, keys))
    end
  end)

  it("gives a key at most three nodes, however the weights move", function()
    local rng = random.newRandom(71)
    for _, case in ipairs({ { nodes = 3 }, { nodes = 1, options = { window_nodes = 1 } } }) do
      local up = new(50, case.options)
      local keys, seen, most = keyed.keys(30, 3), {}, 0
      for _ = 1, 60 do
        for k = 1, 50 do
          up.pool.weight[k] = 0.01 + random.draw(rng)
        end
        keyed.set_weight(up, "n1", 1)
        for _, key in ipairs(keys) do
          seen[key] = seen[key] or {}
          table.insert(seen[key], keyed.owner(up, key))
        end
      end
      for _, owners in pairs(seen) do
        most = math.max(most, different(owners))
      end
      assert.equal(case.nodes, most)
    end
  end)

  it("lets a retry leave the ring for the least loaded node", function()
    local up = new(10)
    for node = 1, 10 do
      up.pool.in_flight[node] = 5
    end
    up.pool.in_flight[4] = 1
    up.pool.in_flight[9] = 2
    for _, key in ipairs(keyed.keys(50, 1)) do
      local tries = keyed.tries(up, key, 3)
      local expected = {}
      for _, id in ipairs({ "n4", "n9" }) do
        if id ~= tries[1] then
          expected[#expected + 1] = id
        end
      end
      assert.equal(expected[1], tries[2])
    end
  end)

  describe("with a hot key", function()
    --- Traffic in which `share` has one key: picks of that key and of the others.
    local function run(up, share, n, hot)
      local rng = random.newRandom(73)
      local of_hot, of_others = {}, {}
      for k = 1, n do
        local is_hot = random.draw(rng) < share
        local key = is_hot and hot or random.drawBelow(rng, 200) * 21474836
        local id = keyed.owner(up, key, 1000 + k)
        if is_hot then
          of_hot[#of_hot + 1] = id
        else
          of_others[key] = of_others[key] or {}
          of_others[key][id] = true
        end
        -- Load that makes a difference: the last few picks are in flight.
        local node = keyed.node_of(up, id)
        up.pool.in_flight[node] = (up.pool.in_flight[node] + 1) % 7
      end
      return of_hot, of_others
    end

    local function most_nodes(of_others)
      local most = 0
      for _, ids in pairs(of_others) do
        local n = 0
        for _ in pairs(ids) do
          n = n + 1
        end
        most = math.max(most, n)
      end
      return most
    end

    it("spreads it over three nodes at 30 % of the traffic, and no other key", function()
      local of_hot, of_others = run(new(10), 0.3, 6000, 123456789)
      assert.equal(3, different(of_hot))
      assert.equal(1, most_nodes(of_others))
    end)

    it("spreads it over two nodes at 15 %", function()
      local of_hot, of_others = run(new(10), 0.15, 6000, 123456789)
      assert.equal(2, different(of_hot))
      assert.equal(1, most_nodes(of_others))
    end)

    it("notices it after any amount of other traffic: counts fade", function()
      local up = new(10)
      local hot = 123456789
      for k = 1, 64 do
        run(up, k > 60 and 0.3 or 0, 1000, hot)
        upstreams.flush(up)
      end
      assert.equal(3, different((run(up, 0.3, 2000, hot))))
    end)

    it("leaves a key at 5 % where it is", function()
      local of_hot, of_others = run(new(10), 0.05, 6000, 123456789)
      assert.equal(1, different(of_hot))
      assert.equal(1, most_nodes(of_others))
    end)

    it("spreads none where hot_key_share is 1", function()
      local of_hot = run(new(10, { hot_key_share = 1 }), 1, 3000, 123456789)
      assert.equal(1, different(of_hot))
    end)

    it("takes the least loaded of its nodes, its own where they are equal", function()
      local up = new(10)
      local own = keyed.owner(up, 77)
      for _ = 1, 2000 do
        assert.equal(own, keyed.owner(up, 77))
      end
      up.pool.in_flight[keyed.node_of(up, own)] = 5
      assert.not_equal(own, keyed.owner(up, 77))
    end)
  end)
end)

describe("the hot key sketch", function()
  it("never counts a key below its share, nor far above it", function()
    local hot = hot_keys.newHotKeys()
    local rng = random.newRandom(79)
    local keys = keyed.keys(500, 5)
    for _ = 1, 20000 do
      hot_keys.noteKey(hot, keys[1 + math.floor(500 * random.draw(rng) ^ 2)])
    end
    -- Drawn by the square: key k has (sqrt(k) - sqrt(k - 1)) / sqrt(500) of the traffic.
    for k, key in ipairs(keys) do
      local share = (math.sqrt(k) - math.sqrt(k - 1)) / math.sqrt(500)
      local counted = hot_keys.noteKey(hot, key)
      -- A row alone would take a key for the hottest (4.5 %) where they share a column.
      assert.is_true(counted > share - 0.015 and counted < share + 0.02, k .. ": " .. counted)
    end
  end)

  it("forgets a key that is no longer asked for", function()
    local hot = hot_keys.newHotKeys()
    for _ = 1, 3000 do
      hot_keys.noteKey(hot, 99)
    end
    for k, key in ipairs(keyed.keys(20000, 5)) do
      hot_keys.noteKey(hot, key)
      if k % 1000 == 0 then
        hot_keys.fadeKeys(hot)
      end
    end
    assert.is_true(hot_keys.noteKey(hot, 99) < 0.1)
  end)

  it("calls no key hot on the word of a few requests", function()
    local hot = hot_keys.newHotKeys()
    for _ = 1, 500 do
      assert.equal(0, hot_keys.noteKey(hot, 99))
    end
  end)
end)
