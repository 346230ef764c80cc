local ____exports = {}
--- Entries of the `deltas` list past which workers drop the oldest: the collector is not reading.
____exports.DELTAS_MAX = 2048
--- A worker whose record is older than this is dead: its in-flight counts no longer count.
____exports.WORKER_DEAD_MS = 1500
return ____exports
