local ____exports = {}
local ____node_report = require("resty.ax.core.node_report")
local MAX_REPORT_BYTES = ____node_report.MAX_REPORT_BYTES
--- Time between two reports of a node that a worker passes on. The collector looks about twice a second: of several
-- between two looks all but the last would be thrown away. So a worker copies at most 2 headers a second and node,
-- however many requests there are.
____exports.REPORT_EVERY_MS = 500
--- An answer without the header says nothing of the next one: so soon, a flush later, another one is looked at.
____exports.LOOK_AGAIN_MS = 100
function ____exports.newReports(n)
    local reports = {due_ms = {}}
    do
        local node = 0
        while node < n do
            reports.due_ms[node + 1] = 0
            node = node + 1
        end
    end
    return reports
end
--- Takes what an answer had for a header. Log phase, for a node that is due.
-- 
-- @param header undefined: the answer had none
function ____exports.takeReport(reports, counters, node, header, now_ms)
    if header == nil or header == "" then
        reports.due_ms[node + 1] = now_ms + ____exports.LOOK_AGAIN_MS
        return
    end
    reports.due_ms[node + 1] = now_ms + ____exports.REPORT_EVERY_MS
    counters.report[node + 1] = #header > MAX_REPORT_BYTES and string.sub(header, 1, MAX_REPORT_BYTES + 1) or header
end
return ____exports
