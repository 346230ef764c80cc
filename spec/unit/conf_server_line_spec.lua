local numbers = require("resty.ax.nginx.conf.nginx_numbers")
local server_line = require("resty.ax.nginx.conf.server_line")

local function parse(text)
  local words = {}
  for word in ("server " .. text):gmatch("%S+") do
    words[#words + 1] = word
  end
  return server_line.parseServerLine({ words = words, file = "/etc/nginx/a.conf", line = 12 })
end

describe("address of a server line", function()
  local addresses = {
    { "10.0.0.1", "10.0.0.1", 80 },
    { "10.0.0.1:8080", "10.0.0.1", 8080 },
    { "10.0.0.1:080", "10.0.0.1", 80 },
    -- nginx reads decimal where the C library reads octal.
    { "010.001.000.08:8", "10.1.0.8", 8 },
    { "[::1]", "[::1]", 80 },
    { "[::1]:65535", "[::1]", 65535 },
    { "[2001:DB8:0:0::1]:1", "[2001:db8::1]", 1 },
    { "[::FFFF:10.0.0.1]:1", "[::ffff:10.0.0.1]", 1 },
    { "unix:/run/a:b.sock", "unix:/run/a:b.sock", 0 },
    { "UNIX:/run/x", "unix:/run/x", 0 },
    { "unix:relative", "unix:relative", 0 },
    { "app", "app", 80, true },
    { "app.example:8080", "app.example", 8080, true },
    { "1.2.3", "1.2.3", 80, true },
    { "1.2.3.256", "1.2.3.256", 80, true },
    { "255.255.255.255", "255.255.255.255", 80, true },
    { "under_score-1", "under_score-1", 80, true },
  }
  for _, case in ipairs(addresses) do
    it("is taken from " .. case[1], function()
      local server, err = parse(case[1])
      assert.is_nil(err)
      assert.equal(case[1], server.name)
      assert.same({ host = case[2], port = case[3], is_name = case[4] or false }, server.address)
    end)
  end

  local bad = {
    { "10.0.0.1:0", "the port must be 1..65535" },
    { "10.0.0.1:65536", "the port must be 1..65535" },
    { "app:", "the port must be 1..65535" },
    { "app:http", "the port must be 1..65535" },
    { ":80", "no host" },
    { "::1", "an IPv6 address needs brackets: [::1]:80" },
    { "fe80::1:80", "an IPv6 address needs brackets: [::1]:80" },
    { "[::1", 'no "]"' },
    { "[]:80", "no valid IPv6 address in the brackets" },
    { "[::g]:80", "no valid IPv6 address in the brackets" },
    { "[fe80::1%eth0]:80", "no valid IPv6 address in the brackets" },
    { "[::1]80", 'something other than ":" and a port after "]"' },
    { "[::1]:", "the port must be 1..65535" },
    { "unix:", 'no path after "unix:"' },
    { "unix:/" .. ("x"):rep(107), "a socket's path of more than 107 bytes" },
    { "http://app", 'an address without "http://" is needed' },
    { "app/v1", 'a host without "/" or "?" is needed' },
    { "a\0b", "a blank or control character in the address" },
  }
  for _, case in ipairs(bad) do
    it("is refused when it is " .. case[1]:sub(1, 30):gsub("%z", "\\0"), function()
      local server, err = parse(case[1])
      assert.is_nil(server)
      assert.equal(1, (err:find("/etc/nginx/a.conf:12: server ", 1, true)), err)
      assert.equal(case[2], err:sub(-#case[2]))
    end)
  end

  it("may be a socket's path as long as the system takes", function()
    assert.equal(112, #parse("unix:/" .. ("x"):rep(106)).address.host)
  end)
end)

describe("parameters of a server line", function()
  it("have nginx's meaning when they are not written", function()
    local server = parse("10.0.0.1")
    assert.equal(1, server.weight)
    assert.equal(0, server.max_conns)
    assert.is_nil(server.max_fails)
    assert.is_nil(server.fail_timeout_s)
    assert.is_false(server.backup)
    assert.is_false(server.down)
    assert.same({}, server.warnings)
  end)

  it("are all taken, the last one winning", function()
    local server = parse("10.0.0.1 weight=5 max_conns=7 max_fails=0 fail_timeout=1m30s backup down weight=6")
    assert.equal(6, server.weight)
    assert.equal(7, server.max_conns)
    assert.equal(0, server.max_fails)
    assert.equal(90, server.fail_timeout_s)
    assert.is_true(server.backup)
    assert.is_true(server.down)
  end)

  it("of commerce are ignored with a warning that says why", function()
    local server = parse("10.0.0.1 slow_start=30s route=a drain")
    assert.is_true(server.down)
    assert.equal(3, #server.warnings)
    assert.matches('^/etc/nginx/a.conf:12: server "10.0.0.1": "slow_start=30s" is ignored: ', server.warnings[1])
    assert.matches('"route=a" is ignored: ', server.warnings[2])
    assert.matches('"drain" is taken as "down"$', server.warnings[3])
  end)

  local bad = {
    { "weight=0", '"weight=0": a whole number from 1 on is needed' },
    { "weight=", '"weight=": a whole number from 1 on is needed' },
    { "weight=1.5", '"weight=1.5": a whole number from 1 on is needed' },
    { "weight=-1", '"weight=-1": a whole number from 1 on is needed' },
    { "max_conns=x", '"max_conns=x": a whole number from 0 on is needed' },
    { "max_fails=99999999999999999999", "a whole number from 0 on is needed" },
    { "fail_timeout=500ms", '"fail_timeout=500ms": a time such as "10", "10s" or "1m30s" (whole seconds) is needed' },
    { "wieght=5", 'unknown parameter "wieght=5" (did you mean "weight="?); known are weight=, max_conns=' },
    { "Down", 'unknown parameter "Down" (did you mean "down"?)' },
    { "keepalive", 'unknown parameter "keepalive"; known are ' },
    { "down=1", 'unknown parameter "down=1"' },
    { "resolve", '"resolve": names are resolved once, at start; take "resolve" out' },
    { "service=http", '"service=http": SRV records are not looked up' },
    { "max_conns=$n", 'variables are not possible in a server line, neither here nor in nginx: "max_conns=$n"' },
  }
  for _, case in ipairs(bad) do
    it("are refused when one is " .. case[1], function()
      local server, err = parse("10.0.0.1 " .. case[1])
      assert.is_nil(server)
      assert.equal(1, (err:find('/etc/nginx/a.conf:12: server "10.0.0.1": ', 1, true)), err)
      assert.is_truthy(err:find(case[2], 1, true), err)
    end)
  end

  it("and the address may have no variables", function()
    local _, err = parse("$backend:80 down")
    assert.equal(
      '/etc/nginx/a.conf:12: server "$backend:80": variables are not possible in a server line, '
        .. 'neither here nor in nginx: "$backend:80"',
      err
    )
  end)

  it("need an address before them", function()
    assert.equal('/etc/nginx/a.conf:12: "server" needs an address', (select(2, parse(""))))
  end)
end)

describe("times in seconds", function()
  local good = {
    ["0"] = 0,
    ["10"] = 10,
    ["10s"] = 10,
    ["1m"] = 60,
    ["1m30s"] = 90,
    ["1m30"] = 90,
    ["1h 30m"] = 5400,
    ["1m 30"] = 90,
    ["1 30"] = 31,
    ["10 "] = 10,
    ["1s "] = 1,
    ["1d1h1m1s"] = 90061,
    ["1y2M3w4d"] = 365 * 86400 + 60 * 86400 + 21 * 86400 + 4 * 86400,
  }
  for text, seconds in pairs(good) do
    it(("are read from %q"):format(text), function()
      assert.equal(seconds, numbers.parseSeconds(text))
    end)
  end

  local bad = { "", "s", "ms", "500ms", "1s1s", "1s1m", "1M1y", "1m1h", "30 s", "5S", "1x", "-1", "1.5" }
  for _, text in ipairs(bad) do
    it(("are not read from %q"):format(text), function()
      assert.is_nil(numbers.parseSeconds(text))
    end)
  end

  it("are not read past what nginx can count", function()
    assert.is_nil(numbers.parseSeconds("300000000000y"))
    assert.is_nil(numbers.parseSeconds("99999999999999999999"))
  end)
end)
