-- The Store of core/store.ts over a table; `full` makes every write fail, as a full shared dict does.
return function()
  local values, lists = {}, {}
  local store = { full = false, values = values, lists = lists, writes = 0 }
  function store.get(key)
    return values[key]
  end
  function store.set(key, value)
    if store.full then
      return false
    end
    store.writes = store.writes + 1
    values[key] = value
    return true
  end
  function store.add(key, value)
    if store.full or values[key] ~= nil then
      return false
    end
    store.writes = store.writes + 1
    values[key] = value
    return true
  end
  function store.incr(key, by)
    if type(values[key]) ~= "number" then
      values[key] = nil
    end
    if store.full and values[key] == nil then
      return nil
    end
    values[key] = (values[key] or 0) + by
    return values[key]
  end
  function store.remove(key)
    values[key] = nil
  end
  function store.push(list, value)
    if store.full then
      return nil
    end
    lists[list] = lists[list] or {}
    table.insert(lists[list], value)
    return #lists[list]
  end
  function store.pop(list)
    return lists[list] and table.remove(lists[list], 1)
  end
  return store
end
