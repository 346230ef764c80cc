local pcall = pcall
local ____exports = {}
--- Loads a Lua module of the user's from lua_package_path. init phase.
-- 
-- @returns the module's value, or undefined and why it could not be loaded
function ____exports.loadModule(name)
    local ok, loaded = pcall(require, name)
    if not ok then
        return nil, tostring(loaded)
    end
    return loaded, nil
end
return ____exports
