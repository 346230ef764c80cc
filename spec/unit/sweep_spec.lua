-- Requests whose log phase never came, and those that only last.
local upstreams = require("upstreams")
local new_store = require("fake_store")
local requests = require("resty.ax.dataplane.requests")
local in_flight = require("resty.ax.dataplane.in_flight")
local log_watch = require("resty.ax.dataplane.log_watch")
local pick = require("resty.ax.dataplane.pick")
local sweep = require("resty.ax.dataplane.sweep")

describe("requests that last", function()
  local up, open

  local function start(key, now)
    local record = requests.openRequest(open, key, key, false)
    local node = pick.pickNode(up, record, now, function() end)
    if node < 0 then
      requests.closeRequest(open, record)
      return false
    end
    record.upstream = up
    requests.addTry(record, up, node)
    in_flight.beginTry(up, record, node, now)
    return true
  end

  before_each(function()
    up = upstreams.new({ strategy = "random", store = new_store(), nodes = { { "a", { max_conns = 10 } } } })
    open = requests.newRequestTable()
  end)

  it("are counted as long as they last, although none of them has ended yet", function()
    local started = 0
    for second = 1, 600 do
      started = started + (start(second, second * 1000) and 1 or 0)
      sweep.sweep(open, true, second * 1000)
    end
    assert.equal(10, started)
    assert.equal(10, up.pool.in_flight[1])
  end)

  it("are counted, too, after a single log phase was missed", function()
    for key = 1, 10 do
      start(key, 1000)
    end
    log_watch.noteMissed(up.logs, 2000)
    sweep.sweep(open, true, 200000)
    assert.equal(10, up.pool.in_flight[1])
  end)

  it("are given up where log() never runs", function()
    start(1, 1000)
    sweep.sweep(open, false, 60000)
    assert.equal(1, up.pool.in_flight[1])
    sweep.sweep(open, false, 61000)
    assert.equal(0, up.pool.in_flight[1])
    assert.equal(0, open.live)
  end)

  it("are given up where log phases are missing all the time, and not any more when they are not", function()
    for missed = 1, 10 do
      start(missed, 1000)
      sweep.discard(open, open.by_key[missed], 1000 + missed)
    end
    start(20, 2000)
    sweep.sweep(open, true, 62000)
    assert.equal(0, up.pool.in_flight[1])
    start(21, 500000)
    sweep.sweep(open, true, 601100)
    assert.equal(1, up.pool.in_flight[1])
  end)
end)

describe("a missing log()", function()
  it("is told of when none has run in the worker, and when requests are found unended", function()
    local logs = log_watch.newLogWatch()
    assert.is_nil(log_watch.missingLog(logs, "b", 199, false, 1000))
    assert.truthy(log_watch.missingLog(logs, "b", 200, false, 1000):find("any of 200 requests", 1, true))
    assert.is_nil(log_watch.missingLog(logs, "b", 200, true, 1000))
    logs.seen = true
    log_watch.noteMissed(logs, 1000)
    assert.truthy(log_watch.missingLog(logs, "b", 5, true, 1000):find("some of 5 requests", 1, true))
    assert.is_nil(log_watch.missingLog(logs, "b", 5, true, 601000))
  end)
end)
