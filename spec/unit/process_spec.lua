-- Which process runs, as the collector asks it of the numbers that hold slots.
local ffi = require("ffi")
local process = require("resty.ax.nginx.process")

ffi.cdef("int getpid(void);")

describe("a process", function()
  local pid = ffi.C.getpid()
  local identity = process.processIdentity(pid)

  it("runs when its pid and start time are those of its identity", function()
    assert.is_true(identity:find("^%d+:%d+$") ~= nil)
    assert.is_true(process.isRunning(identity))
    assert.is_false(process.isRunning(pid .. ":1"))
    assert.is_false(process.isRunning("4194303:1"))
    assert.is_false(process.isRunning("nonsense"))
  end)

  it("runs when its start time cannot be read for want of file descriptors", function()
    local open = {}
    repeat
      local file = io.open("/dev/null")
      open[#open + 1] = file
    until file == nil
    local now_without = process.processIdentity(pid)
    local running = process.isRunning(identity)
    local dead = process.isRunning("4194303:1")
    for _, file in ipairs(open) do
      file:close()
    end
    assert.equal(tostring(pid), now_without)
    assert.is_true(running)
    assert.is_false(dead)
  end)

  it("runs when its start time could not be read as it started", function()
    assert.is_true(process.isRunning(tostring(pid)))
    assert.is_false(process.isRunning("4194303"))
  end)
end)
