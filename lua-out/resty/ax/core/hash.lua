local bit_band = bit.band
local bit_bor = bit.bor
local bit_bxor = bit.bxor
local bit_lshift = bit.lshift
local bit_rshift = bit.rshift
-- Lua Library inline imports
local function __TS__StringCharCodeAt(self, index)
    if index ~= index then
        index = 0
    end
    if index < 0 then
        return 0 / 0
    end
    return string.byte(self, index + 1) or 0 / 0
end
-- End of Lua Library inline imports
local ____exports = {}
--- 2^32: hashes are below it.
____exports.HASH_RANGE = 4294967296
--- Seed of request keys. Any constant does; it must never change, or every key moves.
____exports.KEY_SEED = 0
local C1 = 3432918353
local C2 = 461845907
--- The low 32 bits of a · b.
-- 
-- @param b 0 .. 2^32-1
local function multiply(a, b)
    return bit_bor(
        bit_band(a, 65535) * b + bit_lshift(
            bit_band(
                bit_rshift(a, 16) * b,
                65535
            ),
            16
        ),
        0
    )
end
--- One block of the body.
local function mixIn(hash, block)
    local k = multiply(block, C1)
    k = multiply(
        bit_bor(
            bit_lshift(k, 15),
            bit_rshift(k, 17)
        ),
        C2
    )
    local h = bit_bxor(hash, k)
    return bit_bor(
        bit_bor(
            bit_lshift(h, 13),
            bit_rshift(h, 19)
        ) * 5 + 3864292196,
        0
    )
end
--- The tail's block, which is mixed in without the last steps.
local function mixTail(hash, block)
    local k = multiply(block, C1)
    return bit_bxor(
        hash,
        multiply(
            bit_bor(
                bit_lshift(k, 15),
                bit_rshift(k, 17)
            ),
            C2
        )
    )
end
--- The finalizer: every bit of the input reaches every bit of the result.
local function finish(hash, length)
    local h = bit_bxor(hash, length)
    h = multiply(
        bit_bxor(
            h,
            bit_rshift(h, 16)
        ),
        2246822507
    )
    h = multiply(
        bit_bxor(
            h,
            bit_rshift(h, 13)
        ),
        3266489909
    )
    h = bit_bxor(
        h,
        bit_rshift(h, 16)
    )
    return h < 0 and h + ____exports.HASH_RANGE or h
end
--- Hashes the first `length` bytes of a string.
-- 
-- @param bytes in JavaScript: one character a byte, none above 255
-- @param seed 0 .. 2^32-1
-- @returns 0 .. 2^32-1
function ____exports.hashPrefix(bytes, length, seed)
    local hash = bit_bor(seed, 0)
    local at = 0
    while at + 4 <= length do
        hash = mixIn(
            hash,
            bit_bor(
                bit_bor(
                    bit_bor(
                        __TS__StringCharCodeAt(bytes, at),
                        bit_lshift(
                            __TS__StringCharCodeAt(bytes, at + 1),
                            8
                        )
                    ),
                    bit_lshift(
                        __TS__StringCharCodeAt(bytes, at + 2),
                        16
                    )
                ),
                bit_lshift(
                    __TS__StringCharCodeAt(bytes, at + 3),
                    24
                )
            )
        )
        at = at + 4
    end
    if at < length then
        local tail = __TS__StringCharCodeAt(bytes, at)
        if at + 1 < length then
            tail = bit_bor(
                tail,
                bit_lshift(
                    __TS__StringCharCodeAt(bytes, at + 1),
                    8
                )
            )
        end
        if at + 2 < length then
            tail = bit_bor(
                tail,
                bit_lshift(
                    __TS__StringCharCodeAt(bytes, at + 2),
                    16
                )
            )
        end
        hash = mixTail(hash, tail)
    end
    return finish(hash, length)
end
--- Hashes a string of bytes; see `hashPrefix`.
function ____exports.hashBytes(bytes, seed)
    return ____exports.hashPrefix(bytes, #bytes, seed)
end
--- Hashes one 32-bit number: the same as hashing its four bytes, lowest first. No loop.
-- 
-- @param value 0 .. 2^32-1
-- @param seed 0 .. 2^32-1
-- @returns 0 .. 2^32-1
function ____exports.hashNumber(value, seed)
    return finish(
        mixIn(
            bit_bor(seed, 0),
            bit_bor(value, 0)
        ),
        4
    )
end
--- MurmurHash3's finalizer over two hashes: a draw that belongs to both, at half the cost of hashing one
-- with the other. Only for numbers that are hashes already.
-- 
-- @returns 0 .. 2^32-1
function ____exports.mixHashes(first, second)
    return finish(
        bit_bxor(first, second),
        0
    )
end
--- Hashes two 32-bit numbers: the same as hashing their eight bytes.
-- 
-- @returns 0 .. 2^32-1
function ____exports.hashPair(first, second, seed)
    return finish(
        mixIn(
            mixIn(
                bit_bor(seed, 0),
                bit_bor(first, 0)
            ),
            bit_bor(second, 0)
        ),
        8
    )
end
return ____exports
