local ____exports = {}
local fromTitle, MASTER_TITLE, WITH_VALUE
function fromTitle(title)
    local words = {""}
    for word in string.gmatch(
        string.sub(title, #MASTER_TITLE + 1),
        "[^ ]+"
    ) do
        local last = #words - 1
        local is_option = string.sub(word, 1, 1) == "-"
        local awaits_value = last > 0 and (string.find(words[last + 1], ("^%-[^pecgs]*" .. WITH_VALUE) .. "$")) ~= nil
        if is_option or awaits_value then
            words[#words + 1] = word
        else
            words[last + 1] = words[last + 1] == "" and word or (words[last + 1] .. " ") .. word
        end
    end
    return words
end
MASTER_TITLE = "nginx: master process "
--- What every other process of nginx writes over them.
local TITLE = "nginx: "
WITH_VALUE = "[pecgs]"
---
-- @param cmdline text of /proc/<pid>/cmdline
-- @returns the arguments, the program's name first; undefined when they are not there (a worker)
function ____exports.argumentsOf(cmdline)
    if string.sub(cmdline, 1, #MASTER_TITLE) == MASTER_TITLE then
        return fromTitle((string.match(cmdline, "^[^%z]*")))
    end
    if cmdline == "" or string.sub(cmdline, 1, #TITLE) == TITLE then
        return nil
    end
    local words = {}
    for word in string.gmatch(cmdline, "([^%z]*)%z") do
        words[#words + 1] = word
    end
    return words
end
---
-- @param words nginx's arguments, the program's name first
-- @returns the value of the last -c, as nginx takes it
function ____exports.confOption(words)
    local found
    do
        local i = 1
        while i < #words do
            local letter, attached = string.match(words[i + 1], ("^%-[^pecgs]*(" .. WITH_VALUE) .. ")(.*)$")
            if letter ~= nil then
                local value = attached
                if attached == "" then
                    i = i + 1
                    value = words[i + 1]
                end
                if letter == "c" then
                    found = value
                end
            end
            i = i + 1
        end
    end
    return found
end
return ____exports
