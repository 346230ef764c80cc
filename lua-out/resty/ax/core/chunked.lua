local bit_arshift = bit.arshift
local bit_band = bit.band
local ____exports = {}
local BITS = 12
local CHUNK = 4096
local MASK = 4095
---
-- @param at an entry that has been written
function ____exports.read(chunks, at)
    return chunks[bit_arshift(at, BITS) + 1][bit_band(at, MASK) + 1]
end
--- Writes an entry. Pieces must be begun in order; within them any order will do.
function ____exports.write(chunks, at, value)
    local chunk = chunks[bit_arshift(at, BITS) + 1]
    if chunk == nil then
        chunk = {}
        do
            local k = 0
            while k < CHUNK do
                chunk[k + 1] = 0
                k = k + 1
            end
        end
        chunks[bit_arshift(at, BITS) + 1] = chunk
    end
    chunk[bit_band(at, MASK) + 1] = value
end
return ____exports
