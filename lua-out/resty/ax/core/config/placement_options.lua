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
local ____classes = require("resty.ax.core.classes")
local checkClassSource = ____classes.checkClassSource
local DEFAULT_CLASSES = ____classes.DEFAULT_CLASSES
local parseClassSource = ____classes.parseClassSource
local ____problems = require("resty.ax.core.config.problems")
local keyPath = ____problems.keyPath
local report = ____problems.report
local ____show = require("resty.ax.core.config.show")
local isAbsent = ____show.isAbsent
local quote = ____show.quote
local sortedKeys = ____show.sortedKeys
local ____suggest = require("resty.ax.core.config.suggest")
local suggest = ____suggest.suggest
local ____texts = require("resty.ax.core.config.texts")
local checkName = ____texts.checkName
local ____describe = require("resty.ax.core.config.describe")
local quotedList = ____describe.quotedList
--- Options of one upstream about where requests go before the strategy has its say: zones and classes.
____exports.placementFields = {zone = {kind = "string", check = checkName, doc = "Where this gateway stands. Nodes with the same `zone` are preferred while they have capacity; what does not fit " .. "goes to the others ([zones.md](zones.md)). Without it all nodes are alike."}, class_source = {kind = "string", check = checkClassSource, expected = "\"$variable\", \"header:Name\" or the name of a class", doc = "Where the class of a request comes from: `$variable`, `header:Name`, or the name of a class for all requests " .. "([classes.md](classes.md)). Unknown classes are normal. Without it all requests are alike."}, classes = {
    kind = "map",
    of = {kind = "enum", values = {"batch", "normal", "vip"}, doc = "What the class stands for: `vip`, `normal` or `batch`."},
    non_empty = true,
    key_doc = "class",
    key_check = checkName,
    expected = "a map of class names to what they stand for, { trading = \"vip\", reports = \"batch\" },",
    doc = "Names of classes, and what they stand for: `vip` goes to the least loaded nodes, `batch` keeps away from busy ones. " .. "Without it the classes are `vip`, `normal` and `batch`."
}}
--- A class source that names a class must name one there is. Parameters as of ObjectCheck.
function ____exports.checkClasses(record, raw, path, problems)
    local text = record.class_source
    local given = record.classes
    if text == nil or given == nil and not isAbsent(raw.classes) then
        return
    end
    local ____opt_0 = parseClassSource(text)
    local constant = ____opt_0 and ____opt_0.constant
    local known = sortedKeys(given or DEFAULT_CLASSES)
    if constant == nil or __TS__ArrayIncludes(known, constant) then
        return
    end
    local near = suggest(constant, known)
    local hint = near == nil and "" or ("; did you mean \"" .. near) .. "\"?"
    local need = ("\"$variable\", \"header:Name\" or one of " .. quotedList(known)) .. " is needed"
    report(
        problems,
        keyPath(path, "class_source"),
        ((quote(constant) .. " is no class here; ") .. need) .. hint
    )
end
return ____exports
