"""Writes queue.json: operations on the admission queue, with the answers of the rule itself.

    python3 spec/vectors/queue.py

The rule is played out here as it is worded, with five lines that entries move up in: no keys, no heap.
"""
import json
import pathlib
import random

AGE_MS = 10000
CLASSES = 5


class Lines:
    def __init__(self, size, class_sizes):
        self.size, self.class_sizes = size, class_sizes
        self.lines = [[] for _ in range(CLASSES + 1)]
        self.now = 0

    def advance(self, now):
        """Moves whoever has been in a line for AGE_MS to the end of the line above, in the order of time."""
        while True:
            due = [
                (joined + AGE_MS, order, level)
                for level in range(2, CLASSES + 1)
                for joined, order, _, _, _ in self.lines[level][:1]
                if joined + AGE_MS <= now
            ]
            if not due:
                break
            at, _, level = min(due)
            _, order, name, cls, deadline = self.lines[level].pop(0)
            self.lines[level - 1].append((at, order, name, cls, deadline))
        self.now = now

    def everybody(self):
        return [entry for line in self.lines for entry in line]

    def push(self, name, cls, deadline, order):
        if len(self.everybody()) >= self.size:
            return "full"
        if sum(entry[3] == cls for entry in self.everybody()) >= self.class_sizes[cls - 1]:
            return "class_full"
        self.lines[cls].append((self.now, order, name, cls, deadline))
        return "queued"

    def out(self, entry):
        for line in self.lines:
            if entry in line:
                line.remove(entry)

    def pop(self):
        for line in self.lines:
            if line:
                return line.pop(0)[2]
        return ""

    def remove(self, name):
        found = [entry for entry in self.everybody() if entry[2] == name]
        for entry in found:
            self.out(entry)
        return len(found) > 0

    def expire(self):
        due = [(entry[4], entry[1], entry) for entry in self.everybody() if 0 <= entry[4] <= self.now]
        if not due:
            return ""
        entry = min(due)[2]
        self.out(entry)
        return entry[2]


def play(seed, steps, size, class_sizes, tick):
    rng = random.Random(seed)
    lines, now, ops = Lines(size, class_sizes), 1000, []
    for k in range(steps):
        now += rng.choice([0, 0, tick, rng.randrange(1, 4 * tick), AGE_MS // 5])
        lines.advance(now)
        what = rng.random()
        if what < 0.55:
            name, cls = f"e{k}", rng.randrange(1, CLASSES + 1)
            deadline = -1 if rng.random() < 0.5 else now + rng.randrange(0, 60000)
            ops.append(["push", now, name, cls, deadline, lines.push(name, cls, deadline, k)])
        elif what < 0.8:
            ops.append(["pop", now, lines.pop()])
        elif what < 0.9:
            name = f"e{rng.randrange(k + 1)}"
            ops.append(["remove", now, name, lines.remove(name)])
        else:
            ops.append(["expire", now, lines.expire()])
    while lines.everybody():
        ops.append(["pop", now, lines.pop()])
    return {"name": f"seed {seed}", "size": size, "class_sizes": class_sizes, "age_ms": AGE_MS, "ops": ops}


cases = [
    play(1, 300, 1000, [1000] * 5, 100),
    play(2, 300, 1000, [1000] * 5, 2500),
    play(3, 300, 12, [12, 12, 3, 2, 1], 500),
]
text = json.dumps({"queue": cases}, separators=(",", ":")).replace('["', '\n["')
pathlib.Path(__file__).with_name("queue.json").write_text(text + "\n")
