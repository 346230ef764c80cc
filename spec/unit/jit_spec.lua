-- The per-request code must stay on compiled traces: a closure, a table or a pattern in it shows here.
local registry = require("resty.ax.core.strategies.registry")

-- The interpreter that runs this spec: OpenResty's is on nobody's path, and another one may be there.
local SCRIPT = "$(readlink /proc/$PPID/exe) spec/jit/hot_paths.lua"

local function aborted(name, nodes, kind)
  local out = io.popen(("%s %s %d %s 2>&1; echo exit $?"):format(SCRIPT, name, nodes, kind))
  local text = out:read("*a")
  out:close()
  return text:find("exit 0", 1, true) == nil and text or nil
end

describe("the hot path of", function()
  for name in pairs(registry.strategies) do
    it(name .. " compiles without an aborted trace", function()
      for _, nodes in ipairs({ 1, 6, 64, 1000 }) do
        assert.is_nil(aborted(name, nodes, ""), nodes .. " nodes")
      end
    end)

    it(name .. " compiles near its limits, too", function()
      for _, nodes in ipairs({ 1, 6, 100 }) do
        assert.is_nil(aborted(name, nodes, "near_limits"), nodes .. " nodes")
      end
    end)
  end
end)
