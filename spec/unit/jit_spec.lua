-- The per-request code must stay on compiled traces: a closure, a table or a pattern in it shows here.
describe("the hot paths", function()
  it("compile without an aborted trace", function()
    local out = io.popen("luajit spec/jit/hot_paths.lua 2>&1; echo exit $?")
    local text = out:read("*a")
    out:close()
    assert.truthy(text:find("exit 0", 1, true), text)
  end)
end)
