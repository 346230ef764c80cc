-- Mistakes in the options of admission, and who may say what of a request's class.
local options = require("resty.ax.core.config.options")
local problems = require("resty.ax.core.config.problems")
local validate = require("resty.ax.core.config.validate")
local cidr = require("resty.ax.core.cidr")
local priority = require("resty.ax.core.priority")
local request_class = require("resty.ax.dataplane.request_class")
local requests = require("resty.ax.dataplane.requests")
local upstreams = require("upstreams")

local function load(upstream)
  upstream.nodes = { { address = "10.0.0.1:80" } }
  local found = problems.newProblems()
  local fields = options.configFields({ adaptive = {} })
  local config = validate.validate({ upstreams = { backend = upstream } }, fields, "", found)
  local texts = {}
  for k, problem in ipairs(found.list) do
    texts[k] = problem.path:gsub("^upstreams%.backend%.", "") .. ": " .. problem.text
  end
  return texts, config.upstreams.backend
end

describe("the option queue", function()
  it("is off unless given, and has defaults when given empty", function()
    local _, config = load({})
    assert.is_nil(config.queue)
    _, config = load({ queue = {} })
    local drain = { from = 0, class_weights = {}, max_extra_ratio = 0.25 }
    assert.same({ size = 1000, timeout_ms = 15000, class_sizes = {}, drain = drain }, config.queue)
  end)

  it("is refused with its mistakes named", function()
    assert.same(
      { "queue: true is a boolean; a map of options, { size = 1000, timeout_ms = 15000 }, is needed" },
      load({ queue = true })
    )
    assert.same({ "queue.size: 0 is too small; a whole number 1..1000000 is needed" }, load({ queue = { size = 0 } }))
    assert.same(
      { "queue.timeout_ms: -1 is too small; a whole number 1..600000 ms is needed" },
      load({ queue = { timeout_ms = -1 } })
    )
    assert.same({ 'queue.sice: unknown key; did you mean "size"?' }, load({ queue = { sice = 5 } }))
    assert.same(
      {
        'queue.class_sizes.batsh: "batsh" is no class here; one of "batch", "normal", "vip" is needed; '
          .. 'did you mean "batch"?',
      },
      load({ queue = { class_sizes = { batsh = 1 } } })
    )
    assert.same(
      { 'queue.class_sizes.vip: "vip" is no class here; one of "gold", "lead" is needed' },
      load({ classes = { gold = 1, lead = 5 }, queue = { class_sizes = { vip = 1 } } })
    )
    assert.same(
      { 'queue.deadline_header: "X Deadline" is no name of a header; letters, digits and - are allowed' },
      load({ queue = { deadline_header = "X Deadline" } })
    )
  end)

  it("refuses mistakes in how a backlog is drained", function()
    local function first(given)
      local texts = load({ queue = { drain = given } })
      assert.equal(1, #texts)
      return texts[1]
    end
    assert.equal("queue.drain.from: 1.5 is too large; a number 0..1 is needed", first({ from = 1.5 }))
    assert.equal("queue.drain.from: -1 is too small; a number 0..1 is needed", first({ from = -1 }))
    assert.equal("queue.drain.max_extra_ratio: 2 is too large; a number 0..1 is needed", first({ max_extra_ratio = 2 }))
    assert.equal(
      "queue.drain.class_weights.vip: 0 is too small; a number 1..1000 is needed",
      first({ class_weights = { vip = 0 } })
    )
    local known = 'one of "batch", "normal", "vip" is needed'
    assert.equal(
      ('queue.drain.class_weights.gold: "gold" is no class here; %s'):format(known),
      first({ class_weights = { gold = 2 } })
    )
    assert.equal(
      ('queue.drain.refuse[2]: "batsh" is no class here; %s; did you mean "batch"?'):format(known),
      first({ refuse = { "vip", "batsh" } })
    )
    assert.truthy(first({ refuse = { vip = true } }):find("^queue%.drain%.refuse: .* a list is needed$"))
    assert.equal(1, #(load({ queue = { drain = { refuse = { "vip", nil, "batch" } } } })))
    assert.same({}, (load({ queue = { drain = { from = 0.9, refuse = { "batch" }, class_weights = { vip = 5 } } } })))
  end)

  it("takes no class map with holes, nor priorities there are not", function()
    assert.equal(1, #load({ classes = { "vip", nil, "batch" } }))
    for _, meaning in ipairs({ 0, 6, 1.5, -1, "3", true, 0 / 0 }) do
      local texts = load({ classes = { x = meaning } })
      assert.equal(1, #texts)
      assert.truthy(texts[1]:find('is not known; "vip", "normal", "batch" or a whole number 1..5 is needed', 1, true))
    end
    assert.same({}, (load({ classes = { x = 1, y = 2, z = "batch" }, class_source = "$class" })))
  end)

  it("takes a class source that is text or a function, and ranges of addresses", function()
    assert.same({}, (load({ class_source = function() end })))
    assert.equal(1, #load({ class_source = 5 }))
    assert.equal(1, #load({ class_source = "" }))
    assert.same({}, (load({ trusted_clients = { "10.0.0.0/8", "::1", "2001:db8::/32" } })))
    assert.same(
      {
        'trusted_clients[1]: "10.0.0.0/33" is no address range; '
          .. 'an address or a range like "10.0.0.0/8" or "2001:db8::/32" is needed',
      },
      load({ trusted_clients = { "10.0.0.0/33" } })
    )
  end)
end)

describe("an address range", function()
  local function has(range, bytes)
    return cidr.isInRanges(bytes, { cidr.parseCidr(range) })
  end

  it("holds what shares its leading bits", function()
    assert.is_true(has("10.0.0.0/8", "\10\1\2\3"))
    assert.is_false(has("10.0.0.0/8", "\11\1\2\3"))
    assert.is_true(has("192.168.4.0/22", "\192\168\7\255"))
    assert.is_false(has("192.168.4.0/22", "\192\168\8\0"))
    assert.is_true(has("0.0.0.0/0", "\1\2\3\4"))
    assert.is_false(has("127.0.0.1", "\127\0\0\2"))
    assert.is_true(has("2001:db8::/33", "\32\1\13\184\127" .. ("x"):rep(11)))
    assert.is_false(has("2001:db8::/33", "\32\1\13\184\128" .. ("x"):rep(11)))
  end)

  it("holds IPv4 written as IPv6, and nothing of another length", function()
    assert.is_true(has("10.0.0.0/8", ("\0"):rep(10) .. "\255\255\10\1\2\3"))
    assert.is_false(has("::/0", "\10\1\2\3"))
    assert.is_false(has("0.0.0.0/0", ""))
    assert.is_false(has("0.0.0.0/0", "unix:"))
  end)
end)

describe("the class of a request", function()
  local told

  local function priority_of(source, class, given)
    given = given or {}
    given.class_source = source
    local up = upstreams.new({ strategy = "random", nodes = 1, config = given })
    up.door.class_reader = {
      value = function()
        if type(class) == "function" then
          return class()
        end
        return class
      end,
      is_function = type(source) == "function",
      address = function()
        return "\10\1\2\3"
      end,
    }
    told = {}
    local record = requests.newRequestRecord()
    request_class.readClass(up, record, function(kind, message)
      told[#told + 1] = { kind, message }
    end)
    return record.priority, up.door
  end

  it("that the client writes may lower a request, not raise it, unless it is trusted", function()
    local sources = { ["header:X-Class"] = 3, ["$arg_class"] = 3, ["$cookie_c"] = 3, ["$http_x"] = 3, ["$class"] = 1 }
    for source, expected in pairs(sources) do
      assert.equal(expected, (priority_of(source, "vip")), source)
      assert.equal(5, (priority_of(source, "batch")), source)
    end
    local _, door = priority_of("header:X-Class", "vip")
    assert.equal(1, door.capped_classes)
    assert.equal(1, (priority_of("header:X-Class", "vip", { trust_client_class = true })))
    assert.equal(1, (priority_of("header:X-Class", "vip", { trusted_clients = { "10.0.0.0/8" } })))
    assert.equal(3, (priority_of("header:X-Class", "vip", { trusted_clients = { "11.0.0.0/8" } })))
    assert.equal(3, (priority_of("header:X-Class", "gold", { classes = { gold = 2 } })))
  end)

  it("that is hostile is normal, and counted", function()
    for _, name in ipairs({ ("x"):rep(10240), "\0\1\255", "VIP", "vip ", "1", "__index" }) do
      local given, door = priority_of("header:X-Class", name)
      assert.equal(priority.DEFAULT_PRIORITY, given)
      assert.equal(1, door.unknown_classes)
    end
  end)

  it("may come from a function; one that fails or answers nonsense is reported", function()
    local source = function() end
    assert.equal(1, (priority_of(source, function()
      return "vip"
    end)))
    assert.equal(3, (priority_of(source, function()
      return nil
    end)))
    assert.equal(0, #told)
    assert.equal(3, (priority_of(source, function()
      error("boom")
    end)))
    assert.equal("class_source", told[1][1])
    assert.equal(3, (priority_of(source, function()
      return {}
    end)))
    assert.equal("class_source", told[1][1])
  end)
end)
