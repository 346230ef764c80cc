-- Whatever happens to the collector and its store, in whatever order: it goes on, and some node always serves.
local cjson = require("cjson.safe")
local deltas = require("deltas")
local fake_store = require("fake_store")
local isUsable = require("resty.ax.core.health.states").isUsable
local isTransition = require("resty.ax.core.health.transitions").isTransition
local kit = require("collector_kit")
local operator = require("resty.ax.core.operator")
local random = require("resty.ax.core.random")
local stateNamed = require("resty.ax.core.health.states").stateNamed
local apply_snapshot = require("resty.ax.dataplane.apply_snapshot")
local upstreams = require("upstreams")

local NAMES = { "a", "b", "c", "d", "e", "f", "g" }
local KINDS = { "drain", "maintenance", "force_up", "force_down" }
local GARBAGE = {
  "",
  "{",
  "null",
  "[]",
  "7",
  '{"nodes":7}',
  '{"nodes":{"a":7}}',
  '{"nodes":{"a":{"state":"nonsense"}}}',
  '{"nodes":{"a":{"state":"ejected","until_ms":1e300,"since_ms":-5,"ejections":1e300,"trial":1e300}}}',
  '{"nodes":{"a":{"state":"ramping","until_ms":1e300,"flat_until_ms":1e300}}}',
  '{"nodes":{"a":{"state":"probing","trial":-1,"trial_at_ms":1e300,"report":{"signals_at_ms":1,"watermark":1e308}}}}',
  '{"kind":"drain","at_ms":"x"}',
  '{"kind":"force_up","at_ms":1,"until_ms":1e300}',
  "\0\255",
}

local function numbers(rng)
  return function(n)
    return random.drawBelow(rng, n)
  end
end

--- A configuration of some of the nodes, some of them down or backup.
local function configuration(below, name)
  local nodes = {}
  for _, id in ipairs(NAMES) do
    if below(4) > 0 or #nodes == 0 then
      nodes[#nodes + 1] = kit.node(id, { down = below(12) == 0, backup = below(6) == 0, max_fails = below(4) })
    end
  end
  return kit.upstream(nodes, {
    name = name,
    orca = below(2) == 0,
    return_trial = below(2) == 0,
    slow_start_s = below(2) * 20,
    ramp_s = below(3) * 5,
    max_ejected_share = below(3) / 2,
    eject_host = below(4) == 0,
    panic = below(3) == 0 and "fail" or "spread",
    eject_error_rate_for_s = 3,
    cool_down_s = 5,
  })
end

local function outcomes(below)
  local nodes = {}
  for _, id in ipairs(NAMES) do
    if below(3) > 0 then
      local given = { err = below(2) * below(30), fail = below(2) * below(30), busy = below(10) == 0 and 3 or 0 }
      given.streak, given.failures = given.fail, given.err + given.fail
      given.report = below(3) == 0 and "TEXT cpu_utilization=" .. below(120) / 100 or nil
      nodes[id] = deltas.delta(deltas.same(below(2) * below(40), 1 + below(200)), given)
    end
  end
  return nodes
end

local function attack(c, below, names)
  local what = below(12)
  local name = names[1 + below(#names)]
  if what == 0 then
    local keys = {}
    for key in pairs(c.store.values) do
      keys[#keys + 1] = key
    end
    table.sort(keys)
    if #keys > 0 then c.store.remove(keys[1 + below(#keys)]) end
  elseif what == 1 then
    local targets = { "detail:", "windows:", "snapshot:", "operator:", "events:", "transitions:", "generation" }
    c.store.set(targets[1 + below(#targets)] .. name, GARBAGE[1 + below(#GARBAGE)])
  elseif what == 2 then
    c.store.set(operator.willKey(name, NAMES[1 + below(7)]), GARBAGE[1 + below(#GARBAGE)])
    c.store.incr(operator.willVersionKey(name), 1)
  elseif what < 5 then
    local will = { kind = KINDS[1 + below(4)], at_ms = c.now_ms }
    will.until_ms = below(2) == 0 and c.now_ms + below(9000) or nil
    c.store.set(operator.willKey(name, NAMES[1 + below(7)]), cjson.encode(will))
    c.store.incr(operator.willVersionKey(name), 1)
  elseif what == 5 then
    c.store.remove(operator.willKey(name, NAMES[1 + below(7)]))
    c.store.incr(operator.willVersionKey(name), 1)
  elseif what == 6 then
    c.store.push("deltas", GARBAGE[1 + below(#GARBAGE)])
  elseif what == 7 then
    c.store.full = not c.store.full
  end
end

--- Every node's snapshot is one that picks can work with, and every move is in the table.
local function check(c, name, last)
  local text = c.store.get("snapshot:" .. name)
  local snapshot = type(text) == "string" and cjson.decode(text) or nil
  local upstream = c.collector.by_name[name]
  local usable, takeable = 0, 0
  for id, node in pairs(upstream.by_id) do
    local state = node.health.state
    assert.equal(state, stateNamed(state))
    assert.is_true(node.detail.weight >= 0 and node.detail.weight < math.huge, "weight of " .. id)
    assert.is_true(node.detail.static_weight > 0, "static weight of " .. id)
    if isUsable(state) then usable = usable + 1 end
    local taken = state == "draining" or state == "offline" or state == "maintenance" or state == "pending"
    if not taken then takeable = takeable + 1 end
    if last[id] and last[id] ~= state then
      assert.is_true(isTransition(last[id], state), ("%s → %s"):format(last[id], state))
    end
    last[id] = state
    if node.health.until_ms then
      local will = node.seen.will
      local longest_ms = will and will.until_ms and math.huge or 700000
      assert.is_true(node.health.until_ms - c.now_ms <= longest_ms, id .. " ends too late")
    end
  end
  assert.is_true(takeable == 0 or usable > 0, "nobody serves")
  return snapshot
end

--- A worker can pick by whatever is there.
local function pick_by(snapshot, config)
  local nodes = {}
  for k, node in ipairs(config.nodes) do
    nodes[k] = { node.id, { down = node.down, backup = node.backup } }
  end
  local up = upstreams.new({ nodes = nodes })
  if type(snapshot) == "table" and type(snapshot.nodes) == "table" then
    for _, node in pairs(snapshot.nodes) do
      if type(node) ~= "table" or type(node.weight) ~= "number" or not stateNamed(node.state) then return end
    end
    apply_snapshot.applySnapshot(up, snapshot, 1000)
  end
  local some = false
  for _, node in ipairs(config.nodes) do
    some = some or not node.down
  end
  assert.is_true(not some or up.pool.candidate_count > 0)
end

describe("the collector under attack", function()
  it("goes on, keeps to its table, and leaves somebody to serve", function()
    for seed = 1, 20 do
      local below = numbers(random.newRandom(seed))
      -- The same nodes in two upstreams.
      local names = { "backend", "other" }
      local store = fake_store()
      local function office(now_ms)
        local given = { upstreams = {}, store = store, now_ms = now_ms, pid = below(1000) }
        for k, name in ipairs(names) do
          given.upstreams[k] = configuration(below, name)
        end
        return kit.new(given), given.upstreams
      end
      local c, configs = office(1000000)
      local last = { {}, {} }
      for _ = 1, 60 do
        for _ = 1, below(3) do
          attack(c, below, names)
        end
        for _, name in ipairs(names) do
          c:report(outcomes(below), name)
        end
        if below(12) == 0 then
          -- A reload, or another worker is elected; what happened in between is not seen.
          c, configs = office(c.now_ms + below(3000))
          last = { {}, {} }
        end
        c:tick(below(20) == 0 and below(70000) or 500)
        for k, name in ipairs(names) do
          pick_by(check(c, name, last[k]), configs[k])
        end
      end
    end
  end)
end)
