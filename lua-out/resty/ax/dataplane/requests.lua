local ____exports = {}
local ____fraction = require("resty.ax.core.fraction")
local fraction = ____fraction.fraction
local ____priority = require("resty.ax.core.priority")
local DEFAULT_PRIORITY = ____priority.DEFAULT_PRIORITY
--- Free records kept at most: a burst must not hold its memory for ever.
local FREE_MAX = 4096
--- Tries remembered at most; later ones overwrite the last: nginx has been seen past 100 tries.
____exports.TRIES_MAX = 64
function ____exports.newRequestTable()
    return {
        by_key = {},
        free = {},
        free_count = 0,
        live = 0,
        subrequests = {},
        subrequest_count = 0
    }
end
--- A record with no request: the head of a node's list, or a fresh one to use.
function ____exports.newRequestRecord()
    return {
        key = 0,
        born = 0,
        upstream = nil,
        node = -1,
        start_ms = fraction(0),
        slot_upstream = nil,
        slot_node = -1,
        is_long = false,
        first_ms = 0,
        subrequest = false,
        family = "",
        subrequest_at = -1,
        role = 0,
        priority = DEFAULT_PRIORITY,
        class_of = nil,
        reserved = false,
        on_trial = false,
        trial = 0,
        waiter = nil,
        prev = nil,
        next = nil,
        hash_key = 0,
        key_of = nil,
        key_text = "",
        key_address = "",
        key_port = "",
        key_unhashed = false,
        tries = 0,
        earlier_tries = 0,
        settled_tries = 0,
        try_upstream = {},
        try_node = {},
        try_learnt = {}
    }
end
--- Takes a record for a request that has none yet.
function ____exports.openRequest(____table, key, born, subrequest)
    local record
    if ____table.free_count > 0 then
        ____table.free_count = ____table.free_count - 1
        record = ____table.free[____table.free_count + 1]
    else
        record = ____exports.newRequestRecord()
    end
    record.key = key
    record.born = born
    record.subrequest = subrequest
    record.role = 0
    record.priority = DEFAULT_PRIORITY
    record.class_of = nil
    record.key_of = nil
    record.tries = 0
    record.earlier_tries = 0
    record.settled_tries = 0
    record.node = -1
    record.slot_node = -1
    ____table.by_key[key] = record
    ____table.live = ____table.live + 1
    return record
end
--- Tells a record that it is of a subrequest, so that `familyOver` finds it.
function ____exports.joinFamily(____table, record, family)
    record.family = family
    record.subrequest_at = ____table.subrequest_count
    ____table.subrequests[____table.subrequest_count + 1] = record
    ____table.subrequest_count = ____table.subrequest_count + 1
end
local function leaveFamily(____table, record)
    local at = record.subrequest_at
    ____table.subrequest_count = ____table.subrequest_count - 1
    local last = ____table.subrequests[____table.subrequest_count + 1]
    ____table.subrequests[at + 1] = last
    last.subrequest_at = at
    table.remove(____table.subrequests)
    record.family = ""
    record.subrequest_at = -1
end
--- Gives the record back. The try in flight must have been ended.
function ____exports.closeRequest(____table, record)
    ____table.by_key[record.key] = nil
    ____table.live = ____table.live - 1
    record.key = 0
    record.upstream = nil
    if record.subrequest_at >= 0 then
        leaveFamily(____table, record)
    end
    if ____table.free_count < FREE_MAX then
        ____table.free[____table.free_count + 1] = record
        ____table.free_count = ____table.free_count + 1
    end
end
--- Remembers that the request goes to a node now.
function ____exports.addTry(record, upstream, node)
    local at = record.tries < ____exports.TRIES_MAX and record.tries or ____exports.TRIES_MAX - 1
    record.try_upstream[at + 1] = upstream
    record.try_node[at + 1] = node
    record.try_learnt[at + 1] = false
    record.tries = at + 1
end
--- An internal redirect (error_page, X-Accel-Redirect) begins a new visit to an upstream: class and key are read anew.
-- 
-- @param answered the last try got an answer: nothing is held against the nodes tried so far
function ____exports.beginVisit(record, answered)
    if answered then
        record.settled_tries = record.tries
    end
    record.earlier_tries = record.tries
    record.class_of = nil
    record.key_of = nil
end
--- Whether the request was already sent to this node, in vain.
function ____exports.wasTried(record, upstream, node)
    local tries = record.tries
    do
        local k = record.settled_tries
        while k < tries do
            if record.try_node[k + 1] == node and record.try_upstream[k + 1] == upstream then
                return true
            end
            k = k + 1
        end
    end
    return false
end
return ____exports
