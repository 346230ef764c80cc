-- Four failures that every choice of a strategy is about: each with one that has it, and those that avoid it.
-- A loop in virtual milliseconds over the real pool, picks and accounts; every service time is fixed.
local upstreams = require("upstreams")
local upstream = require("resty.ax.dataplane.upstream")
local placement = require("resty.ax.dataplane.placement")
local pick = require("resty.ax.dataplane.pick")
local requests = require("resty.ax.dataplane.requests")
local in_flight = require("resty.ax.dataplane.in_flight")
local outcome = require("resty.ax.dataplane.outcome")

local function silent() end

local M = {}
M.__index = M

local function world(strategy, nodes, config)
  local up = upstreams.new({ strategy = strategy, nodes = nodes, config = config, seed = 8 })
  return setmetatable({ up = up, now = 1000, running = {}, served = {} }, M)
end

--- Sends a request that takes `ms`; returns the node and how many were there before it.
function M:send(ms, class)
  local record = requests.newRequestRecord()
  if self.up.placement then
    record.role = placement.roleOf(self.up.placement, class)
  end
  local node = pick.pickNode(self.up, record, self.now, silent)
  local before = self.up.pool.in_flight[node + 1]
  requests.addTry(record, self.up, node)
  in_flight.beginTry(self.up, record, node, self.now)
  self.running[#self.running + 1] = { record = record, node = node, ms = ms, done = self.now + ms }
  self.served[node] = (self.served[node] or 0) + 1
  return node, before
end

--- One millisecond passes; what has been served is accounted. A flush every 100 ms.
function M:tick()
  self.now = self.now + 1
  local left = {}
  for _, request in ipairs(self.running) do
    if request.done <= self.now then
      in_flight.endTry(request.record)
      outcome.accountTry(self.up, request.node, 0, request.ms, true, self.now)
    else
      left[#left + 1] = request
    end
  end
  self.running = left
  if self.now % 100 == 0 then
    upstream.refreshPlacement(self.up)
  end
end

describe("failure 1: heavy requests onto a node at its limit", function()
  --- Every fifth request is heavy; as many nodes as that, so that turns and heavy requests keep step.
  local function deepest(strategy)
    local w = world(strategy, 5)
    local most = 0
    for k = 1, 2000 do
      local heavy = k % 5 == 0
      local _, before = w:send(heavy and 200 or 5)
      if heavy then
        most = math.max(most, before)
      end
      w:tick()
      w:tick()
    end
    return most
  end

  it("happens with round_robin: all heavy ones meet at one node", function()
    assert.is_true(deepest("round_robin") >= 15)
  end)

  for _, strategy in ipairs({ "least_conn", "p2c", "adaptive", "goal" }) do
    it("is avoided by " .. strategy .. ": it sees what is in flight", function()
      local most = deepest(strategy)
      assert.is_true(most <= 10, most .. " in flight before a heavy one")
    end)
  end
end)

describe("failure 2: a node whose few requests are all stuck", function()
  --- Node 0 holds three requests that do not end; the others have four each, which take 10 ms.
  local function to_the_stuck(strategy)
    local w = world(strategy, 4)
    for node = 1, 4 do
      w.up.pool.latency_ms[node], w.up.pool.peak_latency_ms[node] = 10, 10
      w.up.pool.last_sample_ms[node], w.up.pool.last_pick_ms[node] = w.now, w.now
    end
    for _ = 1, 3 do
      local record = requests.newRequestRecord()
      in_flight.beginTry(w.up, record, 0, w.now)
    end
    for _ = 1, 200 do
      w:tick()
    end
    local stuck, total = 0, 0
    for _ = 1, 300 do
      -- 1.2 a millisecond at 10 ms: twelve in flight, four at each of the other three.
      for _ = 1, w.now % 5 == 0 and 2 or 1 do
        total = total + 1
        local node = w:send(10)
        if node == 0 then
          stuck = stuck + 1
          w.running[#w.running].done = math.huge
        end
      end
      w:tick()
    end
    return stuck / total
  end

  it("attracts least_conn", function()
    local record_share = to_the_stuck("least_conn")
    assert.is_true(record_share > 0.002, "share " .. record_share)
  end)

  it("is avoided by adaptive: the age of the oldest request counts", function()
    assert.equal(0, to_the_stuck("adaptive"))
  end)
end)

describe("failure 4: one policy for all classes", function()
  --- Batch jobs hold the nodes, 15 at a time on 6 nodes; the most that a trading call finds before it.
  local function before_vip(strategy, config)
    local w = world(strategy, 6, config)
    local worst = 0
    for k = 1, 6000 do
      if k % 40 == 0 then
        w:send(600, "batch")
      end
      if k > 1000 and k % 37 == 0 then
        local _, before = w:send(5, "vip")
        worst = math.max(worst, before)
      end
      w:tick()
    end
    return worst
  end

  it("happens without classes: batch is on the node that the trading call gets", function()
    local worst = before_vip("random", nil)
    assert.is_true(worst >= 6, worst .. " before a vip call")
  end)

  for _, strategy in ipairs({ "random", "round_robin", "adaptive" }) do
    it("is avoided by classes, with " .. strategy .. ": batch keeps off busy nodes", function()
      local worst = before_vip(strategy, { class_source = "$class" })
      assert.is_true(worst <= 3, worst .. " before a vip call")
    end)
  end
end)
