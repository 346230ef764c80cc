local ____exports = {}
--- What can go wrong at run time, each under a stable code: counted, shown by the status API, logged
-- at most once a minute per worker. docs/troubleshooting.md explains each; a spec compares the two.
____exports.FAULT_CODES = {
    "balancer",
    "set_peer",
    "unknown_upstream",
    "not_initialised",
    "strategy",
    "hash_key",
    "class_source",
    "log_phase",
    "log_missing",
    "access_phase",
    "flush",
    "collector",
    "probe",
    "store_full",
    "store_corrupt",
    "api"
}
return ____exports
