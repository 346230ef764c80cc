"""Writes hash.json: what MurmurHash3 and the ring must give, from an independent implementation.

python3 -m venv V && V/bin/pip install mmh3 && V/bin/python spec/vectors/hash.py
"""

import bisect
import ipaddress
import json
import pathlib
import random
import struct

import mmh3

SECOND_SEED = 0x9747B28C


def murmur(data, seed=0):
    return mmh3.hash(data, seed, signed=False)


def hashes():
    rng = random.Random(1)
    published = [(b"", 0), (b"", 1), (b"", 0xFFFFFFFF), (b"\xff\xff\xff\xff", 0), (b"\x21\x43\x65\x87", 0x5082EDEE)]
    published += [(b"\x21\x43\x65", 0), (b"\x21\x43", 0), (b"\x21", 0), (bytes(4), 0), (b"aaaa", SECOND_SEED)]
    published += [(b"The quick brown fox jumps over the lazy dog", SECOND_SEED)]
    drawn = [(rng.randbytes(k % 40), rng.randrange(2**32)) for k in range(80)]
    return [{"hex": d.hex(), "seed": s, "hash": murmur(d, s)} for d, s in published + drawn]


def numbers():
    rng = random.Random(2)
    rows = [[rng.randrange(2**32) for _ in range(3)] for _ in range(40)] + [[0, 0, 0], [2**32 - 1] * 3]
    return [
        {
            "a": a,
            "b": b,
            "seed": s,
            "one": murmur(struct.pack("<I", a), s),
            "two": murmur(struct.pack("<II", a, b), s),
            # Of nothing, MurmurHash3 is its finalizer over the seed.
            "mixed": murmur(b"", a ^ b),
        }
        for a, b, s in rows
    ]


def ring_of(ids, counts):
    points = []
    for name, count in zip(ids, counts):
        first, second = murmur(name.encode()), murmur(name.encode(), SECOND_SEED)
        points += [(murmur(struct.pack("<II", second, k), first), name) for k in range(count)]
    return sorted(points)


def ring(ids, counts, keys):
    points = ring_of(ids, counts)
    owners = [points[bisect.bisect_left(points, (key, "")) % len(points)][1] for key in keys]
    return {"ids": ids, "counts": counts, "keys": keys, "owners": owners, "size": len(points)}


def rings():
    rng = random.Random(3)
    edges = [0, 1, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1]
    draw = lambda n: edges + [rng.randrange(2**32) for _ in range(n)]
    six = [f"10.0.0.{k}:8080" for k in range(1, 7)]
    odd = ["unix:/run/a.sock", "[2001:db8::1]:80", "b", "a"]
    return [ring(["only"], [1], draw(4)), ring(six, [160] * 6, draw(60)), ring(odd, [1, 7, 160, 40], draw(60))]


def addresses():
    rows = [("192.0.2.77", 24, 64), ("192.0.2.77", 32, 64), ("192.0.2.77", 20, 64), ("192.0.2.77", 1, 64)]
    rows += [("2001:db8:1:2:3:4:5:6", 24, bits) for bits in (64, 128, 48, 57, 1)] + [("::ffff:192.0.2.77", 24, 64)]
    out = []
    for text, v4, v6 in rows:
        address = ipaddress.ip_address(text)
        plain = getattr(address, "ipv4_mapped", None) or address
        bits = v4 if plain.version == 4 else v6
        whole, rest = divmod(bits, 8)
        key = murmur(plain.packed[:whole])
        if rest:
            key = murmur(struct.pack("<I", plain.packed[whole] >> (8 - rest) << (8 - rest)), key)
        out.append({"text": text, "hex": address.packed.hex(), "ipv4": v4, "ipv6": v6, "key": key})
    return out


VECTORS = {"hashes": hashes(), "numbers": numbers(), "rings": rings(), "addresses": addresses()}
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(VECTORS) + "\n")
