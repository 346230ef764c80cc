-- Files for the specs of nginx/conf: made ones in a directory of their own, and the fixtures beside
-- this file.
local dir = require("pl.dir")
local path = require("pl.path")

local M = {}

local HERE = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"

-- Full path of a fixture.
function M.fixture(name)
  return path.abspath(HERE .. name)
end

-- Writes files into a new directory: name → content. Returns the directory, with "/" at its end.
function M.make(files)
  local root = os.tmpname()
  os.remove(root)
  root = root .. ".d/"
  assert(dir.makepath(root))
  for name, content in pairs(files) do
    assert(dir.makepath(path.dirname(root .. name)))
    local file = assert(io.open(root .. name, "wb"))
    file:write(content)
    file:close()
  end
  return root
end

function M.remove(root)
  assert(root:match("^/tmp/.*%.d/$"), root)
  dir.rmtree(root)
end

return M
