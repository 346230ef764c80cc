-- Output handler of busted: its plain terminal output, and the counts as JSON in the file named by -Xoutput FILE.
local busted = require("busted")
local json = require("dkjson")

return function(options)
  local handler = require("busted.outputHandlers.plainTerminal")(options)
  local path = options.arguments[1]

  busted.subscribe({ "suite", "end" }, function()
    local file = assert(io.open(path, "w"))
    file:write(json.encode({
      passed = handler.successesCount,
      -- An error outside a test (a spec that does not load, a hook) counts like a failed test.
      failed = handler.failuresCount + handler.errorsCount,
      skipped = handler.pendingsCount,
      duration_s = handler.getDuration(),
    }), "\n")
    file:close()
    return nil, true
  end)

  return handler
end
