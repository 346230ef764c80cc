local pcall = pcall
local ____exports = {}
--- Compiled once and kept: the patterns are few, and the configuration's.
local OPTIONS = "o"
local function tryRegex(regex)
    local ____, ____, err = ngx.re.find("", regex)
    return err
end
--- Compiles a regular expression, as the workers will. init phase.
-- 
-- @returns what is wrong with it; undefined when nothing is
function ____exports.regexProblem(regex)
    local ok, err = pcall(tryRegex, regex)
    local ____ok_0
    if ok then
        ____ok_0 = err
    else
        ____ok_0 = tostring(err)
    end
    return ____ok_0
end
---
-- @returns whether it is found in the text; not, too, when the search goes beyond PCRE's limits (`lua_regex_match_limit`)
function ____exports.regexMatches(text, regex)
    local from = ngx.re.find(text, regex, OPTIONS)
    return from ~= nil
end
return ____exports
