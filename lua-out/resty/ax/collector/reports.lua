local ____exports = {}
local ____stale = require("resty.ax.core.health.stale")
local STALE_AFTER_MS = ____stale.STALE_AFTER_MS
local ____node_report = require("resty.ax.core.node_report")
local OVER_AFTER = ____node_report.OVER_AFTER
local readNodeReport = ____node_report.readNodeReport
local ____state = require("resty.ax.collector.state")
local breathe = ____state.breathe
--- As `max_watermark` of probes (requirements: from 85 % on a node is not healthy), where there are none.
local LIMIT = 0.85
--- A report costs about as much as so many looks at a node.
local READING = 4
local function limitOf(config)
    local ____opt_0 = config.probe
    return ____opt_0 and ____opt_0.max_watermark or LIMIT
end
--- Keeps the newest of all workers' texts. It is read at the next look: one per node and look, however many workers.
function ____exports.noteReport(node, text, at_ms)
    if at_ms < node.report_at_ms then
        return
    end
    node.report_text = text
    node.report_at_ms = at_ms
end
--- Reads what came since the last look. What cannot be read is counted, and changes nothing.
function ____exports.takeReport(collector, node, config, now_ms)
    local ____node_2 = node
    local seen = ____node_2.seen
    local detail = ____node_2.detail
    if node.report_text ~= "" then
        local read = readNodeReport(
            node.report_text,
            collector.deps.decode,
            seen.report,
            limitOf(config),
            node.report_at_ms
        )
        node.report_text = ""
        if read == nil then
            detail.reports_bad_total = (detail.reports_bad_total or 0) + 1
        else
            seen.report = read
        end
        breathe(collector, READING)
    end
    local report = seen.report
    local is_fresh = report ~= nil and now_ms - report.signals_at_ms <= STALE_AFTER_MS
    seen.overloaded = is_fresh and report.over_in_row >= OVER_AFTER
end
return ____exports
