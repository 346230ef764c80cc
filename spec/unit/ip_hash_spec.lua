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

  it("moves only one node's clients when its base weight is lowered or raised, by however much", function()
    local rng = random.newRandom(61)
    local moves = 0
    for round = 1, 60 do
      local n = 2 + random.drawBelow(rng, 12)
      local weights = {}
      for k = 1, n do
        weights[k] = ({ 0, 1, 2, 7, 11, 50, 100 })[1 + random.drawBelow(rng, 7)]
      end
      local function nodes(weight)
        return keyed.nodes(n, random.newRandom(round), function(k)
          return k == 1 and weight or weights[k]
        end)
      end
      local low = 1 + random.drawBelow(rng, 50)
      local high = low + 1 + random.drawBelow(rng, 50)
      local keys = keyed.keys(400, round)
      local lower, higher = keyed.owners(new(nodes(low)), keys), keyed.owners(new(nodes(high)), keys)
      for k in ipairs(keys) do
        assert(lower[k] == higher[k] or higher[k] == "n1", "a client of another node moved")
        moves = moves + (lower[k] == higher[k] and 0 or 1)
      end
    end
    assert.is_true(moves > 500, "weights had no say")
  end)

  it("ramps a node in client by client, and moves no client between the others", function()
    local up = new({ { "a", { weight = 10 } }, { "b", { weight = 10 } }, { "c", { weight = 10 } } })
    local keys = keyed.keys(3000, 8)
    local last, had = nil, 0
    for _, weight in ipairs({ 0, 1, 2, 5, 10 }) do
      keyed.set_weight(up, "b", weight)
      local owners = keyed.owners(up, keys)
      for k in ipairs(keys) do
        assert.is_true(last == nil or last[k] == owners[k] or owners[k] == "b")
      end
      local has = keyed.count(owners).b or 0
      assert.is_true(math.abs(has - 3000 * weight / (20 + weight)) < 0.3 * 3000 * weight / (20 + weight) + 1)
      assert.is_true(has >= had)
      last, had = owners, has
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
