local ____exports = {}
local comeBack
local ____ejection = require("resty.ax.core.ejection")
local inRotation = ____ejection.inRotation
local startRamp = ____ejection.startRamp
local ____operator = require("resty.ax.core.operator")
local keepsOut = ____operator.keepsOut
local willText = ____operator.willText
local ____windows = require("resty.ax.core.windows")
local clearNode = ____windows.clearNode
local ____state = require("resty.ax.collector.state")
local forgetSeen = ____state.forgetSeen
local ____wills = require("resty.ax.collector.wills")
local willOf = ____wills.willOf
function comeBack(node, upstream, now_ms)
    node.health = startRamp(node.health, "given back by the operator", upstream.config, now_ms)
    forgetSeen(node.seen)
    clearNode(node.windows, now_ms)
    node.held_until_ms = 0
end
--- The operator's wills over what the automatics decided: the node's own state goes on beneath, and shows again when
-- the will has ended. Who was kept out comes back by a ramp, as after any other absence.
function ____exports.takeWills(upstream, now_ms)
    do
        local i = 0
        while i < #upstream.nodes do
            local node = upstream.nodes[i + 1]
            local will = willOf(upstream.wills, node.config.id, now_ms)
            local before = node.will
            if will ~= before then
                node.will = will
                node.described = false
                if before ~= nil and keepsOut(before) and (will == nil or not keepsOut(will)) then
                    comeBack(node, upstream, now_ms)
                end
            end
            i = i + 1
        end
    end
end
---
-- @returns whether an operator keeps the node out
function ____exports.keptOut(node)
    return node.will ~= nil and keepsOut(node.will)
end
---
-- @returns whether requests may go to it, by its own state and the operator's will
function ____exports.serves(node)
    return inRotation(node.health) and not ____exports.keptOut(node)
end
---
-- @returns the state of a node with this will; one that drains is offline when nothing is in flight to it any more
local function stateOf(will, node)
    if will.kind == "force_up" then
        return "online"
    end
    if will.kind == "maintenance" then
        return "maintenance"
    end
    return will.kind == "drain" and node.detail.in_flight > 0 and "draining" or "offline"
end
--- Puts the will's state in place of the node's own, for picks and for show. Without a will, nothing.
function ____exports.overrule(node)
    local ____node_0 = node
    local will = ____node_0.will
    local detail = ____node_0.detail
    if will == nil or node.config.down then
        return
    end
    detail.state = stateOf(will, node)
end
--- The will's words in place of the state's. Without a will, nothing.
function ____exports.describeWill(node)
    local ____node_1 = node
    local will = ____node_1.will
    local detail = ____node_1.detail
    if will == nil or node.config.down then
        return
    end
    detail.reason = willText(will)
    detail.since_ms = will.at_ms
    detail.until_ms = will.until_ms
end
return ____exports
