# SPDX-License-Identifier: Apache-2.0
"""The bench of request patterns: its computations, its two ends, and a complete short run."""

from __future__ import annotations

import json
import sys

import pytest

from bench import patterns
from tests.lab import frames, paths, proc

OWN, PEER = "10.80.0.1", "10.80.0.2"


def sample(p50: float) -> dict:
    return {"p50_us": p50, "p99_us": 9 * p50, "requests_per_s": 1e6 / p50, "bytes_per_s": 64}


def frame(source: str, target: str, flags: int, payload: bytes = b"", options: int = 0) -> bytes:
    head = bytes([5 + options << 4, flags]) + bytes(6)
    tcp = bytes(12) + head + bytes(4 * options)
    return bytes(12) + b"\x08\x00" + frames.ipv4(source, target, 6, tcp + payload)


def test_the_slowest_pattern_is_judged_for_each_placement():
    bulk, pipelined = "bulk kept server", "pipelined new client"
    samples = {
        "linux": {bulk: [sample(x) for x in (1, 100, 900)], pipelined: [sample(50)]},
        "toed": {bulk: [sample(x) for x in (1, 90, 9000)], pipelined: [sample(40)]},
        "inline": {bulk: [sample(80)], pipelined: [sample(51)]},
    }
    segments = {name: {bulk: {"acks": 30, "data_segments": 60}} for name in samples}
    found, goals = patterns.summarise(samples, segments)
    assert found["toed"][bulk]["to_linux"] == 0.9
    assert found["linux"][bulk]["acks_per_segment"] == 0.5
    assert [(goal.value, goal.met) for goal in goals] == [(0.9, True), (1.02, False)]
    assert bulk in goals[0].name and pipelined in goals[1].name


def test_without_linux_nothing_is_judged():
    samples = {"toed": {"bulk kept server": [sample(1)]}}
    found, goals = patterns.summarise(samples, {})
    assert goals == [] and "to_linux" not in found["toed"]["bulk kept server"]


def test_pure_acks_and_data_segments_are_told_apart():
    syn, fin, rst, ack = 2, 1, 4, 16
    seen = [
        frame(PEER, OWN, syn),
        frame(OWN, PEER, syn | ack),
        frame(PEER, OWN, ack),  # the peer's own ACK
        frame(PEER, OWN, ack, b"data"),
        frame(PEER, OWN, ack, b"data", options=3),
        frame(OWN, PEER, ack, options=3),  # ... acknowledged alone
        frame(OWN, PEER, ack, b"answer"),  # ... by an answer
        frame(OWN, PEER, fin | ack),
        frame(OWN, PEER, rst),
        frame(PEER, OWN, ack) + bytes(6),  # padding of a short frame
        bytes(12) + b"\x08\x06" + bytes(28),
    ]
    assert patterns.count_segments(seen, OWN) == {"acks": 1, "data_segments": 2}


@pytest.mark.parametrize("pattern", patterns.PATTERNS)
@pytest.mark.parametrize("connection", patterns.CONNECTIONS)
def test_both_ends_exchange_what_they_check(pattern: str, connection: str):
    def program(*words: object) -> list[object]:
        return [paths.built("patterns"), words[0], pattern, connection, "127.0.0.1", *words[1:]]

    with proc.Proc(program("serve", 7181), name="patterns") as server:
        proc.wait_until(lambda: "serving" in server.text(), "serve", proc=server)
        found = json.loads(proc.run(program("ask", 7181, 1000, 0, 3)).stdout)
    assert found["requests"] == 3
    assert 0 < found["p50_ns"] <= found["p99_ns"] <= found["ns"]


def test_patterns_run(tmp_path):
    out = tmp_path / "patterns.json"
    argv = [sys.executable, "-m", "bench.patterns", "--quick", "--out", out]
    proc.run([*argv, "--only", "bulk kept server,request-response new"], timeout=300)
    body = json.loads(out.read_text())
    assert {*body["medians"], *body["not_available"]} == set(patterns.SYSTEMS)
    for system, by in body["medians"].items():
        assert set(by) == {
            "bulk kept server",
            "request-response new server",
            "request-response new client",
        }
        assert all(values["p50_us"] > 0 for values in by.values())
        counted = body["segments"][system]["bulk kept server"]
        # 8 MiB in segments of at most 1460 bytes, each of which an ACK may answer
        assert counted["data_segments"] >= 8 * 2**20 / 1460
        assert 0 < counted["acks"] <= 2 * counted["data_segments"]
    assert len(body["goals"]) == len(body["medians"]) - 1
