local ____exports = {}
return ____exports
