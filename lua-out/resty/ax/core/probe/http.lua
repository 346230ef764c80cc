local math_max = math.max
-- Lua Library inline imports
local function __TS__StringStartsWith(self, searchString, position)
    if position == nil or position < 0 then
        position = 0
    end
    return string.sub(self, position + 1, #searchString + position) == searchString
end

local function __TS__StringSubstring(self, start, ____end)
    if ____end ~= ____end then
        ____end = 0
    end
    if ____end ~= nil and start > ____end then
        start, ____end = ____end, start
    end
    if start >= 0 then
        start = start + 1
    else
        start = 1
    end
    if ____end ~= nil and ____end < 0 then
        ____end = 0
    end
    return string.sub(self, start, ____end)
end

local function __TS__ArraySort(self, compareFn)
    if compareFn ~= nil then
        table.sort(
            self,
            function(a, b) return compareFn(nil, a, b) < 0 end
        )
    else
        table.sort(self)
    end
    return self
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
local ____reasons = require("resty.ax.core.reasons")
local percentText = ____reasons.percentText
local ____config = require("resty.ax.core.probe.config")
local expectedRanges = ____config.expectedRanges
local isExpected = ____config.isExpected
local rangesText = ____config.rangesText
local ____signals = require("resty.ax.core.probe.signals")
local PROBE_ASKS_FOR = ____signals.PROBE_ASKS_FOR
local PROBE_HEADER = ____signals.PROBE_HEADER
local readSignals = ____signals.readSignals
--- "app.internal" of "app.internal:8443": what a certificate names.
local function withoutPort(host)
    local colon = (string.find(
        host,
        ":",
        math_max(
            (__TS__StringStartsWith(host, "[") and (string.find(host, "]", nil, true) or 0) - 1 or 0) + 1,
            1
        ),
        true
    ) or 0) - 1
    return colon < 0 and host or __TS__StringSubstring(host, 0, colon)
end
--- Headers of our own, unless the user has set the same.
local function ownHeaders(host)
    return {
        {"Host", host},
        {"User-Agent", "lua-resty-ax"},
        {"Accept", "*/*"},
        {"Connection", "close"},
        {PROBE_HEADER, PROBE_ASKS_FOR},
        {"endpoint-load-metrics-format", "TEXT"}
    }
end
---
-- @param http the option `probe.http`
-- @param upstream the upstream's name: the Host that nginx sends by default too
function ____exports.planHttp(http, upstream)
    local host = http.host or upstream
    local lines = {((http.method .. " ") .. http.path) .. " HTTP/1.1"}
    local given = {}
    local names = {}
    for name in pairs(http.headers) do
        names[#names + 1] = name
    end
    __TS__ArraySort(names)
    do
        local i = 0
        while i < #names do
            given[i + 1] = string.lower(names[i + 1])
            i = i + 1
        end
    end
    local own = ownHeaders(host)
    do
        local i = 0
        while i < #own do
            if not __TS__ArrayIncludes(
                given,
                string.lower(own[i + 1][1])
            ) then
                lines[#lines + 1] = (own[i + 1][1] .. ": ") .. own[i + 1][2]
            end
            i = i + 1
        end
    end
    do
        local i = 0
        while i < #names do
            lines[#lines + 1] = (names[i + 1] .. ": ") .. http.headers[names[i + 1]]
            i = i + 1
        end
    end
    return {
        request = table.concat(lines, "\r\n") .. "\r\n\r\n",
        head_only = http.method == "HEAD",
        expected = expectedRanges(http.expected_status),
        server_name = http.tls_server_name or withoutPort(host)
    }
end
---
-- @param reader done
-- @param took_ms from the begin of connecting to the end of the answer
-- @param decode reads JSON, of an ORCA report
function ____exports.judgeAnswer(reader, body, took_ms, plan, config, decode)
    if reader.problem ~= nil then
        return {
            ok = false,
            why = ((reader.problem .. " (after ") .. tostring(took_ms)) .. " ms)",
            took_ms = took_ms
        }
    end
    local said = readSignals(reader.headers, decode)
    local result = __TS__ObjectAssign(
        {
            ok = true,
            why = ((("HTTP " .. tostring(reader.status)) .. " in ") .. tostring(took_ms)) .. " ms",
            took_ms = took_ms
        },
        said
    )
    if not isExpected(reader.status, plan.expected) then
        result.ok = false
        result.why = result.why .. (" (" .. rangesText(plan.expected)) .. " is expected)"
    elseif body == "unmatched" then
        result.ok = false
        result.why = result.why .. ", but its body does not match body_regex"
    elseif said.watermark ~= nil and said.watermark > config.max_watermark then
        result.ok = false
        result.why = result.why .. (((", but watermark " .. percentText(said.watermark)) .. " % (limit ") .. percentText(config.max_watermark)) .. " %)"
    end
    return result
end
return ____exports
