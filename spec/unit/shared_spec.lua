-- The store over a shared dict, as nginx's dicts behave.
describe("a number in the shared dict", function()
  local function dict_of(values)
    return {
      get = function(_, key)
        return values[key]
      end,
      delete = function(_, key)
        values[key] = nil
      end,
      safe_add = function(_, key, value)
        if values[key] ~= nil then return false, "exists" end
        values[key] = value
        return true
      end,
      incr = function(_, key, by)
        if values[key] == nil then return nil, "not found" end
        if type(values[key]) ~= "number" then return nil, "not a number" end
        values[key] = values[key] + by
        return values[key]
      end,
    }
  end

  local function store_over(values)
    local before = rawget(_G, "ngx")
    rawset(_G, "ngx", { shared = { ax = dict_of(values) } })
    local store = require("resty.ax.nginx.shared").openStore("ax")
    rawset(_G, "ngx", before)
    return store
  end

  it("begins at 0, and goes on", function()
    local store = store_over({})
    assert.equal(3, store.incr("n", 3))
    assert.equal(5, store.incr("n", 2))
  end)

  it("begins anew where somebody else wrote something", function()
    for _, garbage in ipairs({ "x", "7", true }) do
      local store = store_over({ n = garbage })
      assert.equal(1, store.incr("n", 1))
    end
  end)
end)
