local ____exports = {}
local ____line_sizes = require("resty.ax.dataplane.line_sizes")
local setUpLine = ____line_sizes.setUpLine
local ____class_reader = require("resty.ax.nginx.class_reader")
local newClassReader = ____class_reader.newClassReader
--- What access() needs of an upstream, made once per worker. init_worker phase.
function ____exports.setUpDoor(hall, upstream)
    local config = upstream.config
    upstream.door.class_reader = newClassReader(config.class_source)
    setUpLine(hall, upstream)
    local ____opt_0 = config.queue
    local header = ____opt_0 and ____opt_0.deadline_header
    if header == nil then
        return
    end
    local name = string.gsub(
        string.lower(header),
        "-",
        "_"
    )
    upstream.door.deadline_variable = "http_" .. name
end
return ____exports
