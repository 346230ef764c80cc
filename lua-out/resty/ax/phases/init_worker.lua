local pcall = pcall
-- Lua Library inline imports
local function __TS__ObjectAssign(target, ...)
    local sources = {...}
    for i = 1, #sources do
        local source = sources[i]
        if type(source) == "table" then
            for key in pairs(source) do
                target[key] = source[key]
            end
        end
    end
    return target
end
-- End of Lua Library inline imports
local ____exports = {}
local decodeOrNothing, newOffice, receiveAll
local ____collector = require("resty.ax.collector.collector")
local newCollector = ____collector.newCollector
local tick = ____collector.tick
local ____election = require("resty.ax.collector.election")
local isElected = ____election.isElected
local newCandidate = ____election.newCandidate
local resign = ____election.resign
local ____registry = require("resty.ax.core.strategies.registry")
local strategies = ____registry.strategies
local ____rate_limit = require("resty.ax.core.rate_limit")
local sweepTokens = ____rate_limit.sweepTokens
local ____slots = require("resty.ax.core.slots")
local claimHolder = ____slots.claimHolder
local keepHolder = ____slots.keepHolder
local ____error_text = require("resty.ax.dataplane.error_text")
local errorText = ____error_text.errorText
local ____door_exchange = require("resty.ax.dataplane.door_exchange")
local publishDoors = ____door_exchange.publishDoors
local ____drain = require("resty.ax.dataplane.drain")
local readDrains = ____drain.readDrains
local ____exchange = require("resty.ax.dataplane.exchange")
local publish = ____exchange.publish
local ____snapshots = require("resty.ax.dataplane.snapshots")
local readSnapshots = ____snapshots.readSnapshots
local ____worker_record = require("resty.ax.dataplane.worker_record")
local readOthers = ____worker_record.readOthers
local ____prepare = require("resty.ax.dataplane.prepare")
local prepareAll = ____prepare.prepareAll
local ____line = require("resty.ax.dataplane.line")
local newHall = ____line.newHall
local ____requests = require("resty.ax.dataplane.requests")
local newRequestTable = ____requests.newRequestTable
local ____leases = require("resty.ax.dataplane.leases")
local settleLeases = ____leases.settleLeases
local ____limits = require("resty.ax.dataplane.limits")
local attachSlots = ____limits.attachSlots
local readLimits = ____limits.readLimits
local ____rate = require("resty.ax.dataplane.rate")
local gatewayLimit = ____rate.gatewayLimit
local ____slots = require("resty.ax.dataplane.slots")
local setHolder = ____slots.setHolder
local ____retry_budget = require("resty.ax.core.retry_budget")
local shareReserve = ____retry_budget.shareReserve
local ____log_watch = require("resty.ax.dataplane.log_watch")
local missingLog = ____log_watch.missingLog
local ____sweep = require("resty.ax.dataplane.sweep")
local sweep = ____sweep.sweep
local ____refresh = require("resty.ax.dataplane.refresh")
local refresh = ____refresh.refresh
local ____upstream = require("resty.ax.dataplane.upstream")
local newUpstream = ____upstream.newUpstream
local ____worker = require("resty.ax.dataplane.worker")
local process = ____worker.process
local ____events = require("resty.ax.core.health.events")
local eventText = ____events.eventText
local ____clock = require("resty.ax.nginx.clock")
local nowMs = ____clock.nowMs
local runningMs = ____clock.runningMs
local wallS = ____clock.wallS
local ____key_reader = require("resty.ax.nginx.key_reader")
local newKeyReader = ____key_reader.newKeyReader
local ____json = require("resty.ax.nginx.json")
local decode = ____json.decode
local encode = ____json.encode
local ____log = require("resty.ax.nginx.log")
local logError = ____log.logError
local logNotice = ____log.logNotice
local ____process = require("resty.ax.nginx.process")
local isRunning = ____process.isRunning
local processAlive = ____process.processAlive
local processIdentity = ____process.processIdentity
local workerCount = ____process.workerCount
local workerPid = ____process.workerPid
local ____request = require("resty.ax.nginx.request")
local isIdempotent = ____request.isIdempotent
local mayLast = ____request.mayLast
local ____timer = require("resty.ax.nginx.timer")
local every = ____timer.every
local pause = ____timer.pause
local ____faults = require("resty.ax.observe.faults")
local newFaults = ____faults.newFaults
local sendFaults = ____faults.sendFaults
local ____probes = require("resty.ax.phases.probes")
local keepProbing = ____probes.keepProbing
local startProbes = ____probes.startProbes
local stopProbes = ____probes.stopProbes
local ____door = require("resty.ax.phases.door")
local setUpDoor = ____door.setUpDoor
local ____faults = require("resty.ax.phases.faults")
local fault = ____faults.fault
local report = ____faults.report
local ____wait = require("resty.ax.phases.wait")
local wake = ____wait.wake
function decodeOrNothing(text)
    local value = decode(text)
    return value
end
function newOffice(worker, now_ms)
    worker.probes = startProbes(worker, now_ms)
    local ____newCollector_11 = newCollector
    local ____worker_config_10 = worker.config
    local ____worker_store_3 = worker.store
    local ____encode_4 = encode
    local ____decodeOrNothing_5 = decodeOrNothing
    local ____worker_exchange_pid_6 = worker.exchange.pid
    local ____processAlive_7 = processAlive
    local ____pause_8 = pause
    local ____runningMs_9 = runningMs
    local ____opt_1 = worker.probes
    return ____newCollector_11(
        ____worker_config_10,
        {
            store = ____worker_store_3,
            encode = ____encode_4,
            decode = ____decodeOrNothing_5,
            pid = ____worker_exchange_pid_6,
            processAlive = ____processAlive_7,
            pause = ____pause_8,
            runningMs = ____runningMs_9,
            probes = ____opt_1 and ____opt_1.source,
            wallS = wallS,
            onEvent = function(upstream, event)
                logNotice((("upstream \"" .. upstream) .. "\"") .. eventText(event))
            end,
            onWarning = function(kind, message)
                fault(
                    kind,
                    message,
                    nowMs()
                )
            end,
            holderAlive = isRunning
        }
    )
end
function receiveAll(worker, now_ms, pauseBetween)
    readOthers(worker.exchange, worker.upstreams, now_ms)
    readSnapshots(worker.exchange, worker.upstreams, now_ms, pauseBetween)
    readLimits(worker.store, worker.upstreams, decodeOrNothing)
    readDrains(worker.store, worker.upstreams, decodeOrNothing, now_ms)
    for ____, upstream in ipairs(worker.upstreams) do
        refresh(upstream, now_ms)
    end
end
local SWEEP_EVERY_MS = 5000
--- On top of one flush and one collector interval: for an election that may come between.
local HOLD_MARGIN_MS = 1000
local function defaultsOf(strategy)
    local options = {}
    for name, field in pairs(strategy.options) do
        if field.kind ~= "any" and field.default ~= nil then
            options[name] = field.default
        end
    end
    return options
end
--- What trials need to know of the request that is picked for.
local function readRequestsWith(upstream)
    upstream.mayRepeat = isIdempotent
    upstream.mayLast = mayLast
end
local function newWorkerUpstream(config, prepared, seed)
    local custom = prepared.custom[config.name]
    local keys = newKeyReader(config.hash_key)
    if custom == nil then
        return newUpstream(
            config,
            strategies[config.strategy],
            false,
            seed,
            keys
        )
    end
    local ok, made = pcall(
        newUpstream,
        config,
        custom,
        true,
        seed,
        keys
    )
    if ok then
        return made
    end
    fault(
        "strategy",
        (((("strategy_module \"" .. tostring(config.strategy_module)) .. "\" of upstream \"") .. config.name) .. "\": create: ") .. errorText(made),
        nowMs()
    )
    return newUpstream(
        __TS__ObjectAssign(
            {},
            config,
            {strategy_options = defaultsOf(strategies.adaptive)}
        ),
        strategies.adaptive,
        false,
        seed
    )
end
local function newWorker(prepared, faults)
    local pid = workerPid()
    local config = prepared.config
    local worker
    worker = {
        config = config,
        store = prepared.store,
        by_name = {},
        upstreams = {},
        requests = newRequestTable(),
        holder = 0,
        identity = processIdentity(pid) or tostring(pid),
        rate_limit = gatewayLimit(
            config,
            prepared.store,
            nowMs()
        ),
        hall = newHall(
            prepared.store,
            function() return worker.exchange.slot end,
            wake,
            report
        ),
        exchange = {
            store = prepared.store,
            pid = pid,
            slot = 0,
            generation = nil,
            encode = encode,
            decode = decodeOrNothing,
            processAlive = processAlive,
            onFault = function(code, message)
                fault(
                    code,
                    message,
                    nowMs()
                )
            end
        },
        candidate = newCandidate(prepared.store, pid, processAlive),
        collector = nil,
        probes = nil,
        collected_at_ms = 0,
        swept_at_ms = 0,
        log_ran = false,
        faults = faults,
        exiting = false,
        log_does_more = false,
        left_at_ms = 0
    }
    worker.holder = claimHolder(worker.store, worker.identity)
    for name, upstream in pairs(config.upstreams) do
        local made = newWorkerUpstream(upstream, prepared, pid * 7919 + #worker.upstreams)
        setUpDoor(worker.hall, made)
        readRequestsWith(made)
        made.hold_ms = HOLD_MARGIN_MS + config.flush_interval_ms + config.collector_interval_ms
        attachSlots(made, worker.store, worker.holder)
        shareReserve(
            made.retry_budget,
            workerCount()
        )
        if made.reports ~= nil then
            worker.log_does_more = true
        end
        worker.by_name[name] = made
        local ____worker_upstreams_0 = worker.upstreams
        ____worker_upstreams_0[#____worker_upstreams_0 + 1] = made
    end
    return worker
end
local function collect(worker, now_ms)
    if not isElected(worker.candidate, now_ms) then
        worker.collector = nil
        stopProbes(worker.probes)
        worker.probes = nil
        return
    end
    if worker.collector ~= nil and now_ms - worker.collected_at_ms < worker.config.collector_interval_ms then
        return
    end
    if worker.collector == nil then
        worker.collector = newOffice(worker, now_ms)
    end
    keepProbing(worker.probes, now_ms)
    worker.collected_at_ms = now_ms
    tick(worker.collector, now_ms)
end
local function receive(worker, now_ms)
    receiveAll(worker, now_ms, pause)
end
--- Without a number the worker can lease nothing, and keeps no limits; with one that is not its own, others take its slots.
local function keepNumber(worker)
    local holder = keepHolder(worker.store, worker.holder, worker.identity)
    if holder == worker.holder then
        return
    end
    worker.holder = holder
    for ____, upstream in ipairs(worker.upstreams) do
        if upstream.slots ~= nil then
            setHolder(upstream.slots, holder)
        end
    end
end
local function prepare(worker, now_ms)
    prepareAll(worker.upstreams, now_ms, report, pause)
end
local function settle(worker, now_ms)
    keepNumber(worker)
    for ____, upstream in ipairs(worker.upstreams) do
        if upstream.slots ~= nil then
            settleLeases(upstream.slots, now_ms)
        end
    end
    if worker.rate_limit ~= nil then
        sweepTokens(worker.rate_limit, now_ms)
    end
end
local function housekeep(worker, now_ms)
    sendFaults(worker.faults, worker.store, encode)
    if now_ms - worker.swept_at_ms < SWEEP_EVERY_MS then
        return
    end
    worker.swept_at_ms = now_ms
    sweep(worker.requests, worker.log_ran, now_ms)
    for ____, upstream in ipairs(worker.upstreams) do
        local missing = missingLog(
            upstream.logs,
            upstream.config.name,
            upstream.picks_total,
            worker.log_ran,
            now_ms
        )
        if missing ~= nil then
            fault("log_missing", missing, now_ms)
        end
    end
end
local function send(worker, now_ms)
    publish(worker.exchange, worker.upstreams, false, now_ms)
    publishDoors(worker.exchange, worker.upstreams, now_ms)
end
local function leave(worker, now_ms)
    worker.exiting = true
    worker.log_does_more = true
    for ____, upstream in ipairs(worker.upstreams) do
        if upstream.slots ~= nil then
            upstream.slots.eager = true
        end
    end
    settle(worker, now_ms)
    publish(worker.exchange, worker.upstreams, true, now_ms)
    stopProbes(worker.probes)
    resign(worker.candidate)
end
--- Every step on its own: one that throws must not take the others along.
local function onTimer(exiting)
    local worker = process.worker
    if worker == nil then
        return
    end
    local now_ms = nowMs()
    local steps = exiting and ({leave}) or ({
        send,
        settle,
        receive,
        prepare,
        collect,
        housekeep
    })
    for ____, step in ipairs(steps) do
        local ok, err = pcall(step, worker, now_ms)
        if not ok then
            fault(
                step == collect and "collector" or "flush",
                tostring(err),
                now_ms
            )
        end
    end
end
--- Sets up this worker: its view of the upstreams, informed at once by the last snapshot (after a
-- reload the first pick already knows what was known before), and its timer.
-- 
-- init_worker_by_lua phase.
function ____exports.initWorker()
    local prepared = process.prepared
    if prepared == nil then
        fault(
            "not_initialised",
            "init_worker(): init() has not run: add it to init_by_lua_block",
            nowMs()
        )
        return
    end
    local faults = process.faults or newFaults(logError)
    process.faults = faults
    local worker = newWorker(prepared, faults)
    process.worker = worker
    local ok, err = pcall(
        receiveAll,
        worker,
        nowMs()
    )
    if not ok then
        fault(
            "flush",
            tostring(err),
            nowMs()
        )
    end
    local prepared_ok, failure = pcall(
        prepareAll,
        worker.upstreams,
        nowMs(),
        report
    )
    if not prepared_ok then
        fault(
            "flush",
            tostring(failure),
            nowMs()
        )
    end
    local refused = every(worker.config.flush_interval_ms, onTimer)
    if refused ~= nil then
        fault(
            "flush",
            "nginx refused the flush timer: " .. refused,
            nowMs()
        )
    end
end
return ____exports
