--- Delay distributions of the test kit's backend. All draws come from math.random, seeded by the backend.

local log, exp, sqrt, cos, pi, random = math.log, math.exp, math.sqrt, math.cos, math.pi, math.random

local M = {}

-- P99 of an exponential distribution = mean × ln 100.
local EXP_P99_PER_MEAN = log(100)
-- 99th percentile of the standard normal distribution.
local NORMAL_P99 = 2.3263478740408408

local function draw_exp(mean_ms)
  return -mean_ms * log(1 - random())
end

local samplers = {}

function samplers.fixed(delay)
  local mean_ms = delay.mean_ms
  return function()
    return mean_ms
  end
end

samplers["exp"] = function(delay)
  local mean_ms = delay.mean_ms or delay.p99_ms / EXP_P99_PER_MEAN
  return function()
    return draw_exp(mean_ms)
  end
end

function samplers.uniform(delay)
  local from_ms, width_ms = delay.min_ms, delay.max_ms - delay.min_ms
  return function()
    return from_ms + width_ms * random()
  end
end

--- Given by its median and its P99. The normal draw is Box and Muller's (1958).
function samplers.lognormal(delay)
  local mu = log(delay.p50_ms)
  local sigma = (log(delay.p99_ms) - mu) / NORMAL_P99
  return function()
    return exp(mu + sigma * sqrt(-2 * log(1 - random())) * cos(2 * pi * random()))
  end
end

--- Two exponentials: most requests are cheap, a share of them dear.
function samplers.bimodal(delay)
  local fast_ms, slow_ms, slow_share = delay.fast_mean_ms, delay.slow_mean_ms, delay.slow_share
  return function()
    return draw_exp(random() < slow_share and slow_ms or fast_ms)
  end
end

--- Numbers each distribution takes. A list in a list: one of them must be given.
M.parameters = {
  fixed = { "mean_ms" },
  exp = { { "mean_ms", "p99_ms" } },
  uniform = { "min_ms", "max_ms" },
  lognormal = { "p50_ms", "p99_ms" },
  bimodal = { "fast_mean_ms", "slow_mean_ms", "slow_share" },
}

--- @param delay checked description, e.g. { dist = "exp", p99_ms = 10 }
-- @return a function that draws a delay in milliseconds
function M.sampler(delay)
  return samplers[delay.dist](delay)
end

return M
