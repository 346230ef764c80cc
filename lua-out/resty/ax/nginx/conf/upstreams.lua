-- Lua Library inline imports
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

local function __TS__ArraySlice(self, first, last)
    local len = #self
    first = first or 0
    if first < 0 then
        first = len + first
        if first < 0 then
            first = 0
        end
    else
        if first > len then
            first = len
        end
    end
    last = last or len
    if last < 0 then
        last = len + last
        if last < 0 then
            last = 0
        end
    else
        if last > len then
            last = len
        end
    end
    local out = {}
    first = first + 1
    last = last + 1
    local n = 1
    while first < last do
        out[n] = self[first]
        first = first + 1
        n = n + 1
    end
    return out
end
-- End of Lua Library inline imports
local ____exports = {}
local readWhole, refuseInclude, readBody, noteDirective, readBlock, readUpstream, readInclude
local ____show = require("resty.ax.core.config.show")
local quote = ____show.quote
local ____files = require("resty.ax.nginx.conf.files")
local directoryOf = ____files.directoryOf
local fullPath = ____files.fullPath
local isPattern = ____files.isPattern
local matchingFiles = ____files.matchingFiles
local readFile = ____files.readFile
local ____lexer = require("resty.ax.nginx.conf.lexer")
local newLexer = ____lexer.newLexer
local readStatement = ____lexer.readStatement
local skipBlock = ____lexer.skipBlock
local ____text = require("resty.ax.nginx.conf.text")
local lineAt = ____text.lineAt
function readWhole(reading, path, context)
    local included_at = reading.chain[#reading.chain]
    local prefix = included_at == nil and "" or included_at .. ": "
    local refused = refuseInclude(reading, path)
    if refused ~= nil then
        return prefix .. refused
    end
    local content, err = readFile(path, reading.bytes_left)
    if content == nil then
        return (((prefix .. "cannot read ") .. path) .. ": ") .. tostring(err)
    end
    local ____reading_conf_0, ____files_1 = reading.conf, "files"
    ____reading_conf_0[____files_1] = ____reading_conf_0[____files_1] + 1
    reading.bytes_left = reading.bytes_left - #content
    local ____reading_open_2 = reading.open
    ____reading_open_2[#____reading_open_2 + 1] = path
    local failed = readBody(
        reading,
        newLexer(path, content),
        context
    )
    table.remove(reading.open)
    return failed
end
function refuseInclude(reading, path)
    if __TS__ArrayIncludes(reading.open, path) then
        return (("include cycle: " .. table.concat(reading.chain, " -> ")) .. " -> ") .. path
    end
    local depth = #reading.open
    if depth > ____exports.MAX_INCLUDE_DEPTH then
        local first = table.concat(
            __TS__ArraySlice(reading.chain, 0, 2),
            " -> "
        )
        local last = table.concat(
            __TS__ArraySlice(reading.chain, depth - 2),
            " -> "
        )
        return (((((("includes are more than " .. tostring(____exports.MAX_INCLUDE_DEPTH)) .. " deep: ") .. first) .. " -> ... -> ") .. last) .. " -> ") .. path
    end
    if reading.conf.files >= ____exports.MAX_FILES then
        return ("the configuration includes more than " .. tostring(____exports.MAX_FILES)) .. " files"
    end
    return nil
end
function readBody(reading, lex, context, opened)
    do
        while true do
            local ending, err = readStatement(lex)
            local failed
            if ending == nil then
                return err
            elseif ending == "eof" then
                local ____temp_3
                if opened == nil then
                    ____temp_3 = nil
                else
                    ____temp_3 = ((lex.file .. ":") .. tostring(opened)) .. ": the block that opens here is not closed"
                end
                return ____temp_3
            elseif ending == "}" then
                return opened == nil and ((lex.file .. ":") .. tostring(lineAt(lex, lex.start))) .. ": unexpected \"}\"" or nil
            elseif ending == "{" then
                failed = readBlock(reading, lex, context)
            elseif lex.words[1] == "include" then
                failed = readInclude(reading, lex, context)
            elseif lex.words[1] == "server" and context == 2 then
                local ____opt_4 = reading.block
                if ____opt_4 ~= nil then
                    local ____opt_5 = reading.block
                    local ____temp_7 = ____opt_5 and ____opt_5.servers
                    ____temp_7[#____temp_7 + 1] = {
                        words = lex.words,
                        file = lex.file,
                        line = lineAt(lex, lex.start)
                    }
                end
            elseif context == 2 then
                noteDirective(reading, lex)
            end
            if failed ~= nil then
                return failed
            end
        end
    end
end
function noteDirective(reading, lex)
    local ____opt_9 = reading.block
    if ____opt_9 ~= nil then
        local ____opt_10 = reading.block
        local ____temp_12 = ____opt_10 and ____opt_10.directives
        ____temp_12[#____temp_12 + 1] = {
            name = lex.words[1],
            file = lex.file,
            line = lineAt(lex, lex.start)
        }
    end
end
function readBlock(reading, lex, context)
    if context == 0 and lex.words[1] == "http" then
        return readBody(
            reading,
            lex,
            1,
            lineAt(lex, lex.start)
        )
    end
    if context == 1 and lex.words[1] == "upstream" then
        return readUpstream(reading, lex)
    end
    if context == 2 then
        noteDirective(reading, lex)
    end
    return skipBlock(lex)
end
function readUpstream(reading, lex)
    local line = lineAt(lex, lex.start)
    local where = (lex.file .. ":") .. tostring(line)
    if #lex.words ~= 2 then
        return (where .. ": \"upstream\" needs one name, it has ") .. tostring(#lex.words - 1)
    end
    local block = {
        name = lex.words[2],
        file = lex.file,
        line = line,
        servers = {},
        directives = {}
    }
    local key = string.lower(block.name)
    local other = reading.conf.by_name[key]
    if other ~= nil then
        return (((((where .. ": duplicate upstream ") .. quote(block.name)) .. "; the first is at ") .. other.file) .. ":") .. tostring(other.line)
    end
    reading.conf.by_name[key] = block
    local ____reading_conf_upstreams_14 = reading.conf.upstreams
    ____reading_conf_upstreams_14[#____reading_conf_upstreams_14 + 1] = block
    reading.block = block
    return readBody(reading, lex, 2, line)
end
function readInclude(reading, lex, context)
    local where = (lex.file .. ":") .. tostring(lineAt(lex, lex.start))
    if #lex.words ~= 2 then
        return (where .. ": \"include\" needs one file name, it has ") .. tostring(#lex.words - 1)
    end
    local path = fullPath(reading.directory, lex.words[2])
    local paths = {path}
    if isPattern(path) then
        local err
        paths, err = matchingFiles(path)
        if paths == nil then
            return (((where .. ": cannot list ") .. quote(path)) .. ": ") .. tostring(err)
        end
    end
    local ____reading_chain_15 = reading.chain
    ____reading_chain_15[#____reading_chain_15 + 1] = where
    do
        local i = 0
        while i < #paths do
            local failed = readWhole(reading, paths[i + 1], context)
            if failed ~= nil then
                return failed
            end
            i = i + 1
        end
    end
    table.remove(reading.chain)
    return nil
end
--- Where a reading gives up. nginx has no such limits; an installation of ten thousand sites with a
-- file each stays below, a file that includes itself in ever new ways does not.
____exports.MAX_FILES = 20000
____exports.MAX_TOTAL_BYTES = 64 * 1024 * 1024
____exports.MAX_INCLUDE_DEPTH = 32
--- Reads an nginx configuration and takes the `upstream` blocks directly in its `http` block. Includes
-- are followed where they can contain such blocks or their lines; other blocks are skipped unread.
-- Init phase: it blocks.
-- 
-- @param path full path of the main configuration file
-- @returns the upstreams, or undefined and an error text with file and line
function ____exports.readUpstreams(path)
    local conf = {path = path, upstreams = {}, by_name = {}, files = 0}
    local reading = {
        conf = conf,
        directory = directoryOf(path),
        bytes_left = ____exports.MAX_TOTAL_BYTES,
        chain = {},
        open = {}
    }
    local err = readWhole(reading, path, 0)
    return err == nil and conf or nil, err
end
return ____exports
