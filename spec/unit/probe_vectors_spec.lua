-- The same vectors as spec/node/probe.test.ts: core/ must give the same in Lua and in JavaScript.
local cjson = require("cjson.safe")
local config = require("resty.ax.core.probe.config")
local orca = require("resty.ax.core.orca")
local response = require("resty.ax.core.probe.response")
local rounds = require("resty.ax.core.probe.rounds")
local signals = require("resty.ax.core.probe.signals")

local file = assert(io.open("spec/vectors/probe.json"))
local vectors = assert(cjson.decode(file:read("*a")))
file:close()

local function orNil(value)
  if value == cjson.null then return nil end
  return value
end

local function decode(text)
  return (cjson.decode(text))
end

local function newReader(case)
  return response.newAnswerReader(case.head_only == true, case.max_body_bytes or 1000)
end

local function check(case, reader)
  assert.is_true(reader.done)
  assert.equal(case.problem, reader.problem)
  if case.problem then return end
  assert.equal(case.status, reader.status)
  assert.equal(case.body, reader.body)
  for name, value in pairs(case.headers or {}) do
    assert.equal(value, reader.headers[name])
  end
end

describe("an answer", function()
  for _, case in ipairs(vectors.answers) do
    it("with " .. case.name .. ", whole and byte by byte", function()
      local reader = newReader(case)
      response.feed(reader, case.text)
      assert.equal(not case.close, reader.done)
      response.finish(reader)
      check(case, reader)
      reader = newReader(case)
      for i = 1, #case.text do
        response.feed(reader, case.text:sub(i, i))
      end
      response.finish(reader)
      -- What begins like nothing known is cut where it is known to be none.
      if not (case.problem and case.problem:find("begins with", 1, true)) then check(case, reader) end
      assert.equal(case.problem ~= nil, reader.problem ~= nil)
    end)
  end

  it("that never ends its headers is bounded", function()
    for _, piece in ipairs({ "x", "X-Junk: yes\r\n", "HTTP/1.1 100 Continue\r\n\r\n", ("a"):rep(4096) }) do
      local reader = response.newAnswerReader(false, 1000)
      response.feed(reader, "HTTP/1.1 200 OK\r\n")
      local fed = 0
      while not reader.done do
        response.feed(reader, piece)
        fed = fed + #piece
        assert.is_true(fed < 40000)
      end
      assert.is_truthy(reader.problem)
    end
  end)

  it("is the same in whatever pieces it comes", function()
    math.randomseed(11)
    for _, case in ipairs(vectors.answers) do
      for _ = 1, 40 do
        local reader = newReader(case)
        local most, at = math.random(1, 30), 1
        while at <= #case.text do
          local size = math.random(1, most)
          response.feed(reader, case.text:sub(at, at + size - 1))
          at = at + size
        end
        response.finish(reader)
        if not (case.problem and case.problem:find("begins with", 1, true)) then check(case, reader) end
        assert.equal(case.problem ~= nil, reader.problem ~= nil)
      end
    end
  end)

  it("of many small pieces costs memory in proportion to its length", function()
    local line = "X-Junk: " .. ("j"):rep(12000) .. "\r\n"
    local body = ("b"):rep(16384)
    local chunks = ("1\r\nc\r\n"):rep(8000) .. "0\r\n\r\n"
    local head = "HTTP/1.1 200 OK\r\n" .. line
    for _, text in ipairs({
      head .. "Content-Length: 16384\r\n\r\n" .. body,
      head .. "Transfer-Encoding: chunked\r\n\r\n" .. chunks,
    }) do
      for _, size in ipairs({ 1, 7, 4096 }) do
        local reader = response.newAnswerReader(false, 16384)
        local pieces = {}
        for at = 1, #text, size do pieces[#pieces + 1] = text:sub(at, at + size - 1) end
        collectgarbage()
        collectgarbage("stop")
        local before_kb = collectgarbage("count")
        for i = 1, #pieces do response.feed(reader, pieces[i]) end
        local used_kb = collectgarbage("count") - before_kb
        collectgarbage("restart")
        assert.is_true(reader.done)
        assert.is_nil(reader.problem)
        assert.is_true(#reader.body == 16384 or #reader.body == 8000)
        -- Copied anew with every piece, the first one alone would take 130 MB in pieces of one byte.
        assert.is_true(used_kb < 8000, used_kb .. " kB")
      end
    end
  end)

  it("of random bytes never throws, and is always done when the connection is closed", function()
    math.randomseed(7)
    local seeds = {}
    for _, case in ipairs(vectors.answers) do seeds[#seeds + 1] = case.text end
    for _ = 1, 3000 do
      local text = seeds[math.random(#seeds)]
      for _ = 1, math.random(1, 4) do
        local at = math.random(0, #text)
        text = text:sub(1, at) .. string.char(math.random(0, 255)) .. text:sub(at + math.random(0, 3))
      end
      local reader = response.newAnswerReader(math.random() < 0.1, math.random(0, 40))
      local at = 1
      while at <= #text do
        local size = math.random(1, 20)
        response.feed(reader, text:sub(at, at + size - 1))
        at = at + size
      end
      response.finish(reader)
      assert.is_true(reader.done)
      assert.is_true(#reader.body <= reader.max_body_bytes)
    end
  end)
end)

describe("a load report", function()
  for _, case in ipairs(vectors.reports) do
    it(("%q"):format(case.header), function()
      assert.same(orNil(case.report), orca.parseLoadReport(case.header, decode))
    end)
  end

  it("of thousands of figures is cut", function()
    local parts = {}
    for i = 1, 200 do parts[i] = "named_metrics.m" .. i .. "=1" end
    local report = orca.parseLoadReport("TEXT " .. table.concat(parts, ","), decode)
    local count = 0
    for _ in pairs(report or {}) do count = count + 1 end
    assert.equal(orca.MAX_FIGURES, count)
  end)
end)

describe("a watermark", function()
  for _, case in ipairs(vectors.watermarks) do
    it(("%q"):format(case.text), function()
      assert.equal(orNil(case.share), signals.parseWatermark(case.text))
    end)
  end

  it("and a queue depth come from headers, else from the load report", function()
    local report = "TEXT named_metrics.watermark=0.9, utilization.queue_depth=4, eps=1"
    local said = signals.readSignals({ ["endpoint-load-metrics"] = report, ["x-ax-watermark"] = "10%" }, decode)
    assert.equal(0.1, said.watermark)
    assert.equal(4, said.queue_depth)
    assert.equal(1, said.signals.eps)
    assert.same({}, signals.readSignals({}, decode))
  end)
end)

describe("expected status", function()
  for _, case in ipairs(vectors.ranges) do
    it(tostring(case.given), function()
      local range = config.parseStatusRange(case.given)
      assert.same(case.from and { from = case.from, to = case.to } or nil, range)
    end)
  end
end)

describe("a node's places in the intervals", function()
  for _, case in ipairs(vectors.places) do
    it(("%q"):format(case.name), function()
      assert.equal(case.tcp, rounds.placeMs(case.name, 3000))
      assert.equal(case.http, rounds.offsetPlaceMs(case.name, 3000, 10000))
    end)
  end
end)
