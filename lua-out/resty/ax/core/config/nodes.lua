local ____exports = {}
local ____address = require("resty.ax.core.config.address")
local ADDRESS_FORMS = ____address.ADDRESS_FORMS
local formatAddress = ____address.formatAddress
local parseAddress = ____address.parseAddress
local ____problems = require("resty.ax.core.config.problems")
local keyPath = ____problems.keyPath
local positionPath = ____problems.positionPath
local report = ____problems.report
local ____show = require("resty.ax.core.config.show")
local isTable = ____show.isTable
local quote = ____show.quote
local ____texts = require("resty.ax.core.config.texts")
local checkName = ____texts.checkName
--- At least one node must be usable, and at least one must be a primary.
-- 
-- @param nodes as for checkNodes, at least one
-- @param path where the nodes were given
-- @param noun what they are called there: "node", "server"
function ____exports.checkTiers(nodes, path, noun, problems)
    local down = 0
    local backup = 0
    do
        local i = 0
        while i < #nodes do
            local node = nodes[i + 1]
            if isTable(node) and node.down == true then
                down = down + 1
            end
            if isTable(node) and node.backup == true then
                backup = backup + 1
            end
            i = i + 1
        end
    end
    local all = #nodes == 1 and ("the only " .. noun) .. " is" or ((("all " .. tostring(#nodes)) .. " ") .. noun) .. "s are"
    if down == #nodes then
        report(problems, path, all .. " down; at least one must not be")
    end
    if backup == #nodes then
        report(problems, path, all .. " backup; at least one primary is needed")
    end
end
--- nginx's own max_fails is 1. One reset connection, as every deployment of a backend makes, must not take a node out.
-- Three in a row make it suspect; ten are no accident. What a `server` line says counts.
____exports.DEFAULT_MAX_FAILS = 10
--- nginx's own fail_timeout is 10 s. With a trial at the end of it, and ten failures before, there is time to restart.
____exports.DEFAULT_FAIL_TIMEOUT_S = 30
--- Any number would do: only the relation to the other nodes' counts.
local DEFAULT_NODE_COST = 1
---
-- @returns what is wrong with an address as the user writes it
local function checkAddress(text)
    return parseAddress(text).problem
end
--- Options of one node; the fields of core/model.ts NodeConfig.
____exports.nodeFields = {
    address = {
        kind = "string",
        required = true,
        check = checkAddress,
        expected = ADDRESS_FORMS,
        doc = (("Where the node listens: " .. ADDRESS_FORMS) .. ". An IP address: nginx takes no host names here; for names, leave ") .. "`nodes` out and write `server` lines in the upstream block."
    },
    name = {kind = "string", check = checkName, doc = "Identity of the node, unique in its upstream, 1..255 printable characters. Its score and state follow the name " .. "when the address changes. Without a name the address is the identity."},
    weight = {
        kind = "number",
        min = 0,
        max = 65535,
        default = 1,
        doc = "Base weight, relative to the other nodes; 0 = only when nothing else is left.",
        reason = "nginx's own default"
    },
    max_fails = {
        kind = "number",
        integer = true,
        min = 0,
        max = 1000,
        default = ____exports.DEFAULT_MAX_FAILS,
        doc = "Tries without an answer (refused, reset, timed out) in a row that eject the node; 0 = never.",
        reason = "nginx's own default is 1, but one reset connection must not take a node out; three make it suspect"
    },
    fail_timeout_s = {
        kind = "number",
        min = 1,
        max = 86400,
        default = ____exports.DEFAULT_FAIL_TIMEOUT_S,
        doc = "How long an ejection by `max_fails` lasts.",
        reason = "time to restart; nginx's own default is 10 s"
    },
    max_conns = {
        kind = "number",
        integer = true,
        min = 0,
        max = 1000000,
        default = 0,
        doc = "Most requests in flight to the node, over all workers; 0 = no limit of its own. `max_concurrency_per_node` " .. "applies besides.",
        reason = "nginx's own default"
    },
    backup = {kind = "boolean", default = false, doc = "Used only when no primary node is usable.", reason = "nginx's own default"},
    down = {kind = "boolean", default = false, doc = "Taken out by the operator: never picked, but shown.", reason = "nginx's own default"},
    zone = {kind = "string", check = checkName, doc = "Where the node stands, any name. Nodes in the gateway's own `zone` are preferred while they have capacity " .. "([zones.md](zones.md))."},
    cost = {
        kind = "number",
        min = 0,
        max = 1000000,
        default = DEFAULT_NODE_COST,
        doc = "What a request to the node costs, relative to the others. Read by the strategy `goal` with the goal `cost`.",
        reason = "all nodes alike"
    },
    labels = {
        kind = "map",
        of = {kind = "string", doc = "Value of the label."},
        key_doc = "label",
        key_check = checkName,
        default_empty = true,
        expected = "a map of strings, { zone = \"a\" },",
        doc = "Anything worth knowing of the node, as strings: `{ zone = \"a\", host = \"m1\" }`.",
        reason = "no labels"
    }
}
---
-- @param record one node, valid by `nodeFields`
-- @returns the node with its address parsed and its identity decided
function ____exports.toNode(record)
    local address = parseAddress(record.address).address
    local host = address == nil and "" or address.host
    local port = address == nil and 0 or address.port
    local name = record.name
    return {
        id = name == nil and formatAddress({host = host, port = port}) or name,
        host = host,
        port = port,
        weight = record.weight,
        max_fails = record.max_fails,
        fail_timeout_s = record.fail_timeout_s,
        max_conns = record.max_conns,
        backup = record.backup,
        down = record.down,
        zone = record.zone or "",
        cost = record.cost,
        labels = record.labels
    }
end
local function checkUnique(node, position, path, seen, problems)
    local text = node.address
    local ____temp_0
    if text == nil then
        ____temp_0 = nil
    else
        ____temp_0 = parseAddress(text).address
    end
    local parsed = ____temp_0
    local ____temp_1
    if parsed == nil then
        ____temp_1 = nil
    else
        ____temp_1 = formatAddress(parsed)
    end
    local address = ____temp_1
    local name = node.name
    local address_taken = false
    if address ~= nil then
        local first = seen.addresses[address]
        address_taken = first ~= nil
        if first == nil then
            seen.addresses[address] = position
        else
            report(
                problems,
                keyPath(path, "address"),
                ((quote(address) .. " is the address of nodes[") .. tostring(first)) .. "] too; each needs its own"
            )
        end
    end
    local ____temp_2
    if name == nil then
        ____temp_2 = address
    else
        ____temp_2 = name
    end
    local id = ____temp_2
    if id == nil then
        return
    end
    local first = seen.ids[id]
    if first == nil then
        seen.ids[id] = position
    elseif name ~= nil or not address_taken then
        local field = name == nil and "address" or "name"
        report(
            problems,
            keyPath(path, field),
            ((quote(id) .. " is the identity of nodes[") .. tostring(first)) .. "] too; each needs its own"
        )
    end
end
--- Rules over the nodes of one upstream: unique names and addresses.
-- 
-- @param nodes entries valid by `nodeFields`, or UNUSABLE; fields with a problem are absent
-- @param path path of the list
function ____exports.checkNodes(nodes, path, problems)
    local seen = {ids = {}, addresses = {}}
    do
        local i = 0
        while i < #nodes do
            local node = nodes[i + 1]
            if isTable(node) then
                checkUnique(
                    node,
                    i + 1,
                    positionPath(path, i + 1),
                    seen,
                    problems
                )
            end
            i = i + 1
        end
    end
    ____exports.checkTiers(nodes, path, "node", problems)
end
return ____exports
