local math_max = math.max
local math_min = math.min
local tonumber = tonumber
local ____exports = {}
local ____address = require("resty.ax.core.config.address")
local formatAddress = ____address.formatAddress
local ____flow_options = require("resty.ax.core.config.flow_options")
local checkGatewayFlow = ____flow_options.checkGatewayFlow
local ____nodes = require("resty.ax.core.config.nodes")
local checkTiers = ____nodes.checkTiers
local nodeFields = ____nodes.nodeFields
local toNode = ____nodes.toNode
local ____options = require("resty.ax.core.config.options")
local configFields = ____options.configFields
local ____problems = require("resty.ax.core.config.problems")
local keyPath = ____problems.keyPath
local newProblems = ____problems.newProblems
local renderProblems = ____problems.renderProblems
local report = ____problems.report
local ____show = require("resty.ax.core.config.show")
local isAbsent = ____show.isAbsent
local isTable = ____show.isTable
local quote = ____show.quote
local showNumber = ____show.showNumber
local showValue = ____show.showValue
local sortedKeys = ____show.sortedKeys
local ____suggest = require("resty.ax.core.config.suggest")
local suggest = ____suggest.suggest
local ____texts = require("resty.ax.core.config.texts")
local checkName = ____texts.checkName
local ____validate = require("resty.ax.core.config.validate")
local validate = ____validate.validate
--- nginx cuts an entry of its error log at 2048 bytes; time, process and "init_by_lua error:" take some.
local MAX_ERROR_TEXT = 1800
--- Upper end of a node's weight: that of the schema.
local MAX_WEIGHT = nodeFields.weight.max
local function warn(loading, path, text)
    if loading.deps.warn ~= nil then
        loading.deps.warn((path .. ": ") .. text)
    end
end
--- nginx starts with values we do not take (fail_timeout=0, weight=100000): bring them into range
-- rather than refuse a configuration that works.
local function clamped(loading, path, key, value)
    local field = nodeFields[key]
    if value == nil or field.kind ~= "number" then
        return value
    end
    local used = math_max(
        field.min,
        math_min(field.max, value)
    )
    if used ~= value then
        local range = (showNumber(field.min) .. "..") .. showNumber(field.max)
        warn(
            loading,
            keyPath(path, key),
            ((((showNumber(value) .. " is outside ") .. range) .. "; ") .. showNumber(used)) .. " is used"
        )
    end
    return used
end
--- nginx's own: a line that says max_fails and no more means so long.
local NGINX_FAIL_TIMEOUT_S = 10
local function unsaidTimeout(server)
    local ____temp_0
    if server.max_fails == nil then
        ____temp_0 = nil
    else
        ____temp_0 = NGINX_FAIL_TIMEOUT_S
    end
    return ____temp_0
end
---
-- @returns the server as a user would write it under `nodes`, validated
local function adoptServer(loading, server, upstream_path)
    local path = ((upstream_path .. ".server[") .. quote(server.name)) .. "]"
    local fields = {
        address = formatAddress(server),
        weight = clamped(loading, path, "weight", server.weight),
        max_fails = clamped(loading, path, "max_fails", server.max_fails),
        fail_timeout_s = clamped(
            loading,
            path,
            "fail_timeout_s",
            server.fail_timeout_s or unsaidTimeout(server)
        ),
        max_conns = clamped(loading, path, "max_conns", server.max_conns),
        backup = server.backup,
        down = server.down
    }
    return validate(fields, nodeFields, path, loading.problems)
end
--- nginx takes an address twice in a block and gives it both shares; a node has one state, so the
-- lines become one node. A line that is down, or backup where the other is not, adds nothing.
local function mergeNode(first, other)
    local better = first.down and not other.down or first.down == other.down and first.backup and not other.backup
    if better then
        first.weight = other.weight
        first.max_conns = other.max_conns
        first.down = other.down
        first.backup = other.backup
    elseif first.down == other.down and first.backup == other.backup then
        first.weight = math_min(first.weight + other.weight, MAX_WEIGHT)
        local unlimited = first.max_conns == 0 or other.max_conns == 0
        first.max_conns = unlimited and 0 or first.max_conns + other.max_conns
    end
end
local function adoptNodes(loading, adoption, path)
    local nodes = {}
    local by_id = {}
    for ____, server in ipairs(adoption.servers) do
        do
            local total = loading.problems.total
            local fields = adoptServer(loading, server, path)
            if loading.problems.total > total then
                goto __continue13
            end
            local node = toNode(fields)
            local first = by_id[node.id]
            if first == nil then
                by_id[node.id] = node
                nodes[#nodes + 1] = node
            else
                warn(loading, path, ("server " .. node.id) .. " occurs more than once; one node is made of it, with the weights added")
                mergeNode(first, node)
            end
        end
        ::__continue13::
    end
    return nodes
end
--- Takes the nodes of an upstream without `nodes` from its block's server lines.
local function adoptUpstream(loading, upstream, name, path)
    local adoption, err = loading.deps.adopt(name, loading.nginx_conf)
    if adoption == nil then
        report(loading.problems, path, "no nodes given, and none adopted from nginx: " .. (err or "unknown reason"))
        return
    end
    for ____, text in ipairs(adoption.warnings) do
        warn(loading, path, text)
    end
    if #adoption.servers == 0 then
        report(loading.problems, path, ("no nodes given, and the upstream block in " .. adoption.from) .. " has no server lines")
        return
    end
    local nodes = adoptNodes(loading, adoption, path)
    if #nodes > 0 then
        checkTiers(nodes, path, "server", loading.problems)
    end
    upstream.nodes = nodes
    upstream.nodes_from = adoption.from
end
--- Adopts where nodes are absent.
local function adoptAll(loading, upstreams, raw)
    for ____, name in ipairs(sortedKeys(upstreams)) do
        if isAbsent(raw[name].nodes) and checkName(name) == nil then
            adoptUpstream(
                loading,
                upstreams[name],
                name,
                keyPath("upstreams", name)
            )
        end
    end
end
--- Turns valid records into the model, in place: they are fresh.
local function toConfig(record)
    local upstreams = record.upstreams
    for ____, name in ipairs(sortedKeys(upstreams)) do
        do
            local upstream = upstreams[name]
            upstream.name = name
            if upstream.nodes_from ~= nil then
                goto __continue29
            end
            local nodes = {}
            for ____, fields in ipairs(upstream.nodes) do
                nodes[#nodes + 1] = toNode(fields)
            end
            upstream.nodes = nodes
            upstream.nodes_from = "nodes"
        end
        ::__continue29::
    end
    return record
end
--- Regular expressions can only be checked by who runs them.
local function checkRegexes(loading, upstreams)
    if loading.deps.checkRegex == nil then
        return
    end
    for ____, name in ipairs(sortedKeys(upstreams)) do
        local ____opt_1 = upstreams[name].probe
        local http = ____opt_1 and ____opt_1.http
        local ____temp_5
        if (http and http.body_regex) == nil then
            ____temp_5 = nil
        else
            ____temp_5 = loading.deps.checkRegex(http.body_regex)
        end
        local wrong = ____temp_5
        if wrong ~= nil then
            local path = keyPath("upstreams", name) .. ".probe.http.body_regex"
            report(
                loading.problems,
                path,
                ((quote(http and http.body_regex or "") .. " does not compile: ") .. wrong) .. "; a PCRE is needed"
            )
        end
    end
end
--- A zone that no node is in prefers nothing: most likely a slip of the pen, but a node may be there tomorrow.
local function warnAboutZone(loading, upstream)
    if upstream.zone == nil then
        return
    end
    local zones = {}
    for ____, node in ipairs(upstream.nodes) do
        if node.zone == upstream.zone then
            return
        end
        if node.zone ~= "" then
            zones[#zones + 1] = node.zone
        end
    end
    local near = suggest(upstream.zone, zones)
    local hint = near == nil and "" or ("; did you mean " .. quote(near)) .. "?"
    warn(
        loading,
        ("upstreams." .. upstream.name) .. ".zone",
        (("no node is in " .. quote(upstream.zone)) .. ": all are alike") .. hint
    )
end
--- " (line 3, column 7)" for the character that the decoder names; "" when it names none.
local function lineText(text, err)
    local found = string.match(err, "character (%d+)")
    local at = tonumber(found)
    if at == nil then
        return ""
    end
    local line = 1
    local column = 1
    for i = 1, at - 1 do
        local newline = string.byte(text, i) == 10
        line = newline and line + 1 or line
        column = newline and 1 or column + 1
    end
    return (((" (line " .. tostring(line)) .. ", column ") .. tostring(column)) .. ")"
end
local function readSource(path, deps)
    local text, unreadable = deps.readFile(path)
    if text == nil then
        local reason = unreadable or "unknown reason"
        local named = string.find(reason, path, 1, true)
        local where = named == nil and quote(path) .. ": " or ""
        return nil, ("lua-resty-ax: cannot read the configuration file: " .. where) .. reason
    end
    local value, invalid = deps.decodeJson(text)
    if invalid ~= nil then
        return nil, ((("lua-resty-ax: " .. path) .. " is not valid JSON: ") .. invalid) .. lineText(text, invalid)
    end
    return value, nil
end
--- All problems as one text; when nginx would cut it, each also goes to the log by itself.
local function errorText(problems, source, deps)
    local text = renderProblems(problems, source)
    if #text <= MAX_ERROR_TEXT or deps.logError == nil then
        return text
    end
    for ____, problem in ipairs(problems.list) do
        deps.logError((problem.path .. ": ") .. problem.text)
    end
    return renderProblems(problems, source, MAX_ERROR_TEXT) .. " (see the log entries above this one)"
end
--- Loads the whole configuration: validates it, fills in defaults, adopts nodes from nginx where none
-- are given.
-- 
-- @param source a table of options (docs/configuration.md), or the path of a JSON file with them
-- @param deps what it needs from outside
-- @returns the configuration; or undefined and one text with all problems, ready for error(text, 0)
function ____exports.loadConfig(source, deps)
    local raw = source
    if type(source) == "string" then
        local value, err = readSource(source, deps)
        if err ~= nil then
            return nil, err
        end
        raw = value
    elseif not isTable(source) then
        local given = showValue(source)
        return nil, ("lua-resty-ax: init takes a table of options or the path of a JSON file; " .. given) .. " is given"
    end
    local problems = newProblems()
    local record = validate(
        raw,
        configFields(deps.strategies),
        "",
        problems,
        checkGatewayFlow
    )
    local loading = {deps = deps, problems = problems, nginx_conf = record.nginx_conf}
    local upstreams = record.upstreams
    if upstreams ~= nil then
        adoptAll(loading, upstreams, raw.upstreams)
    end
    if upstreams ~= nil then
        checkRegexes(loading, upstreams)
    end
    if problems.total == 0 then
        local config = toConfig(record)
        for ____, name in ipairs(sortedKeys(config.upstreams)) do
            warnAboutZone(loading, config.upstreams[name])
        end
        return config, nil
    end
    return nil, errorText(
        problems,
        type(source) == "string" and source or "init",
        deps
    )
end
return ____exports
