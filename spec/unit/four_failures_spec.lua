-- Four failures that every choice of a strategy is about: each with one that has it, and those that avoid it.
-- A loop in virtual milliseconds over the real pool, picks and accounts; every service time is fixed.
local upstreams = require("upstreams")
local candidates = require("resty.ax.dataplane.candidates")
local pick = require("resty.ax.dataplane.pick")
local requests = require("resty.ax.dataplane.requests")
local in_flight = require("resty.ax.dataplane.in_flight")
local outcome = require("resty.ax.dataplane.outcome")

local request_key = require("resty.ax.core.request_key")

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
    record.role = upstreams.role_of(self.up, class)
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
    candidates.refreshPlacement(self.up)
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

  -- 22 requests are in flight on average, 4.4 a node. least_conn stays near that. The others look at latency too, and
  -- here latency is chance: of the last 39 answers that a mean rests on (gain 0.05) 20 % ± 6.4 % were heavy, so
  -- means are 44 ± 13 ms. adaptive balances in flight × latency^1.5: a node one deviation below the mean may have
  -- (44 ÷ 31)^1.5 = 1.7 times as many as a mean one, and with some luck more. The exponent is for nodes that are slow
  -- for a reason (docs/tuning.md); this is what it costs where none is.
  for strategy, bound in pairs({ least_conn = 8, p2c = 8, goal = 8, adaptive = 10 }) do
    it("is avoided by " .. strategy .. ": it sees what is in flight", function()
      local most = deepest(strategy)
      assert.is_true(most <= bound, most .. " in flight before a heavy one")
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

describe("failure 3: an address is not a user", function()
  local PLAIN = { ipv4_prefix_bits = 24, ipv6_prefix_bits = 64, port = false }
  local WITH_PORT = { ipv4_prefix_bits = 24, ipv6_prefix_bits = 64, port = true }

  --- 3000 users behind a carrier's address, and 3000 with one each: requests a node. key_of(address, port, user).
  local function loads(strategy, key_of)
    local w = world(strategy, 6)
    local counts, on_nat = { 0, 0, 0, 0, 0, 0 }, {}
    for user = 1, 6000 do
      local is_nat = user % 2 == 0
      local address = is_nat and "\100\64\0\1" or string.char(10, math.floor(user / 256), user % 256, 1)
      local record = requests.newRequestRecord()
      record.hash_key = key_of(address, tostring(1024 + user * 7), "user-" .. user)
      local node = pick.pickNode(w.up, record, w.now, silent) + 1
      counts[node] = counts[node] + 1
      if is_nat then
        on_nat[node] = true
      end
    end
    local most, nodes = 0, 0
    for node = 1, 6 do
      most = math.max(most, counts[node] / 1000)
      nodes = nodes + (on_nat[node] and 1 or 0)
    end
    return most, nodes
  end

  it("puts a whole NAT on one node with plain ip_hash", function()
    local most, nodes = loads("ip_hash", function(address)
      return request_key.keyOf("", address, "", PLAIN)
    end)
    assert.equal(1, nodes)
    assert.is_true(most > 3, most .. " times the mean")
  end)

  for what, key_of in pairs({
    ["the port mixed in"] = function(address, port)
      return request_key.keyOf("", address, port, WITH_PORT)
    end,
    ["a business id mixed in"] = function(address, _, user)
      return request_key.keyOf(user, address, "", PLAIN)
    end,
  }) do
    it("is avoided by ip_hash with " .. what, function()
      local most, nodes = loads("ip_hash", key_of)
      assert.equal(6, nodes)
      assert.is_true(most < 1.35, most .. " times the mean")
    end)
  end

  it("is avoided by consistent_hash on a cookie", function()
    local most, nodes = loads("consistent_hash", function(address, _, user)
      return request_key.keyOf(user, address, "", nil)
    end)
    assert.equal(6, nodes)
    assert.is_true(most < 1.35, most .. " times the mean")
  end)

  it("is limited by affinity where nothing but the address is known: the hot key has three nodes", function()
    local w = world("affinity", 6)
    local nat = request_key.keyOf("", "\100\64\0\1", "", nil)
    local counts = {}
    for k = 1, 12000 do
      local record = requests.newRequestRecord()
      record.hash_key = k % 2 == 0 and nat or request_key.keyOf("user-" .. k, "", "", nil)
      local node = pick.pickNode(w.up, record, w.now, silent)
      in_flight.beginTry(w.up, record, node, w.now)
      w.running[#w.running + 1] = { record = record, node = node, ms = 5, done = w.now + 5 }
      if k > 4000 and k % 2 == 0 then
        counts[node] = (counts[node] or 0) + 1
      end
      w:tick()
    end
    local nodes = 0
    for _, count in pairs(counts) do
      nodes = nodes + 1
      assert.is_true(count < 0.6 * 4000, "most of the NAT on one node")
    end
    assert.is_true(nodes == 2 or nodes == 3, nodes .. " nodes")
  end)

  --- Share of users who change node when their address changes from one network to another.
  local function lost(strategy, key_of)
    local w = world(strategy, 6)
    local moved = 0
    local function node_of(address, user)
      local record = requests.newRequestRecord()
      record.hash_key = key_of(address, user)
      return pick.pickNode(w.up, record, w.now, silent)
    end
    for user = 1, 1000 do
      local network = string.char(10, math.floor(user / 256), user % 256)
      local other = string.char(100, math.floor(user / 256), user % 256)
      assert.equal(node_of(network .. "\7", "user-" .. user), node_of(network .. "\200", "user-" .. user))
      if node_of(network .. "\7", "user-" .. user) ~= node_of(other .. "\7", "user-" .. user) then
        moved = moved + 1
      end
    end
    return moved / 1000
  end

  it("loses the session of a phone that changes its network with ip_hash, not within one network", function()
    local share = lost("ip_hash", function(address)
      return request_key.keyOf("", address, "", PLAIN)
    end)
    assert.is_true(share > 0.7, share .. " lost")
  end)

  it("loses none with consistent_hash on a cookie", function()
    assert.equal(
      0,
      lost("consistent_hash", function(address, user)
        return request_key.keyOf(user, address, "", nil)
      end)
    )
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
