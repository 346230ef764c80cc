local ____exports = {}
local ____flow_options = require("resty.ax.core.config.flow_options")
local flowFields = ____flow_options.flowFields
local ____nodes = require("resty.ax.core.config.nodes")
local nodeFields = ____nodes.nodeFields
local ____placement_options = require("resty.ax.core.config.placement_options")
local placementFields = ____placement_options.placementFields
local ____probe_options = require("resty.ax.core.config.probe_options")
local probeFields = ____probe_options.probeFields
local ____queue_options = require("resty.ax.core.config.queue_options")
local admissionFields = ____queue_options.admissionFields
local ____hash_key = require("resty.ax.core.config.hash_key")
local HASH_KEY_FORMS = ____hash_key.HASH_KEY_FORMS
local ____show = require("resty.ax.core.config.show")
local sortedKeys = ____show.sortedKeys
local ____texts = require("resty.ax.core.config.texts")
local checkNotEmpty = ____texts.checkNotEmpty
--- The one that needs no tuning: scored weights and live load together.
local DEFAULT_STRATEGY = "adaptive"
local function choiceFields(strategies)
    return {
        strategy = {
            kind = "enum",
            values = sortedKeys(strategies),
            default = DEFAULT_STRATEGY,
            doc = "How a node is picked: the name of a built-in strategy.",
            reason = "scored weights and live load together: it follows slow and failing nodes without tuning"
        },
        strategy_module = {kind = "string", check = checkNotEmpty, doc = "A strategy of your own: the Lua module's name as for `require`, \"my.strategy\". Replaces `strategy`."},
        strategy_options = {
            kind = "map",
            of = {kind = "any", doc = "An option of the strategy."},
            default_empty = true,
            doc = "Options of the chosen strategy, see below. For a strategy of your own they are passed on as they are, " .. "and it must check them itself.",
            reason = "every option of a strategy has its own default"
        },
        hash_key = {kind = "any", expected = HASH_KEY_FORMS, doc = (("Where strategies that go by a key (`affinity`, `consistent_hash`) get it from: `$variable` of nginx, " .. "`header:Name`, `cookie:name`, `arg:name`, or, in a Lua table, a function that returns a string. `ip_hash` mixes ") .. "it in beside the address. A request without a value goes by the client's address, and is counted ") .. "(`keyless_picks` in the status). Without `hash_key` the client's address is the key."}
    }
end
local routingFields = {nodes = {
    kind = "list",
    of = {kind = "object", fields = nodeFields, expected = "a node, { address = \"10.0.0.1:8080\" },", doc = "One node."},
    non_empty = true,
    expected = "a list of nodes, { { address = \"10.0.0.1:8080\" }, ... },",
    doc = "The nodes. Without it they are adopted from the `server` lines of the nginx upstream block of the same name."
}, max_tries = {
    kind = "number",
    integer = true,
    min = 0,
    max = 1000,
    default = 0,
    doc = "Most tries of one request in this upstream, each at another node as long as there is one; 0 = no limit of ours. " .. "nginx's own apply in any case: the number of `server` lines, `proxy_next_upstream`, its tries and its time-out.",
    reason = "nginx's own limits are what the user wrote"
}}
local windowFields = {window_short_s = {
    kind = "number",
    integer = true,
    min = 1,
    max = 60,
    default = 5,
    doc = "The short window finds a node that just turned bad. Error rates for ejection are taken over it.",
    reason = "long enough for a percentile at a few requests a second, short enough to react before users do"
}, window_long_s = {
    kind = "number",
    integer = true,
    min = 10,
    max = 3600,
    default = 60,
    doc = "The long window makes steady decisions. At least twice `window_short_s`.",
    reason = "with 10 s alone weights swung and traffic sloshed between nodes"
}, min_samples = {
    kind = "number",
    integer = true,
    min = 1,
    max = 100000,
    default = 20,
    doc = "Fewer judged tries than this in a window say too little of a node to judge it by.",
    reason = "with fewer, one failure is already 5 %, the ejection threshold"
}}
local scoreFields = {
    score_min = {
        kind = "number",
        min = 0.01,
        max = 1,
        default = 0.2,
        doc = "Lowest score. The effective weight is base weight × score, so a bad node keeps this share of its weight.",
        reason = "a fifth of its traffic is enough to see a node recover"
    },
    score_max = {
        kind = "number",
        min = 1,
        max = 10,
        default = 1.5,
        doc = "Highest score: how much more than its base weight a good node can earn.",
        reason = "half as much again is what a node sized for its weight can take"
    },
    weight_step = {
        kind = "number",
        min = 0.01,
        max = 10,
        default = 0.2,
        doc = "How far the score may move in one step.",
        reason = "from 1 down to `score_min` in four steps: fast, but no lurch"
    },
    weight_step_interval_ms = {
        kind = "number",
        integer = true,
        min = 100,
        max = 60000,
        default = 1000,
        doc = "How soon the next step may come.",
        reason = "the effect of a step shows in the short window before the window is over"
    },
    error_penalty_from = {
        kind = "number",
        min = 0,
        max = 1,
        default = 0.015,
        doc = "Error rate (5xx, no connection, time-out; 0..1) from which the score falls, linearly until `eject_error_rate`.",
        reason = "1.5 %: below it, errors are mostly the requests' own"
    }
}
local ejectionFields = {
    eject_error_rate = {
        kind = "number",
        min = 0,
        max = 1,
        default = 0.05,
        doc = "Error rate (0..1) in the short window above which a node is ejected, once it has lasted for " .. "`eject_error_rate_for_s`. More than `error_penalty_from`; 1 = never.",
        reason = "5 % of errors hurt more than one node less"
    },
    eject_error_rate_for_s = {
        kind = "number",
        min = 0,
        max = 3600,
        default = 30,
        doc = "How long the error rate must stay over `eject_error_rate`.",
        reason = "a start-up blip of 500s must not eject a node"
    },
    cool_down_s = {
        kind = "number",
        min = 1,
        max = 86400,
        default = 60,
        doc = "How long an ejection for errors lasts. Grows with every ejection in a row, up to `cool_down_max_s`.",
        reason = "time for a restart"
    },
    cool_down_max_s = {
        kind = "number",
        min = 1,
        max = 86400,
        default = 600,
        doc = "Longest ejection. At least `cool_down_s`.",
        reason = "ten times the first one: a repaired node is back within ten minutes without anyone's help"
    },
    return_trial = {kind = "boolean", default = true, doc = "After a cool-down, one request at a time is tried (over all workers; a probe where there are probes) before the " .. "node gets any other. false: straight to the ramp.", reason = "a node that is still dead costs one try, not one a worker"},
    ramp_s = {
        kind = "number",
        min = 0,
        max = 3600,
        default = 30,
        doc = "How long a node that comes back takes to reach its full weight; 0 = at once.",
        reason = "recovered nodes put straight back at full weight fell over again: caches and pools need half a minute"
    },
    ramp_from = {
        kind = "number",
        min = 0.01,
        max = 1,
        default = 0.2,
        doc = "Share of its weight at which the ramp starts.",
        reason = "the same low weight that `score_min` leaves a bad node"
    }
}
local poolFields = {
    slow_start_s = {
        kind = "number",
        min = 0,
        max = 3600,
        default = 120,
        doc = "How long a node that is new to a running gateway stays at `slow_start_share`, before it ramps. Not at the " .. "gateway's start, and not when most of the pool is new.",
        reason = "caches, pools and compilers of a fresh node take minutes"
    },
    slow_start_share = {
        kind = "number",
        min = 0.01,
        max = 1,
        default = 0.2,
        doc = "Share of its weight that a new node has meanwhile.",
        reason = "enough to warm up and to be measured, too little to be flooded"
    },
    max_ejected_share = {
        kind = "number",
        min = 0,
        max = 1,
        default = 0.5,
        doc = "Most of the nodes that may be ejected at a time; of small pools one; never the last one; 0 = none. Primaries " .. "with a good backup node may all be.",
        reason = "each ejection loads the others more: past half, ejecting is the outage"
    },
    panic_threshold = {
        kind = "number",
        min = 0,
        max = 1,
        default = 0.2,
        doc = "Share of good nodes (in rotation, and nothing held against them) under which all are used, good and bad. " .. "Without any good node it always is so.",
        reason = "below it each would carry five times its share, and go down too"
    },
    panic = {
        kind = "enum",
        values = {"spread", "fail"},
        default = "spread",
        doc = "What happens then: `spread` uses all nodes; `fail` has `access()` answer 503 with Retry-After (where it does not run, " .. "the nodes in rotation go on).",
        reason = "a try at a bad node beats an error"
    },
    eject_host = {kind = "boolean", default = false, doc = "Two ejected nodes of one host (label `host`, else the IP address) eject its others too. Either way there is an event.", reason = "two services may fail on a sound machine"}
}
---
-- @returns the options of one upstream, in the order of the reference page
function ____exports.upstreamFields(strategies)
    local fields = choiceFields(strategies)
    local groups = {
        routingFields,
        placementFields,
        admissionFields,
        windowFields,
        scoreFields,
        ejectionFields,
        poolFields,
        probeFields
    }
    for key in pairs(flowFields) do
        fields[key] = flowFields[key]
    end
    do
        local i = 0
        while i < #groups do
            for key in pairs(groups[i + 1]) do
                fields[key] = groups[i + 1][key]
            end
            i = i + 1
        end
    end
    return fields
end
return ____exports
