-- Runs the per-request code under LuaJIT's trace recorder and fails when a trace is aborted for good.
--   luajit spec/jit/hot_paths.lua
package.path = "lua-out/?.lua;spec/support/?.lua;" .. package.path

local vmdef = require("jit.vmdef")
local util = require("jit.util")

-- The recorder gives these up itself and tries again from a better place: every nested loop has them.
local HARMLESS = {
  ["leaving loop in root trace"] = true,
  ["inner loop in root trace"] = true,
  ["loop unroll limit reached"] = true,
  -- Depends on where recording happens to begin: in about one run of 20 affinity's window is unrolled into the rest of
  -- the request. Code that never compiles shows as NYI.
  ["trace too long"] = true,
  -- What follows from one of these, or from an abort that is reported on its own.
  ["blacklisted"] = true,
}

local aborts, seen, compiled = {}, {}, 0

local function reason(code, extra)
  local text = type(code) == "number" and vmdef.traceerr[code] or tostring(code)
  return (text:gsub("%%[ds]", tostring(extra)))
end

local function on_trace(what, _, func, pc, code, extra)
  if what == "stop" then
    compiled = compiled + 1
  elseif what == "abort" then
    local info = util.funcinfo(func, pc)
    local why = reason(code, extra)
    if (info.source or ""):find("lua-out/", 1, true) and not HARMLESS[why] then
      local text = info.source:sub(2) .. ":" .. tostring(info.currentline) .. ": " .. why
      if not seen[text] then
        seen[text] = true
        aborts[#aborts + 1] = text
      end
    end
  end
end

local traffic = require("traffic")
local upstreams = require("upstreams")
local requests = require("resty.ax.dataplane.requests")
local counters = require("resty.ax.dataplane.counters")
local registry = require("resty.ax.core.strategies.registry")

jit.flush()

--- A request; every eighth has a retry, which picks from a list.
local function request(up, table_, k)
  traffic.request(up, table_, k % 512, 1000 + k)
  if k % 8 == 0 then
    traffic.retry(up, k % 512, 1000 + k)
  end
end

for name in pairs(registry.strategies) do
  for _, n in ipairs({ 1, 6, 64, 1000 }) do
    local up = traffic.warm_upstream(name, n)
    local table_ = requests.newRequestTable()
    -- Only what runs for every request: at the start and at flushes there may be closures.
    for k = 1, n > 64 and 2000 or 20000 do
      if k % 1000 == 1 then
        jit.attach(on_trace, "trace")
      end
      request(up, table_, k)
      if k % 1000 == 0 then
        jit.attach(on_trace)
        counters.takeDeltas(up.counters, up.pool.ids)
        upstreams.flush(up, 1000 + k)
      end
    end
  end
end

--- Near its limits: every request leases its slot and gives it back, nodes are full now and then, overflow is used.
local function near_limits(name, n)
  local limits = { max_concurrency_per_node = 4, max_overflow_ratio = 0.5, max_concurrency = 5 * n }
  local up = traffic.warm_upstream(name, n, limits)
  local held, from, count = {}, 1, 0
  for k = 1, n > 64 and 2000 or 20000 do
    if k % 1000 == 1 then
      jit.attach(on_trace, "trace")
    end
    -- From none to all of the places and back.
    local wanted = math.floor((1 + math.sin(k / 400)) * 2.6 * n)
    local record = traffic.hold(up, k % 512, 1000 + k)
    if record then
      held[from + count], count = record, count + 1
    end
    while count > 0 and count > wanted do
      traffic.let_go(held[from])
      held[from], from, count = nil, from + 1, count - 1
    end
    if k % 1000 == 0 then
      jit.attach(on_trace)
      upstreams.flush(up, 1000 + k)
    end
  end
  return up
end

for _, name in ipairs({ "adaptive", "least_conn", "round_robin", "p2c" }) do
  for _, n in ipairs({ 1, 6, 100 }) do
    near_limits(name, n)
  end
end

for _, text in ipairs(aborts) do
  print("aborted: " .. text)
end
print(("%d traces compiled, %d aborted"):format(compiled, #aborts))
os.exit(#aborts == 0 and compiled > 0 and 0 or 1)
