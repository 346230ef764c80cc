-- Runs the per-request code of one strategy under LuaJIT's trace recorder, and prints which traces it gave up.
--   luajit spec/jit/hot_paths.lua STRATEGY NODES [near_limits]
-- Ends with 1 when there are any.
-- A process for each: gateways run one strategy or two, and many in one would be recorded on each other's traces.
package.path = "lua-out/?.lua;spec/support/?.lua;" .. package.path

local vmdef = require("jit.vmdef")
local util = require("jit.util")

-- The recorder gives these up itself and tries again from a better place: every nested loop has them.
local HARMLESS = {
  ["leaving loop in root trace"] = true,
  ["inner loop in root trace"] = true,
  ["loop unroll limit reached"] = true,
}

-- A trace that begins at or behind a loop cannot go back through the pcall around the choice, which it did not make:
-- the few instructions from there to the end of the choice are interpreted (phases/balancer.ts).
local LEAVING = { file = "dataplane/pick.lua", reason = "NYI: return to lower frame" }

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
    local why, source = reason(code, extra), info.source or ""
    local is_leaving = why == LEAVING.reason and source:find(LEAVING.file, 1, true)
    if source:find("lua-out/", 1, true) and not HARMLESS[why] and not is_leaving then
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

-- As init() does, and as OpenResty's LuaJIT is built (ts-src/resty/ax/nginx/jit.ts).
require("jit.opt").start("maxtrace=8000", "maxrecord=16000", "maxmcode=40960", "maxirconst=1000")
jit.flush()

--- Calls it from C, as nginx calls a phase: a trace then begins and ends with the function. In one loop around all
--- phases, traces would begin anywhere and run on into the next request.
local function from_c(phase)
  string.gsub("x", "x", phase)
end
jit.off(from_c)

-- The request that the phases work on; one at a time. Its time is divided: nginx's clock has fractions
-- (core/fraction.ts).
local now_up, now_table, now_record, now_node, now_key

local function choose_guarded()
  local ok, node = pcall(traffic.choose, now_up, now_record, (1000 + now_key) / 1)
  assert(ok, node)
  return node
end

--- In the parts of phases/balancer.ts.
local function balancer_phase()
  local ok, record = pcall(traffic.open, now_table, now_key % 512, (1000 + now_key) / 1)
  assert(ok, record)
  now_record = record
  now_node = choose_guarded()
  assert(pcall(traffic.send, now_up, record, now_node, (1000 + now_key) / 1))
end

local function log_phase()
  assert(pcall(traffic.log, now_up, now_table, now_record, now_node, (1000 + now_key) / 1))
end

local function retry_phase()
  assert(pcall(traffic.retry, now_up, now_key % 512, (1000 + now_key) / 1))
end

local function hold_phase()
  local ok, record = pcall(traffic.hold, now_up, now_key % 512, (1000 + now_key) / 1)
  assert(ok, record)
  now_record = record
end

local function let_go_phase()
  assert(pcall(traffic.let_go, now_record))
end

--- Runs body(k) for each request; `between` every thousand. Only what runs for every request is watched: at the start
--- and at flushes there may be closures.
local function run(count, body, between)
  for k = 1, count do
    if k % 1000 == 1 then
      jit.attach(on_trace, "trace")
    end
    now_key = k
    body(k)
    if k % 1000 == 0 then
      jit.attach(on_trace)
      between(k)
    end
  end
end
jit.off(run)

--- A request; every eighth has a retry, which picks from a list.
local function request(k)
  from_c(balancer_phase)
  from_c(log_phase)
  if k % 8 == 0 then
    from_c(retry_phase)
  end
end
jit.off(request)

local function without_limits(name, n)
  -- With six nodes, load reports in answers are read.
  now_up, now_table = traffic.warm_upstream(name, n, { orca = n == 6 }), requests.newRequestTable()
  run(n > 64 and 2000 or 20000, request, function(k)
    counters.takeDeltas(now_up.counters, now_up.pool.ids)
    upstreams.flush(now_up, 1000 + k)
  end)
end

--- Near its limits: every request leases its slot and gives it back, nodes are full now and then, overflow is used.
local function near_limits(name, n)
  local limits = { max_concurrency_per_node = 4, max_overflow_ratio = 0.5, max_concurrency = 5 * n }
  now_up = traffic.warm_upstream(name, n, limits)
  local held, from, count = {}, 1, 0
  local function body(k)
    from_c(hold_phase)
    if now_record then
      held[from + count], count = now_record, count + 1
    end
    -- From none to all of the places and back.
    local wanted = math.floor((1 + math.sin(k / 400)) * 2.6 * n)
    while count > 0 and count > wanted do
      now_record = held[from]
      from_c(let_go_phase)
      held[from], from, count = nil, from + 1, count - 1
    end
  end
  jit.off(body)
  run(n > 64 and 2000 or 20000, body, function(k)
    upstreams.flush(now_up, 1000 + k)
  end)
end

local strategy, nodes, kind = arg[1], tonumber(arg[2]), arg[3]
if kind == "near_limits" then
  near_limits(strategy, nodes)
else
  without_limits(strategy, nodes)
end

for _, text in ipairs(aborts) do
  print("aborted: " .. text)
end
print(("%d traces compiled, %d aborted"):format(compiled, #aborts))
os.exit(#aborts == 0 and compiled > 0 and 0 or 1)
