local cjson = require("cjson")
local histogram = require("resty.ax.core.histogram")
local random = require("resty.ax.core.random")

local function vectors()
  local file = assert(io.open("spec/vectors/histogram.json"))
  local text = file:read("*a")
  file:close()
  return cjson.decode(text)
end

local function counts_of(samples)
  local counts = histogram.newCounts()
  for _, ms in ipairs(samples) do
    histogram.addCount(counts, histogram.bucketOf(ms), 1)
  end
  return counts
end

--- Exponential, uniform or two-humped, from microseconds to minutes.
local function random_samples(rng)
  local samples = {}
  local n = 1 + random.drawBelow(rng, 400)
  local mean = 10 ^ (random.draw(rng) * 4.5)
  local shape = random.drawBelow(rng, 3)
  for i = 1, n do
    local u = random.draw(rng)
    if shape == 0 then
      samples[i] = math.floor(-math.log(1 - u) * mean)
    elseif shape == 1 then
      samples[i] = math.floor(u * mean)
    else
      samples[i] = math.floor(random.draw(rng) < 0.95 and mean or mean * 20)
    end
    samples[i] = math.min(samples[i], 131071)
  end
  return samples
end

local function trimmed(counts)
  local sparse = histogram.toSparse(counts)
  return table.concat(sparse, ",")
end

describe("histogram buckets", function()
  it("are those of the golden vectors", function()
    for _, pair in ipairs(vectors().buckets) do
      assert.equal(pair[2], histogram.bucketOf(pair[1]), "bucket of " .. pair[1] .. " ms")
    end
    for _, bound in ipairs(vectors().bounds) do
      assert.same({ bound[2], bound[3] }, { histogram.lowerBoundMs(bound[1]), histogram.widthMs(bound[1]) })
    end
  end)

  it("hold every millisecond between their bounds, without gaps, at most an eighth of the value wide", function()
    local bucket = 0
    for ms = 0, 131071 do
      local b = histogram.bucketOf(ms)
      assert.is_true(b == bucket or b == bucket + 1)
      bucket = b
      local lower, width = histogram.lowerBoundMs(b), histogram.widthMs(b)
      assert.is_true(ms >= lower and ms < lower + width)
      assert.is_true(ms < 16 and width == 1 or width <= lower / 8)
    end
    assert.equal(histogram.BUCKETS - 2, bucket)
  end)

  it("take what is no latency as 0 and what is too long as overflow", function()
    assert.equal(0, histogram.bucketOf(0 / 0))
    assert.equal(0, histogram.bucketOf(-1))
    assert.equal(histogram.BUCKETS - 1, histogram.bucketOf(math.huge))
  end)
end)

describe("histogram percentile", function()
  it("gives the golden vectors' values", function()
    for _, case in ipairs(vectors().percentiles) do
      local counts = counts_of(case.samples)
      for i, q in ipairs(case.q) do
        local ms = histogram.percentile(counts, #case.samples, q)
        assert.is_true(math.abs(case.ms[i] - ms) < 1e-9, ("P%g: %g, not %g"):format(q * 100, ms, case.ms[i]))
      end
    end
  end)

  it("is within one bucket width of the exact one, over random samples", function()
    local rng = random.newRandom(1)
    for _ = 1, 300 do
      local samples = random_samples(rng)
      local counts = counts_of(samples)
      table.sort(samples)
      for _, q in ipairs({ 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 1 }) do
        local exact = samples[math.max(1, math.ceil(q * #samples))]
        local found = histogram.percentile(counts, #samples, q)
        assert.is_true(math.abs(found - exact) <= histogram.widthMs(histogram.bucketOf(exact)))
      end
    end
  end)

  it("never falls as the share rises", function()
    local rng = random.newRandom(2)
    for _ = 1, 100 do
      local samples = random_samples(rng)
      local counts = counts_of(samples)
      local before = 0
      for percent = 0, 100 do
        local ms = histogram.percentile(counts, #samples, percent / 100)
        assert.is_true(ms >= before - 1e-9)
        before = ms
      end
    end
  end)

  it("is 0 without samples", function()
    assert.equal(0, histogram.percentile({}, 0, 0.99))
  end)
end)

describe("histograms of parts", function()
  it("merge to the histogram of all samples, and subtract back to the other part", function()
    local rng = random.newRandom(3)
    for _ = 1, 200 do
      local a, b = random_samples(rng), random_samples(rng)
      local pooled = {}
      for _, list in ipairs({ a, b }) do
        for _, ms in ipairs(list) do
          pooled[#pooled + 1] = ms
        end
      end
      local merged = {}
      histogram.mergeInto(merged, counts_of(a))
      histogram.mergeInto(merged, counts_of(b))
      assert.equal(trimmed(counts_of(pooled)), trimmed(merged))
      histogram.subtractFrom(merged, counts_of(a))
      assert.equal(trimmed(counts_of(b)), trimmed(merged))
      local other = { 7, 7, 7 }
      histogram.differenceInto(other, counts_of(pooled), counts_of(b))
      assert.equal(trimmed(counts_of(a)), trimmed(other))
    end
  end)

  it("go over the wire and back unchanged", function()
    local rng = random.newRandom(4)
    for _ = 1, 100 do
      local counts = counts_of(random_samples(rng))
      local back = {}
      histogram.addSparse(back, histogram.toSparse(counts), 1)
      assert.equal(trimmed(counts), trimmed(back))
    end
  end)

  it("count samples from a threshold on", function()
    local counts = counts_of({ 1, 5, 9, 20, 80, 80, 500 })
    assert.equal(7, histogram.countFrom(counts, 0))
    assert.equal(4, histogram.countFrom(counts, 9.5))
    assert.equal(3, histogram.countFrom(counts, 80))
    assert.equal(0, histogram.countFrom(counts, 100000))
  end)
end)

describe("a sparse histogram from another process", function()
  it("is taken as it is when sound", function()
    local sparse = { 3, 1, 40, 2 }
    assert.equal(sparse, histogram.cleanSparse(sparse))
  end)

  it("loses the pairs that are not a bucket and a count", function()
    assert.same(
      { 3, 1, 4, 2 },
      histogram.cleanSparse({ 3, 1, -1, 5, 121, 5, 2.5, 5, 7, 0, 7, -2, "8", 1, 8, "x", 8, 0 / 0, 8, 1 / 0, 4, 2, 9 })
    )
    for _, nonsense in ipairs({ false, "text", 7 }) do
      assert.same({}, histogram.cleanSparse(nonsense))
    end
    assert.same({}, histogram.cleanSparse(nil))
    assert.same({}, histogram.cleanSparse({}))
  end)
end)
