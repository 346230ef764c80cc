-- Which checks are under way when: driven in virtual time, without nginx.
local prober_module = require("resty.ax.collector.prober")

local function upstream(name, count, probe)
  local nodes = {}
  for i = 1, count do
    local port = 1000 + i
    nodes[i] = { id = "10.0.0.1:" .. port, host = "10.0.0.1", port = port, down = false }
  end
  local options = {
    tcp_interval_s = 3, timeout_s = 2, fails = 3, passes = 2, max_concurrent = 32,
    max_watermark = 0.85, slow_ratio = 3, slow_checks = 3,
  }
  for key, value in pairs(probe or {}) do options[key] = value end
  return { name = name, nodes = nodes, probe = options }
end

local HTTP = {
  interval_s = 10, path = "/healthz", method = "GET", headers = {}, max_body_bytes = 100, port = 0, tls = false,
  tls_verify = false,
}

-- Drives a prober for some virtual time. `takes(job)` → ms, or nil for "hangs until the time-out".
local function drive(prober, from_ms, to_ms, takes, each)
  local running, most, ended = {}, 0, {}
  for now_ms = from_ms, to_ms, 5 do
    for check, entry in pairs(running) do
      if now_ms >= entry.at_ms then
        running[check] = nil
        local result = { ok = entry.ok, why = entry.ok and "fine" or "no answer", took_ms = now_ms - check.started_ms }
        prober_module.endCheck(prober, check, result, now_ms)
        ended[#ended + 1] = { job = check.job, started_ms = check.started_ms, at_ms = now_ms }
      end
    end
    prober_module.lineUp(prober, now_ms)
    local check = prober_module.takeCheck(prober, now_ms)
    while check do
      local ms = takes(check.job)
      running[check] = { at_ms = now_ms + (ms or check.job.timeout_ms), ok = ms ~= nil }
      check = prober_module.takeCheck(prober, now_ms)
    end
    local count = 0
    for _ in pairs(running) do count = count + 1 end
    most = math.max(most, count)
    if each then each(now_ms) end
  end
  return ended, most
end

local function quick() return 2 end

local function newProber(...)
  local upstreams = {}
  for _, given in ipairs({ ... }) do upstreams[given.name] = given end
  return assert(prober_module.newProber({ upstreams = upstreams }, 0))
end

local function startsByNode(ended)
  local starts = {}
  for _, entry in ipairs(ended) do
    local key = entry.job.kind .. " " .. entry.job.node
    starts[key] = starts[key] or {}
    table.insert(starts[key], entry.started_ms)
  end
  return starts
end

describe("the prober", function()
  it("is none without probes", function()
    assert.is_nil(prober_module.newProber({ upstreams = { a = { name = "a", nodes = {} } } }, 0))
  end)

  it("checks 1000 nodes on time, a few at once", function()
    local prober = newProber(upstream("a", 1000, { http = HTTP }))
    local ended, most = drive(prober, 0, 31000, quick)
    assert.is_true(most <= 16, "at once: " .. most)
    for key, at in pairs(startsByNode(ended)) do
      local interval_ms = key:find("^tcp") and 3000 or 10000
      for k = 2, #at do
        assert.is_true(math.abs(at[k] - at[k - 1] - interval_ms) <= 20, key)
      end
      assert.is_true(#at >= math.floor(31000 / interval_ms), key)
    end
    local starts = 0
    for _ in pairs(startsByNode(ended)) do starts = starts + 1 end
    assert.equal(2000, starts)
  end)

  it("delays no other node by one that hangs", function()
    local prober = newProber(upstream("a", 50))
    local ended = drive(prober, 0, 30000, function(job)
      if job.node ~= "10.0.0.1:1007" then return 2 end
    end)
    for key, at in pairs(startsByNode(ended)) do
      for k = 2, #at do assert.is_true(math.abs(at[k] - at[k - 1] - 3000) <= 20, key) end
    end
  end)

  it("never has more under way than allowed, and leaves nobody out, whatever hangs", function()
    for seed = 1, 8 do
      math.randomseed(seed)
      local count, allowed = math.random(1, 200), math.random(1, 40)
      local share = math.random()
      local hangs = {}
      for i = 1, count do hangs["10.0.0.1:" .. (1000 + i)] = math.random() < share end
      local prober = newProber(upstream("a", count, { max_concurrent = allowed }))
      local ended, most = drive(prober, 0, 6000 + count * 2 * 2000 / allowed, function(job)
        if not hangs[job.node] then return 2 end
      end)
      assert.is_true(most <= allowed, ("%d > %d"):format(most, allowed))
      local starts = startsByNode(ended)
      for i = 1, count do assert.is_truthy(starts["tcp 10.0.0.1:" .. (1000 + i)], "seed " .. seed) end
    end
  end)

  it("keeps nodes that answer on time when half of 500 hang", function()
    local prober = newProber(upstream("a", 500))
    local function takes(job)
      if tonumber(job.node:match("%d+$")) > 1250 then return 2 end
    end
    -- Who hangs is known after the first round or two.
    drive(prober, 0, 60000, takes)
    local ended = drive(prober, 60005, 90000, takes)
    for key, at in pairs(startsByNode(ended)) do
      if tonumber(key:match("%d+$")) > 1250 then
        for k = 2, #at do assert.is_true(math.abs(at[k] - at[k - 1] - 3000) <= 30, key) end
        assert.is_true(#at >= 9, key)
      end
    end
  end)

  it("does not let one upstream take the places of another", function()
    local prober = newProber(upstream("a", 300), upstream("b", 10))
    local ended = drive(prober, 0, 30000, function(job)
      if job.upstream == "b" then return 2 end
    end)
    for _, entry in ipairs(ended) do
      if entry.job.upstream == "b" then assert.is_true(entry.at_ms - entry.started_ms <= 5) end
    end
    local b = 0
    for _, entry in ipairs(ended) do if entry.job.upstream == "b" then b = b + 1 end end
    assert.is_true(b >= 90 and b <= 100, "checks of b: " .. b)
  end)

  it("has at most 256 under way over all upstreams", function()
    local all = {}
    for i = 1, 20 do all[i] = upstream("u" .. i, 40, { max_concurrent = 40 }) end
    local _, most = drive(newProber(unpack(all)), 0, 6000, function() return nil end)
    assert.is_true(most <= 256 and most > 200, "at once: " .. most)
  end)

  it("leaves nodes in peace that are down in the configuration", function()
    local given = upstream("a", 3)
    given.nodes[2].down = true
    local prober = newProber(given)
    for _, entry in ipairs((drive(prober, 0, 10000, quick))) do
      assert.are_not.equal("10.0.0.1:1002", entry.job.node)
    end
    assert.is_nil(prober_module.probeSource(prober).view("a", "10.0.0.1:1002"))
  end)

  it("checks another port by HTTP where one is given, but not behind a unix socket", function()
    local given = upstream("a", 2, { tcp_interval_s = 0, http = setmetatable({ port = 9000 }, { __index = HTTP }) })
    given.nodes[2] = { id = "unix:/run/x", host = "unix:/run/x", port = 0, down = false }
    local ports = {}
    for _, entry in ipairs((drive(newProber(given), 0, 11000, quick))) do ports[entry.job.node] = entry.job.port end
    assert.same({ ["10.0.0.1:1001"] = 9000, ["unix:/run/x"] = 0 }, ports)
  end)
end)

describe("a trial", function()
  local function newTrial(takes)
    local prober = newProber(upstream("a", 5, { http = HTTP, tcp_interval_s = 0 }))
    local source = prober_module.probeSource(prober)
    drive(prober, 0, 10000, takes)
    return prober, source, "10.0.0.1:1003"
  end

  it("is made at once, once, and tells its end", function()
    local prober, source, node = newTrial(quick)
    assert.equal("none", source.view("a", node).trial)
    assert.is_true(source.askTrial("a", node))
    assert.is_true(source.askTrial("a", node))
    assert.equal("running", source.view("a", node).trial)
    local ended = drive(prober, 10005, 10050, quick)
    local own = 0
    for _, entry in ipairs(ended) do if entry.job.node == node then own = own + 1 end end
    assert.equal(1, own)
    assert.equal("pass", source.view("a", node).trial)
  end)

  it("fails when the check does", function()
    local prober, source, node = newTrial(quick)
    source.askTrial("a", node)
    drive(prober, 10005, 12100, function() return nil end)
    assert.equal("fail", source.view("a", node).trial)
  end)

  it("whose check ends without a result ends with the node's next check", function()
    local prober, source, node = newTrial(quick)
    source.askTrial("a", node)
    prober_module.lineUp(prober, 10005)
    local check = prober_module.takeCheck(prober, 10005)
    assert.equal(node, check.job.node)
    prober_module.endCheck(prober, check, nil, 10010)
    assert.equal("running", source.view("a", node).trial)
    prober_module.lineUp(prober, 10015)
    assert.is_nil(prober_module.takeCheck(prober, 10015))
    drive(prober, 10020, 20100, quick)
    assert.equal("pass", source.view("a", node).trial)
  end)

  it("is refused for nodes that are not probed", function()
    local _, source = newTrial(quick)
    assert.is_false(source.askTrial("a", "10.9.9.9:1"))
    assert.is_false(source.askTrial("b", "10.0.0.1:1001"))
    assert.is_nil(source.view("b", "10.0.0.1:1001"))
  end)
end)

describe("a node in maintenance", function()
  local cjson = require("cjson.safe")
  local kit = require("collector_kit")
  local operator = require("resty.ax.core.operator")
  local NODE = "10.0.0.1:1002"

  --- A collector with its prober; checks take what `takes` says.
  local function office(store, now_ms)
    local nodes = {}
    for _, node in ipairs(upstream("backend", 3).nodes) do
      nodes[#nodes + 1] = kit.node(node.id)
    end
    local config = kit.upstream(nodes, { probe = upstream("backend", 3, { http = HTTP, fails = 2 }).probe })
    local prober = assert(prober_module.newProber({ upstreams = { backend = config } }, now_ms))
    local source = prober_module.probeSource(prober)
    local options = { upstreams = { config }, probes = source, store = store, now_ms = now_ms }
    local c = kit.new(options)
    function c.pass(ms, takes)
      local checked = 0
      local ended = drive(prober, c.now_ms, c.now_ms + ms, takes, function(at_ms)
        if at_ms - c.now_ms >= 500 then c:tick() end
      end)
      for _, entry in ipairs(ended) do
        if entry.job.node == NODE then checked = checked + 1 end
      end
      return checked
    end
    return c
  end

  local function give(c, kind)
    local key = operator.willKey("backend", NODE)
    if kind then c.store.set(key, cjson.encode({ kind = kind, at_ms = c.now_ms })) else c.store.remove(key) end
    c.store.incr(operator.willVersionKey("backend"), 1)
  end

  it("is not checked, by the next collector neither, and comes back with nothing held against it", function()
    local c = office(nil, 1000000)
    c.pass(30000, function(job) return job.node ~= NODE and 2 or nil end)
    assert.equal("ejected", c:at(NODE).state)
    give(c, "maintenance")
    c.pass(5000, quick)
    assert.equal(0, c.pass(30000, quick))
    assert.equal("maintenance", c:at(NODE).state)
    local next_one = office(c.store, c.now_ms)
    assert.equal(0, next_one.pass(30000, quick))
    give(next_one)
    next_one.pass(1000, quick)
    assert.equal("ramping", next_one:at(NODE).state)
    assert.is_true(next_one.pass(20000, quick) > 0)
    assert.equal("pass", next_one:at(NODE).probe.verdict)
  end)

  it("is checked while it is drained only", function()
    local c = office(nil, 1000000)
    give(c, "drain")
    assert.is_true(c.pass(20000, quick) > 0)
  end)
end)

describe("what the status shows of checks", function()
  it("is of the last minutes", function()
    local prober = newProber(upstream("a", 10))
    local source = prober_module.probeSource(prober)
    local dead = true
    local function takes() if not dead then return 4 end end
    drive(prober, 0, 60000, takes)
    local summary = source.summary("a", 60000)
    assert.equal(0, summary.pass_rate)
    assert.is_true(summary.checks >= 190, tostring(summary.checks))
    dead = false
    drive(prober, 60005, 200000, takes)
    summary = source.summary("a", 200000)
    assert.equal(1, summary.pass_rate)
    assert.is_true(summary.mean_ms >= 2 and summary.mean_ms <= 7)
    assert.is_true(source.takeNews("a"))
    assert.is_false(source.takeNews("a"))
  end)
end)
