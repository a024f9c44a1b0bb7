# SPDX-License-Identifier: Apache-2.0
"""bench/wan.py and its relay: what is counted, what is judged, and a small run."""

from __future__ import annotations

import argparse
import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from bench import wan
from bench.wan_path import Link
from tests.lab import frames, paths, proc

A, B = "10.0.0.1", "10.0.0.2"


# ---- the relay ----


def segment(source: str, port: int, seq: int, size: int, flags: int = frames.ACK) -> bytes:
    """A frame with a TCP segment of that payload."""
    target = B if source == A else A
    tcp = struct.pack("!HHIIBBHHH", port, 80, seq & 0xFFFFFFFF, 0, 5 << 4, flags, 9000, 0, 0)
    return bytes(12) + b"\x08\x00" + frames.ipv4(source, target, 6, tcp + bytes(size))


def capture(path: Path, packets: list[bytes]) -> str:
    """Write a capture with nanoseconds; return the back end that reads it."""
    head = struct.pack("=IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    rows = [struct.pack("=IIII", 0, i, len(p), len(p)) + p for i, p in enumerate(packets)]
    path.write_bytes(head + b"".join(rows))
    return f"pcap:in={path}"


def relayed(tmp_path: Path, packets: list[bytes], impaired: str = "") -> tuple[dict, bytes]:
    """Send packets through the relay; return its report and the capture of what came out."""
    out = tmp_path / "out.pcap"
    specs = [capture(tmp_path / "in.pcap", packets), f"{impaired}pcap:out={out}"]
    with proc.Proc([paths.built("relay"), *specs], name="relay") as relay:
        last = packets[-1]
        proc.wait_until(
            lambda: out.exists() and last in out.read_bytes(), "the last frame", proc=relay
        )
        assert relay.stop() == 0
    return json.loads(relay.text().splitlines()[-1]), out.read_bytes()


def test_the_relay_counts_payload_that_is_sent_again(tmp_path):
    packets = [
        segment(A, 1000, 4_294_967_290, 0, frames.SYN),
        segment(A, 1000, 4_294_967_291, 100),  # the sequence number wraps
        segment(A, 1000, 95, 100),
        segment(A, 1000, 4_294_967_291, 100),  # again
        segment(A, 1000, 145, 100),  # half of it again
        segment(A, 1001, 145, 10),  # another flow
        segment(A, 1000, 4_294_967_290, 0, frames.SYN),  # the ports are used again
        segment(A, 1000, 4_294_967_291, 50),
        segment(B, 1000, 7, 30),
        bytes(12) + b"\x08\x06" + bytes(28),  # ARP
        segment(A, 1000, 100, 1),
    ]
    report, _ = relayed(tmp_path, packets)
    there = report["from_a"]
    assert there["senders"] == {
        A: {"segments": 7, "bytes": 461, "repeated": 150},
        B: {"segments": 1, "bytes": 30, "repeated": 0},
    }
    assert (there["frames"], there["dropped"], there["uncounted"]) == (len(packets), 0, 0)
    assert report["from_b"]["frames"] == 0


def test_the_relay_impairs_what_it_sends(tmp_path):
    # With this seed the last one is not lost.
    packets = [segment(A, 1000, 100 * i, 100) for i in range(200)]
    report, out = relayed(tmp_path, packets, "impair(dir=tx,loss=20,seed=3):")
    there = report["from_a"]
    assert there["senders"][A]["bytes"] == 20_000, "counted before the loss"
    assert 0 < there["lost"] < 100
    passed = sum(out.count(p) for p in packets)
    assert passed == 200 - there["lost"]


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["wire:x"], 2, "usage: relay SPEC-A SPEC-B"),
        (["wire:x", "nowhere:y"], 1, "relay: "),
        (["impair(loss=200):wire:x", "wire:y"], 1, "loss=200 is not a percentage"),
    ],
)
def test_the_relay_refuses_wrong_arguments(tmp_path, argv, code, said):
    done = subprocess.run(
        [paths.built("relay"), *argv], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


# ---- links ----


def test_a_link_becomes_back_ends_of_the_relay():
    near, far = Link(100 * wan.M, 40, buffer=0.5, loss=1).specs(7)
    assert near == "impair(dir=tx,delay=20ms,memory=1850):tap:snd0"
    assert far == (
        "impair(dir=tx,delay=20ms,memory=1850,rate=100000000,queue=165,seed=7,loss=1):tap:rcv0"
    )
    _, far = Link(10 * wan.M, 1, burst="0.1/30", reorder=2).specs(1)
    assert "queue=8," in far and "burst=0.1/30" in far and "reorder=2" in far


def test_names_of_links_are_unique():
    for some in (wan.LINKS, wan.QUICK_LINKS, wan.TO_TOED, wan.OBJECT_LINKS):
        assert len({link.name for link in some}) == len(some)


def test_links_are_chosen_by_words():
    chosen = wan.chosen_links("reorder,200ms")
    assert {link.reorder for link in chosen if link.rtt_ms == 40} == {0.1, 2}
    assert {link.rtt_ms for link in chosen if not link.reorder} == {200}
    with pytest.raises(argparse.ArgumentTypeError, match="no link 'satellite'; there are: 100M"):
        wan.chosen_links("satellite")


# ---- judgement ----


def streams(**rates: tuple[float, float]) -> dict:
    """Medians of links: Linux's and toed's rates."""
    row = {"resent": 0.01, "lost": 0, "overflowed": 0, "reordered": 0, "late": 0}
    return {
        "streams": {
            "cubic": {
                at: {
                    "linux": {"bytes_per_s": linux, **row},
                    "toed": {"bytes_per_s": toed, **row},
                }
                for at, (linux, toed) in rates.items()
            }
        }
    }


def judged(found: dict) -> dict:
    return {goal.name.split(": ", 1)[1]: (goal.value, goal.met) for goal in wan.goals_of(found)}


def test_medians_are_of_seeds():
    samples = {
        "fairness": {"bbr": {"x": {"linux": [{"jain": j, "b": [1]} for j in (1, 0.5, 0.9)]}}}
    }
    assert wan.medians(samples) == {"fairness": {"bbr": {"x": {"linux": {"jain": 0.9}}}}}


def test_the_worst_link_and_the_mean_are_judged():
    found = judged(streams(a=(100, 94), b=(100, 120)))
    assert found["least throughput / Linux (a)"] == (0.94, False)
    assert found["geometric mean of throughput / Linux"] == (1.062, True)


def test_fast_links_are_not_judged():
    fast = Link(wan.G, 40).name
    found = judged(streams(**{"a": (100, 100), fast: (100, 10)}))
    assert found["least throughput / Linux (a)"] == (1.0, True)


def test_bytes_sent_again_are_judged_with_their_noise():
    found = streams(a=(100, 100), b=(100, 100))
    ats = found["streams"]["cubic"]
    ats["a"]["linux"]["resent"], ats["a"]["toed"]["resent"] = 0, 0.001
    assert judged(found)["most bytes sent again / Linux (a)"] == (1.0, True)
    ats["b"]["toed"]["resent"] = 0.0132
    assert judged(found)["most bytes sent again / Linux (b)"] == (1.2, False)


def test_objects_and_fairness_are_judged():
    times = {"linux": {"p50_ms": 80, "p99_ms": 100}, "toed": {"p50_ms": 80, "p99_ms": 110}}
    shares = {"linux": {"jain": 1.0}, "toed": {"jain": 0.9}}
    found = judged({"objects": {"bbr": {"x": times}}, "fairness": {"bbr": {"y": shares}}})
    assert found["longest p50 of objects / Linux (x)"] == (1.0, True)
    assert found["longest p99 of objects / Linux (x)"] == (1.1, False)
    assert found["Jain's index beside Linux / two of Linux (y)"] == (0.9, False)


def test_nothing_measured_is_nothing_judged():
    assert wan.goals_of({"streams": {"cubic": {}}}) == []
    alone = streams(a=(100, 100))
    del alone["streams"]["cubic"]["a"]["linux"]
    assert wan.goals_of(alone) == []


def test_the_tables_have_a_line_for_each_sender():
    found = streams(a=(1e6, 2e6))
    found["objects"] = {"cubic": {"10 KB": {"linux": {"p50_ms": 80, "p99_ms": 100}}}}
    found["fairness"] = {"cubic": {"y": {"linux": {"jain": 1.0}}}}
    text = wan.tables(found)
    assert "16.00 Mbit/s" in text and "2.00" in text and "80 ms" in text and "1.000" in text


# ---- runs ----


def run(tmp_path: Path, *args: str) -> dict:
    out = tmp_path / "wan.json"
    argv = [sys.executable, "-m", "bench.wan", "--out", out, "--samples", "1", *args]
    proc.run(argv, timeout=120)
    return json.loads(out.read_text())


def test_a_small_run(tmp_path):
    link = Link(100 * wan.M, 10, loss=1).name
    args = ["--links", link, "--parts", "streams", "--controls", "cubic"]
    body = run(tmp_path, *args, "--systems", "linux,toed", "--seconds", "0.5")
    found = body["medians"]["streams"]["cubic"][link]
    assert set(found) == {"linux", *({"toed"} - set(body["not_available"]))}
    for values in found.values():
        assert values["bytes_per_s"] > 0
    assert body["settings"]["links"] == [link]


@pytest.mark.long
def test_every_part_runs(tmp_path):
    args = ["--links", "100M 10ms 1BDP loss=1%", "--controls", "bbr", "--seconds", "2"]
    body = run(tmp_path, *args)
    for part in wan.PARTS:
        for by in body["medians"][part]["bbr"].values():
            assert {"linux", "toed"} <= set(by)
    assert "inline" in body["systems"]
    assert body["goals"]
