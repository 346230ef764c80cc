local cjson = require("cjson")
local cool_down = require("resty.ax.core.health.cool_down")
local kit = require("collector_kit")
local machine = require("resty.ax.core.health.machine")
local pool_rules = require("resty.ax.core.health.pool_rules")
local probe_view = require("resty.ax.core.probe.view")
local ramp = require("resty.ax.core.health.ramp")
local random = require("resty.ax.core.random")
local record = require("resty.ax.core.health.record")
local stale = require("resty.ax.core.health.stale")
local states = require("resty.ax.core.health.states")
local text = require("resty.ax.core.health.text")
local transitions = require("resty.ax.core.health.transitions")

local NOW = 1000000

local function seen(given)
  local evidence = record.newSeen()
  evidence.young = false
  for key, value in pairs(given or {}) do
    evidence[key] = value
  end
  return evidence
end

--- One node and its upstream, moved by hand.
local function subject(node_options, upstream_options)
  local node = kit.node("a", node_options)
  local upstream = kit.upstream({ node }, upstream_options)
  local self = { health = record.newHealth(NOW), now_ms = NOW, node = node, upstream = upstream }
  function self.look(given, ms)
    self.now_ms = self.now_ms + (ms or 500)
    self.health = machine.transition(self.health, seen(given), node, upstream, self.now_ms)
    return self.health.state
  end
  function self.reason()
    return text.reasonText(self.health, upstream, self.now_ms)
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
      assert.equal("suspect", node.look({ judged = 1000, failed = 124 }))
    end
    assert.equal("error rate 12.4 % (limit 5 %); error rate over 5 % for 30 s", node.reason())
    assert.equal("ejected", node.look({ judged = 1000, failed = 124 }, 1000))
    assert.equal("error rate 12.4 % for 31 s (limit 5 % for 30 s)", node.reason())
    local cool_down_ms = node.health.until_ms - node.now_ms
    assert.is_true(cool_down_ms >= 60000 and cool_down_ms <= 63000)
  end)

  it("is not ejected for a blip: the time begins again when the rate was within the limit", function()
    local node = subject()
    for _ = 1, 5 do
      for _ = 1, 50 do
        assert.equal("suspect", node.look(failing))
      end
      node.look({ judged = 100, failed = 2 })
      assert.equal("online", node.look({ judged = 100, failed = 0 }, 5000))
    end
    assert.equal("in rotation", node.reason())
  end)

  it("is not ejected for a blip that nobody saw the end of", function()
    local node = subject()
    node.look(failing)
    for _ = 1, 100 do
      assert.is_true(states.isUsable(node.look({ judged = 0, failed = 0 })))
    end
    assert.equal("online", node.health.state)
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
      assert.equal("suspect", node.look({ judged = 3, failed = 2 }))
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
    assert.equal("suspect", node.look({ streak = 4, may_eject = false }))
    local cause = "4 connection failures in a row (max_fails 3)"
    assert.equal(cause .. "; kept, the pool cannot spare it, in spite of " .. cause, node.reason())
    node.look({ streak = 0, may_eject = false })
    assert.equal("suspect", node.health.state)
    node.look({ judged = 1, may_eject = false }, 5000)
    assert.equal("in rotation", node.reason())
  end)
end)

describe("an ejected node", function()
  it("comes back at a low share when its time is over, and ramps up", function()
    local node = subject()
    local cool_down_ms = node.eject()
    assert.equal("ejected", node.look({}, cool_down_ms - 1))
    assert.equal("ramping", node.look({}, 1))
    assert.equal(0.2, ramp.rampFactor(node.health, node.upstream, node.now_ms))
    assert.equal("back after 10 s out; 20 % of its share", node.reason())
    node.look({}, 15000)
    assert.is_true(math.abs(ramp.rampFactor(node.health, node.upstream, node.now_ms) - 0.6) < 1e-9)
    assert.equal("back after 10 s out; 60 % of its share", node.reason())
    assert.equal("online", node.look({}, 15000))
    assert.equal(1, ramp.rampFactor(node.health, node.upstream, node.now_ms))
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

describe("in panic, a node that is out", function()
  local answered = { panic = true, picks_since_return = 2, ok_since_return = 1 }

  it("is back at once, and in full, when it answers: the pool as a whole had failed", function()
    local node = subject()
    node.eject()
    assert.equal("ejected", node.look({ panic = true, picks_since_return = 1 }))
    assert.equal("online", node.look(answered))
    assert.equal("back: it answers, and too few others are good", node.health.cause)
  end)

  it("is not when it fails, when its probes do, when the answer is of before, or when there is no panic", function()
    for key, value in pairs({
      failures = 1,
      picks_since_return = 0,
      panic = false,
      probe = probe_view.newProbeView(),
    }) do
      local node = subject()
      node.eject()
      local given = {}
      for name, of_answered in pairs(answered) do
        given[name] = of_answered
      end
      given[key] = value
      if key == "probe" then
        value.verdict = "fail"
      end
      assert.equal("ejected", node.look(given), key)
    end
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
    local json = file:read("*a")
    file:close()
    for _, case in ipairs(cjson.decode(json)) do
      assert.equal(case.ms, cool_down.coolDownMs(case.base_s, case.ejections, case.max_s, case.id))
    end
  end)

  it("of nodes ejected together differ by a few percent", function()
    local shortest, longest, times, distinct = math.huge, 0, {}, 0
    for i = 1, 100 do
      local ms = cool_down.coolDownMs(60, 1, 600, "10.0.0." .. i .. ":8080")
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
    assert.equal("back after 10 s out", text.causeOf("back after 10 s out; 43 % of its share"))
    assert.equal("in rotation", text.causeOf("in rotation"))
  end)
end)

local function probe(given)
  local view = probe_view.newProbeView()
  for key, value in pairs(given) do
    view[key] = value
  end
  return view
end

describe("failures of any kind", function()
  it("three in a row make a node suspect, which a short window without them ends", function()
    local node = subject()
    assert.equal("online", node.look({ failures = 2, judged = 2, failed = 2 }))
    assert.equal("suspect", node.look({ failures = 3, judged = 3, failed = 3 }))
    assert.equal("3 failures in a row", node.reason())
    assert.equal("suspect", node.look({ judged = 2, failed = 1 }, 4000), "still failing")
    assert.equal("suspect", node.look({ judged = 2, failed = 1 }, 4000))
    assert.equal("online", node.look({ judged = 5, failed = 0 }, 4000))
  end)

  it("lower its share while it is suspect", function()
    local node = subject()
    node.look({ failures = 3, judged = 3, failed = 3 })
    assert.equal(0.2, ramp.stateShare(node.health, seen(), node.upstream, node.now_ms))
  end)

  it("without any answer throw it out after a short window, long before max_fails", function()
    local node = subject({ max_fails = 10, fail_timeout_s = 30 })
    local dead = { failures = 4, streak = 4, judged = 4, failed = 4 }
    assert.equal("suspect", node.look(dead))
    assert.equal("suspect", node.look(dead, 4500))
    assert.equal("ejected", node.look(dead, 1000))
    assert.equal("4 failures in a row, and no answer for 6 s", node.reason())
    assert.is_true(node.health.until_ms - node.now_ms >= 30000)
  end)

  it("do not while it answers somebody", function()
    local node = subject({ max_fails = 10 })
    for _ = 1, 50 do
      assert.equal("suspect", node.look({ failures = 4, streak = 4, judged = 9, failed = 4 }))
    end
    assert.equal("suspect", node.health.state)
  end)
end)

describe("a node that failed and that picks leave alone", function()
  local function lonely()
    local node = subject()
    assert.equal("suspect", node.look({ failures = 3, judged = 3, failed = 3 }))
    return node
  end
  local nothing = { failures = 3, judged = 0, failed = 0 }

  it("gets one request in a short window, over all workers, as long as nothing tells how it is", function()
    local node = lonely()
    assert.equal("suspect", node.look(nothing, 4999))
    assert.is_nil(node.health.live)
    node.look(nothing, 1)
    assert.is_true(node.health.live)
    assert.equal(1, node.health.trial)
    node.look(nothing, 4999)
    assert.equal(1, node.health.trial)
    node.look(nothing, 1)
    assert.equal(2, node.health.trial)
    node.look({ failures = 4, judged = 1, failed = 1 })
    assert.is_nil(node.health.live)
  end)

  it("is ejected when that fails after the error time, and not by what failed long ago", function()
    local node = lonely()
    for _ = 1, 100 do
      assert.equal("suspect", node.look(nothing))
    end
    assert.equal("ejected", node.look({ failures = 4, judged = 1, failed = 1 }))
    assert.equal("4 failures in a row, and nothing else for 51 s", node.reason())
    node = lonely()
    assert.equal("suspect", node.look({ failures = 9, judged = 1, failed = 1 }, 29000))
  end)

  it("need not be suspect for that", function()
    local node = subject()
    assert.equal("online", node.look({ failures = 1, judged = 0 }, 5000))
    assert.is_true(node.health.live)
  end)

  it("is back when that is answered", function()
    local node = lonely()
    node.look(nothing, 5000)
    assert.equal("online", node.look({ failures = 0, judged = 1, failed = 0 }))
    assert.is_nil(node.health.live)
  end)
end)

describe("silence", function()
  local silent = { oldest_ms = 5000, silence_limit_ms = 2000, in_flight = 3 }

  it("makes a node suspect before anything times out, and throws it out when it lasts", function()
    local node = subject()
    assert.equal("suspect", node.look(silent))
    assert.equal("no answer for 5 s (usual: under 2 s)", node.reason())
    assert.is_true(node.health.live)
    assert.equal(1, node.health.trial)
    local tried = { oldest_ms = 5000, silence_limit_ms = 2000, in_flight = 3, trial_taken_ms = node.now_ms }
    for _ = 1, 49 do
      assert.equal("suspect", node.look(tried))
    end
    -- One trial, whatever the time: each costs a user's request.
    assert.equal(1, node.health.trial)
    assert.equal("ejected", node.look(tried, 1000))
    assert.equal("no answer for 31 s to 3 requests", node.reason())
  end)

  it("throws nobody out who was not asked since, for requests may be open by nature", function()
    local node = subject()
    for _ = 1, 500 do
      assert.equal("suspect", node.look(silent))
    end
    -- Just taken: its answer is not due yet.
    local tried = { oldest_ms = 5000, silence_limit_ms = 2000, in_flight = 3, trial_taken_ms = node.now_ms }
    assert.equal("suspect", node.look(tried, 1500))
    assert.equal("ejected", node.look(tried, 500))
  end)

  it("throws out whom others than the trial were sent to, and answered none", function()
    local node = subject()
    local picked = { oldest_ms = 5000, silence_limit_ms = 2000, in_flight = 12, silent_picks = 9 }
    for _ = 1, 100 do
      assert.equal("suspect", node.look(picked))
    end
    picked.silent_picks = 10
    assert.equal("ejected", node.look(picked))
  end)

  it("of another time has a trial of its own", function()
    local node = subject()
    node.look(silent)
    assert.equal("online", node.look({ in_flight = 2 }, 6000))
    assert.is_nil(node.health.live)
    assert.equal("suspect", node.look(silent))
    assert.is_true(node.health.live)
    assert.equal(2, node.health.trial)
  end)

  it("is tried while a node ramps, too", function()
    local node = subject(nil, { ramp_s = 300 })
    node.health = ramp.startRamp(node.health, "back", node.upstream, NOW)
    assert.equal("ramping", node.look(silent))
    assert.is_true(node.health.live)
    node.look({ judged = 1 })
    assert.is_nil(node.health.live)
  end)

  it("of one long request throws nobody out, and an answer ends it", function()
    local node = subject()
    local one = { oldest_ms = 5000, silence_limit_ms = 2000, in_flight = 1 }
    for _ = 1, 200 do
      assert.equal("suspect", node.look(one))
    end
    assert.equal("online", node.look({ in_flight = 1 }))
  end)
end)

describe("a node that asks for less load", function()
  it("is degraded for as long as it asks, at the share it accepts", function()
    local node = subject()
    local busy = { busy_until_ms = NOW + 10000, busy_share = 0.7, judged = 30 }
    assert.equal("degraded", node.look(busy))
    assert.equal("asks for less load: 70 % refused with 429 or 503 and Retry-After", node.reason())
    assert.is_true(math.abs(ramp.stateShare(node.health, seen(busy), node.upstream, node.now_ms) - 0.3) < 1e-9)
    assert.equal(NOW + 10000, node.health.until_ms)
    assert.equal("online", node.look({ busy_until_ms = NOW + 10000 }, 10000))
  end)

  it("is never ejected for it", function()
    local node = subject()
    for _ = 1, 400 do
      local state = node.look({ busy_until_ms = node.now_ms + 2000, busy_share = 1 })
      assert.equal("degraded", state)
    end
  end)
end)

describe("probes", function()
  it("throw a node out when they fail, and let it back when they pass, without a cool-down", function()
    local node = subject()
    local failing_probe = probe({ verdict = "fail", failed_in_row = 3, why = "HTTP 503 in 12 ms" })
    assert.equal("ejected", node.look({ probe = failing_probe }))
    assert.equal("3 failed probes in a row: HTTP 503 in 12 ms", node.reason())
    assert.is_nil(node.health.until_ms)
    assert.equal("ejected", node.look({ probe = failing_probe }, 3600000))
    assert.equal("ramping", node.look({ probe = probe({ verdict = "pass", passed_in_row = 2 }) }))
  end)

  it("that are slow degrade it: half its share, and it stays", function()
    local node = subject()
    local slow = probe({ verdict = "pass", slow = true, slow_in_row = 3, took_ms = 90, normal_ms = 10 })
    assert.equal("degraded", node.look({ probe = slow }))
    assert.equal("3 slow probes in a row (90 ms, normally 10 ms)", node.reason())
    assert.equal(0.5, ramp.stateShare(node.health, seen({ probe = slow }), node.upstream, node.now_ms))
    assert.equal("online", node.look({ probe = probe({ verdict = "pass" }) }))
  end)

  it("decide over a pending node; without a verdict it waits a minute, no longer", function()
    local node = subject(nil, { slow_start_s = 120 })
    local function pending()
      node.health = record.enter(record.newHealth(node.now_ms), "pending", "new", node.now_ms)
    end
    pending()
    assert.equal("pending", node.look({ probe = probe({ verdict = "fail" }) }, 600000))
    assert.equal("ramping", node.look({ probe = probe({ verdict = "pass" }) }))
    pending()
    assert.equal("pending", node.look({ probe = probe({}) }, 59000))
    assert.equal("ramping", node.look({ probe = probe({}) }, 1000))
    pending()
    assert.equal("ramping", node.look({}), "a reload took the probes away: there is nothing to wait for")
  end)

  local function half_open()
    local node = subject(nil, { return_trial = true })
    assert.equal("probing", node.look({ probe = probe({ trial = "running", verdict = "pass" }) }, node.eject()))
    return node
  end
  local passed = probe({ trial = "pass", verdict = "pass" })

  it("are the first trial of a half-open node: one that fails costs no request", function()
    local node = half_open()
    local running = probe({ trial = "running", verdict = "pass" })
    assert.equal("probing", node.look({ probe = running }))
    assert.is_nil(node.health.live)
    assert.equal("ejected", node.look({ probe = probe({ trial = "fail", why = "refused" }) }))
    assert.equal("its trial probe failed: refused", node.reason())
    assert.equal(2, node.health.ejections)
  end)

  it("that pass do not bring a node back that users' requests threw out: one of them has to be answered too", function()
    local node = half_open()
    assert.equal("probing", node.look({ probe = passed }))
    assert.is_true(node.health.live)
    assert.equal(2, node.health.trial)
    assert.equal("probing", node.look({ probe = passed, picks_since_return = 1, in_flight = 1 }))
    assert.equal("ejected", node.look({ probe = passed, picks_since_return = 1, failed_since_return = 1 }))
    assert.equal("its trial request failed", node.reason())
    node = half_open()
    node.look({ probe = passed })
    assert.equal("ramping", node.look({ probe = passed, picks_since_return = 1, ok_since_return = 1 }))
  end)

  it("that have failed must pass as often as ever before a request is sent", function()
    local node = half_open()
    local first = probe({ trial = "pass", verdict = "fail" })
    assert.equal("probing", node.look({ probe = first }))
    assert.is_nil(node.health.live)
    node.look({ probe = passed })
    assert.is_true(node.health.live)
    -- And may fail again meanwhile.
    local failed = probe({ trial = "pass", verdict = "fail", failed_in_row = 3, why = "refused" })
    assert.equal("ejected", node.look({ probe = failed }))
    assert.equal("3 failed probes in a row during its trial: refused", node.reason())
  end)
end)

describe("a trial", function()
  local function half_open()
    local node = subject(nil, { return_trial = true })
    assert.equal("probing", node.look({}, node.eject()))
    assert.equal(1, node.health.trial)
    return node
  end

  it("that is answered lets the node ramp", function()
    assert.equal("ramping", half_open().look({ picks_since_return = 1, ok_since_return = 1 }))
  end)

  it("that fails throws it out for longer", function()
    local node = half_open()
    assert.equal("ejected", node.look({ picks_since_return = 1, failed_since_return = 1 }))
    local ms = node.health.until_ms - node.now_ms
    assert.is_true(ms >= 20000 and ms <= 21000)
  end)

  it("is not decided by requests of before the ejection", function()
    assert.equal("probing", half_open().look({ picks_since_return = 0, failed_since_return = 5, ok_since_return = 1 }))
  end)

  it("that nobody takes is granted anew, so that a lost one blocks nothing", function()
    local node = half_open()
    assert.equal("probing", node.look({ picks_since_return = 0 }, 9999))
    assert.equal(1, node.health.trial)
    assert.equal("probing", node.look({ picks_since_return = 0 }, 1))
    assert.equal(2, node.health.trial)
  end)

  it("without an answer is a failure, unless requests are that long here", function()
    local open = { picks_since_return = 1, in_flight = 1 }
    local node = half_open()
    open.silence_limit_ms = 2000
    assert.equal("ejected", node.look(open, 10000))
    open.silence_limit_ms = math.huge
    assert.equal("ramping", half_open().look(open, 10000))
  end)
end)

describe("the operator", function()
  local function will(kind, until_ms)
    return { will = { kind = kind, at_ms = NOW, until_ms = until_ms } }
  end

  it("drains: no new requests, offline when nothing is in flight", function()
    local node = subject()
    local drain = will("drain")
    drain.in_flight = 2
    assert.equal("draining", node.look(drain))
    assert.is_false(states.isUsable("draining"))
    drain.in_flight = 0
    assert.equal("offline", node.look(drain, 2000))
    assert.equal("ramping", node.look({}))
    assert.equal("given back by the operator; 20 % of its share", node.reason())
  end)

  it("drains: not offline before every worker has heard of it and told what it had in flight", function()
    local node = subject()
    local drain = will("drain")
    assert.equal("draining", node.look(drain))
    assert.equal("draining", node.look(drain, 1999))
    assert.equal("offline", node.look(drain, 1))
  end)

  it("outranks the automatics, both ways", function()
    local node = subject()
    node.eject()
    assert.equal("online", node.look(will("force_up")))
    for _ = 1, 100 do
      assert.equal("online", node.look({ will = { kind = "force_up", at_ms = NOW }, streak = 99, failures = 99 }))
    end
    assert.equal("maintenance", node.look(will("maintenance")))
    assert.equal("offline", node.look(will("force_down")))
    assert.equal("ramping", node.look({}))
    assert.equal("online", node.look(will("force_up", NOW + 5)))
    assert.equal("online", node.look({}))
    assert.is_nil(node.health.forced)
  end)
end)

describe("a new node", function()
  it("keeps a fifth of its share for two minutes, then ramps", function()
    local node = subject(nil, { slow_start_s = 120 })
    node.health = ramp.startSlowly(node.health, "new", node.upstream, NOW)
    assert.equal(0.2, ramp.rampFactor(node.health, node.upstream, NOW + 120000))
    assert.is_true(math.abs(ramp.rampFactor(node.health, node.upstream, NOW + 135000) - 0.6) < 1e-9)
    assert.equal("ramping", node.look({}, 149000))
    assert.equal("online", node.look({}, 1000))
  end)

  it("may have few requests in flight, in proportion", function()
    assert.equal(2, ramp.rampLimit(0.2, 0))
    assert.equal(12, ramp.rampLimit(0.2, 40))
    assert.equal(60, ramp.rampLimit(1, 40))
  end)
end)

describe("pools", function()
  local function counts(total, usable, good, backups)
    return { total = total, usable = usable, good = good or usable, good_backups = backups or 0 }
  end

  it("spare at most the share, of small ones one, never the last", function()
    assert.is_false(pool_rules.mayEject(counts(1, 1), 0.5, false))
    assert.is_true(pool_rules.mayEject(counts(2, 2), 0.5, false))
    assert.is_false(pool_rules.mayEject(counts(2, 1), 0.5, false))
    assert.is_false(pool_rules.mayEject(counts(2, 1), 1, false))
    assert.is_true(pool_rules.mayEject(counts(3, 3), 0.5, false))
    assert.is_false(pool_rules.mayEject(counts(3, 2), 0.5, false))
    assert.is_true(pool_rules.mayEject(counts(10, 6), 0.5, false))
    assert.is_false(pool_rules.mayEject(counts(10, 5), 0.5, false))
    assert.is_false(pool_rules.mayEject(counts(10, 10), 0, false))
  end)

  it("spare every primary while a good backup is there", function()
    assert.is_true(pool_rules.mayEject(counts(4, 2, 2, 1), 0.5, false))
    assert.is_false(pool_rules.mayEject(counts(4, 2, 2, 1), 0.5, true))
  end)

  it("are in panic until half of the nodes are good", function()
    assert.is_true(pool_rules.isPanic(counts(10, 7, 4), 0.2, true))
    assert.is_false(pool_rules.isPanic(counts(10, 7, 4), 0.2, false))
    assert.is_false(pool_rules.isPanic(counts(10, 7, 5), 0.2, true))
    assert.is_true(pool_rules.isPanic(counts(10, 7, 7), 0.8, true))
  end)

  it("panic below the threshold, and without a good node at any", function()
    assert.is_false(pool_rules.isPanic(counts(3, 1, 1), 0.2, false))
    assert.is_true(pool_rules.isPanic(counts(6, 3, 1), 0.2, false))
    assert.is_true(pool_rules.isPanic(counts(3, 2, 0), 0, false))
    assert.is_false(pool_rules.isPanic(counts(0, 0, 0), 0.2, true), "all taken by the operator")
  end)
end)

describe("what a node reports", function()
  it("counts less with age: in full, half, not at all, and then against it", function()
    assert.same({ 1, 1, 0.5, 0 }, {
      stale.trust(0, 5000),
      stale.trust(10000, 5000),
      stale.trust(10001, 5000),
      stale.trust(15001, 5000),
    })
    assert.equal(1, stale.staleShare(15000, 5000))
    assert.equal(1, stale.staleShare(math.huge, 5000))
    local last = 1
    for s = 15, 200 do
      local share = stale.staleShare(s * 1000, 5000)
      assert.is_true(share <= last and share >= 0.5)
      last = share
    end
    assert.equal(0.5, last)
  end)

  it("never makes it better than the others, nor nothing", function()
    for _, age in ipairs({ 0, 11000, 40000 }) do
      local trusted = stale.trust(age, 10000)
      for _, watermark in ipairs({ 0, 0.5, 0.9, 5 }) do
        local share = stale.watermarkShare(stale.blended(watermark, 0.5, trusted))
        assert.is_true(share >= 0.5 and share <= 1)
      end
    end
    assert.equal(1, stale.queueShare(4, 1))
    assert.equal(0.5, stale.queueShare(1000, 1))
  end)
end)

describe("the table of transitions", function()
  it("has every move that the machine makes, whatever happens", function()
    local verdicts = { "unknown", "pass", "fail" }
    local trials = { "none", "running", "pass", "fail" }
    local wills = { "drain", "maintenance", "force_up", "force_down" }
    local met = {}
    for seed = 1, 300 do
      local rng = random.newRandom(seed)
      local function below(n)
        return random.drawBelow(rng, n)
      end
      local options = { return_trial = below(2) == 0, slow_start_s = below(2) * 20, ramp_s = below(3) * 5 }
      local node = subject({ max_fails = below(4) }, options)
      local has_probes = below(2) == 0
      if has_probes and below(2) == 0 then
        node.health = record.enter(node.health, "pending", "new", NOW)
      end
      for _ = 1, 200 do
        local judged = below(3) * 20
        local evidence = {
          streak = below(12) == 0 and below(5) or 0,
          failures = below(6) == 0 and below(5) or 0,
          judged = judged,
          failed = below(2) * math.floor(judged / 4),
          picks_since_return = below(3),
          answered_since_return = below(2) == 0,
          ok_since_return = below(4) == 0 and 1 or 0,
          failed_since_return = below(4) == 0 and 1 or 0,
          in_flight = below(3),
          oldest_ms = below(8) == 0 and 9000 or 0,
          silence_limit_ms = below(3) == 0 and math.huge or 2000,
          silent_picks = below(20),
          busy_until_ms = below(9) == 0 and node.now_ms + 3000 or 0,
          p99_ratio = below(7),
          may_eject = below(4) > 0,
          host_out = below(40) == 0 and "2 nodes of host m are out" or nil,
        }
        if has_probes then
          local verdict, trial = verdicts[1 + below(3)], trials[1 + below(4)]
          evidence.probe = probe({ verdict = verdict, trial = trial, slow = below(9) == 0 })
        end
        if below(25) == 0 then
          evidence.will = { kind = wills[1 + below(4)], at_ms = 0 }
        end
        node.node.down = below(60) == 0
        local from = node.health.state
        local to = node.look(evidence, below(4) == 0 and 15000 or 500)
        assert.is_true(from == to or transitions.isTransition(from, to), from .. " → " .. to)
        met[from .. to] = true
        local share = ramp.stateShare(node.health, seen(evidence), node.upstream, node.now_ms)
        assert.is_true(share > 0 and share <= 1)
        assert.is_true(#node.reason() > 0)
      end
    end
    local count = 0
    for _ in pairs(met) do
      count = count + 1
    end
    assert.is_true(count > 60, "moves met: " .. count)
  end)
end)
