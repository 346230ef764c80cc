"""Writes gradient.json: looks at one node, and the limit after each, by the rule as docs/limits.md words it.

    python3 spec/vectors/gradient.py

Every look brings no answer at all or a whole sample of equal latencies, so that medians need no histogram.
"""
import json
import math
import pathlib
import random

SAMPLE = 50


def play(options, looks):
    limit, base, due, phase, since = float(options["max"]), None, 0, "steady", 0
    at_min, gave_up, results = 0, False, []
    peak, began = 0, 0
    for look in looks:
        now, ok, ms, failed, in_flight = (look[k] for k in ("now_ms", "ok", "ms", "failed", "in_flight"))
        if phase == "steady":
            peak = max(peak, in_flight)
            if ok + failed >= SAMPLE:
                little = ok * ms / max(1, now - began)
                if ok >= SAMPLE and peak <= options["probe"] and little <= options["probe"]:
                    base, at_min, gave_up, due = ms, 0, False, now + options["probe_interval_ms"]
                elif failed > 0 and failed >= (ok + failed) / 10:
                    if base is not None:
                        limit = max(options["min"], limit * 0.9)
                elif base is not None:
                    g = min(1, max(0.5, max(options["tolerance"] * base, base + 2) / ms))
                    if 2 * peak >= limit or g == 0.5:
                        used = limit if 2 * peak >= limit else max(peak, options["min"])
                        limit = min(options["max"], max(options["min"], used * g + math.sqrt(used) / 2))
                        at_min = at_min + 1 if limit <= options["min"] else 0
                peak, began = 0, now
            elif now - began >= 2000:
                began, peak = now, 0
            if (now >= due or (at_min >= 5 and not gave_up)) and in_flight > 0:
                phase, since = "emptying", now
        elif phase == "emptying":
            if in_flight <= options["probe"]:
                phase, since = "measuring", now
            elif now - since >= 5000:
                phase, due, peak, began, at_min, gave_up = "steady", now + options["probe_interval_ms"], 0, now, 0, True
        else:
            if ok >= SAMPLE:
                base, at_min, gave_up, due = ms, 0, False, now + options["probe_interval_ms"]
                phase, peak, began = "steady", 0, now
            elif now - since >= 5000:
                phase, due, peak, began, at_min, gave_up = "steady", now + options["probe_interval_ms"], 0, now, 0, True
        shown = min(options["probe"], options["max"]) if phase != "steady" else math.floor(limit)
        results.append({"limit": shown, "operating": round(limit, 6)})
    return results


def looks_of(rng, count):
    looks, now, ms, limit = [], 0, 5, 60
    for _ in range(count):
        now += rng.choice([500, 500, 500, 700, 2500])
        if rng.random() < 0.15:
            ms = rng.randint(3, 15)
        ok = rng.choice([0, 50, 60, 200])
        failed = rng.choice([0, 0, 0, 0, 2, 40]) if ok else 0
        in_flight = rng.choice([0, 2, 3, 8, 20, 40, 60, 100])
        looks.append({"now_ms": now, "ok": ok, "ms": ms, "failed": failed, "in_flight": in_flight})
    return looks


def main():
    rng = random.Random(11)
    cases = []
    for k in range(12):
        options = {
            "min": rng.choice([1, 5, 10]),
            "max": rng.choice([20, 60, 500]),
            "probe": rng.choice([1, 3, 5]),
            "probe_interval_ms": rng.choice([5000, 60000]),
            "tolerance": rng.choice([1, 1.25, 2]),
        }
        looks = looks_of(rng, 80)
        cases.append({"options": options, "looks": looks, "results": play(options, looks)})
    # Measuring that comes to nothing: requests that last keep the node over the probe limit, and the others are dear.
    options = {"min": 5, "max": 60, "probe": 3, "probe_interval_ms": 60000, "tolerance": 1.25}
    looks = [
        {"now_ms": 500 * (k + 1), "ok": 50, "ms": 10 if k < 4 else 40, "failed": 0, "in_flight": 1 if k < 4 else 5}
        for k in range(80)
    ]
    cases.append({"options": options, "looks": looks, "results": play(options, looks)})
    path = pathlib.Path(__file__).with_name("gradient.json")
    path.write_text(json.dumps(cases, separators=(",", ":")) + "\n")


main()
