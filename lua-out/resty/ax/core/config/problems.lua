-- Lua Library inline imports
local function __TS__StringCharCodeAt(self, index)
    if index ~= index then
        index = 0
    end
    if index < 0 then
        return 0 / 0
    end
    return string.byte(self, index + 1) or 0 / 0
end
-- End of Lua Library inline imports
local ____exports = {}
local ____show = require("resty.ax.core.config.show")
local quote = ____show.quote
--- More than this on a screen help nobody, and a generated configuration can have thousands.
____exports.MAX_LISTED = 50
--- Longest key shown bare in a path; longer ones are quoted and cut.
local MAX_BARE_KEY = 64
---
-- @returns an empty collection
function ____exports.newProblems()
    return {list = {}, total = 0}
end
--- Adds a problem; from MAX_LISTED on only counts it.
-- 
-- @param path key path, "" for the configuration as a whole
-- @param text what is wrong and what is allowed
function ____exports.report(problems, path, text)
    problems.total = problems.total + 1
    if #problems.list < ____exports.MAX_LISTED then
        local ____problems_list_0 = problems.list
        ____problems_list_0[#____problems_list_0 + 1] = {path = path == "" and "configuration" or path, text = text}
    end
end
local function isBare(key)
    if #key == 0 or #key > MAX_BARE_KEY then
        return false
    end
    do
        local i = 0
        while i < #key do
            local code = __TS__StringCharCodeAt(key, i)
            local letter = code >= 97 and code <= 122 or code >= 65 and code <= 90 or code == 95
            local later = code >= 48 and code <= 57 or code == 45
            if not letter and (i == 0 or not later) then
                return false
            end
            i = i + 1
        end
    end
    return true
end
---
-- @param path path of the map
-- @param key a key in it; quoted in brackets when it could be misread (dots, spaces, …)
-- @returns path of the entry
function ____exports.keyPath(path, key)
    if not isBare(key) then
        return ((path .. "[") .. quote(key)) .. "]"
    end
    return path == "" and key or (path .. ".") .. key
end
---
-- @param path path of the list
-- @param position counted from 1, as a Lua user counts
-- @returns path of the entry
function ____exports.positionPath(path, position)
    return ((path .. "[") .. tostring(position)) .. "]"
end
---
-- @param problems at least one
-- @param source where the configuration came from: "init" or a file name
-- @param max_length where to stop listing, bytes; without it all MAX_LISTED are listed
-- @returns the text for the user, ready for error(text, 0): a head line, then one numbered line a problem
function ____exports.renderProblems(problems, source, max_length)
    local noun = problems.total == 1 and "problem" or "problems"
    local text = ((((("lua-resty-ax: " .. tostring(problems.total)) .. " ") .. noun) .. " in the configuration (") .. source) .. "):"
    local listed = 0
    while listed < #problems.list do
        local line = (((("\n  " .. tostring(listed + 1)) .. ". ") .. problems.list[listed + 1].path) .. ": ") .. problems.list[listed + 1].text
        if max_length ~= nil and #text + #line > max_length then
            break
        end
        text = text .. line
        listed = listed + 1
    end
    local left = problems.total - listed
    return left > 0 and ((text .. "\n  ... and ") .. tostring(left)) .. " more" or text
end
return ____exports
