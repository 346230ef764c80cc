local ____exports = {}
local ____problems = require("resty.ax.core.config.problems")
local keyPath = ____problems.keyPath
local report = ____problems.report
local ____show = require("resty.ax.core.config.show")
local sortedKeys = ____show.sortedKeys
local ____goals = require("resty.ax.core.goals")
local GOALS = ____goals.GOALS
local ____scoring = require("resty.ax.core.scoring")
local NORMALISERS = ____scoring.NORMALISERS
local SIGNALS = ____scoring.SIGNALS
--- The normaliser `share` is for shares. Parameters as of ObjectCheck.
local function checkPart(record, _raw, path, problems)
    local name = record.name
    if record.normaliser ~= "share" or name == nil or SIGNALS[name].is_share then
        return
    end
    report(
        problems,
        keyPath(path, "normaliser"),
        ("\"share\" takes signals that are shares (0..1); \"" .. name) .. "\" is none"
    )
end
--- The options of the strategy `goal`.
____exports.goalOptions = {
    goal = {
        kind = "enum",
        values = sortedKeys(GOALS),
        default = "latency",
        doc = "What to aim for.",
        reason = "what most people look at first"
    },
    signals = {
        kind = "list",
        non_empty = true,
        expected = "a list of signals, { { name = \"latency\", weight = 0.7 }, ... },",
        doc = "What a node is scored by, instead of the goal's own signals.",
        of = {
            kind = "object",
            expected = "a signal, { name = \"latency\", weight = 0.7 },",
            doc = "One signal.",
            check = checkPart,
            fields = {
                name = {
                    kind = "enum",
                    values = sortedKeys(SIGNALS),
                    default = "latency",
                    doc = "The signal."
                },
                weight = {
                    kind = "number",
                    min = 0.001,
                    max = 1000,
                    default = 1,
                    doc = "Its part of the score."
                },
                normaliser = {
                    kind = "enum",
                    values = sortedKeys(NORMALISERS),
                    default = "percentile",
                    doc = "How it is brought to 0..1.",
                    reason = "one node far off flattens nobody"
                },
                direction = {kind = "enum", values = {"high", "low"}, doc = "Which end is good, instead of the signal's own."}
            }
        }
    },
    ceiling = {kind = "number", min = 0.01, max = 1, doc = "Share of a node's capacity in flight from which it gets nothing while another is under its own. " .. "Default: 0.8 for `cost`, 0.7 for `stability`, else 1."}
}
return ____exports
