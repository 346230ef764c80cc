local resolve = require("resty.ax.nginx.conf.resolve")

describe("resolving names", function()
  it("finds the addresses of this machine without repetitions", function()
    local addresses, err = resolve.resolveHost("localhost")
    assert.is_nil(err)
    local seen = {}
    for _, address in ipairs(addresses) do
      assert.is_true(address:match("^127%.") ~= nil or address == "[::1]", address)
      assert.is_nil(seen[address])
      seen[address] = true
    end
    assert.is_true(#addresses > 0)
  end)

  it("reads both kinds of address out of the resolver's answer", function()
    assert.same({ "127.0.0.9" }, (resolve.resolveHost("127.0.0.9")))
    assert.same({ "[2001:db8::a:1]" }, (resolve.resolveHost("2001:db8::a:1")))
  end)

  it("says why a name has no address", function()
    -- .invalid never resolves (RFC 6761); whether the resolver can be reached decides on the words.
    local addresses, err = resolve.resolveHost("no-such-host.invalid")
    assert.is_nil(addresses)
    assert.equal("string", type(err))
    assert.is_true(#err > 0)
  end)

  it("works when the module is loaded a second time in the same Lua state", function()
    package.loaded["resty.ax.nginx.conf.libc"] = nil
    package.loaded["resty.ax.nginx.conf.resolve"] = nil
    assert.same({ "127.0.0.9" }, (require("resty.ax.nginx.conf.resolve").resolveHost("127.0.0.9")))
  end)
end)
