-- Connections kept from Lua: looked for by the function, not by a version.
describe("connections kept from Lua", function()
  local saved, module

  local function with(fake)
    saved = saved or { balancer = package.loaded["ngx.balancer"], ours = package.loaded["resty.ax.nginx.balancer"] }
    package.loaded["ngx.balancer"] = fake
    package.loaded["resty.ax.nginx.balancer"] = nil
    module = require("resty.ax.nginx.balancer")
    return module
  end

  after_each(function()
    package.loaded["ngx.balancer"] = saved.balancer
    package.loaded["resty.ax.nginx.balancer"] = saved.ours
  end)

  it("are asked for where nginx has the function", function()
    local asked
    local balancer = with({
      enable_keepalive = function(...)
        asked = { ... }
        return true
      end,
    })
    assert.is_nil(balancer.keepaliveProblem("backend"))
    balancer.keepConnection(60, 1000)
    assert.same({ 60, 1000 }, asked)
  end)

  it("are not, and the start says so, where it has not", function()
    local balancer = with({})
    assert.equal(
      "upstreams.backend.lua_keepalive: this nginx's lua-resty-core has no balancer.enable_keepalive (0.1.29 has); "
        .. "the option has no effect: put keepalive into the upstream block, after balancer_by_lua",
      balancer.keepaliveProblem("backend")
    )
    balancer.keepConnection(60, 1000)
  end)
end)
