-- What workers report of a node, for specs of the collector.
local histogram = require("resty.ax.core.histogram")

local M = {}

--- A NodeDelta from the latencies of its successes; `given` sets the other fields.
function M.delta(latencies, given)
  local counts, sum_ms = histogram.newCounts(), 0
  for _, ms in ipairs(latencies) do
    histogram.addCount(counts, histogram.bucketOf(ms), 1)
    sum_ms = sum_ms + ms
  end
  local delta = {
    picks = #latencies,
    ok = #latencies,
    err = 0,
    fail = 0,
    aborted = 0,
    sum_ms = sum_ms,
    hist = histogram.toSparse(counts),
    streak = 0,
    failures = 0,
    busy = 0,
    retry_after_ms = 0,
  }
  for key, value in pairs(given or {}) do
    delta[key] = value
  end
  if given and not given.picks then
    delta.picks = delta.ok + delta.err + delta.fail + delta.aborted + delta.busy
  end
  return delta
end

--- n latencies of `ms`.
function M.same(n, ms)
  local list = {}
  for i = 1, n do
    list[i] = ms
  end
  return list
end

return M
