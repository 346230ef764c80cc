-- What begins checks, in virtual time: threads are coroutines, and sleeping moves the clock.
local now_ms = 0

local function load_runner(fake_ngx)
  local saved = { ngx = _G.ngx, time = package.loaded["resty.core.time"] }
  _G.ngx = fake_ngx
  package.loaded["resty.core.time"] = { monotonic_msec = function() return now_ms end }
  for name in pairs(package.loaded) do
    if name:find("^resty%.ax%.nginx") then package.loaded[name] = nil end
  end
  local runner = require("resty.ax.nginx.probe.runner")
  _G.ngx, package.loaded["resty.core.time"] = saved.ngx, saved.time
  for name in pairs(package.loaded) do
    if name:find("^resty%.ax%.nginx") then package.loaded[name] = nil end
  end
  return runner
end

describe("the runner of checks", function()
  it("begins what is due after a pause of the process in small groups", function()
    local due, begun, since_sleep, most = 256, 0, 0, 0
    local wanted = true
    local fake = {
      worker = { exiting = function() return false end },
      timer = { at = function(_, callback) callback(false) return true end },
      thread = { spawn = function(f, ...) f(...) return {} end, kill = function() end },
      sleep = function(seconds)
        assert.is_true(seconds > 0)
        now_ms = now_ms + seconds * 1000
        since_sleep = 0
        if begun == due then wanted = false end
      end,
    }
    local runner = load_runner(fake)
    local old = _G.ngx
    _G.ngx = fake
    now_ms = 1000
    runner.startRunner({
      wanted = function() return wanted end,
      prepare = function(at_ms) return at_ms + 3000 end,
      take = function()
        if begun == due then return nil end
        begun = begun + 1
        since_sleep = since_sleep + 1
        most = math.max(most, since_sleep)
        return { number = begun }
      end,
      run = function() end,
      abandon = function() end,
      timeoutMs = function() return 2000 end,
      onRefused = error,
    })
    _G.ngx = old
    assert.equal(256, begun)
    assert.is_true(most <= 32, most .. " at once")
    -- And not later than they have to be.
    assert.is_true(now_ms - 1000 <= 100, (now_ms - 1000) .. " ms")
  end)
end)
