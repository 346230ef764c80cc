-- Load reports in answers to requests (option `orca`): from a worker's log phase to weights and states.
local cjson = require("cjson.safe")
local counters = require("resty.ax.dataplane.counters")
local deltas = require("deltas")
local kit = require("collector_kit")
local node_report = require("resty.ax.core.node_report")
local random = require("resty.ax.core.random")
local reports = require("resty.ax.dataplane.reports")
local node_status = require("resty.ax.observe.node_status")
local upstreams = require("upstreams")

local six = { "a", "b", "c", "d", "e", "f" }

local function decode(text)
  return (cjson.decode(text))
end

--- What six equal nodes answer within a tick. said: node id → header.
local function answers(said)
  local nodes = {}
  for _, id in ipairs(six) do
    nodes[id] = deltas.delta(deltas.same(50, 10), { report = said[id] })
  end
  return nodes
end

local function listening(config)
  config = config or {}
  config.orca = true
  return kit.new({ nodes = six, upstream = config })
end

local function cpu(share)
  return "TEXT cpu_utilization=" .. share
end

describe("a worker", function()
  local function answered(up, header, now_ms)
    -- Nodes are numbered from 0; in Lua tables from 1.
    reports.takeReport(up.reports, up.counters, 0, header, now_ms)
    counters.countOutcome(up.counters, 0, 0, 10)
  end

  it("passes on the last report since the last flush, once", function()
    local up = upstreams.new({ nodes = 2, config = { orca = true } })
    answered(up, cpu(0.3), 1000)
    answered(up, cpu(0.4), 1500)
    assert.equal(cpu(0.4), counters.takeDeltas(up.counters, up.pool.ids).n1.report)
    counters.countOutcome(up.counters, 0, 0, 10)
    assert.is_nil(counters.takeDeltas(up.counters, up.pool.ids).n1.report)
  end)

  it("looks at a node's answers twice a second, and again a flush later where there was no report", function()
    local up = upstreams.new({ nodes = 2, config = { orca = true } })
    answered(up, cpu(0.3), 1000)
    assert.equal(1000 + reports.REPORT_EVERY_MS, up.reports.due_ms[1])
    answered(up, nil, 2000)
    assert.equal(2000 + reports.LOOK_AGAIN_MS, up.reports.due_ms[1])
    assert.equal(0, up.reports.due_ms[2])
  end)

  it("passes on no more of a report than shows that it is too long", function()
    local up = upstreams.new({ nodes = 1, config = { orca = true } })
    answered(up, cpu(("1"):rep(100000)), 1000)
    assert.equal(node_report.MAX_REPORT_BYTES + 1, #counters.takeDeltas(up.counters, up.pool.ids).n1.report)
  end)

  it("has nothing of it without the option", function()
    assert.is_nil(upstreams.new({ nodes = 1 }).reports)
  end)
end)

describe("a node that reports its load with its answers", function()
  it("gets less while it is busier than others, and its full share when it is not any more", function()
    local c = listening()
    c:run(2, function()
      return answers({ a = cpu(0.95), b = cpu(0.7), c = cpu(0.2) })
    end)
    local nodes = c:snapshot().nodes
    assert.equal(0.5, nodes.a.weight)
    assert.equal(0.8, nodes.b.weight)
    assert.equal(1, nodes.c.weight)
    assert.equal(1, nodes.d.weight)
    c:run(1, function()
      return answers({ a = cpu(0.3), b = cpu(0.3), c = cpu(0.2) })
    end)
    nodes = c:snapshot().nodes
    assert.equal(1, nodes.a.weight)
    assert.equal(1, nodes.b.weight)
  end)

  it("is degraded after three reports over the limit, until one is clearly under it", function()
    local c = listening()
    local function say(share)
      c:report(answers({ a = "JSON " .. cjson.encode({ application_utilization = share }) }))
      c:tick()
      return c:at("a").state
    end
    assert.same({ "online", "online", "degraded" }, { say(0.95), say(0.95), say(0.95) })
    assert.equal("reports to be 95 % busy (application_utilization)", c:at("a").reason)
    assert.same({ "degraded", "degraded", "online" }, { say(0.86), say(0.82), say(0.79) })
    -- A burst is no pattern.
    assert.same({ "online", "online", "online" }, { say(0.95), say(0.2), say(0.95) })
  end)

  it("has the limit of its probes", function()
    local c = listening({ probe = { max_watermark = 0.5 } })
    c:run(2, function()
      return answers({ a = cpu(0.6) })
    end)
    assert.equal("degraded", c:at("a").state)
  end)

  it("counts its own watermark before CPU time, and what waits in it", function()
    local c = listening()
    c:run(1, function()
      return answers({
        a = "TEXT cpu_utilization=0.1, named_metrics.watermark=0.85, named_metrics.queue_depth=1",
        b = "TEXT cpu_utilization=0.1, named_metrics.queue_depth=200",
        c = "TEXT cpu_utilization=0.1, named_metrics.queue_depth=1",
        d = "TEXT cpu_utilization=0.1, named_metrics.queue_depth=1",
        e = "TEXT cpu_utilization=0.1, named_metrics.queue_depth=1",
        f = "TEXT cpu_utilization=0.1, named_metrics.queue_depth=1",
      })
    end)
    assert.equal(0.5, c:snapshot().nodes.a.weight)
    assert.equal("named_metrics.watermark", c:at("a").report.watermark_of)
    assert.equal(0.5, c:snapshot().nodes.b.weight)
    assert.equal(1, c:snapshot().nodes.c.weight)
  end)

  it("is not degraded for ever when it stops reporting, and nobody's figure stands in then", function()
    local c = listening()
    c:run(3, function()
      return answers({ a = cpu(0.95) })
    end)
    assert.equal("degraded", c:at("a").state)
    -- Nobody asks it anything: it is not to blame.
    c:run(11)
    assert.equal("online", c:at("a").state)
    c:run(120)
    assert.equal(1, c:snapshot().nodes.a.weight)
  end)

  it("loses weight when it answers, and says nothing any more", function()
    local c = listening()
    c:run(3, function()
      return answers({ a = cpu(0.3), b = cpu(0.3) })
    end)
    c:run(100, function()
      return answers({ b = cpu(0.3) })
    end)
    assert.equal(0.5, c:snapshot().nodes.a.weight)
    assert.equal(1, c:snapshot().nodes.b.weight)
    assert.equal(1, c:snapshot().nodes.c.weight, "never reported: nothing is held against it")
  end)

  it("is taken by the newest of the workers' reports, whatever the order they come in", function()
    local c = listening()
    c.now_ms = c.now_ms + 400
    c:report(answers({ a = cpu(0.3) }), nil, 1)
    c.now_ms = c.now_ms - 100
    c:report(answers({ a = cpu(0.9) }), nil, 2)
    c:tick()
    assert.equal(0.3, c:at("a").report.watermark)
  end)

  it("is not heard without the option", function()
    local c = kit.new({ nodes = six })
    c:run(3, function()
      return answers({ a = cpu(0.95) })
    end)
    assert.is_nil(c:at("a").report)
    assert.equal(1, c:snapshot().nodes.a.weight)
  end)

  it("is remembered by the next collector, unless the option is gone", function()
    local c = listening()
    c:run(5, function()
      return answers({ a = cpu(0.95), b = "nonsense" })
    end)
    local function successor(config)
      local next_one = kit.new({ nodes = six, upstream = config, store = c.store, now_ms = c.now_ms, pid = 200 })
      next_one:tick()
      return next_one
    end
    local next_one = successor({ orca = true })
    assert.equal("degraded", next_one:at("a").state)
    assert.equal(0.5, next_one:snapshot().nodes.a.weight)
    assert.is_true(next_one:at("b").reports_bad_total > 0)
    next_one = successor()
    assert.is_nil(next_one:at("a").report)
    assert.equal("online", next_one:at("a").state)
  end)

  it("is shown", function()
    local c = listening()
    local config = c.collector.config.upstreams.backend
    c:run(2, function()
      return answers({ a = cpu(0.95), b = "nonsense" })
    end)
    local deps = { store = c.store, decode = decode, processAlive = function() return true end }
    local a = node_status.nodeStatus(deps, config, c.collector.by_name.backend.by_id.a.config, c.now_ms + 100)
    assert.same({ cpu_utilization = 0.95 }, a.report.signals)
    assert.same({ 0.95, "cpu_utilization" }, { a.report.watermark, a.report.watermark_of })
    assert.is_true(a.report.age_s >= 0.1 and a.report.age_s < 2)
    assert.is_nil(a.reports_bad)
    local b = node_status.nodeStatus(deps, config, c.collector.by_name.backend.by_id.b.config, c.now_ms)
    assert.equal(4, b.reports_bad)
    assert.is_nil(b.report)
  end)
end)

describe("a hostile or broken report", function()
  local hostile = {
    "",
    " ",
    "TEXT",
    "nonsense",
    "TEXT cpu_utilization=NaN",
    "TEXT cpu_utilization=inf, mem_utilization=-inf",
    "TEXT cpu_utilization=1e999",
    "TEXT cpu_utilization=0x1p3",
    "TEXT cpu_utilization",
    "JSON {",
    "JSON " .. ("["):rep(900),
    "JSON {\"cpu_utilization\": {\"cpu_utilization\": 1}}",
    "JSON {\"cpu_utilization\": NaN, \"eps\": Infinity}",
    "BIN " .. ("A"):rep(1000),
    "BIN \255\254",
    "\0\1\2\255",
    "TEXT cpu_utilization=0." .. ("9"):rep(3000),
    cpu(0.5) .. (", x=1"):rep(2000),
    "TEXT \xff\xfe=1",
  }

  it("is counted, and changes nothing", function()
    local c = listening()
    c:run(2, function()
      return answers({ a = cpu(0.7) })
    end)
    for k, header in ipairs(hostile) do
      c:report(answers({ a = header, b = header }))
      c:tick()
      assert.equal(0.8, c:snapshot().nodes.a.weight, header)
      assert.equal(1, c:snapshot().nodes.b.weight, header)
      -- An empty one is none.
      if header ~= "" then assert.equal(k - 1, c.collector.by_name.backend.by_id.b.detail.reports_bad_total, header) end
    end
    assert.same({}, c.warnings)
  end)

  it("of figures that nobody has is shown, and moves nothing", function()
    local c = listening()
    c:run(3, function()
      return answers({
        a = "TEXT cpu_utilization=-5, application_utilization=1e308, named_metrics.queue_depth=1e300",
        b = "TEXT cpu_utilization=0.2, named_metrics.queue_depth=3",
      })
    end)
    assert.is_nil(c:at("a").report.watermark)
    assert.is_nil(c:at("a").report.queue_depth)
    assert.equal(1e308, c:at("a").report.signals.application_utilization)
    assert.equal("online", c:at("a").state)
    assert.equal(1, c:snapshot().nodes.a.weight)
    assert.equal(1, c:snapshot().nodes.b.weight)
  end)

  it("of random bytes never throws, and leaves every weight between a half and one", function()
    local c = listening()
    local words = { "TEXT ", "JSON ", "BIN ", "cpu_utilization", "named_metrics.", "watermark", "=", ":", ",", "{", "}",
      "\"", "1e308", "-1", "0.9", "nan", "\0", "\255", "queue_depth", " " }
    for seed = 1, 300 do
      local rng = random.newRandom(seed)
      local said = {}
      for _, id in ipairs(six) do
        local parts = {}
        for k = 1, random.drawBelow(rng, 30) do
          parts[k] = words[1 + random.drawBelow(rng, #words)]
        end
        said[id] = table.concat(parts)
      end
      c:report(answers(said))
      c:tick()
      for id, node in pairs(c:snapshot().nodes) do
        assert.is_true(node.weight >= 0.5 and node.weight <= 1, id .. ": " .. said[id])
      end
    end
    assert.same({}, c.warnings)
  end)

  it("from a store that somebody wrote to is not believed", function()
    for _, given in ipairs({
      "x",
      5,
      true,
      {},
      { signals_at_ms = "x" },
      { signals_at_ms = 2000 },
      { signals_at_ms = -1 },
    }) do
      assert.is_nil(node_report.restoreNodeReport(given, 1000))
    end
    local report = node_report.restoreNodeReport({
      signals_at_ms = 900,
      watermark = -1,
      queue_depth = "x",
      over_in_row = -3,
      signals = { a = "x", b = 2 },
    }, 1000)
    assert.same({ signals_at_ms = 900, over_in_row = 0, signals = { b = 2 } }, report)
  end)
end)
