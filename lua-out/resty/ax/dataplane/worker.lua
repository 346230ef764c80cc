local ____exports = {}
--- Boxed, so that the phases see what init and init_worker put in.
____exports.process = {prepared = nil, worker = nil, faults = nil}
return ____exports
