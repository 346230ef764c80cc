local pcall = pcall
local ____exports = {}
local nginxArguments, commandLine, builtInPath, BUILT_IN_PATH, MAX_ARGUMENTS
local ffi = require("ffi")
local ____files = require("resty.ax.nginx.conf.files")
local directoryOf = ____files.directoryOf
local fullPath = ____files.fullPath
local ____libc = require("resty.ax.nginx.conf.libc")
local libc = ____libc.libc
local ____command_line = require("resty.ax.nginx.conf.command_line")
local argumentsOf = ____command_line.argumentsOf
local confOption = ____command_line.confOption
function nginxArguments()
    local ok, argv = pcall(function() return libc.ax_ngx_argv end)
    if not ok or argv == nil then
        return nil
    end
    local words = {}
    do
        local i = 0
        while i < MAX_ARGUMENTS and argv[i] ~= nil do
            words[#words + 1] = ffi.string(argv[i])
            i = i + 1
        end
    end
    return words
end
function commandLine(view)
    local argv = view.argv()
    if argv ~= nil then
        return argv, "nginx's arguments"
    end
    local process = "/proc/self"
    local looked = ""
    do
        local generation = 0
        while generation < 2 do
            local file = process .. "/cmdline"
            local words = argumentsOf(view.readProc(file) or "")
            if words ~= nil then
                return words, file
            end
            looked = looked .. (looked == "" and "" or " and ") .. file
            local parent = string.match(
                view.readProc(process .. "/status") or "",
                "PPid:%s*(%d+)"
            )
            if parent == nil then
                break
            end
            process = "/proc/" .. parent
            generation = generation + 1
        end
    end
    return nil, "no arguments in " .. looked
end
function builtInPath(view)
    local configured = view.configureArguments()
    local quoted = string.match(configured, "%-%-conf%-path='([^']*)'")
    local path = quoted or (string.match(configured, "%-%-conf%-path=([^%s']+)"))
    if path ~= nil and path ~= "" then
        return path, "--conf-path in nginx's configure arguments"
    end
    return BUILT_IN_PATH, ("no --conf-path in nginx's configure arguments, so " .. BUILT_IN_PATH) .. " in its prefix"
end
BUILT_IN_PATH = "conf/nginx.conf"
MAX_ARGUMENTS = 1024
--- The running process. Any phase.
____exports.thisProcess = {
    argv = nginxArguments,
    readProc = function(path)
        local file = io.open(path, "rb")
        if file == nil then
            return nil
        end
        local text = file:read("*a")
        file:close()
        return text
    end,
    prefix = function() return ngx.config.prefix() end,
    configureArguments = function() return ngx.config.nginx_configure() end
}
--- Finds the configuration file of the running nginx: the path given; else `-c` among nginx's
-- arguments, taken from its own copy of them, or from /proc (of this process; of its parent, if this
-- is a worker); else --conf-path of the configure arguments; else conf/nginx.conf. Relative paths
-- are relative to the prefix, as nginx takes them.
-- 
-- Does not look whether the file exists: it is the one nginx would take.
-- 
-- @param conf_path path given by the user, if any
function ____exports.locate(view, conf_path)
    local prefix = view.prefix()
    if conf_path ~= nil then
        return {
            path = fullPath(prefix, conf_path),
            looked = "path given (nginx_conf)"
        }
    end
    local words, source = commandLine(view)
    local ____temp_0
    if words == nil then
        ____temp_0 = nil
    else
        ____temp_0 = confOption(words)
    end
    local option = ____temp_0
    if option ~= nil then
        return {
            path = fullPath(prefix, option),
            looked = "-c in " .. source
        }
    end
    local not_there = words == nil and source .. ", " or ("no -c in " .. source) .. ", "
    local built_in, built_in_from = builtInPath(view)
    return {
        path = fullPath(prefix, built_in),
        looked = ("no path given (nginx_conf), " .. not_there) .. built_in_from
    }
end
--- Where nginx itself takes relative names in its configuration from (ngx_conf_full_name): the directory of the main file.
-- 
-- @returns the directory, ending in "/", and the file
function ____exports.confDirectory(view)
    local ____exports_locate_result_1 = ____exports.locate(view)
    local path = ____exports_locate_result_1.path
    return directoryOf(path), path
end
return ____exports
