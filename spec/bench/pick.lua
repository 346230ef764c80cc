-- What a pick costs, per strategy and pool size, and the whole data plane's share of a request.
--   luajit spec/bench/pick.lua [--json]
package.path = "lua-out/?.lua;spec/support/?.lua;" .. package.path

local cjson = require("cjson.safe")
local traffic = require("traffic")
local requests = require("resty.ax.dataplane.requests")
local counters = require("resty.ax.dataplane.counters")
local registry = require("resty.ax.core.strategies.registry")

local SIZES = { 10, 64, 1000, 10000 }
local REPEATS = 5

local function names()
  local list = {}
  for name in pairs(registry.strategies) do
    list[#list + 1] = name
  end
  table.sort(list)
  return list
end

--- Median over REPEATS of the CPU time of one call, ns.
local function measure(calls, body)
  local times = {}
  body(math.min(calls, 2000))
  for k = 1, REPEATS do
    collectgarbage()
    local start = os.clock()
    body(calls)
    times[k] = (os.clock() - start) / calls * 1e9
  end
  table.sort(times)
  return times[math.ceil(REPEATS / 2)]
end

local function bench_pick(name, n)
  local up = traffic.warm_upstream(name, n)
  local record = requests.newRequestRecord()
  return measure(n >= 1000 and 20000 or 300000, function(calls)
    for k = 1, calls do
      traffic.pick_only(up, record, 1000 + k / 100)
    end
  end)
end

local function bench_request(name, n)
  local up = traffic.warm_upstream(name, n)
  local table_ = requests.newRequestTable()
  return measure(n >= 1000 and 20000 or 200000, function(calls)
    for k = 1, calls do
      traffic.request(up, table_, k % 256, 1000 + k / 100)
    end
    counters.takeDeltas(up.counters, up.pool.ids)
  end)
end

local function bench_strategy(name)
  local row = { strategy = name }
  for _, n in ipairs(SIZES) do
    row["pick_ns_" .. n] = math.floor(bench_pick(name, n) + 0.5)
  end
  row.request_ns_10 = math.floor(bench_request(name, 10) + 0.5)
  return row
end

if arg[1] == "--one" then
  print(cjson.encode(bench_strategy(arg[2])))
  return
end

-- Each in a process of its own: a gateway runs one strategy or two, and one after the other in the same
-- process they would be measured on each other's traces.
local rows = {}
for _, name in ipairs(names()) do
  local pipe = assert(io.popen(("%s %s --one %s"):format(arg[-1], arg[0], name)))
  rows[#rows + 1] = assert(cjson.decode(pipe:read("*a")), "the measurement of " .. name .. " failed")
  pipe:close()
end

if arg[1] == "--json" then
  print(cjson.encode(rows))
  return
end

print("ns of CPU, median of " .. REPEATS .. "; pick = one choice; request = pick, counting, log phase (10 nodes)")
print(("%-14s %10s %10s %10s %10s %10s"):format("strategy", "10 nodes", "64", "1000", "10000", "request"))
for _, row in ipairs(rows) do
  print(
    ("%-14s %10d %10d %10d %10d %10d"):format(
      row.strategy,
      row.pick_ns_10,
      row.pick_ns_64,
      row.pick_ns_1000,
      row.pick_ns_10000,
      row.request_ns_10
    )
  )
end
