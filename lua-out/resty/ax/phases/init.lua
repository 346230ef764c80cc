-- Lua Library inline imports
local function __TS__StringStartsWith(self, searchString, position)
    if position == nil or position < 0 then
        position = 0
    end
    return string.sub(self, position + 1, #searchString + position) == searchString
end
-- End of Lua Library inline imports
local ____exports = {}
local ____config = require("resty.ax.control.config")
local loadConfig = ____config.loadConfig
local ____registry = require("resty.ax.core.strategies.registry")
local strategies = ____registry.strategies
local ____worker = require("resty.ax.dataplane.worker")
local process = ____worker.process
local ____balancer = require("resty.ax.nginx.balancer")
local keepaliveProblem = ____balancer.keepaliveProblem
local ____adopt = require("resty.ax.nginx.conf.adopt")
local newConfReader = ____adopt.newConfReader
local ____locate = require("resty.ax.nginx.conf.locate")
local confDirectory = ____locate.confDirectory
local thisProcess = ____locate.thisProcess
local ____files = require("resty.ax.nginx.files")
local readFile = ____files.readFile
local ____jit = require("resty.ax.nginx.jit")
local raiseJitLimits = ____jit.raiseJitLimits
local ____json = require("resty.ax.nginx.json")
local decode = ____json.decode
local ____log = require("resty.ax.nginx.log")
local logError = ____log.logError
local logNotice = ____log.logNotice
local logWarning = ____log.logWarning
local ____modules = require("resty.ax.nginx.modules")
local loadModule = ____modules.loadModule
local ____regex = require("resty.ax.nginx.regex")
local regexProblem = ____regex.regexProblem
local ____shared = require("resty.ax.nginx.shared")
local openStore = ____shared.openStore
local ____problems = require("resty.ax.core.config.problems")
local newProblems = ____problems.newProblems
local renderProblems = ____problems.renderProblems
local report = ____problems.report
local function optionsByStrategy()
    local options = {}
    for name, strategy in pairs(strategies) do
        options[name] = strategy.options
    end
    return options
end
--- A module must be a table with a function `pick`; `create` and `prepare` may be left out.
local function loadStrategy(module)
    local loaded, err = loadModule(module)
    if err ~= nil then
        return nil, err
    end
    local given = loaded
    if type(given) ~= "table" or type(given and given.pick) ~= "function" then
        return nil, "it must return a table with a function pick(state, pool, candidates, count, request)"
    end
    local strategy = given
    local create = strategy.create or (function() return nil end)
    local uses_key = strategy.uses_key == true
    local prepare = strategy.prepare
    local pick = strategy.pick
    return {
        name = module,
        options = {},
        uses_key = uses_key,
        create = create,
        prepare = prepare,
        pick = pick
    }, nil
end
local function loadCustom(config, problems)
    local custom = {}
    for name, upstream in pairs(config.upstreams) do
        if upstream.strategy_module ~= nil then
            local strategy, err = loadStrategy(upstream.strategy_module)
            custom[name] = strategy
            if err ~= nil then
                report(problems, ("upstreams." .. name) .. ".strategy_module", (("cannot load \"" .. upstream.strategy_module) .. "\": ") .. err)
            end
        end
    end
    return custom
end
--- A relative path is taken from where nginx takes those in its own configuration from.
local function readConfigFile(path)
    if __TS__StringStartsWith(path, "/") then
        return readFile(path)
    end
    local directory, conf = confDirectory(thisProcess)
    local text, err = readFile(directory .. path)
    if text ~= nil then
        return text, nil
    end
    return nil, ((tostring(err) .. " (a relative path starts from the directory of nginx's configuration file, ") .. conf) .. ")"
end
--- Directives of nginx's that come after balancer_by_lua, or keepalive before it.
local function checkBlocks(config, reader, problems)
    for name in pairs(config.upstreams) do
        local findings = reader.checkOrder(name, config.nginx_conf)
        if findings ~= nil then
            if findings.problem ~= nil then
                report(problems, "upstreams." .. name, findings.problem)
            end
            for ____, warning in ipairs(findings.warnings) do
                logWarning((("upstreams." .. name) .. ": ") .. warning)
            end
        end
    end
end
--- Takes the configuration. All its problems are reported at once, and nginx does not start (a reload
-- keeps the old configuration). `nginx -t` does not run this phase.
-- 
-- init_by_lua phase.
-- 
-- @param source a table of options (docs/configuration.md), or the path of a JSON file with them; a relative one starts
-- from the directory of nginx's configuration file
function ____exports.init(source)
    local reader = newConfReader()
    local config, err = loadConfig(
        source,
        {
            readFile = readConfigFile,
            decodeJson = decode,
            adopt = reader.adopt,
            strategies = optionsByStrategy(),
            checkRegex = regexProblem,
            warn = logWarning,
            logError = logError
        }
    )
    if config == nil then
        error(err or "lua-resty-ax: bad configuration", 0)
    end
    local problems = newProblems()
    local custom = loadCustom(config, problems)
    checkBlocks(config, reader, problems)
    local store = openStore(config.shared_dict)
    if store == nil then
        local name = config.shared_dict
        report(problems, "shared_dict", ((("nginx has no zone \"" .. name) .. "\"; add \"lua_shared_dict ") .. name) .. " 16m;\" to the http block")
    end
    if problems.total > 0 or store == nil then
        error(
            renderProblems(problems, "init"),
            0
        )
    end
    if config.tune_jit then
        raiseJitLimits()
    end
    process.prepared = {config = config, store = store, custom = custom}
    for ____, upstream in pairs(config.upstreams) do
        local strategy = upstream.strategy_module or upstream.strategy
        local count = #upstream.nodes
        if upstream.hash_key ~= nil and (custom[upstream.name] or strategies[upstream.strategy]).uses_key ~= true then
            logWarning(((("upstreams." .. upstream.name) .. ".hash_key: strategy ") .. strategy) .. " does not go by a key; it has no effect")
        end
        if upstream.adaptive_limit ~= nil and upstream.queue == nil then
            logWarning(("upstreams." .. upstream.name) .. ".adaptive_limit: without a queue, requests that find a limit low are refused")
        end
        local ____temp_2
        if upstream.lua_keepalive == nil then
            ____temp_2 = nil
        else
            ____temp_2 = keepaliveProblem(upstream.name)
        end
        local useless = ____temp_2
        if useless ~= nil then
            logWarning(useless)
        end
        logNotice((((((("upstream \"" .. upstream.name) .. "\": ") .. tostring(count)) .. " nodes from ") .. upstream.nodes_from) .. ", strategy ") .. strategy)
    end
end
return ____exports
