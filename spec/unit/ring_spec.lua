local cjson = require("cjson.safe")
local ring = require("resty.ax.core.ring")
local ring_builder = require("resty.ax.core.ring_builder")
local chunked = require("resty.ax.core.chunked")
local random = require("resty.ax.core.random")

local file = assert(io.open("spec/vectors/hash.json"))
local vectors = assert(cjson.decode(file:read("*a")))
file:close()

local function ids_of(n, prefix)
  local ids = {}
  for k = 1, n do
    ids[k] = (prefix or "node-") .. k
  end
  return ids
end

local function same_counts(n, count)
  local counts = {}
  for k = 1, n do
    counts[k] = count
  end
  return counts
end

local function owner(built, ids, key)
  return ids[ring.nodeAt(built, ring.seek(built, key), 0) + 1]
end

local function hash_at(built, at)
  return math.floor(chunked.read(built.points, at) / ring.NODE_RANGE)
end

local function keys_of(n, seed)
  local rng = random.newRandom(seed)
  local keys = {}
  for k = 1, n do
    keys[k] = random.drawBelow(rng, 4294967296)
  end
  return keys
end

local function shuffled(list, rng)
  local copy = { unpack(list) }
  for k = #copy, 2, -1 do
    local j = 1 + random.drawBelow(rng, k)
    copy[k], copy[j] = copy[j], copy[k]
  end
  return copy
end

describe("a ring", function()
  for k, case in ipairs(vectors.rings) do
    it("gives each key the owner that an independent implementation finds, case " .. k, function()
      local built = ring_builder.buildRing(case.ids, case.counts)
      assert.equal(case.size, built.size)
      for j, key in ipairs(case.keys) do
        assert.equal(case.owners[j], owner(built, case.ids, key))
      end
    end)
  end

  it("does not depend on the order of the nodes", function()
    local rng = random.newRandom(5)
    for round = 1, 20 do
      local n = 1 + random.drawBelow(rng, 40)
      local ids = ids_of(n)
      local other = shuffled(ids, rng)
      local counts = same_counts(n, 1 + random.drawBelow(rng, 200))
      local a, b = ring_builder.buildRing(ids, counts), ring_builder.buildRing(other, counts)
      for _, key in ipairs(keys_of(200, round)) do
        assert.equal(owner(a, ids, key), owner(b, other, key))
      end
    end
  end)

  it("orders points of equal hash by identity, not by number", function()
    -- 320,000 points: about twelve pairs share their hash.
    local n = 2000
    local ids, reversed = ids_of(n), {}
    for k = 1, n do
      reversed[k] = ids[n + 1 - k]
    end
    local a, b = ring_builder.buildRing(ids, same_counts(n, 160)), ring_builder.buildRing(reversed, same_counts(n, 160))
    local ties = 0
    for at = 0, a.size - 1 do
      local id = ids[ring.nodeAt(a, at, 0) + 1]
      assert(id == reversed[ring.nodeAt(b, at, 0) + 1])
      if at > 0 and hash_at(a, at) == hash_at(a, at - 1) then
        ties = ties + 1
        assert.is_true(ids[ring.nodeAt(a, at - 1, 0) + 1] < id)
      end
      assert(at == 0 or hash_at(a, at) >= hash_at(a, at - 1))
    end
    assert.is_true(ties > 0)
  end)

  it("is the same whatever the slices it is built in", function()
    local ids, counts = ids_of(37), same_counts(37, 91)
    local whole = ring_builder.buildRing(ids, counts)
    for _, budget in ipairs({ 1, 7, 500 }) do
      local builder = ring_builder.newRingBuilder(ids, counts)
      local built
      repeat
        built = ring_builder.stepRing(builder, budget)
      until built
      for at = 0, whole.size - 1 do
        assert(ring.nodeAt(whole, at, 0) == ring.nodeAt(built, at, 0))
      end
      assert.same(whole.directory, built.directory)
    end
  end)

  it("takes no more than its budget of points at a time", function()
    local ids, counts = ids_of(50), same_counts(50, 160)
    local builder = ring_builder.newRingBuilder(ids, counts)
    local steps = 0
    repeat
      steps = steps + 1
    until ring_builder.stepRing(builder, 100)
    -- Points, three passes of counting and moving, ties, directory: nine looks at 8000 points.
    assert.is_true(steps >= 9 * 80 and steps <= 9 * 80 + 10, tostring(steps))
  end)

  it("gives a key to the first point at or after it, and the last keys to the first point", function()
    local ids = ids_of(3)
    local built = ring_builder.buildRing(ids, same_counts(3, 5))
    for at = 0, built.size - 1 do
      local hash = hash_at(built, at)
      assert.equal(at, ring.seek(built, hash))
      assert.equal((at + 1) % built.size, ring.seek(built, hash + 1))
    end
    assert.equal(0, ring.seek(built, 0))
  end)

  it("gives each of 64 nodes a share near 1/64", function()
    local ids = ids_of(64)
    local built = ring_builder.buildRing(ids, same_counts(64, 160))
    local counts = {}
    for _, key in ipairs(keys_of(64000, 11)) do
      local id = owner(built, ids, key)
      counts[id] = (counts[id] or 0) + 1
    end
    for _, id in ipairs(ids) do
      -- 1/sqrt(160) = 8 %, and 3 % of counting: four of both together.
      assert.is_true(math.abs(counts[id] / 1000 - 1) < 0.34, id .. ": " .. counts[id])
    end
  end)

  it("moves about 1/n of the keys when a node comes or goes, and none between other nodes", function()
    local rng = random.newRandom(23)
    for round = 1, 40 do
      local n = 2 + random.drawBelow(rng, 30)
      local ids = ids_of(n, "r" .. round .. "-")
      local fewer = shuffled(ids, rng)
      local gone = table.remove(fewer)
      local before = ring_builder.buildRing(ids, same_counts(n, 160))
      local after = ring_builder.buildRing(fewer, same_counts(n - 1, 160))
      local moved = 0
      for _, key in ipairs(keys_of(2000, round)) do
        local was, is = owner(before, ids, key), owner(after, fewer, key)
        if was ~= is then
          assert.equal(gone, was)
          moved = moved + 1
        end
      end
      -- 8 % of the ring and sqrt(2000 / n) of counting, five times each.
      local mean = 2000 / n
      assert.is_true(math.abs(moved - mean) < 5 * (0.08 * mean + math.sqrt(mean)), n .. ": " .. moved)
    end
  end)
end)
