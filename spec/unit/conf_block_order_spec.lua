local tree = require("conf.tree")
local upstreams = require("resty.ax.nginx.conf.upstreams")
local order = require("resty.ax.nginx.conf.block_order")

describe("the order of an upstream block's directives", function()
  local root

  after_each(function()
    tree.remove(root)
  end)

  local function check(body, more)
    local files = more or {}
    files["nginx.conf"] = "http {\nupstream backend {\nserver 10.0.0.1;\n" .. body .. "\n}\n}"
    root = tree.make(files)
    local conf, err = upstreams.readUpstreams(root .. "nginx.conf")
    assert.is_nil(err)
    return order.checkOrder(conf.by_name.backend)
  end

  local balancer = 'balancer_by_lua_block { require("resty.ax").balancer("backend") }'

  it("is right with keepalive behind balancer_by_lua", function()
    local found = check(balancer .. "\nkeepalive 64;\nkeepalive_timeout 60s;\nzone z 64k;")
    assert.same({ warnings = {} }, found)
  end)

  local methods = { "least_conn", "random two least_conn", "ip_hash", "hash $request_uri consistent", "fair" }
  for _, method in ipairs(methods) do
    it("is refused with " .. method .. " behind it, naming both places and what to do", function()
      local found = check(balancer .. "\n" .. method .. ";")
      local name = method:match("^[%w_]+")
      local file = root .. "nginx.conf"
      local expected = ("%s at %s:5 comes after balancer_by_lua_block at %s:4"):format(name, file, file)
      assert.truthy(found.problem:find(expected, 1, true), found.problem)
      assert.truthy(found.problem:find("remove " .. name, 1, true))
    end)
  end

  it("is right with a method before it: the last one is in force", function()
    assert.is_nil(check("least_conn;\n" .. balancer).problem)
  end)

  it("is warned of when keepalive comes before it", function()
    local found = check("keepalive 64;\nbalancer_by_lua_file /x.lua;")
    assert.is_nil(found.problem)
    assert.truthy(found.warnings[1]:find("nginx.conf:4 comes before balancer_by_lua_file at", 1, true))
  end)

  it("is warned of when there is no balancer_by_lua", function()
    local found = check("keepalive 64;")
    assert.is_nil(found.problem)
    assert.truthy(found.warnings[1]:find("nginx.conf:2 has no balancer_by_lua", 1, true))
  end)

  it("is seen over includes", function()
    local found = check("include b.inc;\ninclude c.inc;", { ["b.inc"] = balancer, ["c.inc"] = "#\nip_hash;" })
    assert.truthy(found.problem:find("ip_hash at " .. root .. "c.inc:2", 1, true))
  end)
end)
