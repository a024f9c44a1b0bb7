# SPDX-License-Identifier: Apache-2.0
"""Bulk with each feature off in turn, and zero copy against copy, in both directions (for bulk.py).

Features are offloads, by their names in ethtool, zero copy, and held received frames. A feature
that a system does not use is not switched off.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from statistics import median

from bench import links, terminal

ALL, ZERO_COPY, HOLD = "all on", "zero copy", "hold"
# Switched off together: an offload and its software fallback.
TOGETHER = (("tso", "gso"), ("lro", "gro"))
SYSTEMS = ("inline_wire", "inline_af_xdp", "toed_wire", "toed_af_xdp")
WITH_ZERO_COPY = ("linux", "inline_wire", "inline_af_xdp")
MESSAGES = (512, 1024, 2048, 4096, 8192, 16384, 65536, 262144, 1048576)
# By reference at every size, so that the break-even size can be found. No polling: the CPU time
# is that of the work.
SETTINGS = {"TOEHOLD_ZEROCOPY_MIN": "1", "TOEHOLD_BUSY_POLL_US": "0"}
RATES = ("bytes_per_s", "bytes_per_cpu_s")

# Receiving by the client: environment and arguments. Borrowed bytes are not read.
NOT_HELD, HELD = {"TOEHOLD_HOLD_MIN": "0"}, {"TOEHOLD_HOLD_MIN": "1"}
LEND = ["--zero-copy", "--api", "toe"]
RECEIVING = {"copied": (NOT_HELD, []), "held": (HELD, []), "lent": (HELD, LEND)}
# Sizes of frames: the offloads that are off, and options of the engine.
FRAMES = {
    "as they come": ([], []),
    "1448 bytes": (["tso", "gso"], []),
    "524 bytes": (["tso", "gso"], ["--mtu", 576]),
}
RECEIVERS = ("inline_wire", "inline_af_xdp")
RECEIVE_MESSAGES = (2048, 65536)

Sample = Callable[..., dict]  # of a link, connections, message, zero_copy: the figures of bulk.py


def _ratio(value: float, of: float) -> float | None:
    """Return None without a reference value: on a busy machine a sample may transfer nothing."""
    return value / of if of else None


def sizes(found: Mapping[str, Mapping[str, Mapping]], rate: str) -> dict[str, float | None]:
    """Return the ratio of zero copy to copy by message size, in one of RATES."""
    ratios = {m: _ratio(by["zero_copy"][rate], by["copy"][rate]) for m, by in found.items()}
    return {m: r if r is None else round(r, 3) for m, r in ratios.items()}


def threshold(ratios: Mapping[str, float | None]) -> int | None:
    """Return the size from which on zero copy is never slower, or None."""
    best = None
    for message in sorted(map(int, ratios), reverse=True):
        ratio = ratios[str(message)]
        if ratio is None or ratio < 1:
            break
        best = message
    return best


def rows(
    words: Sequence[str], chosen: Sequence[str] | None, *, holds: bool = False
) -> dict[str, list[str]]:
    """Return the features that are off in each row, by its name."""
    off = {word: [word] for word in (ZERO_COPY, *([HOLD] if holds else []), *words)}
    off.update({"+".join(t): list(t) for t in TOGETHER if set(t) <= set(words)})
    return {ALL: [], **{n: w for n, w in off.items() if chosen is None or n in chosen}}


def change(found: Mapping[str, float]) -> dict[str, float]:
    """Return each row's difference to the row with all features on, in percent."""
    if not found[ALL]:
        return {}
    return {n: round(100 * (v / found[ALL] - 1), 1) for n, v in found.items() if n != ALL}


def _one(link: links.Link, off: Sequence[str], take: Sample, message: int) -> float:
    switched = [word for word in off if word not in (ZERO_COPY, HOLD)]
    env = link.env
    link.switch(dict.fromkeys(switched, False))
    link.env = {**env, **(NOT_HELD if HOLD in off else {})}
    try:
        return take(link, 1, message, zero_copy=ZERO_COPY not in off)["bytes_per_s"]
    finally:
        link.env = env
        link.switch(dict.fromkeys(switched, True))


def measure_features(
    table: Mapping[str, type[links.Link]], options: argparse.Namespace, take: Sample, message: int
) -> dict:
    with ExitStack() as stack:
        opened, _ = links.open_streams(table, options.features_of, stack, options)
        off = {
            name: rows(link.offloads(), options.off, holds=name in RECEIVERS)
            for name, link in opened.items()
        }
        found = {name: {row: [] for row in off[name]} for name in opened}
        for number in range(options.samples):
            for name, link in opened.items():
                for row, words in off[name].items():
                    terminal.progress(
                        f"sample {number + 1} of {options.samples}: {name}, off: {row}"
                    )
                    found[name][row].append(_one(link, words, take, message))
        links.check_all(opened)
    terminal.end_progress()
    return found


def measure_zero_copy(
    table: Mapping[str, type[links.Link]], options: argparse.Namespace, take: Sample
) -> dict:
    with ExitStack() as stack:
        opened, _ = links.open_streams(table, options.zero_copy_of, stack, options, **SETTINGS)
        for link in opened.values():
            link.busy = False
        ways = {"copy": False, "zero_copy": True}
        found = {
            name: {
                str(m): {way: {rate: [] for rate in RATES} for way in ways}
                for m in options.zero_copy_messages
            }
            for name in opened
        }
        for number in range(options.samples):
            for message in options.zero_copy_messages:
                for name, link in opened.items():
                    for way, zero_copy in ways.items():
                        terminal.progress(
                            f"sample {number + 1} of {options.samples}: {name}, {way}, {message}"
                        )
                        sample = take(link, 1, message, zero_copy=zero_copy)
                        for rate, values in found[name][str(message)][way].items():
                            values.append(sample[rate])
        links.check_all(opened)
    terminal.end_progress()
    return found


def _received(link: links.Link, way: str, message: int, options: argparse.Namespace) -> dict:
    env = link.env
    more, args = RECEIVING[way]
    link.env = {**env, **more}
    try:
        found = link.measure(
            "bulk",
            *("--direction", "down", "--connections", 1, "--message", message, *args),
            role="bulk",
            serve=["--message", message],
            seconds=options.seconds,
            warmup=options.warmup,
        )
    finally:
        link.env = env
    return {
        "bytes_per_s": round(found["bytes_per_s"]),
        "bytes_per_cpu_s": round(found["bytes_in_all"] / found["cpu_s"]),
    }


def measure_receiving(
    table: Mapping[str, type[links.Link]], options: argparse.Namespace
) -> dict[str, dict]:
    """Return samples of a polling receiver by system, frames, message and way."""
    with ExitStack() as stack:
        opened, _ = links.open_streams(table, options.receive_of, stack, options)
        found: dict[str, dict] = {
            name: {
                frames: {
                    str(m): {way: {rate: [] for rate in RATES} for way in RECEIVING}
                    for m in options.receive_messages
                }
                for frames in FRAMES
            }
            for name in opened
        }
        for frames, (off, words) in FRAMES.items():
            for link in opened.values():
                link.switch(dict.fromkeys(off, False))
                link.words = words
            for number in range(options.samples):
                for message in options.receive_messages:
                    for name, link in opened.items():
                        for way in RECEIVING:
                            terminal.progress(
                                f"sample {number + 1} of {options.samples}: "
                                f"{name}, frames {frames}, {way}, {message}"
                            )
                            sample = _received(link, way, message, options)
                            for rate, values in found[name][frames][str(message)][way].items():
                                values.append(sample[rate])
        links.check_all(opened)
    terminal.end_progress()
    return found


def received_ratios(found: Mapping) -> dict[str, dict]:
    """Return medians relative to copying, in bytes per CPU time of the receiver."""
    rate = "bytes_per_cpu_s"
    return {
        name: {
            frames: {
                message: {
                    way: round(ratio, 3) if (ratio := _ratio(v[rate], by["copied"][rate])) else None
                    for way, v in by.items()
                    if way != "copied"
                }
                for message, by in by_message.items()
            }
            for frames, by_message in by_frames.items()
        }
        for name, by_frames in found.items()
    }


def medians(samples: Mapping) -> dict:
    """Replace each list by its median."""
    return {k: medians(v) if isinstance(v, Mapping) else median(v) for k, v in samples.items()}
