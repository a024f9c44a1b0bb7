# SPDX-License-Identifier: Apache-2.0
"""Reads HdrHistogram logs by the description of the format, independently of the writer's code."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

SUB_BITS = 11  # three digits: 2 * 10^3 steps


@dataclass
class Interval:
    start: float
    length: float
    max_ms: float
    counts: list[int]


def _numbers(data: bytes) -> list[int]:
    """ZigZag LEB128, the ninth byte of a number whole."""
    found, i = [], 0
    while i < len(data):
        value = shift = 0
        for place in range(9):
            byte = data[i]
            i += 1
            if place == 8:
                value |= byte << shift
                break
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
        found.append((value >> 1) ^ -(value & 1))
    return found


def decode(text: str) -> list[int]:
    """The counters of a histogram in the V2 compressed encoding."""
    raw = base64.b64decode(text, validate=True)
    cookie, size = struct.unpack(">II", raw[:8])
    assert cookie == 0x1C849314 and size == len(raw) - 8
    plain = zlib.decompress(raw[8:])
    cookie, size, offset, digits, lowest, highest, ratio = struct.unpack(">IIIIqqd", plain[:40])
    assert (cookie, offset, digits, lowest, ratio) == (0x1C849313, 0, 3, 1, 1.0)
    assert highest == 3600 * 10**9 and size == len(plain) - 40
    counts: list[int] = []
    for n in _numbers(plain[40:]):
        counts.extend([0] * -n if n < 0 else [n])
    return counts


def read(path: Path) -> list[Interval]:
    lines = path.read_text().splitlines()
    assert lines[1] == "#[Histogram log format version 1.3]"
    assert lines[2].startswith("#[StartTime: ")
    assert lines[3].startswith('"StartTimestamp","Interval_Length","Interval_Max",')
    found = []
    for line in lines[4:]:
        start, length, largest, text = line.split(",")
        found.append(Interval(float(start), float(length), float(largest), decode(text)))
    return found


def lowest_of(index: int) -> int:
    """The smallest value that a counter counts."""
    half = 1 << (SUB_BITS - 1)
    bucket = max(index // half - 1, 0)
    return (index - bucket * half) << bucket


def summed(intervals: list[Interval]) -> list[int]:
    longest = max(len(i.counts) for i in intervals)
    return [sum(i.counts[at] for i in intervals if at < len(i.counts)) for at in range(longest)]


def at_least(counts: list[int], value: int) -> int:
    """How many samples are certainly not below value."""
    return sum(n for i, n in enumerate(counts) if lowest_of(i) >= value)


def percentile(counts: list[int], percent: float) -> int:
    """The largest value of the counter that it falls into."""
    want, seen = max(math.ceil(percent * sum(counts) / 100 - 1e-6), 1), 0
    for i, n in enumerate(counts):
        seen += n
        if seen >= want:
            return lowest_of(i + 1) - 1
    raise ValueError("nothing recorded")
