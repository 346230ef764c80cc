local files = require("resty.ax.nginx.conf.files")
local tree = require("conf.tree")
local upstreams = require("resty.ax.nginx.conf.upstreams")

describe("reading the upstreams of an nginx configuration", function()
  local root

  -- Reads a configuration made of files; the main one is nginx.conf unless another is named.
  local function read(contents, main)
    root = tree.make(contents)
    local conf, err = upstreams.readUpstreams(root .. (main or "nginx.conf"))
    return conf, err and err:gsub(root:gsub("%p", "%%%0"), "")
  end

  local function lines(block)
    local list = {}
    for i, server in ipairs(block.servers) do
      list[i] = table.concat(server.words, " ", 2)
    end
    return list
  end

  after_each(function()
    if root ~= nil then
      tree.remove(root)
      root = nil
    end
  end)

  it("finds the blocks of the http block, through includes, and nothing else", function()
    local main = tree.fixture("debian/nginx.conf")
    local conf, err = upstreams.readUpstreams(main)
    assert.is_nil(err)
    assert.equal(2, #conf.upstreams)
    assert.equal("app", conf.upstreams[1].name)
    assert.equal(tree.fixture("debian/conf.d/10-upstreams.conf"), conf.upstreams[1].file)
    assert.equal(1, conf.upstreams[1].line)
    assert.same({
      "10.0.0.11:8080 weight=5 max_fails=3 fail_timeout=30s max_conns=100",
      "10.0.0.12:8080 backup",
      "[2001:db8::1]:8080 down",
      "10.0.0.15",
    }, lines(conf.upstreams[1]))
    assert.equal("shop", conf.upstreams[2].name)
    assert.same({ "unix:/run/shop.sock" }, lines(conf.upstreams[2]))
    assert.equal(6, conf.files)
  end)

  it("keeps file and line of every server line", function()
    local conf = read({
      ["nginx.conf"] = "http {\nupstream a {\n\n server 10.0.0.1;\n include a.inc;\n}\n}",
      ["a.inc"] = "#\n#\nserver\n10.0.0.2;",
    })
    local servers = conf.by_name.a.servers
    assert.same({ root .. "nginx.conf", 4 }, { servers[1].file, servers[1].line })
    assert.same({ root .. "a.inc", 3 }, { servers[2].file, servers[2].line })
  end)

  it("finds a name without regard to case, as nginx does", function()
    local conf = read({ ["nginx.conf"] = "http { upstream Back-End { server 10.0.0.1; } }" })
    assert.equal("Back-End", conf.by_name["back-end"].name)
  end)

  it("takes relative includes as relative to the main file's directory, in included files, too", function()
    local conf = read({
      ["etc/nginx.conf"] = "include sub/http.conf;",
      ["etc/sub/http.conf"] = "http { include sub/a.conf; }",
      ["etc/sub/a.conf"] = "upstream a { server 10.0.0.1; }",
    }, "etc/nginx.conf")
    assert.equal("a", conf.upstreams[1].name)
  end)

  it("includes what a pattern matches in sorted order, and nothing if it matches nothing", function()
    local conf = read({
      ["nginx.conf"] = "http { include d/[0-9]?-*.conf; include none/*.conf; }",
      ["d/20-b.conf"] = "upstream b { server 10.0.0.1; }",
      ["d/10-a.conf"] = "upstream a { server 10.0.0.1; }",
      ["d/30-c.conf"] = "upstream c { server 10.0.0.1; }",
      ["d/x.conf"] = "upstream x { server 10.0.0.1; }",
    })
    local names = {}
    for i, block in ipairs(conf.upstreams) do
      names[i] = block.name
    end
    assert.same({ "a", "b", "c" }, names)
  end)

  it("does not follow includes where no upstream block can be", function()
    local conf, err = read({
      ["nginx.conf"] = [[
        http { server { include gone.conf; } map $a $b { include gone.map; } }
        stream { include gone; }
      ]],
    })
    assert.is_nil(err)
    assert.equal(0, #conf.upstreams)
  end)

  it("does not take an upstream that is elsewhere than directly in http", function()
    local conf = read({
      ["nginx.conf"] = [[
        upstream a { server x; }
        stream { upstream b { server x; } }
        http { server { upstream c { server x; } } }
      ]],
    })
    assert.equal(0, #conf.upstreams)
  end)

  local mistakes = {
    {
      "the same name twice",
      { ["nginx.conf"] = "http {\n upstream a { server x; }\n upstream A { server x; }\n}" },
      '^nginx.conf:3: duplicate upstream "A"; the first is at nginx.conf:2$',
    },
    {
      "a block that is not closed",
      { ["nginx.conf"] = "events {}\nhttp {\n upstream a {\n server x;\n }\n" },
      "^nginx.conf:2: the block that opens here is not closed$",
    },
    {
      "an upstream block that is not closed in its included file",
      { ["nginx.conf"] = "http { include a.conf; }", ["a.conf"] = "\nupstream a { server x;\n" },
      "^a.conf:2: the block that opens here is not closed$",
    },
    { "a brace too many", { ["nginx.conf"] = "http { }\n}" }, '^nginx.conf:2: unexpected "}"$' },
    {
      "a block closed by another file than opened it",
      { ["nginx.conf"] = "http { include a.conf;", ["a.conf"] = "upstream a { server x; } }" },
      '^a.conf:1: unexpected "}"$',
    },
    {
      "an upstream without a name",
      { ["nginx.conf"] = "http { upstream { server x; } }" },
      '^nginx.conf:1: "upstream" needs one name, it has 0$',
    },
    {
      "an include without a file name",
      { ["nginx.conf"] = "http { include a b; }" },
      '^nginx.conf:1: "include" needs one file name, it has 2$',
    },
    {
      "an included file that does not exist",
      { ["nginx.conf"] = "http {\n include gone.conf;\n}" },
      "^nginx.conf:2: cannot read gone.conf: No such file or directory$",
    },
    {
      "an include that is a directory",
      { ["nginx.conf"] = "http { include d; }", ["d/x"] = "" },
      "^nginx.conf:1: cannot read d: Is a directory$",
    },
    { "a main file that does not exist", {}, "^cannot read nginx.conf: No such file or directory$" },
    {
      "a file that includes itself",
      { ["nginx.conf"] = "#\ninclude nginx.conf;" },
      "^nginx.conf:2: include cycle: nginx.conf:2 %-> nginx.conf$",
    },
    {
      "files that include each other",
      {
        ["nginx.conf"] = "http { include a.conf; }",
        ["a.conf"] = "\ninclude b.conf;",
        ["b.conf"] = "include a.con[f];",
      },
      "^b.conf:1: include cycle: nginx.conf:1 %-> a.conf:2 %-> b.conf:1 %-> a.conf$",
    },
  }
  for _, case in ipairs(mistakes) do
    it("refuses " .. case[1], function()
      local conf, err = read(case[2])
      assert.is_nil(conf)
      assert.matches(case[3], err)
    end)
  end

  it("refuses includes in ever new ways of writing the same path, and names the chain", function()
    local contents = { ["nginx.conf"] = "include d/1.conf;" }
    for i = 1, upstreams.MAX_INCLUDE_DEPTH + 1 do
      contents["d/" .. i .. ".conf"] = ("include d/%d.conf;"):format(i + 1)
    end
    local conf, err = read(contents)
    assert.is_nil(conf)
    assert.matches("includes are more than 32 deep: nginx.conf:1 %-> d/1.conf:1 %-> %.%.%. %-> .* %-> d/33.conf$", err)
  end)

  it("gives up on more files than any installation has", function()
    -- Each file includes the next one four times: 4^20 in all.
    local contents = { ["20"] = "" }
    for i = 0, 19 do
      contents[tostring(i)] = ("include %d;"):format(i + 1):rep(4)
    end
    local conf, err = read(contents, "0")
    assert.is_nil(conf)
    assert.matches("the configuration includes more than 20000 files$", err)
  end)

  it("reads ten thousand includes", function()
    local conf = read({ ["nginx.conf"] = "http {" .. ("include a;"):rep(10000) .. "}", ["a"] = "server { }" })
    assert.equal(10001, conf.files)
  end)

  it("answers any bytes with upstreams or with an error that names file and line", function()
    math.randomseed(7)
    local words = { "http", "{", "}", "upstream", "a", "server", ";", "include", "\0", '"', "'", "\\", "\n", " ", "#" }
    for _ = 1, 300 do
      local junk = {}
      for i = 1, 40 do
        junk[i] = math.random(4) == 1 and string.char(math.random(0, 255)) or words[math.random(#words)]
      end
      local conf, err = read({ ["nginx.conf"] = table.concat(junk) })
      assert.is_true(conf ~= nil or err:match("^nginx.conf:%d+: ") ~= nil, err)
      tree.remove(root)
      root = nil
    end
  end)
end)

describe("reading a file", function()
  it("refuses a directory on a tmpfs, where lseek() fails on it as on a pipe", function()
    -- /dev/shm is one on every Linux; /tmp is one on Debian 13.
    local text, err = files.readFile("/dev/shm", 100)
    assert.is_nil(text)
    assert.equal("Is a directory", err)
  end)

  it("takes what has no size as empty, without waiting, as nginx does", function()
    local fifo = os.tmpname()
    os.remove(fifo)
    -- 0; true where LuaJIT is built with what Lua 5.2 changed, as OpenResty's is.
    local status = os.execute("mkfifo " .. fifo)
    assert(status == 0 or status == true)
    local text, err = files.readFile(fifo, 100)
    os.remove(fifo)
    assert.same({ "", nil }, { text, err })
    assert.equal("", (files.readFile("/dev/zero", 100)))
  end)

  it("says how much too long a file is", function()
    local root = tree.make({ a = ("x"):rep(101) })
    local _, err = files.readFile(root .. "a", 100)
    local text = files.readFile(root .. "a", 101)
    tree.remove(root)
    assert.equal("its 101 bytes are more than the 100 that may still be read", err)
    assert.equal(101, #text)
  end)

  it("refuses a name with a NUL byte, which would be cut there", function()
    assert.equal("there is a NUL byte in the name", (select(2, files.readFile("/etc/passwd\0.conf", 100000))))
    assert.equal("there is a NUL byte in the name", (select(2, files.matchingFiles("/etc/*\0.conf"))))
  end)
end)
