-- Where a request's key comes from, and what stands in for it.
local hash = require("resty.ax.core.hash")
local hash_key = require("resty.ax.core.config.hash_key")
local pick = require("resty.ax.dataplane.pick")
local problems = require("resty.ax.core.config.problems")
local request_key = require("resty.ax.dataplane.request_key")
local requests = require("resty.ax.dataplane.requests")
local upstreams = require("upstreams")
local exchange = require("resty.ax.dataplane.exchange")
local fake_store = require("fake_store")

local ADDRESS = "\192\0\2\1"

--- An upstream whose requests have `value` (a function) as hash_key's value; `reads` counts.
local function keyed(strategy, value, is_function)
  local reads = { value = 0, address = 0 }
  local up = upstreams.new({ strategy = strategy, nodes = 8 })
  up.keys = {
    value = value and function()
      reads.value = reads.value + 1
      return value()
    end,
    is_function = is_function or false,
    address = function()
      reads.address = reads.address + 1
      return ADDRESS
    end,
    port = function()
      return "4711"
    end,
  }
  return up, reads
end

local function key_of(up, record, report)
  record = record or requests.newRequestRecord()
  request_key.readKey(up, record, report or function() end)
  return request_key.requestHash(up, record)
end

describe("the key of a request", function()
  it("is the hash of its value", function()
    local up, reads = keyed("consistent_hash", function()
      return "alice"
    end)
    assert.equal(hash.hashBytes("alice", 0), key_of(up))
    assert.equal(0, reads.address)
    assert.equal(0, up.keyless_total)
  end)

  it("is the client's address when there is no value, and that is counted", function()
    for _, missing in ipairs({ false, "" }) do
      local up = keyed("affinity", function()
        return missing or nil
      end)
      assert.equal(hash.hashBytes(ADDRESS, 0), key_of(up))
      assert.equal(1, up.keyless_total)
    end
  end)

  it("is the client's address where no hash_key is configured, and that is not counted", function()
    local up = keyed("affinity")
    assert.equal(hash.hashBytes(ADDRESS, 0), key_of(up))
    assert.equal(0, up.keyless_total)
  end)

  it("is read once, and kept over retries", function()
    local n = 0
    local up, reads = keyed("consistent_hash", function()
      n = n + 1
      return "user-" .. n
    end)
    local record = requests.newRequestRecord()
    local first = key_of(up, record)
    requests.addTry(record, up, 0)
    assert.equal(first, key_of(up, record))
    assert.equal(1, reads.value)
  end)

  it("is read anew for another upstream and for another request in the same record", function()
    local up = keyed("consistent_hash", function()
      return "a"
    end)
    local other = keyed("consistent_hash", function()
      return "b"
    end)
    local record = requests.newRequestRecord()
    key_of(up, record)
    requests.addTry(record, up, 0)
    assert.equal(hash.hashBytes("b", 0), key_of(other, record))
    record.tries = 0
    assert.equal(hash.hashBytes("a", 0), key_of(up, record))
  end)

  it("of ip_hash is the prefix, with the business id mixed in where there is one", function()
    local up = keyed("ip_hash")
    local prefix = hash.hashBytes("\192\0\2", 0)
    assert.equal(prefix, key_of(up))
    local with_id = keyed("ip_hash", function()
      return "shop-7"
    end)
    assert.equal(hash.hashBytes("shop-7", prefix), key_of(with_id))
    local without = keyed("ip_hash", function() end)
    assert.equal(prefix, key_of(without))
    assert.equal(1, without.keyless_total)
  end)

  it("reaches the strategy", function()
    local seen
    local up = upstreams.new({
      strategy = {
        uses_key = true,
        pick = function(_, _, candidates, _, request)
          seen = request.key
          return candidates[1]
        end,
        create = function() end,
      },
      nodes = 2,
    })
    local record = requests.newRequestRecord()
    record.hash_key = 4242
    pick.pickNode(up, record, 1000, function() end)
    assert.equal(4242, seen)
  end)
end)

describe("a function as hash_key", function()
  local function told_of(fn)
    local report, told = upstreams.reporter()
    local up = keyed("consistent_hash", fn, true)
    local key = key_of(up, nil, report)
    return told, key, up.keyless_total
  end

  it("gives the key, as a string or a number", function()
    local told, key = told_of(function()
      return 4711
    end)
    assert.equal(hash.hashBytes("4711", 0), key)
    assert.equal(0, #told)
  end)

  it("may have none to give", function()
    local told, key, keyless = told_of(function() end)
    assert.equal(0, #told)
    assert.equal(hash.hashBytes(ADDRESS, 0), key)
    assert.equal(1, keyless)
  end)

  it("that throws or answers nonsense is reported, and the address stands in", function()
    for text, fn in pairs({
      ["no such table"] = function()
        error("no such table")
      end,
      ["returned a table"] = function()
        return {}
      end,
      ["returned a boolean"] = function()
        return true
      end,
    }) do
      local told, key, keyless = told_of(fn)
      assert.equal("hash_key", told[1].kind)
      assert.truthy(told[1].message:find(text, 1, true), told[1].message)
      assert.equal(hash.hashBytes(ADDRESS, 0), key)
      assert.equal(1, keyless)
    end
  end)
end)

describe("requests without a key", function()
  it("are counted in the shared store, each once, also after it was full", function()
    local store = fake_store()
    local up = upstreams.new({ strategy = "affinity", nodes = 2 })
    local silent = function() end
    local exchanging = {
      store = store,
      pid = 1,
      slot = 0,
      encode = function()
        return "{}"
      end,
      decode = function() end,
      processAlive = function()
        return true
      end,
      onFault = silent,
    }
    up.keyless_total = 3
    store.full = true
    exchange.publish(exchanging, { up }, false, 1000)
    store.full = false
    exchange.publish(exchanging, { up }, false, 1100)
    exchange.publish(exchanging, { up }, false, 1200)
    assert.equal(3, store.get("keyless:backend"))
  end)
end)

describe("the option hash_key", function()
  local function problem(value)
    local list = problems.newProblems()
    hash_key.checkHashKey({ hash_key = value }, "upstreams.backend", list)
    local first = list.list[1]
    return first and (first.path .. ": " .. first.text)
  end

  it("names a variable of nginx", function()
    for text, variable in pairs({
      ["$arg_user"] = "arg_user",
      ["$Request_Uri"] = "request_uri",
      ["header:X-User-Id"] = "http_x_user_id",
      ["cookie:SID"] = "cookie_sid",
      ["cookie:my-sid"] = "cookie_my-sid",
      ["arg:user"] = "arg_user",
    }) do
      assert.equal(variable, hash_key.parseKeySource(text).variable)
      assert.is_nil(problem(text))
    end
    assert.is_nil(problem(nil))
    assert.is_nil(problem(function() end))
  end)

  it("is refused with its path, the value and what is needed", function()
    for text, part in pairs({
      ["user_id"] = 'did you mean "$user_id"?',
      ["heder:X-User"] = 'did you mean "header:X-User"?',
      ["X-User"] = '"header:Name"',
      [""] = '"$variable"',
      ["$"] = "is not the name of a variable",
      ["$a$b"] = "is not the name of a variable",
      ["header:"] = "does not name a header",
      ["header:X User"] = "does not name a header",
      ["arg:a&b"] = "does not name an argument",
      ["cookie:a;b"] = "does not name a cookie",
    }) do
      local told = problem(text)
      assert.truthy(told and told:find("upstreams.backend.hash_key: ", 1, true), text)
      assert.truthy(told:find(part, 1, true), told)
    end
    assert.truthy(problem(7):find("7 is given", 1, true))
    assert.truthy(problem({}):find("an empty table is given", 1, true))
  end)
end)
