-- Keys, caches, classes, streams and closed loops in the simulator.
local cache = require("sim.cache")
local engine = require("sim.engine")
local jobs = require("sim_jobs")
local keys = require("sim.keys")
local random = require("resty.ax.core.random")

local function run(given)
  return engine.simulate(jobs.job(given))
end

local function keyed(given)
  local all = { kind = "zipf", count = 100, exponent = 1, hot_share = 0, nat_share = 0, roam_every_s = 0 }
  for key, value in pairs(given or {}) do
    all[key] = value
  end
  return all
end

local BY_USER = { hash_key = "$arg_user" }

describe("keys of simulated requests", function()
  local function counts(given, n)
    local draws, rng, seen = keys.newKeyDraws(keyed(given)), random.newRandom(3), {}
    for id = 1, n do
      local key = keys.drawKey(draws, rng, id)
      seen[key] = (seen[key] or 0) + 1
    end
    return seen
  end

  it("follow Zipf's law", function()
    local seen = counts({}, 50000)
    for _, k in ipairs({ 2, 5, 20 }) do
      local ratio = seen[1] / seen[k]
      assert.is_true(math.abs(ratio / k - 1) < 0.15, ("key 1 comes %.2f times as often as key %d"):format(ratio, k))
    end
    assert.is_nil(seen[101])
  end)

  it("are hot, and spread evenly, as asked for", function()
    local seen = counts({ kind = "uniform", count = 4, hot_share = 0.3 }, 40000)
    assert.is_true(math.abs(seen[0] / 40000 - 0.3) < 0.01)
    for key = 1, 4 do
      assert.is_true(math.abs(seen[key] / 40000 - 0.175) < 0.01)
    end
  end)

  it("come from one address behind a NAT, and from changing ones elsewhere", function()
    local spec = keyed({ nat_share = 0.4, roam_every_s = 10 })
    local behind, moved = 0, 0
    local nat = string.char(100, 64, 0, 1)
    for key = 1, 2000 do
      local first, later = keys.addressOf(spec, key, 0), keys.addressOf(spec, key, 10000)
      assert.equal(4, #first)
      if first == nat then
        behind = behind + 1
        assert.equal(nat, later)
      elseif first ~= later then
        moved = moved + 1
      end
    end
    assert.is_true(math.abs(behind / 2000 - 0.4) < 0.05)
    assert.equal(2000 - behind, moved)
  end)
end)

describe("a node's cache", function()
  it("forgets the key not used for longest", function()
    local full = cache.newCache(2)
    assert.is_false(cache.useCache(full, 1))
    assert.is_false(cache.useCache(full, 2))
    assert.is_true(cache.useCache(full, 1))
    assert.is_false(cache.useCache(full, 3))
    assert.is_true(cache.holds(full, 1))
    assert.is_false(cache.holds(full, 2))
    assert.equal(2, full.entries)
  end)

  it("agrees with a plain list over thousands of random uses", function()
    local rng = random.newRandom(5)
    for size = 1, 9, 4 do
      local full, list = cache.newCache(size), {}
      for _ = 1, 3000 do
        local key = random.drawBelow(rng, 12)
        local at
        for k, known in ipairs(list) do
          at = known == key and k or at
        end
        assert.equal(at ~= nil, cache.useCache(full, key))
        table.remove(list, at or (#list == size and 1 or #list + 1))
        list[#list + 1] = key
      end
    end
  end)
end)

describe("the simulator with caches", function()
  it("shows that a key which always meets its node hits, and one that does not misses", function()
    local given = { keys = keyed({ count = 300 }), cache = { entries = 60, miss_factor = 4 }, rate_per_s = 200 }
    given.upstream = BY_USER
    given.strategy = "consistent_hash"
    local by_key = run(given)
    given.strategy = "round_robin"
    local by_turns = run(given)
    assert.is_true(by_key.hit_share > 0.85)
    assert.is_true(by_turns.hit_share < 0.75)
    assert.is_true(by_turns.mean_ms > by_key.mean_ms)
    given.bound = "shared_queue"
    assert.equal(1, run(given).hit_share)
  end)

  it("lets affinity spread a hot key over three nodes, and no more", function()
    local given = { keys = keyed({ count = 300, hot_share = 0.3 }), upstream = BY_USER, nodes = jobs.nodes(10) }
    given.rho = 0.2
    given.strategy = "consistent_hash"
    assert.equal(1, run(given).hot_key_nodes)
    given.strategy = "affinity"
    local spread = run(given).hot_key_nodes
    assert.is_true(spread >= 2 and spread <= 3, ("%d nodes"):format(spread))
    given.strategy = "round_robin"
    assert.equal(10, run(given).hot_key_nodes)
  end)

  it("shows that an address stands for all behind a NAT, and a key does not", function()
    local given = { keys = keyed({ kind = "uniform", nat_share = 0.5 }), rate_per_s = 300, strategy = "ip_hash" }
    assert.is_true(run(given).peak_to_mean > 2.5)
    given.upstream = BY_USER
    assert.is_true(run(given).peak_to_mean < 2)
  end)
end)

describe("the simulator's classes", function()
  local function classes(upstream)
    return run({
      strategy = "round_robin",
      rho = 0.85,
      upstream = upstream,
      classes = {
        { name = "vip", share = 0.2, work = 1 },
        { name = "batch", share = 0.8, work = 2 },
      },
    })
  end

  it("have figures of their own, and the shares asked for", function()
    local result = classes({})
    local vip, batch = result.classes[1], result.classes[2]
    assert.equal(result.requests, vip.requests + batch.requests)
    assert.is_true(math.abs(vip.requests / result.requests - 0.2) < 0.02)
    assert.is_true(batch.p50_ms > 1.5 * vip.p50_ms)
    -- Twice the work of four in five: the load is still what was asked for.
    assert.is_true(math.abs(result.rate_per_s / result.capacity_per_s - 0.85) < 0.05)
  end)

  it("reach the library", function()
    local blind, seeing = classes({}), classes({ class_source = "header:X-Class" })
    assert.is_true(seeing.classes[1].p99_ms < blind.classes[1].p99_ms)
  end)
end)

describe("the simulator's clients", function()
  it("wait for an answer: their number is what is under way", function()
    -- Six nodes of eight slots: nobody waits, so a client sends once per answer (Little's law).
    local result = run({ clients = 12, rho = 0, think_ms = 5, warmup_s = 2, duration_s = 20 })
    local expected = 12 / (20 + 1 + 5) * 1000
    local off = math.abs(result.rate_per_s / expected - 1)
    assert.is_true(off < 0.03, ("%.1f of %.1f"):format(result.rate_per_s, expected))
    assert.equal(result.begun, result.ended)
  end)

  it("go on after errors", function()
    local nodes = jobs.nodes(2, { events = { jobs.event({ mode = "black_hole" }) } })
    local result = run({ clients = 2, rho = 0, nodes = nodes, warmup_s = 0, duration_s = 1 })
    assert.equal(1, result.error_share)
    assert.is_true(result.requests > 100)
  end)
end)

describe("the simulator's streams", function()
  it("are answered at their first byte and in flight to their end", function()
    local plain = run({ bound = "oracle", rho = 0.5 })
    local long = run({ bound = "oracle", rho = 0.5, streams = { share = 0.2, mean_s = 5 } })
    assert.equal(plain.begun, long.begun)
    assert.is_true(math.abs(long.p50_ms / plain.p50_ms - 1) < 0.2)
    assert.equal(long.begun, long.ended)
    assert.equal(0, long.error_share)
  end)
end)

describe("bounded Pareto work", function()
  it("has the mean asked for, and no tail beyond its bound", function()
    local arrivals = require("sim.arrivals")
    local rng = random.newRandom(11)
    for _, alpha in ipairs({ 1, 1.5, 2.5 }) do
      local service = jobs.service({ distribution = "pareto", alpha = alpha, spread = 100, mean_ms = 10 })
      local sum, least, most = 0, math.huge, 0
      for _ = 1, 200000 do
        local work = arrivals.drawDemand(service, rng)
        sum, least, most = sum + work, math.min(least, work), math.max(most, work)
      end
      assert.is_true(math.abs(sum / 200000 / 10 - 1) < 0.03, ("mean %.2f"):format(sum / 200000))
      assert.is_true(most / least <= 100.001)
    end
  end)
end)
