-- The same vectors as spec/node/hash.test.ts: keys must go to the same node in Lua and in JavaScript.
local cjson = require("cjson.safe")
local hash = require("resty.ax.core.hash")
local request_key = require("resty.ax.core.request_key")

local file = assert(io.open("spec/vectors/hash.json"))
local vectors = assert(cjson.decode(file:read("*a")))
file:close()

local function bytes_of(hex)
  return (hex:gsub("..", function(pair)
    return string.char(tonumber(pair, 16))
  end))
end

describe("hashes", function()
  it("of bytes are MurmurHash3's", function()
    for _, case in ipairs(vectors.hashes) do
      assert.equal(case.hash, hash.hashBytes(bytes_of(case.hex), case.seed))
    end
  end)

  it("of numbers are those of their bytes", function()
    for _, case in ipairs(vectors.numbers) do
      assert.equal(case.one, hash.hashNumber(case.a, case.seed))
      assert.equal(case.two, hash.hashPair(case.a, case.b, case.seed))
      assert.equal(case.mixed, hash.mixHashes(case.a, case.b))
    end
  end)

  it("stay the same once compiled", function()
    for _ = 1, 200 do
      for _, case in ipairs(vectors.hashes) do
        assert(hash.hashBytes(bytes_of(case.hex), case.seed) == case.hash)
      end
    end
  end)

  it("of addresses are those of their prefixes", function()
    for _, case in ipairs(vectors.addresses) do
      local how = { ipv4_prefix_bits = case.ipv4, ipv6_prefix_bits = case.ipv6, port = false }
      assert.equal(case.key, request_key.hashAddress(bytes_of(case.hex), how))
    end
  end)
end)

describe("the key of a client's address", function()
  local how = { ipv4_prefix_bits = 24, ipv6_prefix_bits = 64, port = false }

  it("is shared within the prefix, and not outside", function()
    local a = request_key.hashAddress("\192\0\2\1", how)
    assert.equal(a, request_key.hashAddress("\192\0\2\254", how))
    assert.not_equal(a, request_key.hashAddress("\192\0\3\1", how))
  end)

  it("is the same for IPv4 written as IPv6: else all of IPv4 would be one client", function()
    local mapped = ("\0"):rep(10) .. "\255\255"
    assert.equal(
      request_key.hashAddress("\192\0\2\1", how),
      request_key.hashAddress(mapped .. "\192\0\2\9", how)
    )
  end)

  it("takes a unix socket's and an empty address as they are", function()
    assert.not_equal(request_key.hashAddress("unix:", how), request_key.hashAddress("", how))
  end)
end)
