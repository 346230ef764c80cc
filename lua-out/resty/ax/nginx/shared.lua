local ____exports = {}
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
        set = function(key, value, life_s)
            local ok = dict:safe_set(key, value, life_s or 0)
            return ok == true
        end,
        add = function(key, value, life_s)
            local ok = dict:safe_add(key, value, life_s or 0)
            return ok == true
        end,
        incr = function(key, by)
            local value = dict:incr(key, by)
            if value ~= nil then
                return value
            end
            if (dict:safe_add(key, 0, 0)) ~= true and (dict:get(key)) == nil then
                return nil
            end
            return (dict:incr(key, by))
        end,
        remove = function(key)
            dict:delete(key)
        end,
        push = function(list, value)
            local length = dict:rpush(list, value)
            return length
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
