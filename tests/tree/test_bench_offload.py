# SPDX-License-Identifier: Apache-2.0
"""bench/offload.py: what is measured where, what is concluded, and a complete run."""

from __future__ import annotations

import argparse

import pytest
from test_bench_load import run

from bench import cores, offload

STAT = """cpu  10 0 10 100 0 0 0 0 0 0
cpu0 100 0 200 1000 50 10 40 0 7 0
cpu1 0 0 0 1000 0 0 0 0 0 0
intr 5
"""


def test_a_core_is_busy_with_all_but_idling():
    found = cores.parse(STAT)
    ticks = 100 + 200 + 10 + 40
    assert found == {0: pytest.approx(ticks / cores._TICKS_PER_S), 1: 0}
    early, late = cores.Busy(1.0, {0: 1.0}), cores.Busy(3.0, {0: 2.0})
    assert late.share(early, 0) == 0.5
    assert early.share(early, 0) == 0


def test_a_watch_counts_what_lies_in_its_window():
    watch = cores.Watch()
    watch.moments = [cores.Busy(t, {0: min(t, 2.0)}) for t in (0.0, 1.0, 2.0, 3.0, 4.0)]
    assert watch.share(0, 2.0, 2.0) == 1  # 0 to 2
    assert watch.share(0, 2.0, 0.0) == 0  # 2 to 4
    assert watch.share(0, 2.0, 1.0) == 0.5


def test_pings_are_read():
    text = "50008 bytes from 10.0.0.1: icmp_seq=1 ttl=64 time=0.154 ms\n... time=1.5 ms\n"
    assert offload.pings(text) == pytest.approx([154, 1500])


def row(rate: float, receiver: float = 1.0) -> dict[str, float]:
    return {"gbit_per_s": rate, "receiver_us_per_mb": receiver}


def test_the_end_whose_small_buffer_costs_more_binds():
    rows = {"sender 4096": row(0.9), "receiver 4096": row(0.2)}
    assert offload.binding(rows, 4096) == "receiver"
    rows = {"sender 4096": row(0.1), "receiver 4096": row(0.2)}
    assert offload.binding(rows, 4096) == "sender"


def test_the_knee_is_the_shortest_delay_near_the_least_cost():
    rows = {f"{us} bulk": row(1, cost) for us, cost in ((0, 100), (50, 66), (100, 61), (250, 60))}
    assert offload.knee(rows, [0, 50, 100, 250]) == 50


def test_goals_of_moderation():
    rows = {"0 bulk": row(1.0, 100), "100 bulk": row(1.0, 60), "250 bulk": row(0.9, 60)}
    found = {"0": {"moderation": {"toed": rows}}}
    kept, saved = offload.goals_of(found, [0, 100, 250])
    assert (kept.value, kept.met) == (0.9, False)
    assert (saved.value, saved.met) == (0.6, True)
    assert offload.goals_of({"0": {"moderation": {"toed": {"0 bulk": row(1)}}}}, [0]) == []


def test_offloads_are_not_compared_where_there_are_none():
    assert offload.applies("messages", "toed", 0)
    assert not offload.applies("messages", "toed", 10**9)
    assert offload.applies("messages", "linux", 10**9)
    assert not offload.applies("moderation", "linux", 0)


@pytest.mark.parametrize(("text", "found"), [("0,1G", [0, 10**9]), ("100M", [10**8])])
def test_rates(text: str, found: list[int]):
    assert offload.rates(text) == found


@pytest.mark.parametrize("text", ["1Gbit", "", "-1", "1G,"])
def test_no_rates(text: str):
    with pytest.raises(argparse.ArgumentTypeError):
        offload.rates(text)


def test_a_complete_run(tmp_path):
    few = ["--quick", "--no-plots", "--rates", "0", "--systems", "linux", "--parts", "buffers,echo"]
    by_part = run("offload", tmp_path, *few)["medians"]["0"]
    assert set(by_part["buffers"]["linux"]) == {
        f"{end} {size}" for end in offload.CHANGED for size in (4096, offload.LARGE)
    }
    assert by_part["buffers"]["linux"][f"both {offload.LARGE}"]["gbit_per_s"] > 0
    for at in ("on icmp", "off icmp", "on tcp", "off tcp"):
        assert by_part["echo"]["linux"][at]["p50_us"] > 0


@pytest.mark.long
def test_a_complete_run_of_toed(tmp_path):
    few = ["--quick", "--rates", "0,1G", "--systems", "toed"]
    body = run("offload", tmp_path, *few)
    assert set(body["medians"]["0"]) == set(offload.PARTS)
    assert set(body["medians"]["1000000000"]) == {"buffers", "moderation"}
    assert len(body["goals"]) == 4
    drawn = {path.name for path in (tmp_path / "offload").iterdir()}
    assert drawn == {
        f"{what}_{rate}.png" for what in ("buffers", "moderation") for rate in body["medians"]
    }
