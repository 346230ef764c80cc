-- What the ring costs: building it, whole and in slices, and finding a key on it.
--   luajit spec/bench/ring.lua
package.path = "lua-out/?.lua;spec/support/?.lua;" .. package.path

local random = require("resty.ax.core.random")
local ring = require("resty.ax.core.ring")
local ring_builder = require("resty.ax.core.ring_builder")
local traffic = require("traffic")
local requests = require("resty.ax.dataplane.requests")

-- As ring_walk.ts has it.
local SLICE = 2000
local CALLS = 2000000

local function cpu_ns(calls, body)
  body(10000)
  local start = os.clock()
  body(calls)
  return (os.clock() - start) / calls * 1e9
end

local keys = {}
local rng = random.newRandom(3)
for k = 1, 65536 do
  keys[k] = random.drawBelow(rng, 4294967296)
end

local function bench(n)
  local ids, counts = {}, {}
  for k = 1, n do
    ids[k], counts[k] = ("10.0.%d.%d:8080"):format(k / 256, k % 256), ring.POINTS_PER_NODE
  end
  ring_builder.buildRing(ids, counts)
  collectgarbage()
  local start = os.clock()
  local built = ring_builder.buildRing(ids, counts)
  local whole_ms = (os.clock() - start) * 1e3
  collectgarbage()
  local builder, longest_ms, slices, done = ring_builder.newRingBuilder(ids, counts), 0, 0
  repeat
    start = os.clock()
    done = ring_builder.stepRing(builder, SLICE)
    longest_ms = math.max(longest_ms, (os.clock() - start) * 1e3)
    slices = slices + 1
  until done
  local sum = 0
  local seek_ns = cpu_ns(CALLS, function(calls)
    for k = 1, calls do
      sum = sum + ring.seek(built, keys[k % 65536 + 1])
    end
  end)
  print(
    ("%6d nodes, %7d points: built in %.1f ms; %d slices of %d points, longest %.2f ms; seek %.0f ns"):format(
      n,
      built.size,
      whole_ms,
      slices,
      SLICE,
      longest_ms,
      seek_ns
    )
  )
  for _, name in ipairs({ "consistent_hash", "ip_hash", "affinity" }) do
    local up = traffic.warm_upstream(name, n)
    local record = requests.newRequestRecord()
    local ns = cpu_ns(CALLS / 4, function(calls)
      for k = 1, calls do
        traffic.pick_only(up, record, 1000 + k / 100)
      end
    end)
    print(("        %-16s pick %.0f ns"):format(name, ns))
  end
end

for _, n in ipairs({ 10, 64, 250, 1000, 10000 }) do
  bench(n)
end
