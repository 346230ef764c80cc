--- What balancers in Lua cost at least: this one chooses in turn, and counts in the log phase.
local set_current_peer = require("ngx.balancer").set_current_peer

local M = {}

local hosts, ports, at = {}, {}, 0
local ended, failed = 0, 0

--- @param peers list of { host, port }
function M.init(peers)
  for k, peer in ipairs(peers) do
    hosts[k], ports[k] = peer[1], peer[2]
  end
end

function M.balancer()
  at = at % #hosts + 1
  set_current_peer(hosts[at], ports[at])
end

--- Reads what any balancer needs that learns: how the try ended and when its answer began.
function M.log()
  local status, time = ngx.var.upstream_status, ngx.var.upstream_header_time
  ended = ended + 1
  if time == "-" or status == "502" then
    failed = failed + 1
  end
end

return M
