-- What a tick of the collector costs, and how long it works between two pauses:
-- luajit spec/bench/tick.lua [nodes] [requests/s]
package.path = "lua-out/?.lua;spec/support/?.lua;" .. package.path
local ffi = require("ffi")
local deltas = require("deltas")
local kit = require("collector_kit")

ffi.cdef([[typedef struct { long sec, nsec; } ax_timespec; int clock_gettime(int, ax_timespec *);]])
local ts = ffi.new("ax_timespec")
--- CPU time of this process, ms: other programs do not count.
local function cpu_ms()
  ffi.C.clock_gettime(2, ts)
  return tonumber(ts.sec) * 1e3 + tonumber(ts.nsec) / 1e6
end

local count = tonumber(arg[1]) or 1000
local rate = tonumber(arg[2]) or 5000
local ids = {}
for i = 1, count do
  ids[i] = ("10.0.%d.%d:8080"):format(math.floor(i / 250), i % 250)
end

local slice_from, longest_ms = nil, 0
local function pause()
  local now = cpu_ms()
  longest_ms = math.max(longest_ms, now - slice_from)
  slice_from = cpu_ms()
end

math.randomseed(1)
local c = kit.new({ nodes = ids, upstream = { max_ejected_share = 0.5 }, pause = pause, runningMs = cpu_ms })

--- In entries of up to 100 nodes, as a worker's flush.
local function report(nodes)
  local entry, entered = {}, 0
  for id, delta in pairs(nodes) do
    entry[id], entered = delta, entered + 1
    if entered == 100 then
      c:report(entry)
      entry, entered = {}, 0
    end
  end
  c:report(entry)
end

local total_ms, ticks, worst = 0, 0, {}
for tick = 1, 140 do
  for _ = 1, 5 do
    local nodes = {}
    for _ = 1, rate / 10 do
      local id = ids[math.random(count)]
      nodes[id] = nodes[id] or { n = 0 }
      nodes[id].n = nodes[id].n + 1
    end
    for id, seen in pairs(nodes) do
      local sample = {}
      for i = 1, seen.n do
        sample[i] = math.random(5, 30)
      end
      -- One node in a hundred fails now and then.
      local bad = tonumber(id:match("(%d+):")) % 100 == 7 and math.random() < 0.3
      nodes[id] = deltas.delta(sample, bad and { err = 1, failures = 1 } or {})
    end
    report(nodes)
  end
  collectgarbage()
  longest_ms = 0
  slice_from = cpu_ms()
  local begin = slice_from
  c:tick()
  pause()
  -- The first ones compile.
  if tick > 20 then
    total_ms = total_ms + slice_from - begin
    ticks = ticks + 1
    worst[ticks] = longest_ms
  end
end
table.sort(worst)
local line = "%d nodes, %d requests/s: %.2f ms of CPU a tick; longest slice: median %.2f, 95 %% %.2f, worst %.2f ms"
print(
  line:format(
    count,
    rate,
    total_ms / ticks,
    worst[math.ceil(ticks / 2)],
    worst[math.ceil(ticks * 0.95)],
    worst[ticks]
  )
)

-- The first tick of the next collector, which takes over what this one left.
local next_one = kit.new({
  nodes = ids,
  upstream = { max_ejected_share = 0.5 },
  pause = pause,
  runningMs = cpu_ms,
  store = c.store,
  now_ms = c.now_ms,
})
collectgarbage()
longest_ms, slice_from = 0, cpu_ms()
local began = slice_from
next_one:tick()
pause()
print(("its successor's first tick: %.2f ms of CPU; longest slice %.2f ms"):format(slice_from - began, longest_ms))
