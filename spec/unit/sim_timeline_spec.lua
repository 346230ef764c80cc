-- Nodes whose speed changes: when work ends.
local jobs = require("sim_jobs")
local timeline = require("sim.timeline")

local function with(events, given)
  local node = jobs.node("n1", given)
  for k, event in ipairs(events) do
    node.events[k] = jobs.event(event)
  end
  return timeline.newTimeline(node, 100000)
end

describe("a node's timeline", function()
  it("ends work by the speeds on the way", function()
    local line = with({ { speed = 0.5, from_s = 1, for_s = 1 } })
    assert.equal(900, (timeline.workEnds(line, 800, 100)))
    assert.equal(1100, (timeline.workEnds(line, 900, 150)))
    assert.equal(2100, (timeline.workEnds(line, 1100, 550)))
  end)

  it("stops work in a pause", function()
    local line = with({ { speed = 0, from_s = 1, for_s = 0.25, every_s = 5 } })
    assert.equal(1260, (timeline.workEnds(line, 990, 20)))
    assert.equal(6260, (timeline.workEnds(line, 5990, 20)))
  end)

  it("breaks work off when the node goes down", function()
    local line = with({ { mode = "down", from_s = 1 } })
    local ends, broken = timeline.workEnds(line, 990, 20)
    assert.equal(1000, ends)
    assert.is_true(broken)
  end)

  it("never ends work on a node that stops for good", function()
    assert.equal(math.huge, (timeline.workEnds(with({ { speed = 0, from_s = 1 } }), 990, 20)))
  end)

  it("has a mean speed, without the time it serves nothing", function()
    local line = with({ { speed = 0.5, from_s = 1, for_s = 1 }, { mode = "hang", from_s = 3 } }, { speed = 2 })
    assert.equal(1.25, timeline.meanSpeed(line, 0, 4000))
  end)

  it("loses no speed to requests that fail at once, and their share to those that fail after their work", function()
    assert.equal(1, timeline.meanSpeed(with({ { error_share = 0.6 } }), 0, 4000))
    assert.equal(0.4, timeline.meanSpeed(with({ { error_share = 0.6, errors_work = true } }), 0, 4000))
  end)
end)
