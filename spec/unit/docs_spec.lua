-- Documents and code must agree.
local codes = require("resty.ax.observe.codes")
local reject = require("resty.ax.core.reject")
local errors = require("resty.ax.control.errors")
local registry = require("resty.ax.core.strategies.registry")

local function read(path)
  local file = assert(io.open(path))
  local text = file:read("*a")
  file:close()
  return text
end

describe("the documentation", function()
  it("explains every fault code, and no other", function()
    local text = read("docs/troubleshooting.md"):match("## Faults(.-)\n## ")
    local documented, known = {}, {}
    for code in text:gmatch("\n| `([%w_]+)` |") do
      documented[code] = true
    end
    for _, code in ipairs(codes.FAULT_CODES) do
      known[code] = true
    end
    assert.same(known, documented)
  end)

  it("explains every reason for a refusal, and no other", function()
    local text = read("docs/admission.md"):match("## Refusals(.-)\n## ")
    local documented, known = {}, {}
    for reason in text:gmatch("\n| `([%w_]+)` |") do
      documented[reason] = true
    end
    for _, reason in ipairs(reject.REJECT_REASONS) do
      known[reason] = true
    end
    assert.same(known, documented)
  end)

  it("has a page for every strategy, which names every option", function()
    for name, strategy in pairs(registry.strategies) do
      local text = read("docs/strategies/" .. name .. ".md")
      for option in pairs(strategy.options) do
        assert.truthy(text:find("`" .. option .. "`", 1, true), name .. ": " .. option)
      end
    end
  end)

  it("explains every error code of the API with its status, and no other", function()
    local documented = {}
    for anchor, code, status in read("docs/api.md"):gmatch('\n| <a id="(%w+)"></a>`(%w+)` | (%d+) |') do
      assert.equal(code:lower(), anchor)
      documented[code] = tonumber(status)
    end
    assert.same(errors.API_ERRORS, documented)
  end)
end)
