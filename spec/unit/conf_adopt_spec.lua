local tree = require("conf.tree")

describe("adopting the servers of an upstream block", function()
  local root
  local adopt, newAdopt
  -- name → addresses, in place of the system's resolver.
  local names
  local lookups

  local stubbed = {
    "ngx.upstream",
    "resty.ax.nginx.conf.resolve",
    "resty.ax.nginx.conf.from_block",
    "resty.ax.nginx.conf.adopt",
  }

  local function unload()
    for _, name in ipairs(stubbed) do
      package.loaded[name] = nil
    end
  end

  before_each(function()
    unload()
    names, lookups = {}, 0
    package.loaded["resty.ax.nginx.conf.resolve"] = {
      resolveHost = function(name)
        lookups = lookups + 1
        return names[name], names[name] == nil and "Name or service not known" or nil
      end,
    }
    rawset(_G, "ngx", {
      config = {
        prefix = function()
          return root or "/nowhere/"
        end,
        nginx_configure = function()
          return "--with-debug"
        end,
      },
    })
    local module = require("resty.ax.nginx.conf.adopt")
    adopt, newAdopt = module.adopt, module.newAdopt
  end)

  after_each(function()
    unload()
    rawset(_G, "ngx", nil)
    if root ~= nil then
      tree.remove(root)
      root = nil
    end
  end)

  local function write(contents)
    root = tree.make(type(contents) == "table" and contents or { ["nginx.conf"] = contents })
  end

  local function server(fields)
    local defaults = { port = 80, weight = 1, max_conns = 0, backup = false, down = false }
    for key, value in pairs(defaults) do
      if fields[key] == nil then
        fields[key] = value
      end
    end
    return fields
  end

  -- Puts ngx.upstream in place: block name → servers.
  local function api(blocks)
    package.loaded["ngx.upstream"] = {
      get_upstreams = function()
        local list = {}
        for name in pairs(blocks) do
          list[#list + 1] = name
        end
        table.sort(list)
        return list
      end,
      get_servers = function(name)
        if blocks[name] == nil then
          return nil, "upstream not found"
        end
        return blocks[name]
      end,
      get_primary_peers = function()
        error("crashes the worker when the upstream has a zone")
      end,
    }
  end

  describe("from the configuration file", function()
    it("takes every server with its parameters, and says which file has the block", function()
      write({
        ["nginx.conf"] = "http { include b.conf; }",
        ["b.conf"] = [[upstream backend {
          server 10.0.0.11:8080 weight=5 max_fails=3 fail_timeout=30s max_conns=9;
          server 10.0.0.12:8080 backup;
          server [::1]:8081 down;
          server unix:/run/app.sock max_fails=0;
        }]],
      })
      local adoption = assert(adopt("backend", root .. "nginx.conf"))
      assert.same({
        server({
          name = "10.0.0.11:8080",
          host = "10.0.0.11",
          port = 8080,
          weight = 5,
          max_fails = 3,
          fail_timeout_s = 30,
          max_conns = 9,
        }),
        server({ name = "10.0.0.12:8080", host = "10.0.0.12", port = 8080, backup = true }),
        server({ name = "[::1]:8081", host = "[::1]", port = 8081, down = true }),
        server({ name = "unix:/run/app.sock", host = "unix:/run/app.sock", port = 0, max_fails = 0 }),
      }, adoption.servers)
      assert.equal(root .. "b.conf", adoption.from)
      assert.same({}, adoption.warnings)
    end)

    it("makes a server with the same parameters of every address behind a name, in order", function()
      names.app = { "10.0.0.2", "[2001:db8::1]", "10.0.0.1" }
      write("http { upstream backend { server app:8080 weight=3 max_conns=4; server 10.0.0.9; server app:8081; } }")
      local adoption = assert(adopt("backend", "nginx.conf"))
      local seen = {}
      for i, entry in ipairs(adoption.servers) do
        seen[i] = ("%s %s %d %d %d"):format(entry.name, entry.host, entry.port, entry.weight, entry.max_conns)
      end
      assert.same({
        "app:8080 10.0.0.2 8080 3 4",
        "app:8080 [2001:db8::1] 8080 3 4",
        "app:8080 10.0.0.1 8080 3 4",
        "10.0.0.9 10.0.0.9 80 1 0",
        "app:8081 10.0.0.2 8081 1 0",
        "app:8081 [2001:db8::1] 8081 1 0",
        "app:8081 10.0.0.1 8081 1 0",
      }, seen)
      assert.equal(1, lookups)
    end)

    it("finds the block without regard to case", function()
      write("http { upstream BackEnd { server 10.0.0.1; } }")
      assert.equal(1, #assert(adopt("backend", "nginx.conf")).servers)
    end)

    it("passes warnings on", function()
      write("http { upstream backend { server 10.0.0.1 slow_start=5s; } }")
      local adoption = assert(adopt("backend", "nginx.conf"))
      assert.equal(1, #adoption.warnings)
      assert.matches('nginx.conf:1: server "10.0.0.1": "slow_start=5s" is ignored', adoption.warnings[1])
    end)

    it("looks at the server lines of the wanted block only", function()
      write("http { upstream other { server $x resolve; } upstream backend { server 10.0.0.1; } }")
      assert.equal(1, #assert(adopt("backend", "nginx.conf")).servers)
    end)

    it("names the upstreams that exist, the nearest one, and the place, when there is no such block", function()
      write({ ["nginx.conf"] = "http { include a; upstream api { server x; } }", a = "upstream backend { server x; }" })
      local adoption, err = adopt("bakcend", "nginx.conf")
      assert.is_nil(adoption)
      assert.equal(
        ('no upstream block "bakcend" in the http block of %snginx.conf and the 1 other file it includes '):format(root)
          .. '(did you mean "backend"?); there are "backend", "api"; '
          .. 'the file was found by: path given (nginx_conf); if nginx uses another one, set "nginx_conf" to its path',
        err
      )
    end)

    it("says so when there is no upstream block at all", function()
      write("http { }")
      local _, err = adopt("backend", "nginx.conf")
      assert.matches('^no upstream block "backend" in the http block of .*nginx.conf: there is no upstream block', err)
    end)

    it("lists no more upstreams than can be read", function()
      local blocks = {}
      for i = 1, 50 do
        blocks[i] = ("upstream u%d { server x; }"):format(i)
      end
      write("http {" .. table.concat(blocks) .. "}")
      local _, err = adopt("nothing like it", "nginx.conf")
      assert.matches('"u19", "u20" and 30 more;', err)
    end)

    it("refuses a block without server lines", function()
      write("http {\nupstream backend { keepalive 3; } }")
      local _, err = adopt("backend", "nginx.conf")
      assert.equal(
        ('upstream "backend": its block has no server lines (%snginx.conf:2); '):format(root)
          .. 'write some, or list the nodes under "nodes"',
        err
      )
    end)

    it("refuses a server line that it does not understand, with file and line", function()
      write("http { upstream backend {\n\n server 10.0.0.1 resolve; } }")
      local _, err = adopt("backend", "nginx.conf")
      assert.matches('^upstream "backend": .*nginx.conf:3: server "10.0.0.1": "resolve": ', err)
    end)

    it("refuses a name that does not resolve", function()
      write("http { upstream backend {\n server app:8080; } }")
      local _, err = adopt("backend", "nginx.conf")
      assert.equal(
        ('upstream "backend": %snginx.conf:2: host "app" not found: Name or service not known '):format(root)
          .. "(names are resolved once, at start)",
        err
      )
    end)

    it("says which file cannot be read, why, and where its path is from", function()
      local _, err = adopt("backend")
      assert.matches('^upstream "backend": nginx\'s configuration cannot be read: cannot read ', err)
      assert.matches(": No such file or directory; the file was found by: ", err)
      assert.matches('set "nginx_conf" to its path, or list the nodes under "nodes"$', err)
    end)

    it("passes on what is wrong with the configuration", function()
      write("http {\n upstream backend { server 'x; } }")
      local _, err = adopt("backend", "nginx.conf")
      assert.matches("cannot be read: .*nginx.conf:2: the ' that opens here is not closed; ", err)
    end)

    it("is read only once for many upstreams", function()
      write("http { upstream a { server 10.0.0.1; } upstream b { server 10.0.0.2; } }")
      local adoptEach = newAdopt()
      assert.equal("10.0.0.1", assert(adoptEach("a", root .. "nginx.conf")).servers[1].host)
      local path = root .. "nginx.conf"
      os.remove(path)
      assert.equal("10.0.0.2", assert(adoptEach("b", path)).servers[1].host)
      assert.is_nil((adopt("b", path)))
    end)
  end)

  describe("from ngx.upstream", function()
    local function fromApi(fields)
      for key, value in pairs({ weight = 1, max_fails = 1, fail_timeout = 10 }) do
        if fields[key] == nil then
          fields[key] = value
        end
      end
      return fields
    end

    it("takes every server, with one or several addresses", function()
      api({
        backend = {
          fromApi({ name = "10.0.0.1", addr = "10.0.0.1:80", weight = 5, max_fails = 3, fail_timeout = 30 }),
          fromApi({ name = "app:81", addr = { "10.0.0.2:81", "[::1]:81", "10.0.0.2:81" }, backup = true }),
          fromApi({ name = "unix:/run/x", addr = "unix:/run/x", down = true, max_fails = 0 }),
        },
      })
      local adoption = assert(adopt("backend"))
      assert.same({
        server({ name = "10.0.0.1", host = "10.0.0.1", weight = 5, max_fails = 3, fail_timeout_s = 30 }),
        server({ name = "app:81", host = "10.0.0.2", port = 81, backup = true }),
        server({ name = "app:81", host = "[::1]", port = 81, backup = true }),
        server({ name = "unix:/run/x", host = "unix:/run/x", port = 0, down = true, max_fails = 0 }),
      }, adoption.servers)
      assert.equal("ngx.upstream", adoption.from)
    end)

    it("warns once when the configuration file, and so max_conns, cannot be seen", function()
      api({
        a = { fromApi({ name = "10.0.0.1", addr = "10.0.0.1:80" }) },
        b = { fromApi({ name = "10.0.0.1", addr = "10.0.0.1:80" }) },
      })
      local adoptEach = newAdopt()
      local warnings = assert(adoptEach("a")).warnings
      assert.equal(1, #warnings)
      assert.matches("^max_conns of server lines cannot be seen: cannot read .*: No such file", warnings[1])
      assert.same({}, assert(adoptEach("b")).warnings)
    end)

    it("takes max_conns, and whether a parameter was written, from the lines of the file", function()
      write([[http { upstream backend {
        server 10.0.0.1 max_fails=1 fail_timeout=10s;
        server 10.0.0.1 max_conns=7;
        server app:81 max_conns=8 max_fails=2;
      } }]])
      api({
        backend = {
          fromApi({ name = "10.0.0.1", addr = "10.0.0.1:80" }),
          fromApi({ name = "10.0.0.1", addr = "10.0.0.1:80" }),
          fromApi({ name = "app:81", addr = { "10.0.0.2:81", "10.0.0.3:81" }, max_fails = 2 }),
        },
      })
      local adoption = assert(adopt("backend", "nginx.conf"))
      assert.same({
        server({ name = "10.0.0.1", host = "10.0.0.1", max_fails = 1, fail_timeout_s = 10 }),
        server({ name = "10.0.0.1", host = "10.0.0.1", max_conns = 7 }),
        server({ name = "app:81", host = "10.0.0.2", port = 81, max_fails = 2, max_conns = 8 }),
        server({ name = "app:81", host = "10.0.0.3", port = 81, max_fails = 2, max_conns = 8 }),
      }, adoption.servers)
      assert.same({}, adoption.warnings)
      assert.equal(0, lookups)
    end)

    it("warns of servers and blocks that the file does not have", function()
      write("http { upstream backend { server 10.0.0.1; } }")
      api({
        backend = { fromApi({ name = "10.0.0.2", addr = "10.0.0.2:80", max_fails = 2 }) },
        other = { fromApi({ name = "10.0.0.3", addr = "10.0.0.3:80" }) },
      })
      local adoption = assert(adopt("backend", "nginx.conf"))
      assert.equal(2, adoption.servers[1].max_fails)
      assert.matches(
        '^server "10.0.0.2" is not in the block at .*nginx.conf:1: its max_conns, if any, is not seen$',
        adoption.warnings[1]
      )
      assert.matches('no upstream block "other" in .*nginx.conf; ', assert(adopt("other", "nginx.conf")).warnings[1])
    end)

    it("goes before a line that only nginx understands, with a warning", function()
      write("http { upstream backend { server 10.0.0.1 new_thing=1; } }")
      api({ backend = { fromApi({ name = "10.0.0.1", addr = "10.0.0.1:80", weight = 4 }) } })
      local adoption = assert(adopt("backend", "nginx.conf"))
      assert.equal(4, adoption.servers[1].weight)
      assert.matches('nginx.conf:1: server "10.0.0.1": unknown parameter "new_thing=1"', adoption.warnings[1])
    end)

    it("does not excuse a given path that is wrong", function()
      api({ backend = { fromApi({ name = "10.0.0.1", addr = "10.0.0.1:80" }) } })
      local adoption, err = adopt("backend", "/gone/nginx.conf")
      assert.is_nil(adoption)
      assert.matches("cannot read /gone/nginx.conf: No such file or directory", err)
    end)

    it("names the upstreams that exist when there is no such block", function()
      api({
        api = { fromApi({ name = "x", addr = "10.0.0.1:80" }) },
        ["10.0.0.9:80"] = { fromApi({ addr = "10.0.0.9:80" }) },
      })
      local _, err = adopt("apo")
      assert.equal(
        'no upstream block "apo" in the http block of nginx\'s configuration (did you mean "api"?); there is "api"',
        err
      )
    end)

    it("does not take the address of a proxy_pass for a block", function()
      write("http { }")
      api({ backend = { fromApi({ addr = "10.0.0.9:80" }) }, many = {} })
      assert.matches('^no upstream block "backend"', (select(2, adopt("backend"))))
      assert.matches('^no upstream block "many"', (select(2, adopt("many", "nginx.conf"))))
    end)

    it("finds the block without regard to case", function()
      api({ BackEnd = { fromApi({ name = "x", addr = "10.0.0.1:80" }) } })
      assert.equal("10.0.0.1", assert(adopt("backend")).servers[1].host)
    end)

    it("refuses an empty block", function()
      api({ backend = {} })
      assert.matches("^upstream \"backend\": its block has no server lines", (select(2, adopt("backend"))))
    end)

    it("refuses a server that has no address at start", function()
      api({ backend = { fromApi({ name = "app", addr = "" }) } })
      local _, err = adopt("backend")
      assert.matches('^upstream "backend": server "app" has no address at start %(""%): names are resolved once', err)
    end)

    it("is left alone when it is no such module", function()
      write("http { upstream backend { server 10.0.0.1; } }")
      package.loaded["ngx.upstream"] = true
      assert.equal(root .. "nginx.conf", assert(adopt("backend", "nginx.conf")).from)
    end)
  end)
end)
