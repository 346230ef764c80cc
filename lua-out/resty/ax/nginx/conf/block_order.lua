local ____exports = {}
local ____show = require("resty.ax.core.config.show")
local quote = ____show.quote
--- nginx's ways to choose a server, and packaged modules': each replaces the one written before it.
local METHODS = {
    least_conn = true,
    least_time = true,
    ip_hash = true,
    hash = true,
    random = true,
    fair = true
}
local function place(directive)
    return (directive.file .. ":") .. tostring(directive.line)
end
local function lastBalancer(block)
    local found = -1
    do
        local i = 0
        while i < #block.directives do
            if (string.find(block.directives[i + 1].name, "balancer_by_lua", 1, true)) == 1 then
                found = i
            end
            i = i + 1
        end
    end
    return found
end
--- nginx takes the directives of an upstream block in their order: the last balancing method is the one in force, and
-- `keepalive` serves the method before it (nginx says no more than "load balancing method redefined").
function ____exports.checkOrder(block)
    local findings = {warnings = {}}
    local at = lastBalancer(block)
    if at < 0 then
        local where = (("the upstream block at " .. block.file) .. ":") .. tostring(block.line)
        local ____findings_warnings_0 = findings.warnings
        ____findings_warnings_0[#____findings_warnings_0 + 1] = ((where .. " has no balancer_by_lua: nginx chooses by itself; add balancer_by_lua_block { require(\"resty.ax\").balancer(") .. quote(block.name)) .. ") } after its server lines"
        return findings
    end
    local balancer = block.directives[at + 1]
    do
        local i = 0
        while i < #block.directives do
            local directive = block.directives[i + 1]
            if i > at and METHODS[directive.name] == true then
                if findings.problem == nil then
                    findings.problem = (((((((directive.name .. " at ") .. place(directive)) .. " comes after ") .. balancer.name) .. " at ") .. place(balancer)) .. " and replaces it: ") .. ("this library would not choose any node; remove " .. directive.name) .. " (option \"strategy\" says how to choose)"
                end
            elseif i < at and directive.name == "keepalive" then
                local ____findings_warnings_1 = findings.warnings
                ____findings_warnings_1[#____findings_warnings_1 + 1] = (((((("keepalive at " .. place(directive)) .. " comes before ") .. balancer.name) .. " at ") .. place(balancer)) .. " and has no effect: ") .. "every request opens a connection of its own; move keepalive behind it"
            end
            i = i + 1
        end
    end
    return findings
end
return ____exports
