local ____exports = {}
____exports.TALLIES = {"rejected_overloaded", "retries_denied", "retries_late", "retries"}
local function zeros()
    return {rejected_overloaded = 0, retries_denied = 0, retries_late = 0, retries = 0}
end
function ____exports.newTallies()
    return {
        total = zeros(),
        sent = zeros()
    }
end
function ____exports.tallyKey(upstream, name)
    return (("count:" .. upstream) .. ":") .. name
end
--- Flush.
function ____exports.sendTallies(tallies, store, upstream)
    do
        local k = 0
        while k < #____exports.TALLIES do
            local name = ____exports.TALLIES[k + 1]
            local unsent = tallies.total[name] - tallies.sent[name]
            if unsent > 0 and store.incr(
                ____exports.tallyKey(upstream, name),
                unsent
            ) ~= nil then
                local ____tallies_sent_0, ____name_1 = tallies.sent, name
                ____tallies_sent_0[____name_1] = ____tallies_sent_0[____name_1] + unsent
            end
            k = k + 1
        end
    end
end
return ____exports
