--- Settings of the test kit's backend: defaults and checks.

local cjson = require("cjson.safe")
local delays = require("backend_delays")

local M = {}

-- A minute of delay is more than any test waits for; hang_share is for longer.
local DELAY_MAX_MS = 60000

local RANGES = {
  error_share = { 0, 1 },
  error_status = { 400, 599 },
  error_delay_ms = { 0, DELAY_MAX_MS },
  hang_share = { 0, 1 },
  slots = { 0, 100000 },
  body_bytes = { 0, 10000000 },
  body_chunks = { 1, 10000 },
  body_interval_ms = { 0, DELAY_MAX_MS },
}

--- A fresh table: answers at once, always well, with any number of requests side by side.
function M.defaults()
  return {
    delay = { dist = "fixed", mean_ms = 0 },
    error_share = 0,
    error_status = 500,
    hang_share = 0,
    slots = 0,
    body_bytes = 0,
    body_chunks = 10,
    body_interval_ms = 0,
  }
end

local function check_number(key, value, low, high)
  if type(value) ~= "number" or value < low or value > high then
    return key .. " is " .. tostring(value) .. ": a number from " .. low .. " to " .. high .. " is allowed"
  end
end

local function check_parameter(delay, wanted, known)
  local choices = type(wanted) == "table" and wanted or { wanted }
  local given
  for _, key in ipairs(choices) do
    known[key] = true
    if delay[key] ~= nil then
      given = given or key
    end
  end
  local key = given or choices[1]
  local high = key:sub(-3) == "_ms" and DELAY_MAX_MS or 1
  -- The logarithm of a lognormal's median must exist.
  local low = delay.dist == "lognormal" and 0.001 or 0
  return check_number("delay." .. key, delay[key], low, high)
end

local function check_delay(delay)
  if type(delay) ~= "table" then
    return "delay is not an object"
  end
  local parameters = delays.parameters[delay.dist]
  if not parameters then
    return "delay.dist is " .. tostring(delay.dist) .. ": fixed, exp, uniform, lognormal or bimodal is allowed"
  end
  local known = { dist = true }
  for _, wanted in ipairs(parameters) do
    local problem = check_parameter(delay, wanted, known)
    if problem then
      return problem
    end
  end
  for key in pairs(delay) do
    if not known[key] then
      return "delay." .. tostring(key) .. " is not a parameter of " .. delay.dist
    end
  end
end

local function check(key, value)
  if key == "delay" then
    return check_delay(value)
  end
  local range = RANGES[key]
  if not range then
    return tostring(key) .. " is not a setting"
  end
  return check_number(key, value, range[1], range[2])
end

--- @param settings the settings in force
-- @param changes new values; null removes an optional one (error_delay_ms)
-- @return the new settings, or nil and what is wrong; nothing changes then
function M.merge(settings, changes)
  local merged = {}
  for key, value in pairs(settings) do
    merged[key] = value
  end
  for key, value in pairs(changes) do
    if key == "error_delay_ms" and value == cjson.null then
      merged[key] = nil
    else
      local problem = check(key, value)
      if problem then
        return nil, problem
      end
      merged[key] = value
    end
  end
  return merged
end

return M
