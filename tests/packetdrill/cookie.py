# SPDX-License-Identifier: Apache-2.0
"""Fast Open cookies that a script can name: TFO_COOKIE and TFO_COOKIE_ZERO.

A cookie is SipHash-2-4 of source and destination address, as Linux makes it; both back ends begin
with the key of Linux's selftests."""

from __future__ import annotations

import struct

M64 = (1 << 64) - 1
# As net.ipv4.tcp_fastopen_key has it: four numbers, each little endian in the key.
KEY = "a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4"
KEYS = {"TFO_COOKIE": KEY, "TFO_COOKIE_ZERO": "0-0-0-0"}


def rotated(x: int, bits: int) -> int:
    return (x << bits | x >> (64 - bits)) & M64


def siphash(key: bytes, data: bytes) -> int:
    """Returns SipHash-2-4 of data, whose length is a multiple of 8."""
    k0, k1 = struct.unpack("<QQ", key)
    a, b = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    c, d = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def rounds(count: int) -> None:
        nonlocal a, b, c, d
        for _ in range(count):
            a = (a + b) & M64
            c = (c + d) & M64
            b, d = rotated(b, 13) ^ a, rotated(d, 16) ^ c
            a = rotated(a, 32)
            c = (c + b) & M64
            a = (a + d) & M64
            b, d = rotated(b, 17) ^ c, rotated(d, 21) ^ a
            c = rotated(c, 32)

    words = [w for (w,) in struct.iter_unpack("<Q", data)]
    for word in [*words, (len(data) & 0xFF) << 56]:
        d ^= word
        rounds(2)
        a ^= word
    c ^= 0xFF
    rounds(4)
    return a ^ b ^ c ^ d


def cookie(name: str, client: bytes, server: bytes) -> bytes:
    """Returns the cookie of that name which the server gives this client."""
    key = struct.pack("<4I", *(int(word, 16) for word in KEYS[name].split("-")))
    return struct.pack("<Q", siphash(key, client + server))
