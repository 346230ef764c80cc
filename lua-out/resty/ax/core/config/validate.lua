local math_floor = math.floor
local math_huge = math.huge
-- Lua Library inline imports
local function __TS__TypeOf(value)
    local luaType = type(value)
    if luaType == "table" then
        return "object"
    elseif luaType == "nil" then
        return "undefined"
    else
        return luaType
    end
end

local function __TS__NumberIsNaN(value)
    return value ~= value
end

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

local function __TS__ArraySort(self, compareFn)
    if compareFn ~= nil then
        table.sort(
            self,
            function(a, b) return compareFn(nil, a, b) < 0 end
        )
    else
        table.sort(self)
    end
    return self
end
-- End of Lua Library inline imports
local ____exports = {}
local reportWrongType, validateNumber, validateString, validateEnum, validateList, reportOddKeys, isMap, validateMap, reportUnknownKeys, validateObject, whenAbsent, validateField, MAX_KNOWN_LISTED
local ____describe = require("resty.ax.core.config.describe")
local needText = ____describe.needText
local quotedList = ____describe.quotedList
local quotingHint = ____describe.quotingHint
local ____problems = require("resty.ax.core.config.problems")
local keyPath = ____problems.keyPath
local positionPath = ____problems.positionPath
local report = ____problems.report
local ____show = require("resty.ax.core.config.show")
local isAbsent = ____show.isAbsent
local isTable = ____show.isTable
local shapeOf = ____show.shapeOf
local showNumber = ____show.showNumber
local showValue = ____show.showValue
local sortedKeys = ____show.sortedKeys
local ____suggest = require("resty.ax.core.config.suggest")
local suggest = ____suggest.suggest
function reportWrongType(field, key, value, path, problems)
    local need = needText(field, key) .. " is needed"
    local ____type = __TS__TypeOf(value)
    local simple = ____type == "string" or ____type == "number" or ____type == "boolean"
    local given = simple and (showValue(value) .. " is a ") .. ____type or showValue(value) .. " is given"
    report(
        problems,
        path,
        ((given .. "; ") .. need) .. quotingHint(field, key, value)
    )
end
function validateNumber(value, field, key, path, problems)
    if type(value) ~= "number" then
        reportWrongType(
            field,
            key,
            value,
            path,
            problems
        )
        return nil
    end
    if value == 0 and field.or_zero == true then
        return value
    end
    local wrong
    if __TS__NumberIsNaN(value) or value == math_huge or value == -math_huge then
        wrong = "is not a finite number"
    elseif value < field.min then
        wrong = "is too small"
    elseif value > field.max then
        wrong = "is too large"
    elseif field.integer == true and value ~= math_floor(value) then
        wrong = "is not a whole number"
    end
    if wrong == nil then
        return value
    end
    report(
        problems,
        path,
        ((((showNumber(value) .. " ") .. wrong) .. "; ") .. needText(field, key)) .. " is needed"
    )
    return nil
end
function validateString(value, field, key, path, problems)
    if type(value) ~= "string" then
        reportWrongType(
            field,
            key,
            value,
            path,
            problems
        )
        return nil
    end
    local ____temp_0
    if field.check == nil then
        ____temp_0 = nil
    else
        ____temp_0 = field.check(value)
    end
    local wrong = ____temp_0
    if wrong == nil then
        return value
    end
    report(
        problems,
        path,
        (showValue(value) .. " ") .. wrong
    )
    return nil
end
function validateEnum(value, field, key, path, problems)
    if type(value) ~= "string" then
        reportWrongType(
            field,
            key,
            value,
            path,
            problems
        )
        return nil
    end
    if __TS__ArrayIncludes(field.values, value) then
        return value
    end
    local near = suggest(value, field.values)
    local hint = near == nil and "" or ("; did you mean \"" .. near) .. "\"?"
    report(
        problems,
        path,
        (((showValue(value) .. " is not known; ") .. needText(field, key)) .. " is needed") .. hint
    )
    return nil
end
function validateList(value, field, key, path, problems)
    local shape = isTable(value) and shapeOf(value) or nil
    if shape == nil or shape.kind ~= "list" and shape.kind ~= "empty" then
        reportWrongType(
            field,
            key,
            value,
            path,
            problems
        )
        return nil
    end
    if shape.size == 0 and field.non_empty == true then
        report(
            problems,
            path,
            ("is empty; " .. needText(field, key)) .. " is needed"
        )
        return nil
    end
    local entries = value
    local valid = {}
    do
        local i = 0
        while i < shape.size do
            local entry_path = positionPath(path, i + 1)
            if isAbsent(entries[i + 1]) then
                report(
                    problems,
                    entry_path,
                    ("is missing; " .. needText(field.of, "")) .. " is needed"
                )
            end
            local ____validateField_result_1 = validateField(
                entries[i + 1],
                field.of,
                "",
                entry_path,
                problems
            )
            if ____validateField_result_1 == nil then
                ____validateField_result_1 = ____exports.UNUSABLE
            end
            valid[#valid + 1] = ____validateField_result_1
            i = i + 1
        end
    end
    return valid
end
function reportOddKeys(____table, path, problems)
    local odd = {}
    local texts = {}
    for key in pairs(____table) do
        do
            local raw = key
            if type(raw) == "string" then
                goto __continue24
            end
            local shown = showValue(raw)
            odd[#odd + 1] = shown
            texts[shown] = ((showValue(____table[key]) .. " has no name: its key is ") .. (type(raw) == "number" and "the number " or "")) .. shown
        end
        ::__continue24::
    end
    __TS__ArraySort(odd)
    do
        local i = 0
        while i < #odd do
            report(problems, ((path .. "[") .. odd[i + 1]) .. "]", texts[odd[i + 1]] .. "; write name = value")
            i = i + 1
        end
    end
end
function isMap(value, field, key, path, problems)
    if isTable(value) then
        local kind = shapeOf(value).kind
        if kind ~= "list" and kind ~= "holes" then
            return true
        end
    end
    reportWrongType(
        field,
        key,
        value,
        path,
        problems
    )
    return false
end
function validateMap(value, field, key, path, problems)
    if not isMap(
        value,
        field,
        key,
        path,
        problems
    ) then
        return nil
    end
    local ____table = value
    reportOddKeys(____table, path, problems)
    local valid = {}
    local keys = sortedKeys(____table)
    local count = 0
    do
        local i = 0
        while i < #keys do
            do
                local name = keys[i + 1]
                if isAbsent(____table[name]) then
                    goto __continue35
                end
                count = count + 1
                local entry_path = keyPath(path, name)
                local ____temp_2
                if field.key_check == nil then
                    ____temp_2 = nil
                else
                    ____temp_2 = field.key_check(name)
                end
                local wrong = ____temp_2
                if wrong ~= nil then
                    report(
                        problems,
                        entry_path,
                        (("the name " .. showValue(name)) .. " ") .. wrong
                    )
                end
                local entry = validateField(
                    ____table[name],
                    field.of,
                    name,
                    entry_path,
                    problems
                )
                if entry ~= nil then
                    valid[name] = entry
                end
            end
            ::__continue35::
            i = i + 1
        end
    end
    if count == 0 and field.non_empty == true then
        report(
            problems,
            path,
            ("is empty; " .. needText(field, key)) .. " is needed"
        )
        return nil
    end
    return valid
end
function reportUnknownKeys(____table, known, path, problems)
    local keys = sortedKeys(____table)
    local was_listed = false
    do
        local i = 0
        while i < #keys do
            do
                if __TS__ArrayIncludes(known, keys[i + 1]) then
                    goto __continue42
                end
                local near = suggest(keys[i + 1], known)
                local hint = "none here has a name like it"
                if near ~= nil then
                    hint = ("did you mean \"" .. near) .. "\"?"
                elseif #known == 0 then
                    hint = "there are no options here"
                elseif #known <= MAX_KNOWN_LISTED and not was_listed then
                    hint = "known are " .. quotedList(known)
                    was_listed = true
                end
                report(
                    problems,
                    keyPath(path, keys[i + 1]),
                    "unknown key; " .. hint
                )
            end
            ::__continue42::
            i = i + 1
        end
    end
end
function validateObject(value, field, key, path, problems)
    if not isMap(
        value,
        field,
        key,
        path,
        problems
    ) then
        return nil
    end
    local ____table = value
    local record = {}
    local known = sortedKeys(field.fields)
    reportOddKeys(____table, path, problems)
    reportUnknownKeys(____table, known, path, problems)
    do
        local i = 0
        while i < #known do
            local name = known[i + 1]
            local part = field.fields[name]
            local part_path = keyPath(path, name)
            local ____isAbsent_result_3
            if isAbsent(____table[name]) then
                ____isAbsent_result_3 = whenAbsent(part, name, part_path, problems)
            else
                ____isAbsent_result_3 = validateField(
                    ____table[name],
                    part,
                    name,
                    part_path,
                    problems
                )
            end
            local valid = ____isAbsent_result_3
            if valid ~= nil then
                record[name] = valid
            end
            i = i + 1
        end
    end
    if field.check ~= nil then
        field.check(record, ____table, path, problems)
    end
    return record
end
function whenAbsent(field, key, path, problems)
    local kind = field.kind
    if kind == "number" or kind == "boolean" or kind == "enum" then
        return field.default
    end
    if kind == "any" then
        return nil
    end
    if kind == "object" and field.optional == true then
        return nil
    end
    if kind == "object" then
        return validateObject(
            {},
            field,
            key,
            path,
            problems
        )
    end
    if field.required == true then
        report(
            problems,
            path,
            ("is missing; " .. needText(field, key)) .. " is needed"
        )
    end
    if kind == "string" then
        return field.default
    end
    return kind == "map" and field.default_empty == true and ({}) or nil
end
function validateField(value, field, key, path, problems)
    if isAbsent(value) then
        return nil
    end
    if field.kind == "number" then
        return validateNumber(
            value,
            field,
            key,
            path,
            problems
        )
    end
    if field.kind == "string" then
        return validateString(
            value,
            field,
            key,
            path,
            problems
        )
    end
    if field.kind == "enum" then
        return validateEnum(
            value,
            field,
            key,
            path,
            problems
        )
    end
    if field.kind == "list" then
        return validateList(
            value,
            field,
            key,
            path,
            problems
        )
    end
    if field.kind == "map" then
        return validateMap(
            value,
            field,
            key,
            path,
            problems
        )
    end
    if field.kind == "object" then
        return validateObject(
            value,
            field,
            key,
            path,
            problems
        )
    end
    if field.kind == "any" or type(value) == "boolean" then
        return value
    end
    reportWrongType(
        field,
        key,
        value,
        path,
        problems
    )
    return nil
end
--- In a list, stands for an entry that has a problem: keeps the positions of the others.
____exports.UNUSABLE = false
MAX_KNOWN_LISTED = 10
--- Validates a record against its fields.
-- 
-- @param value what the user gave; never written to, and no part of the result except under `any`
-- @param fields the known fields
-- @param path where the record stands, for messages; "" for the whole configuration
-- @param problems takes every problem found
-- @param check rules over several fields, run last
-- @returns a fresh record with defaults filled in; fields with a problem are absent from it, and list
-- entries with one are UNUSABLE, so use it only when `problems` has none
function ____exports.validate(value, fields, path, problems, check)
    local record = validateObject(
        value,
        {
            kind = "object",
            doc = "",
            expected = "a map of options",
            fields = fields,
            check = check
        },
        "",
        path,
        problems
    )
    return record == nil and ({}) or record
end
return ____exports
