# SPDX-License-Identifier: Apache-2.0
"""toe_bench: its results. It checks payload bytes itself (exit code 1 when one is wrong)."""

import itertools
import json
import subprocess
from collections.abc import Sequence

import pytest

from gateware.lib import live, walk

# Needs its own build of the whole TOE, which takes minutes. bench/ reports the measurements.
pytestmark = pytest.mark.long

PACKETS = 160


def bench(*words: object) -> dict:
    argv = [live.build("toe_bench"), *map(str, words)]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def growing(rows: Sequence[Sequence[int]]) -> bool:
    pairs = itertools.pairwise(rows)
    return all(a < b for x, y in pairs for a, b in zip(x, y, strict=True))


@pytest.mark.parametrize("case", ["receive", "send"])
@pytest.mark.parametrize(("payload", "flows"), [(1, 4), (64, 1), (128, 64), (1460, 4)])
def test_streams(case: str, payload: int, flows: int) -> None:
    said = bench(case, "--payload", payload, "--flows", flows, "--packets", PACKETS)
    marks = said["marks"]
    assert len(marks) == 9
    assert growing(marks)
    (begin, first, _), (end, last, _) = marks[0], marks[-1]
    assert last - first >= PACKETS
    assert end - begin >= (last - first) * (payload // 64 + 1)  # no more beats than cycles
    per = (marks[-1][2] - marks[0][2]) / (last - first)
    # A TOE without a backlog may send short segments; with one, it sends full ones.
    assert per == pytest.approx(payload, rel=0.02 if case == "receive" or payload < 64 else 0.1)
    assert said["counters"]["established"] == flows


def test_a_run_is_the_same_again() -> None:
    argv = ("send", "--payload", 128, "--flows", 4, "--packets", PACKETS, "--delay", 20)
    assert bench(*argv) == bench(*argv)


def test_slower_memory_makes_it_no_faster() -> None:
    runs = [bench("latency", "--flows", 2, "--packets", 8, "--delay", d) for d in (1, 100)]
    near, far = (run["cycles"] for run in runs)
    for (near_placed, near_told, near_sent), (placed, told, sent) in zip(near, far, strict=True):
        assert 0 < near_placed < near_told
        assert (placed, told) == (near_placed, near_told)  # writes do not wait for host memory
        # Two reads: the command, then the payload. toe_cmd polls a queue pair every eighth cycle.
        assert abs(2 * 99 - (sent - near_sent)) < 8


def test_frames_are_taken_or_counted() -> None:
    said = bench("frames", "--packets", 2000, "--interval", 100000)  # 25 cycles
    assert said["offered"] == 2000
    assert said["dropped"] == 0
    assert said["cycles"] >= 2000 * 25 - 25
    fast = bench("frames", "--packets", 2000)
    assert fast["cycles"] < 2100
    assert fast["counters"].get("no_buffer", 0) == fast["dropped"]


def test_flows_beyond_the_busy_ones_are_taken_in_turn() -> None:
    said = bench("frames", "--packets", 2000, "--hits", 50, "--interval", 20000)
    assert (said["dropped"], said["fetched"]) == (0, 0)  # all TCBs are on chip here


def test_the_walk_stands_in_the_documents() -> None:
    found = walk.measure()
    for way, last in (("segment", "host memory"), ("command", "link")):
        edges = found[way]
        assert edges[0][0] == 0, "the first byte, or the doorbell, is cycle 0"
        assert f"-> {last}" in edges[-1][1]
        assert [c for c, _ in edges] == sorted(c for c, _ in edges)
    page = walk.PAGE.read_text()
    assert walk.placed(page, found) == page, "scripts/gateware walk --write"


def test_what_fires_cycle_after_cycle_is_one_row() -> None:
    edges = [[0, "a -> b: x"], [1, "a -> b: x"], [1, "b -> c: y"], [4, "a -> b: x"]]
    assert walk.rows(edges) == [(0, 1, "a -> b: x"), (1, 1, "b -> c: y"), (4, 4, "a -> b: x")]
    assert walk.table(edges).splitlines()[2:] == [
        "| 0 to 1 | a -> b | x |",
        "| 1 | b -> c | y |",
        "| 4 | a -> b | x |",
    ]


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["neither"],
        ["send", "--payload", "0"],
        ["send", "--flows", "129"],
        ["send", "--nonsense"],
    ],
)
def test_usage(argv: list[str]) -> None:
    done = subprocess.run([live.build("toe_bench"), *argv], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr
