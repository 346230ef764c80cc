local ____exports = {}
--- The request is sent to the node now. Any earlier try must have been ended.
function ____exports.beginTry(upstream, record, node, now_ms)
    local pool = upstream.pool
    local head = upstream.flights[node + 1]
    local last = head.prev
    record.upstream = upstream
    record.node = node
    record.start_ms = now_ms
    record.prev = last
    record.next = head
    last.next = record
    head.prev = record
    local ____pool_in_flight_0, ____temp_1 = pool.in_flight, node + 1
    ____pool_in_flight_0[____temp_1] = ____pool_in_flight_0[____temp_1] + 1
    pool.oldest_start_ms[node + 1] = head.next.start_ms
    pool.last_pick_ms[node + 1] = now_ms
end
--- The try in flight, if there is one, is over.
function ____exports.endTry(record)
    local node = record.node
    local upstream = record.upstream
    if node < 0 or upstream == nil then
        return
    end
    local prev = record.prev
    local next = record.next
    prev.next = next
    next.prev = prev
    record.prev = nil
    record.next = nil
    record.node = -1
    local pool = upstream.pool
    local ____pool_in_flight_2, ____temp_3 = pool.in_flight, node + 1
    ____pool_in_flight_2[____temp_3] = ____pool_in_flight_2[____temp_3] - 1
    pool.oldest_start_ms[node + 1] = upstream.flights[node + 1].next.start_ms
end
return ____exports
