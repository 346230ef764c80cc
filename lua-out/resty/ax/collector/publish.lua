local math_max = math.max
local ____exports = {}
local publishUpstream, writeDetail, write, noteWrite
local ____compose = require("resty.ax.collector.compose")
local composeWindows = ____compose.composeWindows
local ____events = require("resty.ax.collector.events")
local publishKinds = ____events.publishKinds
local ____state = require("resty.ax.collector.state")
local breathe = ____state.breathe
function publishUpstream(collector, upstream, head, now_ms)
    local name = upstream.config.name
    write(collector, "snapshot:" .. name, head .. upstream.snapshot_body)
    breathe(collector, #upstream.nodes / 4)
    if upstream.detail_due or upstream.settled then
        writeDetail(collector, upstream, head)
    end
    upstream.detail_due = false
    local windows = composeWindows(collector, upstream, now_ms)
    publishKinds(collector, upstream, windows ~= nil)
    if windows ~= nil then
        write(collector, "windows:" .. name, windows)
    end
end
function writeDetail(collector, upstream, head)
    local parts = upstream.detail_parts
    if #parts == 0 then
        return
    end
    parts[1] = head
    write(
        collector,
        "detail:" .. upstream.config.name,
        table.concat(parts, "")
    )
    breathe(collector, #upstream.nodes / 2)
end
function write(collector, key, text)
    noteWrite(
        collector,
        collector.deps.store.set(key, text),
        key
    )
end
function noteWrite(collector, written, key)
    if written then
        return
    end
    if not collector.full and not collector.full_before then
        collector.deps.onWarning("store_full", ("no room for " .. key) .. ": workers keep what they have; enlarge the shared dict")
    end
    collector.full = true
end
--- Writes what the collector found, every upstream's snapshot and detail, then the generation that tells
-- workers to look. Every tick writes, also when nothing changed: the time stamp shows that the data is
-- fresh, and a key that somebody deleted is back at once.
function ____exports.publish(collector, now_ms)
    local store = collector.deps.store
    local stored = store.get("generation")
    local before = type(stored) == "number" and stored or 0
    if stored ~= nil and type(stored) ~= "number" then
        store.remove("generation")
    end
    local generation = math_max(before, collector.generation) + 1
    collector.generation = generation
    do
        local i = 0
        while i < #collector.upstreams do
            publishUpstream(
                collector,
                collector.upstreams[i + 1],
                ((("{\"generation\":" .. tostring(generation)) .. ",\"at_ms\":") .. tostring(now_ms)) .. ",",
                now_ms
            )
            i = i + 1
        end
    end
    noteWrite(
        collector,
        store.incr("generation", generation - before) ~= nil,
        "generation"
    )
    collector.full_before = collector.full
    collector.full = false
end
return ____exports
