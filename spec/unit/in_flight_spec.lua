local upstreams = require("upstreams")
local in_flight = require("resty.ax.dataplane.in_flight")
local requests = require("resty.ax.dataplane.requests")
local random = require("resty.ax.core.random")

describe("requests in flight", function()
  it("agree with a naive count and minimum over random begins and ends", function()
    local up = upstreams.new({ nodes = 3 })
    local rng = random.newRandom(11)
    local open = {}
    for now = 1, 4000 do
      if #open > 0 and random.draw(rng) < 0.5 then
        local record = table.remove(open, 1 + random.drawBelow(rng, #open))
        in_flight.endTry(record)
        in_flight.endTry(record) -- a second end must change nothing
      else
        local record = requests.newRequestRecord()
        in_flight.beginTry(up, record, random.drawBelow(rng, 3), now)
        open[#open + 1] = record
      end
      local count, oldest = { 0, 0, 0 }, { 0, 0, 0 }
      for _, record in ipairs(open) do
        local at = record.node + 1
        count[at] = count[at] + 1
        if oldest[at] == 0 or record.start_ms < oldest[at] then
          oldest[at] = record.start_ms
        end
      end
      assert.same(count, up.pool.in_flight)
      assert.same(oldest, up.pool.oldest_start_ms)
    end
  end)
end)

describe("a long request", function()
  local up, stream

  before_each(function()
    up = upstreams.new({ nodes = 1 })
    up.pool.latency_ms[1] = 20
    stream = requests.newRequestRecord()
    in_flight.beginTry(up, stream, 0, 1000)
  end)

  local function is_long_at(now)
    in_flight.setLongAside(up, now)
    return up.pool.long_in_flight[1] == 1
  end

  it("is one that lasts 20 times as long as usual while later ones are answered", function()
    in_flight.noteAnswered(up, 0, 1001)
    assert.is_false(is_long_at(1400))
    assert.is_true(is_long_at(1401))
    assert.equal(0, up.pool.oldest_start_ms[1])
    in_flight.endTry(stream)
    assert.equal(0, up.pool.long_in_flight[1])
    assert.equal(0, up.pool.in_flight[1])
  end)

  it("lasts 200 ms at least, where answers take a millisecond", function()
    up.pool.latency_ms[1] = 1
    in_flight.noteAnswered(up, 0, 1001)
    assert.is_false(is_long_at(1200))
    assert.is_true(is_long_at(1201))
  end)

  it("is none while the node answers nothing that came later: it may hang", function()
    in_flight.noteAnswered(up, 0, 999)
    assert.is_false(is_long_at(60000))
    assert.equal(1000, up.pool.oldest_start_ms[1])
  end)
end)

describe("request records", function()
  it("are reused, with nothing left of the request before", function()
    local up = upstreams.new({ nodes = 2 })
    local table_ = requests.newRequestTable()
    local first = requests.openRequest(table_, 4096, 1.5, true)
    requests.addTry(first, up, 1)
    requests.closeRequest(table_, first)
    assert.equal(0, table_.live)
    assert.is_nil(table_.by_key[4096])
    local second = requests.openRequest(table_, 8192, 2.5, false)
    assert.equal(first, second)
    assert.equal(0, second.tries)
    assert.is_false(second.subrequest)
    assert.is_false(requests.wasTried(second, up, 1))
  end)

  it("do not hold the memory of a burst for ever", function()
    local table_ = requests.newRequestTable()
    local open = {}
    for key = 1, 10000 do
      open[key] = requests.openRequest(table_, key, key, false)
    end
    for key = 1, 10000 do
      requests.closeRequest(table_, open[key])
    end
    assert.is_true(table_.free_count <= 4096)
    assert.equal(0, table_.live)
  end)
end)
