local election = require("resty.ax.collector.election")
local fake_store = require("fake_store")
local random = require("resty.ax.core.random")

local TERM = "collector:term"

--- Every process has ended as soon as its lease is old.
local function dead()
  return false
end

local function lease(term)
  return "collector:lease:" .. term
end

--- A store that lets another worker run before every operation, as processes on shared memory do.
local function interleaved(store)
  local wrapped = {}
  for _, name in ipairs({ "get", "set", "add", "incr", "remove" }) do
    wrapped[name] = function(...)
      coroutine.yield()
      return store[name](...)
    end
  end
  return wrapped
end

local function spawn(candidate, now_ms)
  return coroutine.create(function()
    return election.isElected(candidate, now_ms)
  end)
end

--- One step of a call. Returns whether it is over, and its answer.
local function step(call)
  local ok, answer = coroutine.resume(call)
  assert(ok, answer)
  return coroutine.status(call) == "dead", answer
end

--- All candidates ask at once, their store operations in random order. Returns who was told yes.
local function race(rng, candidates, now_ms)
  local calls, winners = {}, {}
  for i, candidate in ipairs(candidates) do
    calls[i] = { candidate = candidate, thread = spawn(candidate, now_ms) }
  end
  while #calls > 0 do
    local i = random.drawBelow(rng, #calls) + 1
    local over, answer = step(calls[i].thread)
    if over then
      if answer then
        winners[#winners + 1] = calls[i].candidate
      end
      table.remove(calls, i)
    end
  end
  return winners
end

local function candidates_over(store, n)
  local list = {}
  for pid = 1, n do
    list[pid] = election.newCandidate(store, pid, dead)
  end
  return list
end

describe("an election", function()
  it("has one winner, who stays", function()
    local a, b = unpack(candidates_over(fake_store(), 2))
    assert.is_true(election.isElected(a, 1000))
    for now_ms = 1000, 20000, 100 do
      assert.is_false(election.isElected(b, now_ms))
      assert.is_true(election.isElected(a, now_ms + 50))
    end
  end)

  it("has exactly one winner among racing candidates, whatever the store was left like", function()
    local left = {
      empty = function() end,
      ["a stale lease"] = function(store)
        store.set(TERM, 7)
        store.set(lease(7), "99:10000")
      end,
      ["a missing lease"] = function(store)
        store.set(TERM, 7)
      end,
      ["a winner that died before it raised the term"] = function(store)
        store.set(TERM, 6)
        store.set(lease(6), "98:9000")
        store.set(lease(7), "99:10000")
      end,
      ["two such winners"] = function(store)
        store.set(TERM, 5)
        store.set(lease(6), "98:9000")
        store.set(lease(7), "99:10000")
      end,
      ["an unreadable lease"] = function(store)
        store.set(TERM, 7)
        store.set(lease(7), "nonsense")
      end,
      ["an unreadable term"] = function(store)
        store.set(TERM, "nonsense")
      end,
      ["a lease of the future"] = function(store)
        store.set(TERM, 7)
        store.set(lease(7), "99:99999999")
      end,
    }
    for name, leave in pairs(left) do
      for seed = 1, 300 do
        local rng = random.newRandom(seed)
        local store = fake_store()
        leave(store)
        local candidates = candidates_over(interleaved(store), 2 + random.drawBelow(rng, 5))
        local winners = race(rng, candidates, 20000)
        assert.equal(1, #winners, name .. ", seed " .. seed)
        local again = race(rng, candidates, 20100)
        assert.same({ winners[1].pid }, { again[1] and again[1].pid, again[2] and again[2].pid })
      end
    end
  end)

  it("is not disturbed by steps of the wall clock, and holds for any number of terms", function()
    local store = fake_store()
    local now_ms = 0
    for pid = 1, 50 do
      now_ms = now_ms + 1600
      assert.is_true(election.isElected(election.newCandidate(store, pid, dead), now_ms))
    end
    local leases = 0
    for key in pairs(store.values) do
      leases = leases + (key:find("collector:lease:", 1, true) and 1 or 0)
    end
    assert.same({ 50, 1 }, { store.get(TERM), leases })
  end)
end)

describe("a holder's end", function()
  it("is followed by another within 2 s when it died", function()
    local a, b = unpack(candidates_over(fake_store(), 2))
    assert.is_true(election.isElected(a, 1000))
    local now_ms = 1000
    repeat
      now_ms = now_ms + 100
    until election.isElected(b, now_ms)
    assert.is_true(now_ms > 2400 and now_ms <= 3000)
  end)

  it("is followed by another at once when it resigned", function()
    local a, b = unpack(candidates_over(fake_store(), 2))
    assert.is_true(election.isElected(a, 1000))
    election.resign(b)
    assert.is_false(election.isElected(b, 1050))
    election.resign(a)
    assert.is_true(election.isElected(b, 1100))
    election.resign(a)
    assert.is_true(election.isElected(b, 1200))
  end)

  it("is noticed by a holder that was stopped for 5 s, at whatever point of asking", function()
    for operations = 0, 12 do
      local store = fake_store()
      local stopped = election.newCandidate(interleaved(store), 1, dead)
      local other = election.newCandidate(store, 2, dead)
      local rng = random.newRandom(1)
      assert.equal(1, #race(rng, { stopped }, 1000))
      local call = spawn(stopped, 1300)
      local over = false
      for _ = 0, operations do
        over = over or step(call)
      end
      if not over then
        for now_ms = 1400, 6300, 100 do
          election.isElected(other, now_ms)
        end
        local answer
        while not over do
          over, answer = step(call)
        end
        assert.is_false(answer, "stopped before operation " .. operations)
      end
      assert.equal(over and 0 or 1, #race(rng, { stopped }, 6400))
      assert.is_true(over and election.isElected(other, 6450) or not over)
    end
  end)

  it("is noticed by a holder that slept between two calls, also when nobody took over", function()
    local store = fake_store()
    local a, b = unpack(candidates_over(store, 2))
    assert.is_true(election.isElected(a, 1000))
    assert.is_false(election.isElected(a, 6000), "its lease is stale: anybody may be taking it right now")
    assert.is_true(election.isElected(b, 6010))
    assert.is_false(election.isElected(a, 6020))
  end)

  it("does not make two of a worker that wins a term long over", function()
    -- It found term 0 without a lease and was stopped right before adding the lease of term 1.
    for operations = 1, 8 do
      local store = fake_store()
      local late = election.newCandidate(interleaved(store), 1, dead)
      local call = spawn(late, 1000)
      for _ = 1, operations do
        if coroutine.status(call) ~= "dead" then
          step(call)
        end
      end
      local over = coroutine.status(call) == "dead"
      local others = candidates_over(store, 4)
      local now_ms = 3000
      for pid = 2, 4 do
        now_ms = now_ms + 1600
        assert.is_true(election.isElected(others[pid], now_ms) or over)
      end
      local answer = false
      while not over do
        over, answer = step(call)
      end
      assert.is_false(answer and election.isElected(others[4], now_ms + 10), "two at once")
      local told = #race(random.newRandom(1), { late }, now_ms + 100)
      told = told + (election.isElected(others[4], now_ms + 110) and 1 or 0)
      told = told + (election.isElected(others[3], now_ms + 120) and 1 or 0)
      assert.equal(1, told)
    end
  end)
end)

describe("a gateway whose workers come and go", function()
  it("never has two collectors, and never none for 2 s", function()
    for seed = 1, 60 do
      local rng = random.newRandom(seed)
      local store = fake_store()
      local shared = interleaved(store)
      local candidates = candidates_over(shared, 3)
      local next_pid, now_ms, last_ms = 4, 10000, 10000
      for _ = 1, 300 do
        now_ms = now_ms + 100
        local winners = race(rng, candidates, now_ms)
        assert.is_true(#winners <= 1, "two collectors")
        if #winners == 1 then
          last_ms = now_ms
        end
        assert.is_true(now_ms - last_ms <= 2000)
        local event = random.drawBelow(rng, 30)
        if event == 0 then
          table.remove(candidates, random.drawBelow(rng, #candidates) + 1)
          candidates[#candidates + 1] = election.newCandidate(shared, next_pid, dead)
          next_pid = next_pid + 1
        elseif event == 1 then
          local leaving = candidates[random.drawBelow(rng, #candidates) + 1]
          local call = coroutine.create(function()
            election.resign(leaving)
          end)
          while coroutine.status(call) ~= "dead" do
            step(call)
          end
        elseif event == 2 then
          -- Killed in the middle of asking.
          local call = spawn(table.remove(candidates, random.drawBelow(rng, #candidates) + 1), now_ms + 50)
          for _ = 0, random.drawBelow(rng, 8) do
            if coroutine.status(call) ~= "dead" then
              step(call)
            end
          end
          candidates[#candidates + 1] = election.newCandidate(shared, next_pid, dead)
          next_pid = next_pid + 1
        elseif event == 3 then
          store.remove(TERM)
        elseif event == 4 then
          store.remove(lease(store.get(TERM) or 1))
        elseif event == 5 then
          for _, key in ipairs({ TERM, lease(store.get(TERM) or 1) }) do
            store.remove(key)
          end
        end
      end
    end
  end)
end)

describe("a full store", function()
  it("keeps the holder it has, and has none after it until there is room", function()
    local store = fake_store()
    local a, b = unpack(candidates_over(store, 2))
    -- What is rewritten in its place needs no room.
    local set = store.set
    store.set = function(key, value)
      if store.values[key] ~= nil then
        store.values[key] = value
        return true
      end
      return set(key, value)
    end
    assert.is_true(election.isElected(a, 1000))
    store.full = true
    for now_ms = 1100, 6000, 100 do
      assert.is_true(election.isElected(a, now_ms))
      assert.is_false(election.isElected(b, now_ms))
    end
    election.resign(a)
    assert.is_false(election.isElected(b, 6100))
    assert.is_false(election.isElected(a, 6100))
    store.full = false
    assert.is_true(election.isElected(b, 6200))
    assert.is_false(election.isElected(a, 6200))
  end)

  it("that refuses even to renew the lease ends the term", function()
    local store = fake_store()
    local a = election.newCandidate(store, 1, dead)
    assert.is_true(election.isElected(a, 1000))
    store.full = true
    assert.is_true(election.isElected(a, 2400))
    assert.is_false(election.isElected(a, 2500))
    store.full = false
    assert.is_true(election.isElected(a, 2600))
  end)

  it("without room for the term itself leaves the leases to go by", function()
    local store = fake_store()
    store.incr = function() end
    local now_ms = 1000
    for pid = 1, 4 do
      now_ms = now_ms + 1600
      assert.is_true(election.isElected(election.newCandidate(store, pid, dead), now_ms))
      assert.is_false(election.isElected(election.newCandidate(store, 100 + pid, dead), now_ms + 50))
    end
  end)
end)

describe("a collector whose lease is old", function()
  it("stays for ten seconds while its process lives: it is busy", function()
    local store = fake_store()
    local alive = true
    local function lives()
      return alive
    end
    local busy, other = election.newCandidate(store, 1, lives), election.newCandidate(store, 2, lives)
    assert.is_true(election.isElected(busy, 1000))
    assert.is_false(election.isElected(other, 4000))
    assert.is_true(election.isElected(busy, 4000))
    assert.is_false(election.isElected(other, 13000))
    assert.is_true(election.isElected(other, 14001))
    assert.is_false(election.isElected(busy, 14001))
    alive = false
    assert.is_true(election.isElected(busy, 15600))
  end)
end)
