local ____exports = {}
____exports.STATES = {
    pending = {usable = false, by_operator = false, what = "New to a running gateway; its probes have not passed yet.", ends = "the probes pass; without a verdict after `pending_max_s`, as if they had"},
    online = {usable = true, by_operator = false, what = "In rotation.", ends = "trouble, or the operator"},
    degraded = {usable = true, by_operator = false, what = "Answers, but slowly, or asks for less load (429, 503 with Retry-After): in rotation at a lower weight.", ends = "its answers are as usual again; the time it asked for is over"},
    suspect = {usable = true, by_operator = false, what = "Fails, or does not answer what it has: in rotation at a low weight while it is being judged.", ends = "a short window without failures; or ejection"},
    ejected = {usable = false, by_operator = false, what = "Out of rotation, cooling down.", ends = "the cool-down is over (thrown out by probes: they pass again)"},
    probing = {usable = false, by_operator = false, what = "Half-open: one trial at a time: a probe where there are probes; when it passes, one live request over all workers.", ends = "the trial passes or fails"},
    ramping = {usable = true, by_operator = false, what = "Coming (back): a growing share of its weight, and few requests in flight.", ends = "the ramp is over, or trouble"},
    draining = {usable = false, by_operator = true, what = "Drained by the operator: no new requests, those in flight finish.", ends = "nothing is in flight any more; or the operator"},
    offline = {usable = false, by_operator = true, what = "Taken out: `down` in the configuration, drained, or forced down.", ends = "the configuration, or the operator"},
    maintenance = {usable = false, by_operator = true, what = "Taken out for maintenance by the operator; not probed.", ends = "the operator, or the time given"}
}
--- Names of releases before this table, as an older snapshot may have them.
local OLD_NAMES = {up = "online", down = "offline"}
---
-- @returns the state of that name, an older release's included; undefined when there is none
function ____exports.stateNamed(name)
    if type(name) ~= "string" then
        return nil
    end
    if ____exports.STATES[name] ~= nil then
        return name
    end
    return OLD_NAMES[name]
end
---
-- @returns whether new requests may go to a node in this state
function ____exports.isUsable(state)
    return ____exports.STATES[state].usable
end
return ____exports
