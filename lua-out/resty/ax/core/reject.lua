local ____exports = {}
--- Why access() refuses a request: the value of the header X-AX-Reject, of the status API and of the
-- documentation (docs/admission.md), which a spec compares.
____exports.REJECT_REASONS = {
    "overloaded",
    "queue_full",
    "queue_timeout",
    "qps",
    "panic",
    "draining"
}
return ____exports
