local pcall = pcall
local ____exports = {}
--- What a function of the user's returned or threw, for a message. It may be a table whose `__tostring` throws in turn;
-- that must not make a fault of the user's, which costs only its own say, into one of ours.
function ____exports.errorText(value)
    local ok, text = pcall(tostring, value)
    return ok and text or ("a " .. type(value)) .. " that cannot be shown"
end
return ____exports
