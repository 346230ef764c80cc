local ____exports = {}
do
    local ____init = require("resty.ax.phases.init")
    ____exports.init = ____init.init
end
do
    local ____init_worker = require("resty.ax.phases.init_worker")
    ____exports.init_worker = ____init_worker.initWorker
end
do
    local ____access = require("resty.ax.phases.access")
    ____exports.access = ____access.access
end
do
    local ____balancer = require("resty.ax.phases.balancer")
    ____exports.balancer = ____balancer.balancer
end
do
    local ____log = require("resty.ax.phases.log")
    ____exports.log = ____log.log
end
do
    local ____api = require("resty.ax.phases.api")
    ____exports.api = ____api.api
end
--- Version of the library.
____exports._VERSION = "0.1.0"
return ____exports
