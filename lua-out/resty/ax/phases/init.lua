local ____exports = {}
local ____config = require("resty.ax.control.config")
local loadConfig = ____config.loadConfig
local ____registry = require("resty.ax.core.strategies.registry")
local strategies = ____registry.strategies
local ____worker = require("resty.ax.dataplane.worker")
local process = ____worker.process
local ____adopt = require("resty.ax.nginx.conf.adopt")
local newAdopt = ____adopt.newAdopt
local ____files = require("resty.ax.nginx.files")
local readFile = ____files.readFile
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
--- A module must be a table with a function `pick`; `create`, `name` and `options` may be left out.
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
    return {
        name = module,
        options = {},
        uses_key = uses_key,
        create = create,
        pick = strategy.pick
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
--- Takes the configuration. All its problems are reported at once, and nginx does not start (a reload
-- keeps the old configuration). `nginx -t` does not run this phase.
-- 
-- init_by_lua phase.
-- 
-- @param source a table of options (docs/configuration.md), or the path of a JSON file with them
function ____exports.init(source)
    local config, err = loadConfig(
        source,
        {
            readFile = readFile,
            decodeJson = decode,
            adopt = newAdopt(),
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
    process.prepared = {config = config, store = store, custom = custom}
    for ____, upstream in pairs(config.upstreams) do
        local strategy = upstream.strategy_module or upstream.strategy
        local count = #upstream.nodes
        if upstream.hash_key ~= nil and (custom[upstream.name] or strategies[upstream.strategy]).uses_key ~= true then
            logWarning(((("upstreams." .. upstream.name) .. ".hash_key: strategy ") .. strategy) .. " does not go by a key; it has no effect")
        end
        logNotice((((((("upstream \"" .. upstream.name) .. "\": ") .. tostring(count)) .. " nodes from ") .. upstream.nodes_from) .. ", strategy ") .. strategy)
    end
end
return ____exports
