local ____exports = {}
--- Requests in flight that a node is taken to bear where nobody said: far above what a healthy node of usual size has;
-- reaching it means the node is stuck.
____exports.DEFAULT_CAPACITY = 500
return ____exports
