"""Prints the words that `NoiseRng::insecure_seed(7)` must give, by ChaCha20 written out from its definition
(Bernstein 2008: 64-bit block counter, 64-bit stream number), for the value-stability test in src/rng.rs."""

import struct


def block(key, counter, stream):
    start = list(struct.unpack("<4I", b"expand 32-byte k")) + list(struct.unpack("<8I", key))
    start += list(struct.unpack("<4I", struct.pack("<QQ", counter, stream)))
    x = start[:]

    def quarter(a, b, c, d):
        for target, other, turned, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[target] = (x[target] + x[other]) & 0xFFFFFFFF
            v = x[turned] ^ x[target]
            x[turned] = ((v << bits) | (v >> (32 - bits))) & 0xFFFFFFFF

    for _ in range(10):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(x, start)))


key = struct.pack("<Q", 7) + b" barkeep: not private..."
first = block(key, 0, 0)
print("words:", [hex(w) for w in struct.unpack("<4Q", first[:32])])
streams = [block(first[:32], 0, number) for number in range(3)]
print("streams:", [hex(struct.unpack("<Q", s[:8])[0]) for s in streams])
