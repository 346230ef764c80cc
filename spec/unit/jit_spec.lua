-- The per-request code must stay on compiled traces: a closure, a table or a pattern in it shows here.
describe("the hot paths", function()
  it("compile without an aborted trace", function()
    -- Code that runs once a snapshot gets recorded in some runs, by chance; what runs at every request, in all.
    local text
    for _ = 1, 6 do
      local out = io.popen("luajit spec/jit/hot_paths.lua 2>&1; echo exit $?")
      text = out:read("*a")
      out:close()
      if text:find("exit 0", 1, true) then
        return
      end
    end
    error(text)
  end)
end)
