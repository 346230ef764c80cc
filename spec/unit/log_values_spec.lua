-- What the log phase looks up instead of converting.
local log_values = require("resty.ax.core.log_values")

describe("times of a log variable", function()
  it("below a second are what nginx's text says, for every millisecond", function()
    for ms = 0, 999 do
      assert.equal(ms, log_values.shortTimeOf(string.format("%d.%03d", 0, ms)))
    end
  end)

  it("are left to the caller from a second on, and when there is none", function()
    for _, text in ipairs({ "1.000", "12.345", "-", "", "0.5", "0.0001", "0.012, 0.001", "-0.001" }) do
      assert.is_nil(log_values.shortTimeOf(text))
    end
  end)
end)

describe("statuses of a log variable", function()
  it("are numbers from 100 to 599", function()
    for status = 100, 599 do
      assert.equal(status, log_values.statusOf(tostring(status)))
    end
  end)

  it("are undefined for none, for several, and for what is no status", function()
    for _, text in ipairs({ "-", "", "0", "99", "600", "200, 200", "502 : 200", " 200" }) do
      assert.is_nil(log_values.statusOf(text))
    end
  end)
end)
