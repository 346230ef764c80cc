local ____exports = {}
--- Where there is no room rpush answers false, not nil.
local function lengthOf(answer)
    return type(answer) == "number" and answer or nil
end
---
-- @param name of a lua_shared_dict zone
-- @returns undefined when the nginx configuration has no such zone
function ____exports.openStore(name)
    local dict = ngx.shared[name]
    if dict == nil then
        return nil
    end
    return {
        get = function(key)
            local value = dict:get(key)
            return value
        end,
        set = function(key, value)
            local ok = dict:safe_set(key, value)
            return ok == true
        end,
        add = function(key, value)
            local ok = dict:safe_add(key, value)
            return ok == true
        end,
        incr = function(key, by)
            local value, err = dict:incr(key, by)
            if value ~= nil then
                return value
            end
            if err == "not a number" then
                dict:delete(key)
            end
            if (dict:safe_add(key, 0)) ~= true and (dict:get(key)) == nil then
                return nil
            end
            return (dict:incr(key, by))
        end,
        remove = function(key)
            dict:delete(key)
        end,
        push = function(list, value)
            local length, err = dict:rpush(list, value)
            if err ~= "value not a list" then
                return lengthOf(length)
            end
            dict:delete(list)
            return lengthOf((dict:rpush(list, value)))
        end,
        pop = function(list)
            local value = dict:lpop(list)
            return value
        end,
        capacityBytes = function() return dict:capacity() end,
        freeBytes = function() return dict:free_space() end
    }
end
return ____exports
