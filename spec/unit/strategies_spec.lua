-- What every built-in strategy owes its caller, and what each promises of its own.
local upstreams = require("upstreams")
local apply_snapshot = require("resty.ax.dataplane.apply_snapshot")
local holds = require("resty.ax.dataplane.holds")
local pick = require("resty.ax.dataplane.pick")
local requests = require("resty.ax.dataplane.requests")
local in_flight = require("resty.ax.dataplane.in_flight")
local new_store = require("fake_store")
local slots = require("resty.ax.dataplane.slots")
local cost = require("resty.ax.core.cost")
local random = require("resty.ax.core.random")
local registry = require("resty.ax.core.strategies.registry")

local function names()
  local list = {}
  for name in pairs(registry.strategies) do
    list[#list + 1] = name
  end
  table.sort(list)
  return list
end

local function silent() end

local function one_pick(up, now, key)
  -- Specs set measurements by hand.
  cost.weighAll(up.pool)
  local record = requests.newRequestRecord()
  record.hash_key = key or 0
  local node = pick.pickNode(up, record, now or 1000, silent)
  in_flight.freeSlots(record)
  return node
end

--- Counts of n picks that end at once.
local function shares(up, n)
  local counts = {}
  for node = 0, up.pool.n - 1 do
    counts[node] = 0
  end
  for _ = 1, n do
    local node = one_pick(up)
    counts[node] = counts[node] + 1
    up.pool.last_pick_ms[node + 1] = 1000
  end
  return counts
end

describe("every strategy", function()
  for _, name in ipairs(names()) do
    it(name .. " returns one of the candidates, whatever the weights, loads and failures", function()
      local rng = random.newRandom(42)
      for _ = 1, 1500 do
        local n = 1 + random.drawBelow(rng, 12)
        local nodes = {}
        for k = 1, n do
          local weights = { 0, 1, 5, 100, 65535 }
          nodes[k] = { "n" .. k, { weight = weights[1 + random.drawBelow(rng, 5)] } }
        end
        local up = upstreams.new({ strategy = name, nodes = nodes, seed = random.drawBelow(rng, 1e6) })
        for node = 1, n do
          up.pool.in_flight[node] = random.drawBelow(rng, 50)
          up.pool.latency_ms[node] = 0.5 + random.draw(rng) * 1000
          up.pool.success[node] = 0.05 + random.draw(rng) * 0.95
          up.pool.oldest_start_ms[node] = random.drawBelow(rng, 2) * 500
        end
        for _ = 1, 3 do
          local node = one_pick(up, 1000, random.drawBelow(rng, 4294967296))
          assert.is_true(node >= 0 and node < n and node == math.floor(node))
        end
      end
    end)

    it(name .. " never goes to a tried node while an untried one is allowed, then still answers", function()
      local rng = random.newRandom(7)
      for _ = 1, 300 do
        local n = 1 + random.drawBelow(rng, 8)
        local up = upstreams.new({ strategy = name, nodes = n, seed = random.drawBelow(rng, 1e6) })
        local record = requests.newRequestRecord()
        local seen = {}
        for _ = 1, n do
          local node = pick.pickNode(up, record, 1000, silent)
          assert.is_nil(seen[node])
          seen[node] = true
          requests.addTry(record, up, node)
        end
        assert.is_true(pick.pickNode(up, record, 1000, silent) >= 0)
      end
    end)

    it(name .. " gives only nodes that are in use now, also before the flush that tells it", function()
      local rng = random.newRandom(23)
      for _ = 1, 60 do
        local n = 2 + random.drawBelow(rng, 150)
        local up = upstreams.new({ strategy = name, nodes = n, seed = random.drawBelow(rng, 1e6) })
        for _ = 1, 12 do
          local node = random.drawBelow(rng, n)
          if random.draw(rng) < 0.7 then
            holds.hold(up, node, 1e9)
          else
            holds.release(up, node)
          end
          if random.draw(rng) < 0.2 then
            upstreams.flush(up)
          end
          for _ = 1, 10 do
            local picked = one_pick(up, 1000, random.drawBelow(rng, 4294967296))
            assert.is_true(up.panic or up.held_until_ms[picked + 1] == 0)
          end
        end
        -- All but one at once.
        for node = 1, n - 1 do
          holds.hold(up, node, 1e9)
        end
        holds.release(up, 0)
        assert.equal(0, one_pick(up, 1000, random.drawBelow(rng, 4294967296)))
      end
    end)

    it(name .. " answers for 10,000 nodes", function()
      local up = upstreams.new({ strategy = name, nodes = 10000 })
      for _ = 1, 20 do
        local node = one_pick(up)
        assert.is_true(node >= 0 and node < 10000)
      end
    end)

    it(name .. " starts elsewhere in other workers, unless a key decides", function()
      local first = {}
      for seed = 1, 40 do
        local up = upstreams.new({ strategy = name, nodes = 8, seed = seed * 7919 })
        first[one_pick(up)] = true
      end
      local kinds = 0
      for _ in pairs(first) do
        kinds = kinds + 1
      end
      if registry.strategies[name].uses_key then
        assert.equal(1, kinds)
        return
      end
      assert.is_true(kinds >= 4, name .. " began at " .. kinds .. " different nodes in 40 workers")
    end)
  end
end)

describe("round_robin", function()
  it("follows the weights exactly over a whole turn", function()
    local up = upstreams.new({ strategy = "round_robin", nodes = { { "a", { weight = 5 } }, { "b" }, { "c" } } })
    local counts = shares(up, 7000)
    assert.is_true(math.abs(counts[0] - 5000) <= 1)
    assert.is_true(math.abs(counts[1] - 1000) <= 1)
  end)

  it("spreads a heavy node among the others", function()
    local up = upstreams.new({ strategy = "round_robin", nodes = { { "a", { weight = 5 } }, { "b" }, { "c" } } })
    local run, longest = 0, 0
    for _ = 1, 700 do
      run = one_pick(up) == 0 and run + 1 or 0
      longest = math.max(longest, run)
    end
    -- nginx's sequence a a b a c a a has four where turns meet.
    assert.is_true(longest <= 3, "longest run " .. longest)
  end)

  --- Weights of n nodes, 1..100, often equal ones.
  local function weighted(rng, n)
    local nodes, total = {}, 0
    for k = 1, n do
      local weight = random.draw(rng) < 0.5 and 1 or 1 + random.drawBelow(rng, 100)
      nodes[k] = { "n" .. k, { weight = weight } }
      total = total + weight
    end
    return nodes, total
  end

  it("gives every node its share to within two picks at every moment, whatever the weights", function()
    local rng = random.newRandom(31)
    for _ = 1, 120 do
      local nodes, total = weighted(rng, 1 + random.drawBelow(rng, 20))
      local up = upstreams.new({ strategy = "round_robin", nodes = nodes, seed = random.drawBelow(rng, 1e6) })
      local counts = {}
      for picks = 1, 300 do
        local node = one_pick(up) + 1
        counts[node] = (counts[node] or 0) + 1
        for k = 1, #nodes do
          local fair = picks * nodes[k][2].weight / total
          -- Time passes by whole picks: what is due at the same time adds up to half a pick a node in all.
          local slack = 2 + #nodes * nodes[k][2].weight / total
          assert(math.abs((counts[k] or 0) - fair) <= slack, ("%d of %d picks"):format(counts[k] or 0, picks))
        end
      end
    end
  end)

  it("visits each of n equal nodes once in any n picks, also at a thousand", function()
    for _, n in ipairs({ 2, 7, 1000 }) do
      local up = upstreams.new({ strategy = "round_robin", nodes = n })
      for _ = 1, 5 do
        local seen = {}
        for _ = 1, n do
          local node = one_pick(up)
          assert.is_nil(seen[node])
          seen[node] = true
        end
      end
    end
  end)

  it("follows a weight from the next flush on, and a node that was out does not catch up", function()
    local up = upstreams.new({ strategy = "round_robin", nodes = 3 })
    shares(up, 3000)
    up.pool.static_weight[2] = 4
    upstreams.flush(up)
    assert.is_true(math.abs(shares(up, 600)[1] - 400) <= 2)
    holds.hold(up, 1, 1e9)
    assert.equal(0, shares(up, 600)[1])
    holds.release(up, 1)
    upstreams.flush(up)
    assert.is_true(math.abs(shares(up, 600)[1] - 400) <= 3)
  end)

  it("counts the picks from lists: with max_conns on one node, turns are still turns", function()
    local nodes = { { "a" }, { "b", { max_conns = 5 } }, { "c" } }
    local up = upstreams.new({ strategy = "round_robin", nodes = nodes, store = new_store() })
    local counts = shares(up, 300)
    for node = 0, 2 do
      assert.equal(100, counts[node])
    end
    for _ = 1, 5 do
      slots.takeSlot(up.slots, 1, 1)
    end
    assert.same({ [0] = 50, [1] = 0, [2] = 50 }, shares(up, 100))
    for _ = 1, 5 do
      slots.freeSlot(up.slots, 1)
    end
    assert.is_true(shares(up, 30)[1] <= 11)
  end)

  it("keeps the order over picks from lists: of two requests with a retry each, every node has one try", function()
    local up = upstreams.new({ strategy = "round_robin", nodes = 4 })
    for _ = 1, 50 do
      local seen = {}
      for _ = 1, 2 do
        local record = requests.newRequestRecord()
        for _ = 1, 2 do
          local node = pick.pickNode(up, record, 1000, silent)
          requests.addTry(record, up, node)
          seen[node] = (seen[node] or 0) + 1
        end
      end
      assert.same({ [0] = 1, 1, 1, 1 }, seen)
    end
  end)

  it("lets nodes of weight 0 take turns when there is nothing else", function()
    local zero = { weight = 0 }
    local nodes = { { "a", zero }, { "b", zero }, { "c", { weight = 2 } } }
    local up = upstreams.new({ strategy = "round_robin", nodes = nodes })
    assert.same({ [0] = 0, [1] = 0, [2] = 100 }, shares(up, 100))
    holds.hold(up, 2, 1e9)
    assert.same({ [0] = 50, [1] = 50, [2] = 0 }, shares(up, 100))
    upstreams.flush(up)
    assert.same({ [0] = 50, [1] = 50, [2] = 0 }, shares(up, 100))
  end)
end)

describe("random", function()
  it("follows the weights within statistical bounds", function()
    local up = upstreams.new({ strategy = "random", nodes = { { "a", { weight = 1 } }, { "b", { weight = 3 } } } })
    local counts = shares(up, 20000)
    -- Standard deviation of the count is 61: five of them.
    assert.is_true(math.abs(counts[0] - 5000) < 306)
  end)

  it("never picks a node of weight 0 while another has weight", function()
    local up = upstreams.new({ strategy = "random", nodes = { { "a", { weight = 0 } }, { "b" } } })
    assert.equal(0, shares(up, 5000)[0])
  end)
end)

describe("least_conn", function()
  it("picks the node with the fewest requests in flight per weight, over all workers", function()
    local up = upstreams.new({ strategy = "least_conn", nodes = { { "a", { weight = 4 } }, { "b" }, { "c" } } })
    up.pool.in_flight = { 7, 1, 0 }
    up.pool.others_in_flight = { 0, 0, 2 }
    assert.equal(0, (function()
      up.pool.in_flight[1] = 3
      return one_pick(up)
    end)())
    up.pool.in_flight[1] = 8
    assert.equal(1, one_pick(up))
  end)

  it("lets equal nodes take turns", function()
    local counts = shares(upstreams.new({ strategy = "least_conn", nodes = 4 }), 400)
    for node = 0, 3 do
      assert.equal(100, counts[node])
    end
  end)

  it("follows the weights while the upstream is idle", function()
    local rng = random.newRandom(12)
    for _ = 1, 40 do
      local n = 2 + random.drawBelow(rng, 8)
      local nodes, total = {}, 0
      for k = 1, n do
        nodes[k] = { "n" .. k, { weight = 1 + random.drawBelow(rng, 9) } }
        total = total + nodes[k][2].weight
      end
      local counts = shares(upstreams.new({ strategy = "least_conn", nodes = nodes }), 40 * total)
      for k = 1, n do
        assert.is_true(math.abs(counts[k - 1] - 40 * nodes[k][2].weight) <= 1)
      end
    end
  end)

  it("above scan_limit compares a sample: follows the weights while idle, and keeps off busy nodes", function()
    local nodes = {}
    for k = 1, 400 do
      nodes[k] = { "n" .. k, { weight = k <= 200 and 1 or 3 } }
    end
    local up = upstreams.new({ strategy = "least_conn", nodes = nodes, options = { scan_limit = 100 } })
    local counts, heavy = shares(up, 16000), 0
    for node = 200, 399 do
      heavy = heavy + counts[node]
    end
    assert.is_true(math.abs(heavy / 16000 - 0.75) < 0.02, "heavy nodes' share " .. heavy / 16000)
    for node = 1, 200 do
      up.pool.in_flight[node] = 1
    end
    for _ = 1, 2000 do
      local node = one_pick(up)
      -- All eight of a sample are busy once in 65,536 times.
      assert.is_true(node >= 200)
    end
  end)

  it("never gives a node of weight 0 a request while another has weight, however busy", function()
    local up = upstreams.new({ strategy = "least_conn", nodes = { { "a", { weight = 0 } }, { "b" } } })
    up.pool.in_flight[2] = 50
    assert.equal(0, shares(up, 100)[0])
  end)
end)

describe("adaptive", function()
  local function pair()
    local up = upstreams.new({ strategy = "adaptive", nodes = 2 })
    up.pool.latency_ms = { 10, 10 }
    up.pool.last_pick_ms = { 1000, 1000 }
    return up
  end

  it("prefers the faster of two equally loaded nodes", function()
    local up = pair()
    up.pool.latency_ms[1] = 80
    assert.equal(1, one_pick(up))
  end)

  it("lets nodes take turns whose latencies differ by no more than chance explains", function()
    local up = upstreams.new({ strategy = "adaptive", nodes = 3 })
    up.pool.latency_ms = { 10, 11, 12 }
    local counts = shares(up, 300)
    for node = 0, 2 do
      assert.equal(100, counts[node])
    end
  end)

  it("weighs load against latency", function()
    local up = pair()
    up.pool.latency_ms[1] = 20
    up.pool.in_flight[2] = 2
    assert.equal(0, one_pick(up))
  end)

  it("does not take fast failures for speed", function()
    local up = pair()
    up.pool.latency_ms[1] = 1
    -- 0.3 would make it cost about as much as the other, and they would take turns.
    up.pool.success[1] = 0.25
    assert.same({ [0] = 0, [1] = 10 }, shares(up, 10))
  end)

  it("turns from a node whose oldest request hangs, before it has ended", function()
    local up = pair()
    up.pool.latency_ms[1] = 9
    up.pool.in_flight = { 1, 1 }
    up.pool.oldest_start_ms = { 800, 999 }
    assert.equal(1, one_pick(up))
  end)

  it("never returns a dominated candidate", function()
    local rng = random.newRandom(3)
    for _ = 1, 2000 do
      local n = 2 + random.drawBelow(rng, 20)
      local up = upstreams.new({ strategy = "adaptive", nodes = n, seed = random.drawBelow(rng, 1e6) })
      local pool = up.pool
      for node = 1, n do
        pool.in_flight[node] = random.drawBelow(rng, 4)
        pool.latency_ms[node] = 1 + random.drawBelow(rng, 5)
        pool.success[node] = 0.8 + random.drawBelow(rng, 3) / 10
        pool.inverse_prior[node] = 1 / (1 + random.drawBelow(rng, 3))
        pool.last_pick_ms[node] = 1000
      end
      local got = one_pick(up) + 1
      for other = 1, n do
        local dominates = pool.in_flight[other] < pool.in_flight[got]
          and pool.latency_ms[other] < pool.latency_ms[got]
          and pool.success[other] > pool.success[got]
          and pool.inverse_prior[other] < pool.inverse_prior[got]
        assert.is_false(dominates)
      end
    end
  end)

  it("revisits an idle slow node now and then, within its budget", function()
    local up = upstreams.new({ strategy = "adaptive", nodes = 2, options = { revisit_every = 100, revisit_ms = 1000 } })
    up.pool.latency_ms = { 10, 500 }
    local slow = 0
    local now = 1000
    local record = requests.newRequestRecord()
    for _ = 1, 10000 do
      local node = pick.pickNode(up, record, now, silent)
      if node == 1 then
        slow = slow + 1
      end
      in_flight.beginTry(up, record, node, now)
      now = now + 10
      in_flight.endTry(record)
    end
    -- 100 s of traffic: at most one a second, at least one every two.
    assert.is_true(slow >= 45 and slow <= 100, "revisited " .. slow .. " times")
  end)

  it("is moved by the collector's score, less than by what is known live", function()
    local up = pair()
    local function snapshot(score)
      local function node(factor)
        return { state = "online", weight = factor, static_weight = 1, success = 1 }
      end
      apply_snapshot.applySnapshot(up, { generation = 1, at_ms = 1, nodes = { n1 = node(score), n2 = node(1) } }, 1000)
      up.pool.latency_ms = { 10, 10 }
    end
    snapshot(0.25)
    assert.equal(1, one_pick(up))
    up.pool.latency_ms[2] = 40
    assert.equal(0, one_pick(up))
  end)

  it("gives idle nodes equal turns while another is out by its cost", function()
    for _, n in ipairs({ 3, 6, 20 }) do
      local up = upstreams.new({ strategy = "adaptive", nodes = n, options = { revisit_ms = 60000 } })
      up.pool.success[2] = 0.5
      local picks = {}
      for _ = 1, 10 * (n - 1) do
        local node = one_pick(up)
        picks[node] = (picks[node] or 0) + 1
      end
      for node = 0, n - 1 do
        assert.equal(node ~= 1 and 10 or nil, picks[node], ("node %d of %d"):format(node, n))
      end
    end
  end)

  it("follows the ramp of a node that comes back", function()
    local up = pair()
    up.pool.inverse_prior[1] = 1 / 0.2
    up.pool.in_flight[2] = 3
    assert.equal(1, one_pick(up))
  end)

  it("tries a node again whose requests get no answer, each time after as long as before", function()
    local up = upstreams.new({ strategy = "adaptive", nodes = 2, options = { revisit_every = 1 } })
    local now, picks = 1000, {}
    local stuck = requests.newRequestRecord()
    in_flight.beginTry(up, stuck, 0, now)
    for _ = 1, 60000 do
      now = now + 1
      local record = requests.newRequestRecord()
      local node = pick.pickNode(up, record, now, silent)
      in_flight.beginTry(up, record, node, now)
      if node == 0 then
        picks[#picks + 1] = now - 1000
      else
        in_flight.endTry(record)
      end
    end
    -- About 1, 2, 4, 8, 16, 32 s: never by mistake in between.
    assert.is_true(#picks >= 4 and #picks <= 7, #picks .. " picks")
  end)

  it("does not take a node for hung because of an open stream, once it has answered a later request", function()
    local up = pair()
    local stream = requests.newRequestRecord()
    in_flight.beginTry(up, stream, 0, 1000)
    in_flight.noteAnswered(up, 0, 1500)
    in_flight.setLongAside(up, 9000)
    assert.equal(0, up.pool.oldest_start_ms[1])
    assert.equal(1, up.pool.in_flight[1])
    assert.equal(1, up.pool.long_in_flight[1])
    up.pool.latency_ms[2] = 20
    up.pool.last_pick_ms = { 9000, 9000 }
    assert.equal(0, one_pick(up, 9000))
    in_flight.endTry(stream)
    assert.equal(0, up.pool.in_flight[1])
    assert.equal(0, up.pool.long_in_flight[1])
  end)

  it("spreads open streams over all nodes, although each of them looks old", function()
    local up = upstreams.new({ strategy = "adaptive", nodes = 4 })
    local now = 1000
    for _ = 1, 400 do
      now = now + 500
      local record = requests.newRequestRecord()
      in_flight.beginTry(up, record, pick.pickNode(up, record, now, silent), now)
    end
    for node = 1, 4 do
      assert.is_true(up.pool.in_flight[node] >= 80 and up.pool.in_flight[node] <= 120)
    end
  end)

  it("revisits no node that is slow, fails, or has weight 0, beyond its budget, nor with a retry", function()
    local function visits(set, options, tried)
      local up = upstreams.new({ strategy = "adaptive", nodes = 3, options = options })
      up.pool.latency_ms = { 10, 10, 10 }
      set(up.pool)
      cost.weighAll(up.pool)
      local count = 0
      for k = 1, 5000 do
        local now = 1000 + k * 10
        local record = requests.newRequestRecord()
        if tried then
          requests.addTry(record, up, 0)
        end
        local node = pick.pickNode(up, record, now, silent)
        if node ~= 2 then
          up.pool.last_pick_ms[node + 1] = now
        end
        count = count + (node == 2 and 1 or 0)
      end
      return count
    end
    local function slow(pool)
      pool.latency_ms[3] = 21
    end
    local never = { revisit_every = 1000000 }
    assert.equal(0, visits(slow, never))
    assert.equal(
      0,
      visits(function(pool)
        pool.success[3] = 0.8
      end, never)
    )
    assert.equal(
      0,
      visits(function(pool)
        pool.static_weight[3], pool.inverse_prior[3] = 0, 1e9
      end, { revisit_every = 1 })
    )
    local always = { revisit_every = 1, revisit_ms = 50 }
    assert.is_true(visits(slow, always) > 100)
    assert.equal(0, visits(slow, always, true))
  end)

  it("draws its sample by the weights that the collector gives", function()
    local up = upstreams.new({ strategy = "adaptive", nodes = 200, options = { scan_limit = 10, sample = 2 } })
    for node = 1, 200 do
      up.pool.weight[node] = node <= 100 and 0.01 or 1
      up.pool.last_pick_ms[node] = 1000
    end
    upstreams.flush(up)
    local low = 0
    for _ = 1, 2000 do
      low = low + (one_pick(up) < 100 and 1 or 0)
    end
    assert.is_true(low < 100, low .. " of 2000 to the half that has 1 % of the weight")
  end)

  it("revisits a failing node far less often", function()
    local up = upstreams.new({ strategy = "adaptive", nodes = 2, options = { revisit_every = 100, revisit_ms = 1000 } })
    up.pool.latency_ms = { 10, 10 }
    up.pool.success = { 1, 0.05 }
    local failing = 0
    for k = 1, 10000 do
      local node = one_pick(up, 1000 + k * 10)
      if node == 1 then
        failing = failing + 1
      end
      up.pool.last_pick_ms[node + 1] = 1000 + k * 10
    end
    assert.is_true(failing >= 1 and failing <= 4, "revisited " .. failing .. " times")
  end)

  it("compares a drawn few in a large pool, and still avoids the bad ones", function()
    local up = upstreams.new({ strategy = "adaptive", nodes = 1000 })
    for node = 1, 1000 do
      up.pool.latency_ms[node] = node <= 100 and 500 or 10
      up.pool.last_pick_ms[node] = 1000
    end
    local bad = 0
    for _ = 1, 5000 do
      if one_pick(up) < 100 then
        bad = bad + 1
      end
    end
    -- Six bad ones in six draws: one in a million.
    assert.is_true(bad <= 2)
  end)
end)
