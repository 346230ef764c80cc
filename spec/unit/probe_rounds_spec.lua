-- When nodes are checked: spread, offset, nobody left out.
local rounds = require("resty.ax.core.probe.rounds")

local function takeAll(round, now_ms, into)
  local node = rounds.takeDue(round, now_ms)
  while node do
    into[#into + 1] = { node = node, at_ms = now_ms }
    node = rounds.takeDue(round, now_ms)
  end
end

local function placesOf(count, interval_ms)
  local places = {}
  for i = 1, count do
    places[i] = rounds.placeMs(("backend\n10.0.%d.%d:80"):format(i / 250, i % 250), interval_ms)
  end
  return places
end

describe("rounds of checks", function()
  it("check every node once in every interval, however the looks fall", function()
    local interval_ms = 3000
    for seed = 1, 20 do
      math.randomseed(seed)
      local count = math.random(1, 300)
      local start_ms = math.random(0, 1e9)
      local round = rounds.newRound(placesOf(count, interval_ms), interval_ms, start_ms)
      local taken, now_ms = {}, start_ms
      while now_ms < start_ms + 10 * interval_ms do
        now_ms = now_ms + math.random(1, 400)
        takeAll(round, now_ms, taken)
      end
      local last, seen = {}, {}
      for _, entry in ipairs(taken) do
        seen[entry.node] = (seen[entry.node] or 0) + 1
        if last[entry.node] then
          local gap = entry.at_ms - last[entry.node]
          assert.is_true(math.abs(gap - interval_ms) <= 400, ("gap %d"):format(gap))
        end
        last[entry.node] = entry.at_ms
      end
      for node = 0, count - 1 do
        assert.is_true(seen[node] >= 9 and seen[node] <= 11, ("node %d: %s"):format(node, tostring(seen[node])))
      end
    end
  end)

  it("check nothing at the start, and all within one interval from it", function()
    local round = rounds.newRound(placesOf(1000, 3000), 3000, 123456)
    local taken = {}
    takeAll(round, 123456, taken)
    assert.equal(0, #taken)
    takeAll(round, 123456 + 3000, taken)
    assert.equal(1000, #taken)
  end)

  it("check each node after a pause, but not once for each interval missed", function()
    local round = rounds.newRound(placesOf(500, 3000), 3000, 1000)
    local taken = {}
    takeAll(round, 1000 + 10 * 3600 * 1000 + 17, taken)
    local seen = {}
    for _, entry in ipairs(taken) do
      seen[entry.node] = (seen[entry.node] or 0) + 1
    end
    for node = 0, 499 do
      assert.is_true(seen[node] == 1 or seen[node] == 2, ("node %d: %s"):format(node, tostring(seen[node])))
    end
  end)

  it("are even: of 1000 nodes no tenth of a second has more than three times its share", function()
    local round = rounds.newRound(placesOf(1000, 3000), 3000, 0)
    for now_ms = 100, 6000, 100 do
      local taken = {}
      takeAll(round, now_ms, taken)
      assert.is_true(#taken <= 100, ("%d at %d ms"):format(#taken, now_ms))
    end
  end)

  it("keep a node's place, whatever other nodes there are, and after a takeover", function()
    local place = rounds.placeMs("backend\n10.0.0.7:80", 3000)
    for _, now_ms in ipairs({ 0, 777, 123456789 }) do
      local round = rounds.newRound({ place }, 3000, now_ms)
      local due_ms = rounds.nextDueMs(round)
      assert.is_true(due_ms > now_ms and due_ms <= now_ms + 3000)
      assert.equal(place, due_ms % 3000)
    end
  end)

  it("keep the two kinds of checks of a node apart, for ever", function()
    for i = 1, 300 do
      local name = "backend\nnode-" .. i
      local tcp = rounds.placeMs(name, 3000)
      local http = rounds.offsetPlaceMs(name, 3000, 10000)
      assert.is_true(http >= 0 and http < 10000)
      -- 30 s hold every constellation of 3 s and 10 s.
      for k = 0, 2 do
        local at = (http + k * 10000 - tcp) % 3000
        assert.is_true(math.min(at, 3000 - at) >= 499, ("%s: %d"):format(name, at))
      end
    end
  end)

  it("cost as much as there are nodes due: 10,000 nodes, a look every 5 ms", function()
    local round = rounds.newRound(placesOf(10000, 3000), 3000, 0)
    local steps, taken = 0, {}
    for now_ms = 5, 3000, 5 do
      steps = steps + 1
      takeAll(round, now_ms, taken)
    end
    assert.equal(10000, #taken)
    assert.equal(600, steps)
  end)

  it("of no nodes are never due", function()
    local round = rounds.newRound({}, 3000, 5)
    assert.equal(math.huge, rounds.nextDueMs(round))
    assert.is_nil(rounds.takeDue(round, 1e12))
  end)
end)
