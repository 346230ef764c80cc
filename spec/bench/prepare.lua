-- How long a flush holds the worker to prepare a strategy's tables: longest slice and sum, at the start and after a
-- snapshot.
--   luajit spec/bench/prepare.lua
package.path = "lua-out/?.lua;spec/support/?.lua;" .. package.path

local traffic = require("traffic")
local candidates = require("resty.ax.dataplane.candidates")
local registry = require("resty.ax.core.strategies.registry")

local names = {}
for name in pairs(registry.strategies) do
  names[#names + 1] = name
end
table.sort(names)

local REPEATS = 20

--- ms of CPU: the median over REPEATS flushes of the longest slice and of the sum, and the number of slices.
local function measure(up)
  local longest, sums, slices = {}, {}, 0
  for k = 1, REPEATS do
    candidates.rebuildCandidates(up)
    collectgarbage()
    local more
    longest[k], sums[k], slices = 0, 0, 0
    repeat
      local start = os.clock()
      more = up.strategy.prepare(up.strategy_state, up.pool, 1000 * k)
      local took_ms = (os.clock() - start) * 1e3
      longest[k] = math.max(longest[k], took_ms)
      sums[k] = sums[k] + took_ms
      slices = slices + 1
    until not more
  end
  table.sort(longest)
  table.sort(sums)
  return longest[REPEATS / 2], sums[REPEATS / 2], slices
end

print("ms of CPU a flush after a snapshot, median of " .. REPEATS)
for _, name in ipairs(names) do
  for _, n in ipairs({ 1000, 10000 }) do
    local longest, sum, slices = measure(traffic.warm_upstream(name, n))
    print(("%-16s %6d nodes: longest slice %.2f, sum %.2f, slices %d"):format(name, n, longest, sum, slices))
  end
end
