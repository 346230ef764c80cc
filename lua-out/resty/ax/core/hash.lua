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
    return bit.bor(
        bit.band(a, 65535) * b + bit.lshift(
            bit.band(
                bit.rshift(a, 16) * b,
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
        bit.bor(
            bit.lshift(k, 15),
            bit.rshift(k, 17)
        ),
        C2
    )
    local h = bit.bxor(hash, k)
    return bit.bor(
        bit.bor(
            bit.lshift(h, 13),
            bit.rshift(h, 19)
        ) * 5 + 3864292196,
        0
    )
end
--- The tail's block, which is mixed in without the last steps.
local function mixTail(hash, block)
    local k = multiply(block, C1)
    return bit.bxor(
        hash,
        multiply(
            bit.bor(
                bit.lshift(k, 15),
                bit.rshift(k, 17)
            ),
            C2
        )
    )
end
--- The finalizer: every bit of the input reaches every bit of the result.
local function finish(hash, length)
    local h = bit.bxor(hash, length)
    h = multiply(
        bit.bxor(
            h,
            bit.rshift(h, 16)
        ),
        2246822507
    )
    h = multiply(
        bit.bxor(
            h,
            bit.rshift(h, 13)
        ),
        3266489909
    )
    h = bit.bxor(
        h,
        bit.rshift(h, 16)
    )
    return h < 0 and h + ____exports.HASH_RANGE or h
end
--- Hashes the first `length` bytes of a string.
-- 
-- @param bytes in JavaScript: one character a byte, none above 255
-- @param seed 0 .. 2^32-1
-- @returns 0 .. 2^32-1
function ____exports.hashPrefix(bytes, length, seed)
    local hash = bit.bor(seed, 0)
    local at = 0
    while at + 4 <= length do
        hash = mixIn(
            hash,
            bit.bor(
                bit.bor(
                    bit.bor(
                        __TS__StringCharCodeAt(bytes, at),
                        bit.lshift(
                            __TS__StringCharCodeAt(bytes, at + 1),
                            8
                        )
                    ),
                    bit.lshift(
                        __TS__StringCharCodeAt(bytes, at + 2),
                        16
                    )
                ),
                bit.lshift(
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
            tail = bit.bor(
                tail,
                bit.lshift(
                    __TS__StringCharCodeAt(bytes, at + 1),
                    8
                )
            )
        end
        if at + 2 < length then
            tail = bit.bor(
                tail,
                bit.lshift(
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
            bit.bor(seed, 0),
            bit.bor(value, 0)
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
        bit.bxor(first, second),
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
                bit.bor(seed, 0),
                bit.bor(first, 0)
            ),
            bit.bor(second, 0)
        ),
        8
    )
end
return ____exports
