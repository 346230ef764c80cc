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
-- End of Lua Library inline imports
local ____exports = {}
local ____cidr = require("resty.ax.core.cidr")
local checkCidr = ____cidr.checkCidr
local ____classes = require("resty.ax.core.classes")
local DEFAULT_CLASSES = ____classes.DEFAULT_CLASSES
local parseClassSource = ____classes.parseClassSource
local ____priority = require("resty.ax.core.priority")
local MEANINGS = ____priority.MEANINGS
local priorityOf = ____priority.priorityOf
local ____problems = require("resty.ax.core.config.problems")
local keyPath = ____problems.keyPath
local report = ____problems.report
local ____show = require("resty.ax.core.config.show")
local isAbsent = ____show.isAbsent
local quote = ____show.quote
local showValue = ____show.showValue
local sortedKeys = ____show.sortedKeys
local ____suggest = require("resty.ax.core.config.suggest")
local suggest = ____suggest.suggest
local ____texts = require("resty.ax.core.config.texts")
local checkName = ____texts.checkName
local ____describe = require("resty.ax.core.config.describe")
local quotedList = ____describe.quotedList
--- What `class_source` takes, for messages.
local CLASS_FORMS = "\"$variable\", \"header:Name\", the name of a class, or in a Lua table a function that returns one,"
--- Options of one upstream about where requests go before the strategy has its say: zones and classes.
____exports.placementFields = {
    zone = {kind = "string", check = checkName, doc = "Where this gateway stands. Nodes with the same `zone` are preferred while they have capacity; what does not fit " .. "goes to the others ([zones.md](zones.md)). Without it all nodes are alike."},
    class_source = {kind = "any", expected = CLASS_FORMS, doc = ("Where the class of a request comes from: `$variable`, `header:Name`, the name of a class for all requests, or, in a " .. "Lua table, a function that returns the name of one ([classes.md](classes.md)). Unknown classes are normal. Without ") .. "it all requests are alike."},
    classes = {
        kind = "map",
        of = {kind = "any", doc = "What the class stands for: `vip`, `normal`, `batch`, or a priority 1..5."},
        non_empty = true,
        key_doc = "class",
        key_check = checkName,
        expected = "a map of class names to what they stand for, { trading = \"vip\", reports = \"batch\" },",
        doc = ("Names of classes, and what they stand for: `vip` goes to the least loaded nodes, `batch` keeps away from busy ones. " .. "In the admission queue they have priority 1 (`vip`), 3 (`normal`) and 5 (`batch`); a number 1..5 names the priority ") .. "itself. Without it the classes are `vip`, `normal` and `batch`."
    },
    trust_client_class = {kind = "boolean", default = false, doc = ("Whether a client may promote itself. A class that the client itself writes (`header:…`, `$http_…`, `$arg_…`, " .. "`$cookie_…`) is taken as normal when it stands for more than that, unless this is `true` or the client is one of ") .. "`trusted_clients`.", reason = "a header is anybody's word: with it everybody is vip"},
    trusted_clients = {
        kind = "list",
        of = {kind = "string", check = checkCidr, expected = "an address or a range", doc = "An address or a range."},
        non_empty = true,
        expected = "a list of addresses and ranges, { \"10.0.0.0/8\", \"2001:db8::1\" },",
        doc = "Clients, by the address of the connection (or of the realip module), whose own word about their class is taken."
    }
}
local function checkMeanings(classes, path, problems)
    local names = sortedKeys(classes)
    do
        local i = 0
        while i < #names do
            do
                local given = classes[names[i + 1]]
                if priorityOf(given) ~= nil then
                    goto __continue4
                end
                local ____temp_0
                if type(given) == "string" then
                    ____temp_0 = suggest(given, {"batch", "normal", "vip"})
                else
                    ____temp_0 = nil
                end
                local near = ____temp_0
                local hint = near == nil and "" or ("; did you mean \"" .. near) .. "\"?"
                report(
                    problems,
                    keyPath(path, names[i + 1]),
                    (((showValue(given) .. " is not known; ") .. MEANINGS) .. " is needed") .. hint
                )
            end
            ::__continue4::
            i = i + 1
        end
    end
end
--- A class source that names a class must name one there is. Parameters as of ObjectCheck.
function ____exports.checkClasses(record, raw, path, problems)
    local source = record.class_source
    local given = record.classes
    if given ~= nil then
        checkMeanings(
            given,
            keyPath(path, "classes"),
            problems
        )
    end
    if isAbsent(source) or type(source) == "function" then
        return
    end
    local source_path = keyPath(path, "class_source")
    if type(source) ~= "string" then
        report(
            problems,
            source_path,
            ((showValue(source) .. " is given; ") .. CLASS_FORMS) .. " is needed"
        )
        return
    end
    local ____temp_1
    if source == "" then
        ____temp_1 = nil
    else
        ____temp_1 = parseClassSource(source)
    end
    local parsed = ____temp_1
    if parsed == nil then
        report(
            problems,
            source_path,
            ((quote(source) .. " is no class source; ") .. CLASS_FORMS) .. " is needed"
        )
        return
    end
    local constant = parsed.constant
    if constant == nil or given == nil and not isAbsent(raw.classes) then
        return
    end
    local known = sortedKeys(given or DEFAULT_CLASSES)
    if __TS__ArrayIncludes(known, constant) then
        return
    end
    local near = suggest(constant, known)
    local hint = near == nil and "" or ("; did you mean \"" .. near) .. "\"?"
    local need = ("\"$variable\", \"header:Name\" or one of " .. quotedList(known)) .. " is needed"
    report(
        problems,
        source_path,
        ((quote(constant) .. " is no class here; ") .. need) .. hint
    )
end
return ____exports
