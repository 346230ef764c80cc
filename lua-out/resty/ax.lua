local ____exports = {}
function ____exports.placeholder()
end
return ____exports
