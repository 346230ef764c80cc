--- A backend of the test kit: serves requests as slowly, as wrongly and as rarely as it is told.
--
-- It runs in an nginx of its own with one process and no master, so plain Lua variables hold the
-- state: `settings` (written by control requests, read by every request) and `counters` (written by
-- every request, read by control requests). Both live as long as the process.
--
-- Settings and counters are described in docs/testkit.md.

local cjson = require("cjson.safe")
local semaphore = require("ngx.semaphore")
local delays = require("backend_delays")
local options = require("backend_options")
local peers = require("backend_peers")

local floor, huge, random = math.floor, math.huge, math.random
local ngx = ngx

local M = {}

-- Long enough to be for ever in a test, short enough for nginx's timers (milliseconds in 32 bits).
local FOR_EVER_S = 86400

local name = "backend"
local settings = options.defaults()
local draw_delay_ms = delays.sampler(settings.delay)

-- Requests being worked on, and requests waiting for a slot (first come, first served).
-- queue[queue_first .. queue_last] holds request records; those marked "gone" are skipped. `working` has the
-- records of the active ones as its keys.
local active, queued = 0, 0
local working = {}
local queue, queue_first, queue_last = {}, 1, 0
local counters

local function slot_limit()
  return settings.slots > 0 and settings.slots or huge
end

--- Ends the count of requests whose client has hung up: nginx may not have looked at their sockets yet, or has
-- read the request and the end of the connection at once, and then does not look again.
local function drop_left()
  for request in pairs(working) do
    if peers.has_left(request.socket) then
      working[request] = nil
      request.state = "left"
      active = active - 1
    end
  end
end

local function reset_counters()
  drop_left()
  counters = {
    requests = 0,
    connections = 0,
    upgrades = 0,
    delays = 0,
    delay_sum_ms = 0,
    by_status = {},
    max_active = active,
    max_queued = queued,
  }
end

local function start(request)
  request.state = "active"
  request.socket = peers.socket()
  working[request] = true
  active = active + 1
  if active > counters.max_active then
    drop_left()
    counters.max_active = math.max(counters.max_active, active)
  end
end

local function admit_queued()
  local limit = slot_limit()
  while queue_first <= queue_last and active < limit do
    local request = queue[queue_first]
    queue[queue_first] = nil
    queue_first = queue_first + 1
    if request.state == "queued" then
      queued = queued - 1
      start(request)
      request.wake:post(1)
    end
  end
end

local function acquire_slot(request)
  if queued == 0 and active < slot_limit() then
    return start(request)
  end
  request.state = "queued"
  request.wake = semaphore.new(0)
  queue_last = queue_last + 1
  queue[queue_last] = request
  queued = queued + 1
  if queued > counters.max_queued then
    counters.max_queued = queued
  end
  request.wake:wait(FOR_EVER_S)
end

local function sleep_ms(delay_ms)
  -- nginx's timers are whole milliseconds and ngx.sleep cuts off the rest: round, to keep the mean.
  local whole_ms = floor(delay_ms + 0.5)
  if whole_ms > 0 then
    ngx.sleep(whole_ms / 1000)
  end
end

local function take_time()
  local delay_ms = draw_delay_ms()
  counters.delays = counters.delays + 1
  counters.delay_sum_ms = counters.delay_sum_ms + delay_ms
  sleep_ms(delay_ms)
end

local function send_slowly(total_bytes)
  -- As it was when the request came: settings that change meanwhile are for those that follow.
  local interval_ms = settings.body_interval_ms
  local chunk = ("."):rep(math.max(1, floor(total_bytes / settings.body_chunks)))
  local left = total_bytes
  while left > 0 do
    local part = left < #chunk and chunk:sub(1, left) or chunk
    ngx.print(part)
    ngx.flush(true)
    left = left - #part
    if left > 0 then
      sleep_ms(interval_ms)
    end
  end
end

local function send_body()
  local bytes = settings.body_bytes
  if bytes == 0 then
    ngx.header["Content-Length"] = #name + 1
    ngx.print(name, "\n")
    return
  end
  ngx.header["Content-Length"] = bytes
  if settings.body_interval_ms > 0 then
    return send_slowly(bytes)
  end
  ngx.print(("."):rep(bytes))
end

local function fail()
  if settings.error_status == 444 then
    return ngx.exit(444)
  end
  ngx.status = settings.error_status
  ngx.header["Content-Length"] = #name + 1
  ngx.print(name, "\n")
end

--- Answers 101 and sends back every byte that comes.
local function echo()
  counters.upgrades = counters.upgrades + 1
  ngx.status = 101
  ngx.header["Upgrade"] = ngx.var.http_upgrade
  ngx.header["Connection"] = "Upgrade"
  ngx.send_headers()
  ngx.flush(true)
  local socket = ngx.req.socket(true)
  socket:settimeouts(nil, nil, FOR_EVER_S * 1000)
  while true do
    local data = socket:receiveany(8192)
    if not data or not socket:send(data) then
      return ngx.exit(444)
    end
  end
end

local function work(request)
  local failing = settings.error_share > 0 and random() < settings.error_share
  if failing and settings.error_delay_ms then
    -- An error with its own delay is turned away at the door: it takes no slot.
    start(request)
    sleep_ms(settings.error_delay_ms)
    return fail()
  end
  acquire_slot(request)
  if settings.hang_share > 0 and random() < settings.hang_share then
    while true do
      ngx.sleep(FOR_EVER_S)
    end
  end
  take_time()
  if failing then
    return fail()
  end
  send_body()
end

--- Content phase of the working port.
function M.serve()
  local request = { state = "new" }
  ngx.ctx.request = request
  counters.requests = counters.requests + 1
  if ngx.var.connection_requests == "1" then
    counters.connections = counters.connections + 1
  end
  ngx.header["X-Backend"] = name
  if ngx.var.http_upgrade then
    start(request)
    return echo()
  end
  work(request)
end

--- Log phase of the working port: runs however the request ended, also when the client left.
function M.finished()
  local status = tostring(ngx.status)
  counters.by_status[status] = (counters.by_status[status] or 0) + 1
  local request = ngx.ctx.request
  if not request then
    return
  end
  if request.state == "active" then
    working[request] = nil
    active = active - 1
    admit_queued()
  elseif request.state == "queued" then
    queued = queued - 1
  end
  request.state = "gone"
end

local function send_json(status, value)
  local text = cjson.encode(value)
  ngx.status = status
  ngx.header["Content-Type"] = "application/json"
  ngx.header["Content-Length"] = #text + 1
  ngx.print(text, "\n")
end

local function state()
  local copy = { active = active, queued = queued }
  for key, value in pairs(counters) do
    copy[key] = value
  end
  if next(copy.by_status) == nil then
    copy.by_status = nil -- an empty Lua table would be written as {}, or as []: leave it out
  end
  return { name = name, settings = settings, counters = copy }
end

local function apply(changes)
  local merged, problem = options.merge(settings, changes)
  if not merged then
    return nil, problem
  end
  settings = merged
  draw_delay_ms = delays.sampler(settings.delay)
  admit_queued()
  return true
end

local function change_settings()
  ngx.req.read_body()
  local changes, problem = cjson.decode(ngx.req.get_body_data() or "")
  if type(changes) ~= "table" then
    return send_json(400, { text = "body is not a JSON object: " .. tostring(problem) })
  end
  local ok, reason = apply(changes)
  if not ok then
    return send_json(400, { text = reason })
  end
  send_json(200, state())
end

--- Content phase of the control port: GET / · PATCH / (or POST /) · DELETE /counters.
function M.control()
  local method, path = ngx.req.get_method(), ngx.var.uri
  if path == "/" and method == "GET" then
    return send_json(200, state())
  end
  if path == "/" and (method == "PATCH" or method == "POST") then
    return change_settings()
  end
  if path == "/counters" and method == "DELETE" then
    reset_counters()
    return send_json(200, state())
  end
  send_json(404, { text = "use GET /, PATCH / or DELETE /counters" })
end

--- Called once when the process starts.
-- @param backend_name sent in the X-Backend header and as the body
-- @param seed number; equal seeds draw equal delays and errors
-- @param settings_path file with the settings to start with, as JSON
function M.init(backend_name, seed, settings_path)
  name = backend_name
  math.randomseed(seed)
  reset_counters()
  local file = assert(io.open(settings_path))
  local text = file:read("*a")
  file:close()
  assert(apply(assert(cjson.decode(text))))
end

return M
