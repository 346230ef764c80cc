-- Lua Library inline imports
local __TS__StringSplit
do
    local sub = string.sub
    local find = string.find
    function __TS__StringSplit(source, separator, limit)
        if limit == nil then
            limit = 4294967295
        end
        if limit == 0 then
            return {}
        end
        local result = {}
        local resultIndex = 1
        if separator == nil or separator == "" then
            for i = 1, #source do
                result[resultIndex] = sub(source, i, i)
                resultIndex = resultIndex + 1
            end
        else
            local currentPos = 1
            while resultIndex <= limit do
                local startPos, endPos = find(source, separator, currentPos, true)
                if not startPos then
                    break
                end
                result[resultIndex] = sub(source, currentPos, startPos - 1)
                resultIndex = resultIndex + 1
                currentPos = endPos + 1
            end
            if resultIndex <= limit then
                result[resultIndex] = sub(source, currentPos)
            end
        end
        return result
    end
end
-- End of Lua Library inline imports
local ____exports = {}
--- nginx's $upstream_* variables hold one value per try: "a, b", and "a, b : c" after an internal
-- redirect. A dangling " : " follows a request that left the balancer without a try.
function ____exports.splitTries(text)
    local values = __TS__StringSplit(
        table.concat(
            __TS__StringSplit(text, " : "),
            ", "
        ),
        ", "
    )
    while #values > 0 and values[#values] == "" do
        table.remove(values)
    end
    return values
end
--- Matches our tries (their addresses, in order) with nginx's list of tries, which may hold tries that
-- were not ours: another upstream's, or nginx's own after we stood aside. Matching runs from the end,
-- because what is ours alone (a request taken over from a leaked one) is at the beginning.
-- 
-- @returns for each of our tries, the position in nginx's list, or -1
function ____exports.matchTries(ours, nginx)
    local matched = {}
    if #ours == #nginx then
        do
            local k = 0
            while k < #ours do
                matched[k + 1] = k
                k = k + 1
            end
        end
        return matched
    end
    do
        local k = 0
        while k < #ours do
            matched[k + 1] = -1
            k = k + 1
        end
    end
    local at = #ours - 1
    do
        local k = #nginx - 1
        while k >= 0 and at >= 0 do
            if nginx[k + 1] == ours[at + 1] then
                matched[at + 1] = k
                at = at - 1
            end
            k = k - 1
        end
    end
    return matched
end
return ____exports
