local ____exports = {}
--- One line a minute per code and worker: a fault at every request must not fill the disk.
local LOG_EVERY_MS = 60000
function ____exports.newFaults(log)
    return {by_code = {}, log = log}
end
--- Counts a fault, and logs it unless one of its kind was logged within the last minute.
function ____exports.noteFault(faults, code, message, now_ms)
    local fault = faults.by_code[code]
    if fault == nil then
        fault = {
            count = 0,
            unsent = 0,
            message = "",
            logged_at_ms = -LOG_EVERY_MS,
            at_ms = 0
        }
        faults.by_code[code] = fault
    end
    fault.count = fault.count + 1
    fault.unsent = fault.unsent + 1
    fault.message = message
    fault.at_ms = now_ms
    if now_ms - fault.logged_at_ms >= LOG_EVERY_MS then
        fault.logged_at_ms = now_ms
        faults.log(((((code .. ": ") .. message) .. " (") .. tostring(fault.count)) .. " so far in this worker; logged once a minute)")
    end
end
--- Adds what is new to the shared counts. Flush.
function ____exports.sendFaults(faults, store, encode)
    for code, entry in pairs(faults.by_code) do
        local fault = entry
        if fault.unsent > 0 and store.incr("errors:" .. code, fault.unsent) ~= nil then
            fault.unsent = 0
            local text = encode({
                count = 0,
                last_message = string.sub(fault.message, 1, 1000),
                last_at_ms = fault.at_ms
            })
            if text ~= nil then
                store.set("error:" .. code, text)
            end
        end
    end
end
--- The shared counts, with this worker's own unsent ones added. API.
function ____exports.readFaults(faults, store, codes, decode)
    local reports = {}
    for ____, code in ipairs(codes) do
        local shared = store.get("errors:" .. code)
        local own = faults.by_code[code]
        local count = (type(shared) == "number" and shared or 0) + (own == nil and 0 or own.unsent)
        if count > 0 then
            local text = store.get("error:" .. code)
            local ____temp_0
            if type(text) == "string" then
                ____temp_0 = decode(text)
            else
                ____temp_0 = nil
            end
            local last = ____temp_0
            local report = {count = count, last_message = "", last_at_ms = 0}
            if last ~= nil then
                report.last_message = last.last_message
                report.last_at_ms = last.last_at_ms
            end
            if own ~= nil and own.at_ms > report.last_at_ms then
                report.last_message = own.message
                report.last_at_ms = own.at_ms
            end
            reports[code] = report
        end
    end
    return reports
end
return ____exports
