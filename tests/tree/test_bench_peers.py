# SPDX-License-Identifier: Apache-2.0
"""bench/peers.py: ratios, goals, peers' commands, and a complete run."""

from __future__ import annotations

import argparse

import pytest
from test_bench_load import SHORT, run

from bench import peers
from tests.lab import paths, proc


def rows(**rates: float) -> dict:
    """A median of each system at 32 connections, p50 1000 times the inverse."""
    return {
        system: {"32": {"rate": rate, "least": rate, "most": rate, "p50": 1e6 / rate}}
        for system, rate in rates.items()
    }


def judged(found: dict, others: tuple[str, ...] = (), *, has_core: bool = False) -> dict:
    goals = peers.goals_of(found, others, has_core=has_core)
    return {goal.name: (goal.value, goal.goal, goal.met) for goal in goals}


def test_medians_have_their_spread():
    samples = {"linux": {"1": [{"rate": x, "p50": x} for x in (5, 1, 9)], "bulk": []}}
    row = {"rate": 5, "least": 1, "most": 9, "p50": 5}
    assert peers.medians(samples) == {"linux": {"1": row}}


def test_ratios_are_to_linux_and_the_best_peer_that_was_there():
    found = rows(linux=100, inline_af_xdp=400, iip=200, other=500)
    found["linux"]["1"] = {"rate": 50, "least": 50, "most": 50}
    peers.add_ratios(found, ["iip", "other", "absent"])
    assert found["inline_af_xdp"]["32"]["to_linux"] == 4
    assert found["inline_af_xdp"]["32"]["to_best_peer"] == 0.8
    assert found["linux"]["1"]["to_linux"] == 1
    assert "to_best_peer" not in found["linux"]["1"]


def test_a_system_that_did_nothing_is_no_divisor():
    found = rows(linux=100, inline_af_xdp=400)
    found["linux"]["32"]["rate"] = 0
    peers.add_ratios(found, [])
    assert "to_linux" not in found["inline_af_xdp"]["32"]
    assert judged(found) == {}


def test_frames_alone_bound_the_goal():
    name = "inline, AF_XDP, 32 connections / Linux"
    assert judged(rows(linux=100, inline_af_xdp=430))[name] == (4.3, 4.3, True)
    alone = rows(linux=100, inline_af_xdp=350, frames_alone=400)
    assert judged(alone)[name] == (3.5, 3.6, False)
    fast = rows(linux=100, inline_af_xdp=350, frames_alone=900)
    assert judged(fast)[name] == (3.5, 4.3, False)


def test_peers_are_goals_of_rate_and_latency():
    found = judged(rows(linux=100, inline_af_xdp=260, iip=200, toed_af_xdp=190), ("iip",))
    assert found["inline, AF_XDP, 32 connections / best peer"] == (1.3, 1.3, True)
    assert found["inline, AF_XDP, 32 connections: p50 / best peer"] == (0.769, 1.0, True)
    assert not any("toed" in name for name in found)
    found = judged(rows(toed_af_xdp=190, iip=200), ("iip",), has_core=True)
    assert found == {"toed, AF_XDP, 32 connections / best peer": (0.95, 1.0, False)}


def test_bulk_is_judged_against_linux_without_tso_or_frames_alone():
    name = "inline, AF_XDP, bulk / Linux without TSO"
    found = {s: {"bulk": {"rate": r}} for s, r in (("inline_af_xdp", 80), ("linux_no_tso", 100))}
    assert judged(found)[name] == (0.8, 1.0, False)
    found["frames_alone"] = {"bulk": {"rate": 80}}
    assert judged(found)[name] == (0.8, 0.76, True)


def test_the_table_has_a_line_for_each_figure():
    found = rows(linux=1000, frames_alone=2000)
    del found["frames_alone"]["32"]["p50"]
    peers.add_ratios(found, [])
    text = peers.table(found, peers.titles([]))
    assert "Linux, epoll" in text and "1.0 to 1.0" in text and "2.00" in text
    assert len(text.splitlines()) == 3


@pytest.mark.parametrize(
    "text",
    ["iip", "iip=", "=server", "linux=server", "lwip=x", "a b=server", "iip=server {address}"],
)
def test_a_peer_that_cannot_be_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match=r"want NAME=COMMAND|placeholders"):
        peers.command(text)


def test_a_run_without_peers_leaves_the_row_out(tmp_path):
    options = ["--systems", "linux", "--connections", "1", "--no-lwip"]
    body = run("peers", tmp_path, *SHORT, *options)
    assert body["medians"]["linux"]["1"]["to_linux"] == 1
    assert set(body["medians"]["linux"]) == {"1", "bulk"}
    assert body["goals"] == [] and body["settings"]["peer"] == {}


@pytest.mark.long
def test_a_run_with_a_peer(tmp_path):
    """Toehold's own server takes the place of a peer's."""
    toehold = paths.built("toehold")
    own = f"{toehold} run --require --engine inline --netif af_xdp:{{interface}} --ip {{ip}}/24"
    own += f" -- {toehold} bench serve pingpong --listen {{ip}}:{{port}}"
    systems = ["--systems", "linux,inline_af_xdp", "--connections", "32"]
    body = run("peers", tmp_path, *SHORT, *systems, "--no-lwip", "--peer", f"other={own}")
    assert body["medians"]["other"]["32"]["to_best_peer"] == 1
    assert body["medians"]["frames_alone"]["32"]["rate"] > 0
    assert [goal["name"] for goal in body["goals"]][1] == (
        "inline, AF_XDP, 32 connections / best peer"
    )


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["nowhere:x", "10.0.0.1", "7"], 1, "lwip_echo: "),
        (["nowhere:x"], 2, "usage: lwip_echo SPEC IP PORT"),
        (["nowhere:x", "10.0.0", "7"], 2, "usage: "),
        (["nowhere:x", "10.0.0.1", "0"], 2, "usage: "),
    ],
)
def test_lwip_echo_refuses_what_it_cannot_use(args, code, said):
    if not peers.lwip():
        pytest.skip("this build has no lwIP")
    done = proc.run([paths.built("lwip_echo"), *args], check=False)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


@pytest.mark.long
def test_lwip_is_a_peer(tmp_path):
    if not peers.lwip():
        pytest.skip("this build has no lwIP")
    systems = ["--systems", "linux,inline_af_xdp", "--connections", "1,32"]
    body = run("peers", tmp_path, *SHORT, *systems)
    for name in peers.LWIP:
        for at in ("1", "32"):
            assert body["medians"][name][at]["rate"] > 0


def test_every_system_has_a_title():
    assert set(peers.titles(["iip"])) == {*peers.LINKS, "iip", peers.ALONE}
