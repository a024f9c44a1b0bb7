# SPDX-License-Identifier: Apache-2.0
"""bench/offload.py: what is measured where, what is concluded, and a complete run."""

from __future__ import annotations

import argparse

import pytest
from test_bench_load import run

from bench import cores, offload, offload_moderation, offload_report, offload_web

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
    return {"gbit_per_s": rate, "toe_us_per_mb": receiver}


def test_the_end_whose_small_buffer_costs_more_binds():
    rows = {"sender 4096": row(0.9), "receiver 4096": row(0.2)}
    assert offload_report.binding(rows, 4096) == "receiver"
    rows = {"sender 4096": row(0.1), "receiver 4096": row(0.2)}
    assert offload_report.binding(rows, 4096) == "sender"


def test_the_knee_is_the_shortest_delay_after_which_little_is_saved():
    rows = {f"{us} bulk": row(1, cost) for us, cost in ((0, 100), (50, 66), (100, 61), (250, 60))}
    assert offload_moderation.knee(rows, [0, 50, 100, 250]) == 50


def test_goals_of_moderation():
    rows = {"0 bulk": row(1.0, 100), "100 bulk": row(1.0, 60), "250 bulk": row(0.9, 60)}
    found = {"0": {"moderation": {"toed": rows}}}
    kept, saved = offload_report.goals_of(found, [0, 100, 250])
    assert (kept.value, kept.met) == (0.9, False)
    assert (saved.value, saved.met) == (0.6, True)
    found = {"0": {"moderation": {"toed": {"0 bulk": row(1)}}}}
    assert offload_report.goals_of(found, [0]) == []


def at_load(p50: float, cpu: float) -> dict[str, float]:
    return {"p50_us": p50, "toe_us": cpu}


def test_goals_of_the_delay_by_load():
    rows = {"0 10%": at_load(100, 9), "500 10%": at_load(500, 9), "auto 10%": at_load(104, 9)}
    rows |= {"0 90%": at_load(100, 5), "500 90%": at_load(500, 4), "auto 90%": at_load(200, 5)}
    p50, cost = offload_report.goals_of({"0": {"load": {"toed": rows}}}, [0, 500])
    assert (p50.value, p50.met) == (1.04, True)
    assert (cost.value, cost.met) == (1.25, False)


@pytest.mark.parametrize(
    ("series", "count"),
    [([], 0), ([0, 0, 25, 50, 50, 250], 0), ([0, 25, 250, 250, 0, 0], 1), ([0, 25, 0, 25], 2)],
)
def test_turns_of_a_delay(series: list[float], count: int):
    assert offload_moderation.turns(series) == count
    found = {"0": {"step": {"toed": {"step": {"turns": count}}}}}
    assert offload_report.goals_of(found, [0])[0].met == (count <= 1)


def test_the_gain_of_a_web_server():
    rows = {"on mix": {"requests_per_s": 130.0}, "off mix": {"requests_per_s": 100.0}}
    assert offload_web.gain(rows) == pytest.approx(1.3)
    assert offload_report.goals_of({"0": {"web": {"linux": rows}}}, [0])[0].met
    assert offload_report.goals_of({"0": {"web": {"toed": {"on mix": rows["on mix"]}}}}, [0]) == []


def test_points_of_a_part_are_medians_of_its_numbers():
    samples = [{"step": {"turns": n, "delay_us": [[0, 0]]}} for n in (1, 3, 2)]
    found = offload_report.medians({"0": {"step": {"toed": samples}}})
    assert found == {"0": {"step": {"toed": {"step": {"turns": 2}}}}}


def test_a_table_has_the_columns_of_its_rows():
    rows = {"a": {"requests_per_s": 12345.6, "p50_us": 7.0}, "b": {"requests_per_s": 1.0}}
    head, first, second = offload_report.table({"linux": rows}, {"linux": "Linux"}).splitlines()
    assert head.split() == ["system", "at", "requests/s", "p50", "us"]
    assert first.split() == ["Linux", "a", "12,346", "7.0"]
    assert second.split() == ["Linux", "b", "1", "-"]


def test_offloads_are_not_compared_where_there_are_none():
    assert offload.applies("messages", "toed", 0)
    assert not offload.applies("messages", "toed", 10**9)
    assert offload.applies("messages", "linux", 10**9)
    assert not offload.applies("moderation", "linux", 0)
    assert offload.applies("web", "linux", 0)
    assert not offload.applies("web", "linux", 10**9)
    assert not offload.applies("load", "toed", 10**9)


@pytest.mark.parametrize("text", ["", "100,", "20", "-1", "0,1000"])
def test_delays_that_toed_does_not_have(text: str):
    with pytest.raises(argparse.ArgumentTypeError):
        offload.delays(text)


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
@pytest.mark.skipif(bool(offload_web.why_missing()), reason=str(offload_web.why_missing()))
def test_a_busy_web_server(tmp_path):
    few = ["--quick", "--no-plots", "--no-profiles", "--rates", "0", "--systems", "linux"]
    by_part = run("offload", tmp_path, *few, "--parts", "web", "--directories", "1")["medians"]["0"]
    for at in ("on mix", "off mix"):
        assert by_part["web"]["linux"][at]["requests_per_s"] > 0


@pytest.mark.long
def test_a_complete_run_of_toed(tmp_path):
    few = ["--quick", "--rates", "0,1G", "--systems", "toed"]
    body = run("offload", tmp_path, *few)
    unpaced, paced = (set(body["medians"][rate]) for rate in ("0", "1000000000"))
    assert unpaced == set(offload.PARTS) - set(body["not_available"])
    assert paced == {"buffers", "jumbo", "moderation"}
    assert len(body["goals"]) == 4 + 3  # of delays at two rates; of auto
    drawn = {path.name for path in (tmp_path / "offload").iterdir()}
    plotted = ("buffers", "moderation", "load", "step", "web", "clients")
    assert drawn == {
        f"{what}_{rate}.png"
        for rate, parts in body["medians"].items()
        for what in plotted
        if what in parts
    }
