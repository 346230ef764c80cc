-- One check, over sockets that answer as they are told, in virtual time.
local now_ms = 0
local script = {}

local function newSocket()
  local socket = { timeout_ms = nil, closed = false }
  function socket:settimeouts(connect_ms, send_ms, read_ms)
    assert.is_true(connect_ms >= 1 and send_ms >= 1 and read_ms >= 1)
    self.timeout_ms = read_ms
  end
  function socket:connect(...)
    script.connected_to = { ... }
    return script.connect(self)
  end
  function socket.sslhandshake(_, session, name, verify)
    script.handshake = { session, name, verify }
    return true
  end
  function socket.send(_, text)
    script.sent = text
    return #text
  end
  function socket:receiveany() return script.receive(self) end
  function socket:close() self.closed = true end
  -- Nothing of these may be called: the connection is the check's alone.
  function socket.setkeepalive() error("a check's connection must not go into a pool") end
  script.socket = socket
  return socket
end

local saved = { ngx = _G.ngx, time = package.loaded["resty.core.time"] }
_G.ngx = { socket = { tcp = newSocket }, re = { find = function(text, regex) return text:find(regex) end } }
package.loaded["resty.core.time"] = { monotonic_msec = function() return now_ms end }
for name in pairs(package.loaded) do
  if name:find("^resty%.ax%.nginx") then package.loaded[name] = nil end
end
local check = require("resty.ax.nginx.probe.check")
local http = require("resty.ax.core.probe.http")
_G.ngx, package.loaded["resty.core.time"] = saved.ngx, saved.time
for name in pairs(package.loaded) do
  if name:find("^resty%.ax%.nginx") then package.loaded[name] = nil end
end

local function job(options)
  local given = {
    interval_s = 10, path = "/healthz", method = "GET", headers = {}, max_body_bytes = 1000, port = 0,
    tls = false, tls_verify = false,
  }
  for key, value in pairs(options or {}) do given[key] = value end
  return {
    kind = "http", upstream = "backend", node = "n", host = "10.0.0.1", port = 80, timeout_ms = 2000,
    config = { max_watermark = 0.85 }, http = given, plan = http.planHttp(given, "backend"),
  }
end

local function tcp(host, port)
  return { kind = "tcp", upstream = "backend", node = "n", host = host, port = port, timeout_ms = 2000, config = {} }
end

local function run(given)
  local old = _G.ngx
  _G.ngx = {
    socket = { tcp = newSocket },
    re = { find = function(text, regex) return text:find(regex) end },
    sleep = function() script.sleeps = (script.sleeps or 0) + 1 end,
  }
  local result, err = check.makeCheck(given)
  _G.ngx = old
  assert.is_true(script.socket.closed)
  return result, err
end

describe("one check", function()
  before_each(function()
    now_ms = 1000
    script = {
      connect = function() return 1 end,
      receive = function() return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" end,
    }
  end)

  it("sends one whole request over a pool of its own, and closes the connection", function()
    assert.is_true(run(job({ headers = { ["X-Token"] = "t", ["user-agent"] = "me" } })).ok)
    assert.same({ "10.0.0.1", 80, { pool = "ax-probe" } }, script.connected_to)
    local lines = {
      "GET /healthz HTTP/1.1", "Host: backend", "Accept: */*", "Connection: close",
      "X-AX-Probe: watermark, queue-depth", "endpoint-load-metrics-format: TEXT",
      "X-Token: t", "user-agent: me", "", "",
    }
    assert.equal(table.concat(lines, "\r\n"), script.sent)
  end)

  it("by TCP sends nothing; a unix socket has no port", function()
    assert.is_true(run(tcp("10.0.0.1", 80)).ok)
    assert.is_nil(script.sent)
    assert.is_true(run(tcp("unix:/run/x", 0)).ok)
    assert.same({ "unix:/run/x", { pool = "ax-probe" } }, script.connected_to)
  end)

  it("takes the name for TLS from host, without its port", function()
    for host, name in pairs({ ["app.internal:8443"] = "app.internal", ["app.internal"] = "app.internal" }) do
      assert.is_true(run(job({ tls = true, tls_verify = true, host = host })).ok)
      assert.same({ false, name, true }, script.handshake)
    end
  end)

  it("fails the node for what the network says", function()
    for _, err in ipairs({ "timeout", "connection refused", "no route to host", "no such file or directory" }) do
      script.connect = function() return nil, err end
      local result, own = run(tcp("10.0.0.1", 80))
      assert.is_false(result.ok)
      assert.is_nil(own)
    end
  end)

  it("does not blame the node when nginx has no connection to give: its error is then any old one", function()
    local errors = { "operation now in progress", "too many open files", "cannot assign requested address" }
    for _, err in ipairs(errors) do
      script.connect = function() return nil, err end
      local result, own = run(tcp("10.0.0.1", 80))
      assert.is_nil(result)
      assert.equal(err, own)
    end
  end)

  it("gives the worker's requests their turn while a node sends without end", function()
    local reads, reads_at_sleep, most = 0, 0, 0
    local pieces = { "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" }
    script.receive = function()
      if (script.sleeps or 0) > 0 then
        reads_at_sleep, script.sleeps = reads, 0
      end
      reads = reads + 1
      most = math.max(most, reads - reads_at_sleep)
      return pieces[reads] or "x"
    end
    assert.is_true(run(job()).ok)
    assert.equal(1001, reads)
    assert.is_true(most <= 8, most .. " reads without a pause")
  end)

  it("is over after its time-out, however slowly bytes come", function()
    local pieces = 0
    script.receive = function(socket)
      pieces = pieces + 1
      assert.is_true(socket.timeout_ms <= 2000 - (now_ms - 1000))
      now_ms = now_ms + 100
      return pieces == 1 and "HTTP/1.1 200 OK\r\n" or "x"
    end
    local result = run(job())
    assert.is_false(result.ok)
    assert.equal("HTTP 200, then its rest: no answer after 2000 ms", result.why)
    assert.equal(20, pieces)
  end)

  it("says nothing when this process stood still meanwhile", function()
    script.receive = function()
      now_ms = now_ms + 5000
      return nil, "timeout"
    end
    assert.is_nil((run(job())))
  end)

  it("matches the body", function()
    assert.is_true(run(job({ body_regex = "^o" })).ok)
    assert.equal("HTTP 200 in 0 ms, but its body does not match body_regex", run(job({ body_regex = "no" })).why)
  end)

  it("fails over the watermark", function()
    script.receive = function() return "HTTP/1.1 200 OK\r\nX-AX-Watermark: 86%\r\nContent-Length: 0\r\n\r\n" end
    local result = run(job())
    assert.is_false(result.ok)
    assert.equal("HTTP 200 in 0 ms, but watermark 86 % (limit 85 %)", result.why)
  end)
end)
