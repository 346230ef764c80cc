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
--- Options of `queue`; the fields of core/model.ts QueueConfig.
____exports.queueOptions = {size = {
    kind = "number",
    integer = true,
    min = 1,
    max = MAX_SIZE,
    default = 1000,
    doc = "Most requests waiting at a time, over all workers; past it `503` with `X-AX-Reject: queue_full`. With `class_source`, " .. "priority 2 may fill 90 % of it, 3 80 %, 4 70 %, 5 60 %: there is room for higher ones when batch has piled up.",
    reason = "each holds a connection and some 20 kB; a thousand is more than is served before the time-out of most upstreams"
}, timeout_ms = {
    kind = "number",
    integer = true,
    min = 1,
    max = 600000,
    default = 15000,
    doc = "Longest wait; after it `503` with `X-AX-Reject: queue_timeout`.",
    reason = "clients that wait longer have given up, most of them"
}, class_sizes = {
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
}, deadline_header = {kind = "string", check = checkHeader, doc = "Request header in which a client says how many ms it will still wait: its request waits no longer. It can only " .. "shorten the wait; anything but a whole number is ignored."}}
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
--- Limits must be of classes there are. Parameters as of ObjectCheck.
function ____exports.checkQueue(record, path, problems)
    local queue = record.queue
    local sizes = queue and queue.class_sizes
    if sizes == nil then
        return
    end
    local known = sortedKeys(record.classes or DEFAULT_CLASSES)
    local names = sortedKeys(sizes)
    do
        local i = 0
        while i < #names do
            do
                if __TS__ArrayIncludes(known, names[i + 1]) then
                    goto __continue9
                end
                local near = suggest(names[i + 1], known)
                local hint = near == nil and "" or ("; did you mean \"" .. near) .. "\"?"
                local at = keyPath(
                    keyPath(
                        keyPath(path, "queue"),
                        "class_sizes"
                    ),
                    names[i + 1]
                )
                report(
                    problems,
                    at,
                    (((quote(names[i + 1]) .. " is no class here; one of ") .. quotedList(known)) .. " is needed") .. hint
                )
            end
            ::__continue9::
            i = i + 1
        end
    end
end
return ____exports
