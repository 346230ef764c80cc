--- Whether the client of a request has hung up, as the kernel knows it at this instant.
--
-- A gateway closes its connection to a backend, and then sends another request over another one. The kernel
-- has both in this order; nginx reads sockets in the order in which they became ready, and does not see the end of
-- a connection that came together with its request. So what the backend counts must not rest on what nginx has read.

local ffi = require("ffi")
local base = require("resty.core.base")

ffi.cdef([[
struct kit_pollfd { int fd; short events; short revents; };
int poll(struct kit_pollfd *fds, unsigned long count, int timeout_ms);
]])

-- How ngx_http_request_t and ngx_connection_t begin, in every nginx so far.
local request_head = ffi.typeof([[
struct { uint32_t signature; struct { void *data, *read, *write; int fd; } *connection; } *
]])

local POLLERR, POLLHUP, POLLRDHUP = 0x0008, 0x0010, 0x2000

local poll = ffi.new("struct kit_pollfd[1]")

local M = {}

--- Socket of the current request. Content phase.
function M.socket()
  return ffi.cast(request_head, base.get_request()).connection.fd
end

--- @param socket of a request that has not ended
function M.has_left(socket)
  poll[0].fd = socket
  poll[0].events = POLLRDHUP
  poll[0].revents = 0
  return ffi.C.poll(poll, 1, 0) == 1 and bit.band(poll[0].revents, POLLERR + POLLHUP + POLLRDHUP) ~= 0
end

return M
