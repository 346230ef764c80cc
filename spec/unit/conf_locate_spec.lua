local command_line = require("resty.ax.nginx.conf.command_line")
local locate = require("resty.ax.nginx.conf.locate")

local function nul(...)
  return table.concat({ ... }, "\0") .. "\0"
end

describe("arguments of nginx", function()
  it("are split at NULs before nginx has set its title", function()
    assert.same({ "nginx", "-p", "/a b/", "-g", "" }, command_line.argumentsOf(nul("nginx", "-p", "/a b/", "-g", "")))
  end)

  it("are found in the master's title", function()
    assert.same(
      { "/usr/sbin/nginx", "-c", "x", "-p", "/y" },
      command_line.argumentsOf("nginx: master process /usr/sbin/nginx -c x -p /y\0\0\0")
    )
    assert.same({ "nginx" }, command_line.argumentsOf("nginx: master process nginx"))
  end)

  it("keep their blanks in the title, as far as no option follows one", function()
    local title = "nginx: master process /opt/my nginx -c /my conf/nginx.conf -q -g daemon off; user a; -tp/b c"
    assert.same(
      { "/opt/my nginx", "-c", "/my conf/nginx.conf", "-q", "-g", "daemon off; user a;", "-tp/b c" },
      command_line.argumentsOf(title)
    )
  end)

  it("are not there in other processes' titles", function()
    assert.is_nil(command_line.argumentsOf("nginx: worker process\0"))
    assert.is_nil(command_line.argumentsOf("nginx: worker process is shutting down\0\0"))
    assert.is_nil(command_line.argumentsOf("nginx: cache manager process\0"))
    assert.is_nil(command_line.argumentsOf(""))
  end)

  it("name the configuration file with -c, however it is written", function()
    local function conf(...)
      return command_line.confOption({ "nginx", ... })
    end
    assert.equal("a", conf("-c", "a"))
    assert.equal("a", conf("-ca"))
    assert.equal("a", conf("-tqc", "a"))
    assert.equal("a", conf("-tqca"))
    assert.equal("b", conf("-c", "a", "-t", "-c", "b"))
    assert.equal("b", conf("-p", "-c", "-cb"))
    assert.equal("-x", conf("-g", "-c a", "-c", "-x"))
    assert.is_nil(conf("-p", "-c", "-t"))
    assert.is_nil(conf("-g", "-c", "-s", "reload"))
    assert.is_nil(conf("-c"))
    assert.is_nil(conf())
  end)
end)

describe("the configuration file of the running nginx", function()
  -- A process that shows itself in the ways given.
  local function process(view)
    return {
      argv = function()
        return view.argv
      end,
      readProc = function(path)
        return view.proc and view.proc[path]
      end,
      prefix = function()
        return view.prefix or "/usr/share/nginx/"
      end,
      configureArguments = function()
        return view.configure or "--with-cc-opt='-g -O2' --prefix=/usr/share/nginx --with-debug"
      end,
    }
  end

  local function find(view, given)
    local location = locate.locate(process(view), given)
    return location.path, location.looked
  end

  it("is the one given, relative to the prefix", function()
    assert.equal("/x/y.conf", (find({ argv = { "nginx", "-c", "/z" } }, "/x/y.conf")))
    assert.equal("/usr/share/nginx/y.conf", (find({}, "y.conf")))
  end)

  it("is the one in nginx's own copy of its arguments, before all that /proc shows", function()
    local proc = { ["/proc/self/cmdline"] = nul("nginx", "-c", "/b") }
    local path, looked = find({ argv = { "nginx", "-c", "conf/a.conf" }, proc = proc })
    assert.equal("/usr/share/nginx/conf/a.conf", path)
    assert.equal("-c in nginx's arguments", looked)
  end)

  it("is the one in /proc: plain at start, in the master's title on reload", function()
    assert.equal("/b", (find({ proc = { ["/proc/self/cmdline"] = nul("nginx", "-c", "/b") } })))
    local title = "nginx: master process nginx -p ./ -c conf/b c.conf\0\0"
    assert.equal("./conf/b c.conf", (find({ prefix = "./", proc = { ["/proc/self/cmdline"] = title } })))
  end)

  it("is the parent's for a worker", function()
    local path, looked = find({
      proc = {
        ["/proc/self/cmdline"] = "nginx: worker process\0\0\0",
        ["/proc/self/status"] = "Name:\tnginx\nPid:\t12\nPPid:\t11\nTracerPid:\t0\n",
        ["/proc/11/cmdline"] = "nginx: master process nginx -c /b.conf\0",
      },
    })
    assert.equal("/b.conf", path)
    assert.equal("-c in /proc/11/cmdline", looked)
  end)

  it("is the one that nginx was built for when nothing else is said", function()
    local configure = "--prefix=/x --conf-path=/etc/nginx/nginx.conf --with-y"
    local path, looked = find({ argv = { "nginx" }, configure = configure })
    assert.equal("/etc/nginx/nginx.conf", path)
    assert.equal(
      "no path given (nginx_conf), no -c in nginx's arguments, --conf-path in nginx's configure arguments",
      looked
    )
    assert.equal("/e t/n.conf", (find({ argv = { "nginx" }, configure = "--conf-path='/e t/n.conf' --prefix=/x" })))
    assert.equal("/usr/share/nginx/etc/n", (find({ argv = { "nginx" }, configure = "--conf-path=etc/n" })))
  end)

  it("is conf/nginx.conf in the prefix when not even that is said", function()
    local path, looked = find({ prefix = "/usr/local/openresty/nginx/" })
    assert.equal("/usr/local/openresty/nginx/conf/nginx.conf", path)
    assert.equal(
      "no path given (nginx_conf), no arguments in /proc/self/cmdline, "
        .. "no --conf-path in nginx's configure arguments, so conf/nginx.conf in its prefix",
      looked
    )
  end)

  it("is told from where it was looked for when a worker's parent says nothing", function()
    local _, looked = find({
      proc = {
        ["/proc/self/cmdline"] = "nginx: worker process",
        ["/proc/self/status"] = "PPid:\t1\n",
        ["/proc/1/cmdline"] = "",
      },
    })
    assert.matches("no arguments in /proc/self/cmdline and /proc/1/cmdline, no %-%-conf%-path", looked)
  end)

  it("is looked for without nginx's own copy of its arguments where there is none", function()
    assert.is_nil(locate.thisProcess.argv())
  end)
end)
