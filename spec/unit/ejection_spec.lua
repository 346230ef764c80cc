local cjson = require("cjson")
local ejection = require("resty.ax.core.ejection")
local kit = require("collector_kit")

local NOW = 1000000

local function seen(given)
  local record = {
    streak = 0,
    picks_since_return = math.huge,
    answered_since_return = true,
    judged = 0,
    failed = 0,
    young = false,
    others_in_rotation = 5,
  }
  for key, value in pairs(given or {}) do
    record[key] = value
  end
  return record
end

--- One node and its upstream, moved by hand.
local function subject(node_options, upstream_options)
  local node = kit.node("a", node_options)
  local upstream = kit.upstream({ node }, upstream_options)
  local self = { health = ejection.newHealth(NOW), now_ms = NOW, node = node, upstream = upstream }
  function self.look(given, ms)
    self.now_ms = self.now_ms + (ms or 500)
    self.health = ejection.transition(self.health, seen(given), node, upstream, self.now_ms)
    return self.health.state
  end
  function self.reason()
    return ejection.reasonText(self.health, upstream, self.now_ms)
  end
  function self.eject()
    assert.equal("ejected", self.look({ streak = node.max_fails }))
    return self.health.until_ms - self.now_ms
  end
  return self
end

local failing = { judged = 100, failed = 20 }

describe("a node in rotation", function()
  it("stays while nothing is wrong, in the same record", function()
    local node = subject()
    local before = node.health
    assert.equal("online", node.look({ streak = 2, judged = 100, failed = 4 }))
    assert.equal(before, node.health)
    assert.equal("in rotation", node.reason())
  end)

  it("is ejected for max_fails connection failures in a row, for fail_timeout", function()
    local node = subject()
    local cool_down_ms = node.eject()
    assert.is_true(cool_down_ms >= 10000 and cool_down_ms <= 10500)
    assert.equal("3 connection failures in a row (max_fails 3)", node.reason())
  end)

  it("is never ejected for connection failures with max_fails 0", function()
    assert.equal("online", subject({ max_fails = 0 }).look({ streak = 1000 }))
  end)

  it("is ejected for an error rate over the limit for long enough, for the cool-down", function()
    local node = subject()
    for _ = 1, 60 do
      assert.equal("online", node.look({ judged = 1000, failed = 124 }))
    end
    assert.equal("in rotation; error rate over 5 % for 30 s", node.reason())
    assert.equal("ejected", node.look({ judged = 1000, failed = 124 }, 1000))
    assert.equal("error rate 12.4 % for 31 s (limit 5 % for 30 s)", node.reason())
    local cool_down_ms = node.health.until_ms - node.now_ms
    assert.is_true(cool_down_ms >= 60000 and cool_down_ms <= 63000)
  end)

  it("is not ejected for a blip: the time begins again when the rate was within the limit", function()
    local node = subject()
    for _ = 1, 5 do
      for _ = 1, 50 do
        assert.equal("online", node.look(failing))
      end
      node.look({ judged = 100, failed = 2 })
    end
    assert.equal("in rotation", node.reason())
  end)

  it("is not ejected for a blip that nobody saw the end of", function()
    local node = subject()
    node.look(failing)
    for _ = 1, 100 do
      assert.equal("online", node.look({ judged = 0, failed = 0 }))
    end
  end)

  it("is not ejected for a few bad answers of few", function()
    local node = subject()
    for _ = 1, 200 do
      assert.equal("online", node.look({ judged = 19, failed = 19 }))
    end
  end)

  it("is still ejected when, failing, it gets few requests", function()
    local node = subject()
    node.look(failing)
    for _ = 1, 59 do
      assert.equal("online", node.look({ judged = 3, failed = 2 }))
    end
    assert.equal("ejected", node.look({ judged = 3, failed = 3 }))
  end)

  it("keeps its error time over a takeover, when nothing was seen yet", function()
    local node = subject()
    node.look(failing)
    node.look({ young = true })
    assert.is_not_nil(node.health.error_since_ms)
  end)

  it("stays when it is the last one, and says so while that lasts", function()
    local node = subject()
    assert.equal("online", node.look({ streak = 4, others_in_rotation = 0 }))
    assert.equal(
      "in rotation; kept as the last node in rotation in spite of 4 connection failures in a row (max_fails 3)",
      node.reason()
    )
    node.look({ streak = 0, others_in_rotation = 0 })
    assert.equal("in rotation", node.reason())
  end)
end)

describe("an ejected node", function()
  it("comes back at a low share when its time is over, and ramps up", function()
    local node = subject()
    local cool_down_ms = node.eject()
    assert.equal("ejected", node.look({}, cool_down_ms - 1))
    assert.equal("ramping", node.look({}, 1))
    assert.equal(0.2, ejection.rampFactor(node.health, 0.2, node.now_ms))
    assert.equal("back after 10 s out; 20 % of its share", node.reason())
    node.look({}, 15000)
    assert.is_true(math.abs(ejection.rampFactor(node.health, 0.2, node.now_ms) - 0.6) < 1e-9)
    assert.equal("back after 10 s out; 60 % of its share", node.reason())
    assert.equal("online", node.look({}, 15000))
    assert.equal(1, ejection.rampFactor(node.health, 0.2, node.now_ms))
  end)

  it("comes back at once at full share without a ramp", function()
    local node = subject(nil, { ramp_s = 0 })
    assert.equal("online", node.look({}, node.eject()))
  end)

  it("goes straight out again when its first try fails", function()
    local node = subject()
    node.look({}, node.eject())
    assert.equal("ramping", node.health.state)
    local first = { streak = 1, picks_since_return = 1, answered_since_return = false }
    assert.equal("ejected", node.look(first))
    assert.equal("no connection at the first try since its return", node.reason())
  end)

  it("is not held responsible for tries of before it was ejected", function()
    local node = subject()
    node.look({}, node.eject())
    local late = { streak = 5, picks_since_return = 0, answered_since_return = false }
    assert.equal("ramping", node.look(late))
  end)

  it("needs max_fails failures again once it has answered", function()
    local node = subject()
    node.look({}, node.eject())
    assert.equal("ramping", node.look({ streak = 2, picks_since_return = 10 }))
    assert.equal("ejected", node.look({ streak = 3, picks_since_return = 10 }))
  end)

  it("stays out twice as long each time, up to the longest cool-down", function()
    local node = subject()
    local times = {}
    for n = 1, 9 do
      times[n] = node.eject()
      assert.equal(n, node.health.ejections)
      node.look({}, times[n])
    end
    for n = 2, 6 do
      assert.is_true(times[n] / times[n - 1] > 1.9 and times[n] / times[n - 1] < 2.1)
    end
    assert.is_true(times[7] >= 600000 and times[9] <= 630000)
  end)

  it("is forgiven one ejection for every clean long window", function()
    local node = subject()
    for _ = 1, 3 do
      node.look({}, node.eject())
    end
    assert.equal(3, node.health.ejections)
    node.look({}, 30000)
    node.look({}, 59999)
    assert.equal(3, node.health.ejections)
    node.look({}, 1)
    assert.equal(2, node.health.ejections)
    node.look({}, 60000)
    node.look({}, 60000)
    assert.equal(0, node.health.ejections)
    node.look({}, 60000)
    assert.equal(0, node.health.ejections)
  end)

  it("is not forgiven while it errs too much", function()
    local node = subject()
    node.look({}, node.eject())
    node.look({}, 30000)
    node.look({}, 50000)
    node.look(failing)
    node.look({ judged = 100, failed = 0 }, 15000)
    node.look({}, 59000)
    assert.equal(1, node.health.ejections)
    node.look({}, 1000)
    assert.equal(0, node.health.ejections)
  end)
end)

describe("a node that the configuration takes down", function()
  it("is down from any state, and ramps when it is back", function()
    local node = subject()
    node.eject()
    node.node.down = true
    assert.equal("offline", node.look())
    assert.equal("down in the configuration", node.reason())
    assert.equal("offline", node.look({ streak = 100 }, 1000000))
    node.node.down = false
    assert.equal("ramping", node.look())
    assert.equal("back in the configuration; 20 % of its share", node.reason())
  end)
end)

describe("cool-downs", function()
  it("are those of the golden vectors", function()
    local file = assert(io.open("spec/vectors/cool_down.json"))
    local text = file:read("*a")
    file:close()
    for _, case in ipairs(cjson.decode(text)) do
      assert.equal(case.ms, ejection.coolDownMs(case.base_s, case.ejections, case.max_s, case.id))
    end
  end)

  it("of nodes ejected together differ by a few percent", function()
    local shortest, longest, times, distinct = math.huge, 0, {}, 0
    for i = 1, 100 do
      local ms = ejection.coolDownMs(60, 1, 600, "10.0.0." .. i .. ":8080")
      shortest, longest = math.min(shortest, ms), math.max(longest, ms)
      distinct = distinct + (times[ms] and 0 or 1)
      times[ms] = true
    end
    assert.is_true(shortest >= 60000 and longest <= 63000)
    assert.is_true(longest - shortest > 2000 and distinct > 80)
  end)
end)

describe("a reason's cause", function()
  it("is what stands before the part that moves with time", function()
    assert.equal("back after 10 s out", ejection.causeOf("back after 10 s out; 43 % of its share"))
    assert.equal("in rotation", ejection.causeOf("in rotation"))
  end)
end)
