local cjson = require("cjson.safe")
local address = require("resty.ax.core.config.address")
local ip = require("resty.ax.core.config.ip")

local file = assert(io.open("spec/vectors/config_texts.json"))
local texts = assert(cjson.decode(file:read("*a")))
file:close()

describe("addresses", function()
  for _, case in ipairs(texts.addresses) do
    it("takes " .. case.text, function()
      local parsed = address.parseAddress(case.text)
      assert.same({ host = case.host, port = case.port }, parsed.address)
      assert.equal(case.id, address.formatAddress(parsed.address))
    end)
  end

  for _, text in ipairs(texts.bad_addresses) do
    it(("refuses %q"):format(text), function()
      local parsed = address.parseAddress(text)
      assert.is_nil(parsed.address)
      assert.truthy(parsed.problem:find("%w"))
    end)
  end

  it("limits a socket's path to what the kernel takes", function()
    local longest = "unix:/" .. ("x"):rep(106)
    assert.equal(longest, address.parseAddress(longest).address.host)
    assert.is_nil(address.parseAddress(longest .. "x").address)
  end)
end)

--- One of the many ways to write an IPv6 address.
local function write_ipv6(groups)
  local parts = {}
  for i = 1, 8 do
    local zeros = ("0"):rep(math.random(0, 4 - #("%x"):format(groups[i])))
    local text = zeros .. ("%x"):format(groups[i])
    parts[i] = math.random() < 0.5 and text:upper() or text
  end
  if math.random() < 0.3 then
    local quad = {}
    for i = 0, 1 do
      quad[i * 2 + 1] = math.floor(groups[7 + i] / 256)
      quad[i * 2 + 2] = groups[7 + i] % 256
    end
    parts[7], parts[8] = table.concat(quad, "."), nil
  end
  -- Any run of zero groups may be written as "::", not only the longest.
  local first = math.random(1, 6)
  local last = first
  while last <= 6 and groups[last] == 0 do
    last = last + 1
  end
  if last == first or math.random() < 0.3 then
    return table.concat(parts, ":")
  end
  return table.concat(parts, ":", 1, first - 1) .. "::" .. table.concat(parts, ":", last)
end

describe("IP addresses in any spelling", function()
  it("reads IPv6 as it was meant, and writes it in one form", function()
    math.randomseed(11)
    for _ = 1, 5000 do
      local groups = {}
      for i = 1, 8 do
        groups[i] = math.random() < 0.5 and 0 or math.random(0, 65535)
      end
      local text = write_ipv6(groups)
      assert.same(groups, ip.parseIpv6(text), text)
      local canonical = ip.formatIpv6(groups)
      assert.same(groups, ip.parseIpv6(canonical), canonical)
      local parsed = address.parseAddress("[" .. text .. "]:80")
      assert.same({ host = "[" .. canonical .. "]", port = 80 }, parsed.address)
    end
  end)

  it("reads back every IPv4 address and port", function()
    math.randomseed(12)
    for _ = 1, 2000 do
      local bytes = { math.random(0, 255), math.random(0, 255), math.random(0, 255), math.random(0, 255) }
      local host, port = table.concat(bytes, "."), math.random(1, 65535)
      assert.same(bytes, ip.parseIpv4(host))
      assert.same({ host = host, port = port }, address.parseAddress(host .. ":" .. port).address)
    end
  end)

  it("takes a damaged address as another one or as none, and never fails", function()
    math.randomseed(13)
    local alphabet = "0123456789abcdefg.:[]%/ unix-\0\255"
    for _ = 1, 5000 do
      local case = texts.addresses[math.random(#texts.addresses)]
      local at, letter = math.random(0, #case.text), math.random(#alphabet)
      local text = case.text:sub(1, at) .. alphabet:sub(letter, letter) .. case.text:sub(at + math.random(1, 3))
      local parsed = address.parseAddress(text)
      assert.is_true((parsed.address == nil) ~= (parsed.problem == nil), text)
      if parsed.address then
        -- What was taken stays what it is when written and read again.
        assert.same(parsed.address, address.parseAddress(address.formatAddress(parsed.address)).address, text)
      end
    end
  end)
end)
