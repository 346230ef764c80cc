-- Somebody's own module.
local M = { version = "7" }

function M.allowed(token)
  return token == "letmein"
end

return M
