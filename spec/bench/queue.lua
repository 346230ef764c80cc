-- What a push and a pop of the admission queue cost, by the number of entries that wait.
--   luajit spec/bench/queue.lua
package.path = "lua-out/?.lua;" .. package.path

local queue = require("resty.ax.core.queue")
local random = require("resty.ax.core.random")

local CALLS = 1000000
local NO_LIMIT = { math.huge, math.huge, math.huge, math.huge, math.huge }

local function bench(waiting)
  local rng = random.newRandom(7)
  local q = queue.newQueue({ size = 1e7, class_sizes = NO_LIMIT, age_ms = queue.AGE_MS })
  local now = 0
  local function push()
    now = now + 1
    return queue.push(q, q, 1 + random.drawBelow(rng, 5), now, now + 15000)
  end
  collectgarbage()
  local before_kb = collectgarbage("count")
  for _ = 1, waiting do
    push()
  end
  collectgarbage()
  local bytes = (collectgarbage("count") - before_kb) * 1024 / waiting
  for _ = 1, 20000 do
    queue.pop(q)
    push()
  end
  local start = os.clock()
  for _ = 1, CALLS do
    queue.pop(q)
    push()
  end
  local pop_ns = (os.clock() - start) / CALLS * 1e9
  start = os.clock()
  for _ = 1, CALLS do
    queue.remove(q, push())
  end
  local remove_ns = (os.clock() - start) / CALLS * 1e9
  print(
    ("%7d waiting: push + pop %4.0f ns, push + remove %4.0f ns, %4.0f bytes an entry"):format(
      waiting,
      pop_ns,
      remove_ns,
      bytes
    )
  )
end

for _, waiting in ipairs({ 10, 1000, 10000, 100000 }) do
  bench(waiting)
end
