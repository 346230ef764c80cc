local ____exports = {}
local failAt, atEnd, readPunctuation, addWord, readQuoted, readBare, BLANK, BARE_END, ESCAPES
local ____show = require("resty.ax.core.config.show")
local quote = ____show.quote
local ____lua_block = require("resty.ax.nginx.conf.lua_block")
local skipLuaBlock = ____lua_block.skipLuaBlock
local ____text = require("resty.ax.nginx.conf.text")
local byteAt = ____text.byteAt
local lineAt = ____text.lineAt
function failAt(lex, pos, text)
    return nil, (((lex.file .. ":") .. tostring(lineAt(lex, pos))) .. ": ") .. text
end
function atEnd(lex)
    if #lex.words == 0 then
        return "eof", nil
    end
    return failAt(lex, lex.start, "unexpected end of file: the statement that starts here has no \";\" or \"{\"")
end
function readPunctuation(lex, code)
    local empty = #lex.words == 0
    local char = string.char(code)
    if empty ~= (code == 125) then
        return failAt(lex, lex.pos, ("unexpected \"" .. char) .. "\"")
    end
    lex.pos = lex.pos + 1
    return char, nil
end
function addWord(lex, first, last)
    if last - first >= ____exports.MAX_WORD_BYTES then
        return (("a word of more than " .. tostring(____exports.MAX_WORD_BYTES)) .. " bytes starts here: ") .. quote(string.sub(lex.content, first, first + 9))
    end
    local word = string.sub(lex.content, first, last)
    if (string.find(word, "\\", 1, true)) ~= nil then
        word = string.gsub(word, "\\.", ESCAPES)
    end
    local ____lex_words_1 = lex.words
    ____lex_words_1[#____lex_words_1 + 1] = word
    return nil
end
function readQuoted(lex, mark)
    local open = lex.pos
    local end_or_escape = mark == 34 and "[\\\"]" or "[\\']"
    local at = string.find(lex.content, end_or_escape, open + 1)
    while at ~= nil and byteAt(lex.content, at) == 92 do
        at = string.find(lex.content, end_or_escape, at + 2)
    end
    if at == nil then
        return failAt(
            lex,
            open,
            ("the " .. string.char(mark)) .. " that opens here is not closed"
        )
    end
    local err = addWord(lex, open + 1, at - 1)
    if err ~= nil then
        return failAt(lex, open, err)
    end
    lex.pos = at + 1
    local code = byteAt(lex.content, lex.pos)
    if code == nil or code == 41 then
        return nil, nil
    end
    if code == 59 or code == 123 then
        return readPunctuation(lex, code)
    end
    local char = string.sub(lex.content, lex.pos, lex.pos)
    if (string.find(char, BLANK)) ~= nil then
        return nil, nil
    end
    return failAt(
        lex,
        lex.pos,
        ("unexpected " .. quote(char)) .. " after a closing quote"
    )
end
function readBare(lex)
    local content = lex.content
    local first = lex.pos
    local pos = first
    do
        while true do
            local at = string.find(content, BARE_END, pos)
            if at == nil then
                return failAt(lex, lex.start, "unexpected end of file: the statement that starts here has no \";\" or \"{\"")
            end
            local code = byteAt(content, at)
            if code == 92 then
                pos = at + 2
            elseif code == 36 then
                pos = at + 1
                while byteAt(content, pos) == 123 do
                    pos = pos + 1
                end
            else
                local err = addWord(lex, first, at - 1)
                if err ~= nil then
                    return failAt(lex, first, err)
                end
                lex.pos = at
                if code == 59 or code == 123 then
                    return readPunctuation(lex, code)
                end
                return nil, nil
            end
        end
    end
end
--- Longest word, bytes. nginx's own limit is its buffer of 4096 bytes unless compiled otherwise; what
-- is longer than this is a quote that was not closed, or no configuration.
____exports.MAX_WORD_BYTES = 65536
BLANK = "[ \t\r\n]"
local NOT_BLANK = "[^ \t\r\n]"
BARE_END = "[ \t\r\n;{\\$]"
ESCAPES = {
    ["\\\""] = "\"",
    ["\\'"] = "'",
    ["\\\\"] = "\\",
    ["\\t"] = "\t",
    ["\\r"] = "\r",
    ["\\n"] = "\n"
}
---
-- @param file name for messages
-- @param content text of the whole file
function ____exports.newLexer(file, content)
    return {
        file = file,
        content = content,
        pos = 1,
        line = 1,
        counted_to = 1,
        words = {},
        start = 1
    }
end
--- Moves to the next character that is neither blank nor in a comment.
local function skipBlank(lex)
    local at = (string.find(lex.content, NOT_BLANK, lex.pos))
    while at ~= nil and byteAt(lex.content, at) == 35 do
        local ____end = string.find(lex.content, "\n", at, true)
        local ____temp_0
        if ____end == nil then
            ____temp_0 = nil
        else
            ____temp_0 = (string.find(lex.content, NOT_BLANK, ____end))
        end
        at = ____temp_0
    end
    lex.pos = at or #lex.content + 1
end
--- Reads the next statement: its words, its start, how it ends. A "{" leaves the position behind the
-- brace; the caller then reads the block's statements, or skips it with skipBlock.
-- 
-- @returns how the statement ends, or undefined and an error text with file and line
function ____exports.readStatement(lex)
    local words = {}
    lex.words = words
    skipBlank(lex)
    lex.start = lex.pos
    do
        while true do
            local code = byteAt(lex.content, lex.pos)
            if code == nil then
                return atEnd(lex)
            end
            local ending
            local err
            if code == 59 or code == 123 or code == 125 then
                return readPunctuation(lex, code)
            elseif code == 34 or code == 39 then
                ending, err = readQuoted(lex, code)
            else
                ending, err = readBare(lex)
            end
            if ending ~= nil or err ~= nil then
                return ending, err
            end
            skipBlank(lex)
        end
    end
end
---
-- @returns whether the statement just read opens a block of Lua, not of nginx statements
local function opensLua(lex)
    return string.sub(lex.words[1], -13) == "_by_lua_block"
end
--- Skips the block whose "{" was just read, whatever is in it.
-- 
-- @returns an error text with file and line, or undefined
function ____exports.skipBlock(lex)
    if opensLua(lex) then
        return skipLuaBlock(lex)
    end
    local opened = lineAt(lex, lex.start)
    local depth = 1
    while depth > 0 do
        local ending, err = ____exports.readStatement(lex)
        if ending == nil then
            return err
        end
        if ending == "eof" then
            return ((lex.file .. ":") .. tostring(opened)) .. ": the block that opens here is not closed"
        end
        if ending == "}" then
            depth = depth - 1
        elseif ending == "{" and not opensLua(lex) then
            depth = depth + 1
        elseif ending == "{" then
            local lua_err = skipLuaBlock(lex)
            if lua_err ~= nil then
                return lua_err
            end
        end
    end
    return nil
end
return ____exports
