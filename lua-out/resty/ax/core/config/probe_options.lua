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
local checkHttp, checkSameHeaders, shown, checkProbe, STATUS_FORMS
local ____config = require("resty.ax.core.probe.config")
local parseStatusRange = ____config.parseStatusRange
local ____problems = require("resty.ax.core.config.problems")
local keyPath = ____problems.keyPath
local positionPath = ____problems.positionPath
local report = ____problems.report
local ____probe_texts = require("resty.ax.core.config.probe_texts")
local checkHeaderName = ____probe_texts.checkHeaderName
local checkHeaderValue = ____probe_texts.checkHeaderValue
local checkHost = ____probe_texts.checkHost
local checkPath = ____probe_texts.checkPath
local checkRegexText = ____probe_texts.checkRegexText
local checkServerName = ____probe_texts.checkServerName
local ____show = require("resty.ax.core.config.show")
local isAbsent = ____show.isAbsent
local showNumber = ____show.showNumber
local showValue = ____show.showValue
local sortedKeys = ____show.sortedKeys
function checkHttp(record, raw, path, problems)
    local given = record.expected_status
    do
        local i = 0
        while given ~= nil and i < #given do
            do
                if given[i + 1] == false or parseStatusRange(given[i + 1]) ~= nil then
                    goto __continue4
                end
                local entry_path = positionPath(
                    keyPath(path, "expected_status"),
                    i + 1
                )
                report(
                    problems,
                    entry_path,
                    ((showValue(given[i + 1]) .. " is no status code; ") .. STATUS_FORMS) .. " is needed"
                )
            end
            ::__continue4::
            i = i + 1
        end
    end
    local keys = {"tls_server_name", "tls_verify"}
    do
        local i = 0
        while i < #keys do
            local wants_tls = not isAbsent(raw[keys[i + 1]]) and raw[keys[i + 1]] ~= false
            if wants_tls and record.tls == false then
                report(
                    problems,
                    keyPath(path, keys[i + 1]),
                    "needs tls = true"
                )
            end
            i = i + 1
        end
    end
    if record.method == "HEAD" and record.body_regex ~= nil then
        report(
            problems,
            keyPath(path, "body_regex"),
            "has nothing to match: method is \"HEAD\"; \"GET\" is needed"
        )
    end
    if record.max_body_bytes == 0 and record.body_regex ~= nil then
        report(
            problems,
            keyPath(path, "body_regex"),
            "has nothing to match: max_body_bytes is 0; more is needed"
        )
    end
    checkSameHeaders(record, path, problems)
end
function checkSameHeaders(record, path, problems)
    local headers = record.headers
    if headers == nil then
        return
    end
    local seen = {}
    local names = sortedKeys(headers)
    do
        local i = 0
        while i < #names do
            local name = string.lower(names[i + 1])
            local before = seen[name]
            if before ~= nil then
                report(
                    problems,
                    keyPath(
                        keyPath(path, "headers"),
                        names[i + 1]
                    ),
                    ("is the same header as \"" .. before) .. "\"; give it once"
                )
            end
            seen[name] = names[i + 1]
            i = i + 1
        end
    end
end
function shown(key, value, raw)
    return (showNumber(value) .. " s") .. (isAbsent(raw[key]) and " (the default)" or "")
end
function checkProbe(record, raw, path, problems)
    local timeout_s = record.timeout_s
    local tcp_s = record.tcp_interval_s
    local http = record.http
    local http_s = http and http.interval_s
    if tcp_s == 0 and isAbsent(raw.http) then
        report(problems, path, "checks nothing: tcp_interval_s is 0 and there is no http; one of them is needed")
    end
    if timeout_s == nil then
        return
    end
    if tcp_s ~= nil and tcp_s > 0 and tcp_s < timeout_s then
        local text = shown("tcp_interval_s", tcp_s, raw) .. " is less than timeout_s, which is "
        report(
            problems,
            keyPath(path, "tcp_interval_s"),
            ((text .. shown("timeout_s", timeout_s, raw)) .. ": a check would not be over when the next one is due; ") .. ("0 (no TCP checks) or at least " .. showNumber(timeout_s)) .. " s is needed"
        )
    end
    if http_s ~= nil and http_s < timeout_s then
        local http_raw = raw.http or ({})
        local text = shown("interval_s", http_s, http_raw) .. " is less than timeout_s, which is "
        report(
            problems,
            keyPath(
                keyPath(path, "http"),
                "interval_s"
            ),
            ((text .. shown("timeout_s", timeout_s, raw)) .. ": a check would not be over when the next one is due; ") .. ("at least " .. showNumber(timeout_s)) .. " s is needed"
        )
    end
end
STATUS_FORMS = "100..599 or a range like \"200-299\""
--- What a node of usual size answers within, and shorter than the TCP interval.
local DEFAULT_TIMEOUT_S = 2
local requestFields = {path = {
    kind = "string",
    check = checkPath,
    default = "/healthz",
    doc = "What is asked for; with arguments if need be.",
    reason = "the usual name of a health page"
}, method = {
    kind = "enum",
    values = {"GET", "HEAD"},
    default = "GET",
    doc = "`HEAD` asks for no body.",
    reason = "every health page answers it"
}, host = {kind = "string", check = checkHost, doc = "The Host header. Without it the upstream's name, as nginx itself sends to `proxy_pass http://name`."}, headers = {
    kind = "map",
    of = {kind = "string", check = checkHeaderValue, doc = "A header's value."},
    default_empty = true,
    key_doc = "name",
    key_check = checkHeaderName,
    expected = "a map of names to values, { [\"X-Token\"] = \"...\" },",
    doc = "More headers. `User-Agent`, `Accept` and `X-AX-Probe` replace the check's own.",
    reason = "health pages rarely ask for any"
}}
local answerFields = {expected_status = {
    kind = "list",
    of = {kind = "any", doc = "A status code, or a range of them."},
    non_empty = true,
    expected = "a list of codes and ranges, { 200, \"204\", \"300-399\" },",
    doc = "Codes of a healthy node: numbers, or ranges like \"200-299\". Without it 200-299."
}, body_regex = {kind = "string", check = checkRegexText, doc = "The body must match this regular expression (PCRE, anywhere in it). It is compiled at the start."}, max_body_bytes = {
    kind = "number",
    integer = true,
    min = 0,
    max = 1048576,
    default = 16384,
    doc = "No more of the body is read, or matched. 0 = none: the check ends with the headers.",
    reason = "health pages are short; a page that never ends must not fill the memory"
}}
local connectionFields = {port = {
    kind = "number",
    integer = true,
    min = 0,
    max = 65535,
    default = 0,
    doc = "Another port than the node's, for HTTP checks; 0 = the node's. Unix sockets have none.",
    reason = "what is checked is best what serves"
}, tls = {kind = "boolean", default = false, doc = "HTTPS.", reason = "most upstreams speak plain HTTP behind the gateway"}, tls_server_name = {kind = "string", check = checkServerName, doc = "The name sent in the TLS handshake (SNI), and looked for in the certificate. Without it `host` without its port."}, tls_verify = {kind = "boolean", default = false, doc = "The certificate must be valid, by the authorities in `lua_ssl_trusted_certificate` (http level).", reason = "as nginx's `proxy_ssl_verify`: certificates of nodes are often self-signed"}}
local httpFields = __TS__ObjectAssign({interval_s = {
    kind = "number",
    min = 0.2,
    max = 3600,
    default = 10,
    doc = "Time between two HTTP checks of a node. Not less than `timeout_s`.",
    reason = "a health page may ask a database: six times a minute costs nobody anything"
}}, requestFields, answerFields, connectionFields)
local limitFields = {
    timeout_s = {
        kind = "number",
        min = 0.05,
        max = 60,
        default = DEFAULT_TIMEOUT_S,
        doc = "Longest a check may take, from connecting to the end of the answer. At most each of the intervals.",
        reason = "far longer than a healthy node takes, shorter than the interval of 3 s"
    },
    fails = {
        kind = "number",
        integer = true,
        min = 1,
        max = 100,
        default = 3,
        doc = "Failed checks of one kind in a row that make a node fail.",
        reason = "one lost packet or one long pause takes no node out; 3 s apart, a dead node is out within about 10 s"
    },
    passes = {
        kind = "number",
        integer = true,
        min = 1,
        max = 100,
        default = 2,
        doc = "Passed checks in a row that make it pass again. Before any failure the first pass is enough.",
        reason = "a service that restarts for ever answers once in between"
    },
    max_concurrent = {
        kind = "number",
        integer = true,
        min = 1,
        max = 256,
        default = 32,
        doc = "Most checks of this upstream under way at once; the others wait for their turn. Nodes that did not answer " .. "last time get at most half of the places. Over all upstreams it is 256.",
        reason = "hundreds of checks a second where nodes answer in time, and few connections where they do not"
    },
    max_watermark = {
        kind = "number",
        min = 0.01,
        max = 10,
        default = 0.85,
        doc = "A node that says its thread pool is fuller than this (0..1) fails the check ([probes.md](probes.md)).",
        reason = "past 85 % busy, requests begin to wait inside the node"
    },
    slow_ratio = {
        kind = "number",
        min = 1.1,
        max = 1000,
        default = 3,
        doc = "An HTTP check that takes longer than this many times what the node's checks normally take is slow.",
        reason = "three times normal is more than noise: threads are stuck, or it swaps"
    },
    slow_checks = {
        kind = "number",
        integer = true,
        min = 1,
        max = 100,
        default = 3,
        doc = "So many slow checks in a row mean a slow node: it keeps its place, and gets less.",
        reason = "one long garbage collection is no state"
    }
}
--- The option as one of an upstream.
____exports.probeFields = {
    probe = {
        kind = "object",
        optional = true,
        fields = __TS__ObjectAssign({tcp_interval_s = {
            kind = "number",
            min = 0,
            max = 3600,
            default = 3,
            doc = "Time between two TCP checks (can it be connected to?) of a node; 0 = none. Not less than `timeout_s`.",
            reason = "a dead machine is found within ten seconds, at the cost of an empty connection"
        }, http = {
            kind = "object",
            optional = true,
            fields = httpFields,
            check = checkHttp,
            expected = "a map of options, {} for the defaults,",
            doc = "Checks by HTTP; without it there are none. `http = {}` asks for `/healthz`."
        }}, limitFields),
        check = checkProbe,
        expected = "a map of options, {} for TCP checks,",
        doc = "Active checks of every node, beside what requests tell. Without it there are none: the gateway opens no " .. "connections that nobody asked for. See [probes.md](probes.md)."
    },
    orca = {kind = "boolean", default = false, doc = "Whether what nodes report of their load in their answers to requests (header `endpoint-load-metrics`) is read: " .. "busy ones get less ([health.md](health.md#reports-of-nodes)).", reason = "a header that nobody expects to matter must not move traffic"}
}
return ____exports
