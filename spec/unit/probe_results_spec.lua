-- From single checks to what is known of a node.
local results = require("resty.ax.core.probe.results")
local record = require("resty.ax.core.probe.record")

local function config(changes)
  local made = {
    tcp_interval_s = 3,
    timeout_s = 2,
    fails = 3,
    passes = 2,
    max_concurrent = 32,
    max_watermark = 0.85,
    slow_ratio = 3,
    slow_checks = 3,
    http = { interval_s = 10 },
  }
  for key, value in pairs(changes or {}) do
    made[key] = value or nil
  end
  return made
end

local function newNode(with)
  local node = { probe = results.newNodeProbe(), config = with or config(), at_ms = 1000 }
  function node:check(kind, ok, took_ms, more)
    self.at_ms = self.at_ms + 1000
    local result = { ok = ok, why = (ok and "fine " or "bad ") .. kind, took_ms = took_ms or 5 }
    for key, value in pairs(more or {}) do
      result[key] = value
    end
    results.record(self.probe, kind, result, self.config, self.at_ms)
    return self.probe.view
  end
  return node
end

local TCP_ONLY = config({ http = false })

describe("checks of a node", function()
  it("fail it after three failures in a row, and pass it again after two passes", function()
    local node = newNode(TCP_ONLY)
    assert.equal("pass", node:check("tcp", true).verdict)
    assert.equal("pass", node:check("tcp", false).verdict)
    assert.equal("pass", node:check("tcp", false).verdict)
    assert.equal("pass", node:check("tcp", true).verdict)
    node:check("tcp", false)
    node:check("tcp", false)
    local view = node:check("tcp", false)
    assert.equal("fail", view.verdict)
    assert.equal(3, view.failed_in_row)
    assert.equal("bad tcp", view.why)
    assert.equal("fail", node:check("tcp", true).verdict)
    assert.equal("fail", node:check("tcp", false).verdict)
    node:check("tcp", true)
    assert.equal("pass", node:check("tcp", true).verdict)
  end)

  it("say nothing before the first, and nothing bad before three", function()
    local node = newNode(TCP_ONLY)
    assert.equal("unknown", node.probe.view.verdict)
    assert.equal(0, node.probe.view.at_ms)
    assert.equal("unknown", node:check("tcp", false).verdict)
    assert.equal("unknown", node:check("tcp", false).verdict)
    assert.equal("fail", node:check("tcp", false).verdict)
  end)

  it("do not let an open port speak for a failing health page", function()
    local node = newNode()
    node:check("http", true)
    for _ = 1, 3 do
      node:check("http", false)
      node:check("tcp", true)
      node:check("tcp", true)
    end
    local view = node.probe.view
    assert.equal("fail", view.verdict)
    assert.equal("bad http", view.why)
    assert.equal(3, view.failed_in_row)
    assert.equal(0, view.passed_in_row)
  end)

  it("pass a node with both kinds by its health page, not by its port", function()
    local node = newNode()
    assert.equal("unknown", node:check("tcp", true).verdict)
    assert.equal("pass", node:check("http", true).verdict)
    for _ = 1, 3 do node:check("tcp", false) end
    assert.equal("fail", node.probe.view.verdict)
  end)
end)

describe("the time checks take", function()
  local function warm(node, took_ms)
    for _ = 1, 10 do
      assert.is_false(node:check("http", true, took_ms).slow)
    end
  end

  it("makes a node slow after three in a row over three times normal, and one normal check ends it", function()
    local node = newNode()
    warm(node, 20)
    assert.equal(20, node.probe.view.normal_ms)
    assert.is_false(node:check("http", true, 100).slow)
    assert.is_false(node:check("http", true, 100).slow)
    local view = node:check("http", true, 100)
    assert.is_true(view.slow)
    assert.equal("pass", view.verdict)
    assert.equal(20, view.normal_ms)
    assert.is_false(node:check("http", true, 30).slow)
  end)

  it("is noise below a floor: 1 ms, then 25 ms", function()
    local node = newNode()
    warm(node, 1)
    for _ = 1, 5 do assert.is_false(node:check("http", true, 25).slow) end
  end)

  it("is not judged before it is known what is normal", function()
    local node = newNode()
    for _ = 1, results.MIN_LEARNT do
      assert.is_false(node:check("http", true, 500).slow)
    end
  end)

  it("that stays long is the new normal", function()
    local node = newNode()
    warm(node, 20)
    for _ = 1, results.RELEARN_AFTER do node:check("http", true, 200) end
    assert.is_true(node.probe.view.slow)
    for _ = 1, 20 do node:check("http", true, 200) end
    assert.is_false(node.probe.view.slow)
    assert.equal(200, node.probe.view.normal_ms)
  end)

  it("is not forgiven by a failed check", function()
    local node = newNode()
    warm(node, 20)
    for _ = 1, 3 do node:check("http", true, 100) end
    assert.is_true(node:check("http", false, 2000).slow)
  end)

  it("of failures and of TCP is not learnt", function()
    local node = newNode()
    warm(node, 20)
    for _ = 1, 20 do
      node:check("http", false, 2000)
      node:check("tcp", true, 0)
    end
    assert.equal(20, node.probe.view.normal_ms)
  end)
end)

describe("what the next collector takes over", function()
  local function restored(node, changes, after_ms)
    local probe = results.newNodeProbe()
    local old = { probe = record.probeRecord(node.probe) }
    record.restoreProbe(probe, old, changes or node.config, node.at_ms + after_ms)
    return probe
  end

  it("is everything but the trial", function()
    local node = newNode()
    for _ = 1, 10 do node:check("http", true, 20) end
    for _ = 1, 3 do
      node:check("http", true, 90, { watermark = 0.5, queue_depth = 3, signals = { eps = 1 } })
      node:check("tcp", true, 0)
    end
    local probe = restored(node, nil, 100)
    assert.same(node.probe.view, probe.view)
    assert.same(node.probe.tcp, probe.tcp)
    assert.same(node.probe.http, probe.http)
  end)

  it("is no verdict that is too old to say anything, but what is normal", function()
    local node = newNode()
    for _ = 1, 10 do node:check("http", true, 20) end
    local probe = restored(node, nil, 60000)
    assert.equal("unknown", probe.view.verdict)
    assert.equal(20, probe.view.normal_ms)
  end)

  it("is nothing of a kind that is no longer configured", function()
    local node = newNode()
    node:check("tcp", true)
    for _ = 1, 3 do node:check("http", false) end
    assert.equal("fail", node.probe.view.verdict)
    assert.equal("pass", restored(node, TCP_ONLY, 100).view.verdict)
  end)

  it("is nothing that makes no sense", function()
    for _, junk in ipairs({ 1, "x", {}, { probe = 3 }, { probe = { tcp = 1, http = { verdict = {}, at_ms = "x" } } },
      { probe = { tcp = { verdict = "up", at_ms = 1 }, signals = 4, signals_at_ms = 1e99, normal_ms = -1 } } }) do
      local probe = results.newNodeProbe()
      record.restoreProbe(probe, junk, config(), 5000)
      assert.equal("unknown", probe.view.verdict)
      assert.is_nil(probe.view.normal_ms)
    end
  end)
end)
