-- Lua Library inline imports
local function __TS__StringCharCodeAt(self, index)
    if index ~= index then
        index = 0
    end
    if index < 0 then
        return 0 / 0
    end
    return string.byte(self, index + 1) or 0 / 0
end

local function __TS__ArrayIncludes(self, searchElement, fromIndex)
    if fromIndex == nil then
        fromIndex = 0
    end
    local len = #self
    local k = fromIndex
    if fromIndex < 0 then
        k = len + fromIndex
    end
    if k < 0 then
        k = 0
    end
    for i = k + 1, len do
        if self[i] == searchElement then
            return true
        end
    end
    return false
end
-- End of Lua Library inline imports
local ____exports = {}
local ____classes = require("resty.ax.core.classes")
local DEFAULT_CLASSES = ____classes.DEFAULT_CLASSES
local ____problems = require("resty.ax.core.config.problems")
local keyPath = ____problems.keyPath
local positionPath = ____problems.positionPath
local report = ____problems.report
local ____show = require("resty.ax.core.config.show")
local quote = ____show.quote
local sortedKeys = ____show.sortedKeys
local ____suggest = require("resty.ax.core.config.suggest")
local suggest = ____suggest.suggest
local ____describe = require("resty.ax.core.config.describe")
local quotedList = ____describe.quotedList
local ____texts = require("resty.ax.core.config.texts")
local checkName = ____texts.checkName
--- nginx keeps a connection for each waiting request; more than this is a mistake.
local MAX_SIZE = 1000000
local function checkHeader(text)
    do
        local i = 0
        while i < #text do
            local code = __TS__StringCharCodeAt(text, i)
            local letter = code >= 65 and code <= 90 or code >= 97 and code <= 122
            if not letter and not (code >= 48 and code <= 57) and code ~= 45 then
                return "is no name of a header; letters, digits and - are allowed"
            end
            i = i + 1
        end
    end
    return text == "" and "is empty; leave the option out instead" or nil
end
--- Options of `queue.drain`; the fields of core/model.ts DrainConfig.
____exports.drainOptions = {from = {
    kind = "number",
    min = 0,
    max = 1,
    default = 0,
    doc = "Share of `size` that must have been waiting for 2 s for draining to begin by itself; 0 = it begins by the " .. "[API](api.md#draining-a-backlog-patch) only. It ends when nothing waits any more.",
    reason = "refusing requests while some could still wait is for the operator to want"
}, refuse = {kind = "list", of = {kind = "string", check = checkName, doc = "A class."}, doc = "Classes whose new requests are refused meanwhile. Without it all but those of priority 1."}, class_weights = {
    kind = "map",
    of = {kind = "number", min = 1, max = 1000, doc = "Weight of the class's priority."},
    default_empty = true,
    key_doc = "class",
    key_check = checkName,
    expected = "a map of class names to weights, { vip = 16, batch = 1 },",
    doc = "Shares of the classes in what is served meanwhile, instead of the order of age. Priorities without a weight have 16, " .. "8, 4, 2, 1.",
    reason = "in a backlog all are old, and age no longer tells vip from batch"
}, max_extra_ratio = {
    kind = "number",
    min = 0,
    max = 1,
    default = 0.25,
    doc = "How far `max_concurrency_per_node` and `max_concurrency` may be exceeded meanwhile, in steps of 5 requests, as long " .. "as latency and errors stay as they were; 0 = not at all. `max_conns` is never exceeded.",
    reason = "a limit has some reserve, and the steps find out; they go back when nodes become slower"
}}
--- Options of `queue`; the fields of core/model.ts QueueConfig.
____exports.queueOptions = {
    size = {
        kind = "number",
        integer = true,
        min = 1,
        max = MAX_SIZE,
        default = 1000,
        doc = "Most requests waiting at a time, over all workers; past it `503` with `X-AX-Reject: queue_full`. With `class_source`, " .. "priority 2 may fill 90 % of it, 3 80 %, 4 70 %, 5 60 %: there is room for higher ones when batch has piled up.",
        reason = "each holds a connection and some 13 kB; a thousand is more than is served before the time-out of most upstreams"
    },
    timeout_ms = {
        kind = "number",
        integer = true,
        min = 1,
        max = 600000,
        default = 15000,
        doc = "Longest wait; after it `503` with `X-AX-Reject: queue_timeout`.",
        reason = "clients that wait longer have given up, most of them"
    },
    class_sizes = {
        kind = "map",
        of = {
            kind = "number",
            integer = true,
            min = 0,
            max = MAX_SIZE,
            doc = "Most requests of the class's priority waiting."
        },
        default_empty = true,
        key_doc = "class",
        key_check = checkName,
        expected = "a map of class names to numbers, { batch = 100 },",
        doc = "Most requests waiting by class, beside `size` and instead of its shares; 0 = the class never waits. Classes of one " .. "priority count together, and the smallest of their limits holds.",
        reason = "the shares of `size` do for most"
    },
    drain = {kind = "object", fields = ____exports.drainOptions, expected = "a map of options, { from = 0.9 },", doc = "How a backlog is worked off, see below and [admission.md](admission.md#draining-a-backlog)."},
    deadline_header = {kind = "string", check = checkHeader, doc = "Request header in which a client says how many ms it will still wait: its request waits no longer. It can only " .. "shorten the wait; anything but a whole number is ignored."}
}
--- Options of one upstream about admission.
____exports.admissionFields = {queue = {
    kind = "object",
    optional = true,
    fields = ____exports.queueOptions,
    expected = "a map of options, { size = 1000, timeout_ms = 15000 },",
    doc = "Lets requests wait for room when every node is full, see below and [admission.md](admission.md); needs `access()`. " .. "Without it they get `503` at once."
}, retry_after_s = {
    kind = "number",
    integer = true,
    min = 0,
    max = 3600,
    default = 1,
    doc = "What the `Retry-After` header of refused requests says; 0 = no such header.",
    reason = "within a second most upstreams have served what they had in flight"
}}
--- Reports names that are no classes of the upstream.
local function checkClassNames(names, known, path, indexed, problems)
    do
        local i = 0
        while i < #names do
            do
                if __TS__ArrayIncludes(known, names[i + 1]) then
                    goto __continue8
                end
                local near = suggest(names[i + 1], known)
                local hint = near == nil and "" or ("; did you mean \"" .. near) .. "\"?"
                local at = indexed and positionPath(path, i + 1) or keyPath(path, names[i + 1])
                report(
                    problems,
                    at,
                    (((quote(names[i + 1]) .. " is no class here; one of ") .. quotedList(known)) .. " is needed") .. hint
                )
            end
            ::__continue8::
            i = i + 1
        end
    end
end
--- Classes named in the options of the queue must be classes there are. Parameters as of ObjectCheck.
function ____exports.checkQueue(record, path, problems)
    local queue = record.queue
    if queue == nil then
        return
    end
    local known = sortedKeys(record.classes or DEFAULT_CLASSES)
    local at = keyPath(path, "queue")
    local sizes = queue.class_sizes
    if sizes ~= nil then
        checkClassNames(
            sortedKeys(sizes),
            known,
            keyPath(at, "class_sizes"),
            false,
            problems
        )
    end
    local drain = queue.drain
    local weights = drain and drain.class_weights
    local drain_at = keyPath(at, "drain")
    if weights ~= nil then
        checkClassNames(
            sortedKeys(weights),
            known,
            keyPath(drain_at, "class_weights"),
            false,
            problems
        )
    end
    local refuse = drain and drain.refuse
    if refuse == nil then
        return
    end
    local names = {}
    do
        local i = 0
        while i < #refuse do
            names[i + 1] = type(refuse[i + 1]) == "string" and refuse[i + 1] or known[1]
            i = i + 1
        end
    end
    checkClassNames(
        names,
        known,
        keyPath(drain_at, "refuse"),
        true,
        problems
    )
end
return ____exports
