local keyed = require("keyed")
local random = require("resty.ax.core.random")
local registry = require("resty.ax.core.strategies.registry")
local request_key = require("resty.ax.core.request_key")
local upstreams = require("upstreams")

local function new(nodes, options)
  return upstreams.new({ strategy = "ip_hash", nodes = nodes, options = options })
end

describe("ip_hash", function()
  it("follows the base weights within statistical bounds", function()
    local up = new({ { "a", { weight = 1 } }, { "b", { weight = 2 } }, { "c", { weight = 5 } } })
    local counts = keyed.count(keyed.owners(up, keyed.keys(16000, 3)))
    -- Points differ from their mean by 1/sqrt(count): a has about 160 of 1280.
    for id, weight in pairs({ a = 1, b = 2, c = 5 }) do
      local mean = 2000 * weight
      assert.is_true(math.abs(counts[id] - mean) < 0.35 * mean, id .. ": " .. counts[id])
    end
  end)

  it("moves only one node's clients when its base weight is lowered", function()
    local rng = random.newRandom(61)
    for round = 1, 30 do
      local n = 2 + random.drawBelow(rng, 10)
      -- A heavy node besides keeps the mean weight between two powers of two.
      local function nodes(weight)
        return keyed.nodes(n, random.newRandom(round), function(k)
          return k == 1 and weight or 11
        end)
      end
      local keys = keyed.keys(500, round)
      local before, after = keyed.owners(new(nodes(11)), keys), keyed.owners(new(nodes(9)), keys)
      for k in ipairs(keys) do
        assert(before[k] == after[k] or before[k] == "n1", "a client of another node moved")
      end
    end
  end)

  it("stands extreme weights", function()
    local up = new({ { "a", { weight = 1 } }, { "b", { weight = 65535 } } })
    local counts = keyed.count(keyed.owners(up, keyed.keys(3000, 3)))
    assert.is_true(counts.b > 2900)
  end)

  it("asks for the address in the way its options say", function()
    assert.is_true(registry.strategies.ip_hash.by_address)
    local how = request_key.addressKeyOf({ ipv4_prefix_bits = 32, ipv6_prefix_bits = 48, port = true })
    assert.same({ ipv4_prefix_bits = 32, ipv6_prefix_bits = 48, port = true }, how)
    local a = request_key.keyOf("", "\10\0\0\1", "1000", how)
    assert.not_equal(a, request_key.keyOf("", "\10\0\0\2", "1000", how))
    assert.not_equal(a, request_key.keyOf("", "\10\0\0\1", "1001", how))
    assert.not_equal(a, request_key.keyOf("shop-7", "\10\0\0\1", "1000", how))
  end)
end)
