local ____exports = {}
local ____prober = require("resty.ax.collector.prober")
local endCheck = ____prober.endCheck
local lineUp = ____prober.lineUp
local newProber = ____prober.newProber
local probeSource = ____prober.probeSource
local restoreProbes = ____prober.restoreProbes
local takeCheck = ____prober.takeCheck
local ____values = require("resty.ax.core.values")
local asRecord = ____values.asRecord
local ____clock = require("resty.ax.nginx.clock")
local nowMs = ____clock.nowMs
local ____json = require("resty.ax.nginx.json")
local decode = ____json.decode
local ____check = require("resty.ax.nginx.probe.check")
local makeCheck = ____check.makeCheck
local ____runner = require("resty.ax.nginx.probe.runner")
local startRunner = ____runner.startRunner
local ____faults = require("resty.ax.phases.faults")
local fault = ____faults.fault
--- A runner looks every 50 ms: one that has not looked for so long has ended.
local LOST_MS = 5000
local function checkSource(probes)
    local ____probes_0 = probes
    local prober = ____probes_0.prober
    probes.runner = probes.runner + 1
    local mine = probes.runner
    return {
        wanted = function() return probes.wanted and probes.runner == mine end,
        prepare = function(now_ms)
            probes.seen_ms = now_ms
            return lineUp(prober, now_ms)
        end,
        take = function(now_ms) return takeCheck(prober, now_ms) end,
        run = function(check)
            local result, err = makeCheck(check.job)
            endCheck(
                prober,
                check,
                result,
                nowMs()
            )
            if err ~= nil then
                local ____check_job_1 = check.job
                local upstream = ____check_job_1.upstream
                local node = ____check_job_1.node
                fault(
                    "probe",
                    (((("no connection for a check of " .. node) .. " (upstream ") .. upstream) .. "): ") .. err,
                    nowMs()
                )
            end
        end,
        abandon = function(check, err)
            endCheck(
                prober,
                check,
                nil,
                nowMs()
            )
            if err ~= nil then
                fault(
                    "probe",
                    err,
                    nowMs()
                )
            end
        end,
        timeoutMs = function(check) return check.job.timeout_ms end,
        onRefused = function(err)
            if probes.wanted then
                fault(
                    "probe",
                    "nginx refused the timer for checks: " .. err,
                    nowMs()
                )
            end
        end
    }
end
--- What the collector before had found, before this one writes anything.
local function restoreAll(worker, prober, now_ms)
    for ____, upstream in ipairs(prober.upstreams) do
        local text = worker.store.get("detail:" .. upstream.name)
        local detail = decode(tostring(text or ""))
        local ____asRecord_4 = asRecord
        local ____opt_2 = asRecord(detail)
        local nodes = ____asRecord_4(____opt_2 and ____opt_2.nodes)
        if nodes ~= nil then
            restoreProbes(prober, upstream.name, nodes, now_ms)
        end
    end
end
--- This worker has just become the collector.
-- 
-- @returns undefined when no upstream has probes
function ____exports.startProbes(worker, now_ms)
    local prober = newProber(worker.config, now_ms)
    if prober == nil then
        return nil
    end
    restoreAll(worker, prober, now_ms)
    local probes = {
        prober = prober,
        source = probeSource(prober),
        wanted = true,
        runner = 0,
        seen_ms = now_ms
    }
    startRunner(checkSource(probes))
    return probes
end
--- Called before each of the collector's rounds: begins anew when checks have stopped, as after a refused timer.
function ____exports.keepProbing(probes, now_ms)
    if probes == nil or now_ms - probes.seen_ms < LOST_MS then
        return
    end
    probes.seen_ms = now_ms
    startRunner(checkSource(probes))
end
--- This worker is no longer the collector, or ends: checks under way end at once, without a result.
function ____exports.stopProbes(probes)
    if probes ~= nil then
        probes.wanted = false
    end
end
return ____exports
