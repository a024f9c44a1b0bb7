# SPDX-License-Identifier: Apache-2.0
"""The benches of the load generator: their computations, and complete runs."""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack

import pytest

from bench import (
    bulk,
    callgrind,
    conns,
    cpu,
    features,
    flows,
    links,
    loadgen,
    nginx,
    perf,
    pingpong,
    running,
)
from tests.lab import paths, proc


def sample(rate: float, p50: float) -> dict:
    found = dict.fromkeys(pingpong.PERCENTILES, p50)
    return {"requests_per_s": rate, **found}


def test_pingpong_judges_medians():
    closed = {
        "linux": {"32x64": [sample(100, 1)] * 3, "1x64": [sample(10, 9000)] * 3},
        "inline_af_xdp": {"32x64": [sample(x, 1) for x in (1, 600, 9000)], "1x64": [sample(1, 1)]},
        "inline_wire": {"32x64": [sample(1500, 1)], "1x64": [sample(1, 900)]},
    }
    idle = {"inline_wire": {"0": [sample(1, 1000)], "400": [sample(1, 1040)]}}
    _, goals = pingpong.summarise(closed, idle)
    values = [(goal.value, goal.met) for goal in goals]
    assert values == [(6.0, True), (15.0, False), (0.9, True), (0.04, False)]
    assert {goal.limit for goal in goals} == {None}
    found, goals = pingpong.summarise(closed, idle, [{"per_s": x} for x in (1, 700, 800)])
    assert [goal.limit for goal in goals] == [7.0, None, None, None]
    assert found["frames_alone"] == 700


def test_pingpong_without_the_inline_toe_has_no_goals():
    closed = {"linux": {"32x64": [sample(100, 1)]}, "toed_wire": {"32x64": [sample(300, 1)]}}
    found, goals = pingpong.summarise(closed, {})
    assert goals == []
    assert found["closed"]["toed_wire"]["32x64"]["requests_per_s"] == 300


def test_bulk_compares_like_with_like():
    def rates(one: int, many: int) -> dict:
        return {at: [{"bytes_per_s": x}] for at, x in (("1x65536", one), ("100x65536", many))}

    samples = {"linux": rates(100, 90), "linux_no_tso": rates(50, 1), "toed_wire": rates(330, 310)}
    samples["inline_af_xdp"] = rates(40, 40)
    _, goals = bulk.summarise({"samples": samples})
    values = {goal.name: (goal.value, goal.met) for goal in goals}
    assert values == {
        "toed, wire / Linux with TSO": (3.3, True),
        "toed, wire: 100 connections / one": (0.939, False),
        "inline, AF_XDP / Linux without TSO": (0.8, False),
        "inline, AF_XDP: 100 connections / one": (1.0, True),
    }
    alone = [{"bytes_per_s": x} for x in (10, 45, 60)]
    _, goals = bulk.summarise({"samples": samples, "frames_alone": alone})
    limits = {goal.name: goal.limit for goal in goals if goal.limit is not None}
    assert limits == {"inline, AF_XDP / Linux without TSO": 0.9}


def test_features_are_told_in_percent_of_all_on():
    words = ["rx", "tx", "tso", "gso"]
    off = features.rows(words, None)
    assert list(off) == ["all on", "zero copy", *words, "tso+gso"]
    assert off["tso+gso"] == ["tso", "gso"]
    assert list(features.rows(words, ["tx", "lro"])) == ["all on", "tx"]
    found = features.medians({"all on": [1, 200, 900], "tso": [100], "rx": [210]})
    assert features.change(found) == {"tso": -50.0, "rx": 5.0}
    assert features.change({"all on": 0, "tso": 0}) == {}


def test_zero_copy_pays_from_where_it_is_never_slower_again():
    def by(ratios: dict[int, float]) -> dict:
        rates = {r: {"copy": {"x": [100]}, "zero_copy": {"x": [100 * r]}} for r in ratios.values()}
        return {str(m): rates[r] for m, r in ratios.items()}

    found = features.medians(by({512: 1.1, 1024: 0.9, 4096: 1.0, 65536: 1.5}))
    ratios = features.sizes(found, "x")
    assert ratios == {"512": 1.1, "1024": 0.9, "4096": 1.0, "65536": 1.5}
    assert features.threshold(ratios) == 4096
    assert features.threshold({"512": 1.2, "1024": 0.99}) is None
    nothing = {"512": {"copy": {"x": 0}, "zero_copy": {"x": 1}}}
    assert features.sizes(nothing, "x") == {"512": None}
    assert features.threshold({"512": None, "1024": 1.1}) == 1024


def test_conns_are_told_against_linux():
    def kinds(rate: float) -> dict:
        return {"short": [{"per_s": x, "p50_us": 1, "p99_us": 2} for x in (1, rate, 9999)]}

    _, ratios = conns.summarise({"linux": kinds(100), "toed_wire": kinds(150)})
    assert ratios == {"toed_wire": {"short": 1.5}}
    assert conns.summarise({"toed_wire": kinds(150)})[1] == {}


def test_many_flows_are_told_against_few():
    def rates(*values: float) -> list[dict]:
        return [{"requests_per_s": v, "p50_us": 1, "p99_us": 2} for v in values]

    memory = {
        "toed": {
            "server": {"private": 9000, "shared": 192},
            "toed_of_server": {"private": 700.5, "shared": 192},
            "toed_of_client": {"private": 850, "shared": 192},
        },
        "inline": {"server": {"private": 9000, "shared": 0}},
    }
    found = {"each": {"1000": rates(1, 100, 900), "100000": rates(79)}}
    found["in turn"] = {"1000": rates(100), "100000": rates(80)}
    _, goals = flows.summarise({"rates": found, "memory": memory})
    assert [(goal.value, goal.met) for goal in goals] == [(0.79, False), (0.8, True), (1042, False)]
    assert flows.summarise({"rates": {"each": {"1000": rates(1)}}, "memory": {}})[1] == []


@pytest.mark.parametrize("text", ["-1", "1.5", "many", ""])
def test_numbers_that_measure_nothing_are_refused(text):
    for take in (running.number, running.number_or_none):
        with pytest.raises(argparse.ArgumentTypeError, match="want a whole number from 1"):
            take(text)
    assert running.number_or_none("0") == 0


def test_memory_is_counted_without_huge_pages(monkeypatch):
    def allowed() -> str:
        return proc.run(["grep", "THP_enabled", "/proc/self/status"]).stdout.split()[1]

    def idle(_kind: type, flows: int, **_more: object) -> dict:
        return {"toed": {"private": 100 * flows if allowed() == "0" else 0}}

    monkeypatch.setattr(flows, "idle", idle)
    before = allowed()
    assert flows.growth(flows.Toeds, 10) == {"toed": {"private": 100.0}}
    assert allowed() == before


@pytest.mark.parametrize("text", ["toed_wire,", "windows", "linux,linux_bus"])
def test_systems_that_are_not_there(text, capsys):
    parser = running.arguments("x", "", links.LINKS, seconds=1, samples=1)
    with pytest.raises(SystemExit):
        parser.parse_args(["--systems", text])
    assert "no system" in capsys.readouterr().err


def test_a_link_that_answers_wrongly_is_not_measured():
    asked = []

    class Link(links.Link):
        title = "some link"

        def open(self, stack: ExitStack) -> None:
            pass

        def measure(self, mode: str, *args: object, **_more: object) -> dict:
            asked.append((mode, "--verify" in args))
            if len(asked) == 2:
                raise proc.Failed("MISMATCH")
            return {}

    with ExitStack() as stack:
        opened, _ = links.open_all({"x": Link}, ["x"], stack)
        with pytest.raises(proc.Failed, match="some link: wrong answers: MISMATCH"):
            links.check_all(opened)
    assert asked == [("pingpong", True)] * 2


def web(answered: int, user: float, system: float) -> dict:
    found = {"requests_per_s": answered / 2, "answered": answered}
    found["latency_ns"] = {"p50": 5000, "p99": 9000}
    return nginx.figures(found, cpu.CpuTime(user, system))


def test_nginx_compares_per_second_of_cpu():
    linux = [web(100_000, 0.2, 0.8), web(100_000, 0.1, 0.9), web(1, 0.0, 0.0)]
    body = {
        "samples": {"linux": linux, "ideal": [web(900_000, 1.5, 0.5)]},
        "profile": {"ideal": {"by": "perf", "samples": 1000, "parts": {"libtoe_preload.so": 16.0}}},
    }
    found, goals = nginx.summarise(body)
    assert found["linux"]["requests_per_cpu_s"] == 100_000
    assert found["linux"]["cpu_us"] == 10
    assert [(goal.value, goal.met) for goal in goals] == [(9, True), (4.5, True), (16, False)]
    assert goals[-1].name == "libtoe's share of nginx's CPU, ideal TOE"
    body["profile"]["ideal"]["by"] = "callgrind"
    name = nginx.summarise(body)[1][-1].name
    assert name == "libtoe's share of nginx's instructions, ideal TOE"
    body["profile"]["ideal"]["samples"] = 999  # too few: not judged
    assert len(nginx.summarise(body)[1]) == 2


def test_perf_finds_where_a_loop_runs():
    why = perf.missing()
    if why:
        pytest.skip(why)
    argv = ["/usr/bin/python3", "-c", "while 1: pass"]
    with proc.Proc(argv) as busy:
        proc.wait_until(lambda: cpu.of(busy.pid).user > 0, "CPU time passes", timeout=60)
        found = perf.profile(busy.pid, 0.3, lambda: None)
    assert sum(found["parts"].values()) == pytest.approx(100, abs=5)
    assert max(found["parts"], key=found["parts"].get).startswith("python3")
    assert found["functions"][0]["percent"] > 0
    assert found["samples"] > 10


CALLGRIND = """
events: Ir
ob=(1) /usr/sbin/nginx
fn=(1) main
16 400
cob=(2) /lib/libtoe_preload.so
cfn=(2) toe_recv
calls=1 50
16 150
+2 50
ob=(2)
fn=(2)
50 100
* 50
ob=(1)
fn=(3) other
7 400
"""


def test_callgrinds_counts_are_those_of_the_functions_themselves(tmp_path):
    (tmp_path / "out").write_text(CALLGRIND)
    found = callgrind.read(tmp_path / "out")
    assert found["samples"] == 1000
    assert found["parts"] == {"nginx": 85.0, "libtoe_preload.so": 15.0}
    assert [f["function"] for f in found["functions"]] == ["main", "other", "toe_recv"]


def run(name: str, tmp_path, *args: object) -> dict:
    """A bench as `make bench` runs it, but on this build. On a busy machine its short time may be
    over before it gets a processor: it reports that, and is run again."""
    out = tmp_path / f"{name}.json"
    env = {"MPLBACKEND": "Agg", "TOEHOLD_BUILD": paths.build_dir("toehold").name}
    argv = ["/usr/bin/python3", "-B", "-m", f"bench.{name}", "--out", out, *args]
    for _ in range(5):
        done = proc.run(argv, cwd=paths.ROOT, env=env, timeout=60, check=False)
        if "nothing was begun within --duration" not in done.stderr:
            break
    assert out.exists(), done.stderr
    return json.loads(out.read_text())


@pytest.mark.parametrize(
    "name", ["patterns", "peers", "rtt", "hybrid", "scaling", "sums", "gateware"]
)
def test_a_directory_is_no_result(name, tmp_path):
    argv = ["/usr/bin/python3", "-B", "-m", f"bench.{name}", "--out", tmp_path]
    done = proc.run(argv, cwd=paths.ROOT, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"'{tmp_path}' is a directory: name a file in it" in done.stderr


SHORT = ["--samples", 1, "--seconds", "0.2", "--warmup", "0.1", "--no-plots"]


@pytest.mark.parametrize(
    "systems",
    [
        "linux",
        pytest.param(
            "linux_busy,toed_wire,toed_af_xdp,inline_wire,inline_af_xdp", marks=pytest.mark.long
        ),
    ],
)
def test_pingpong_runs(tmp_path, systems):
    args = ["--systems", systems, "--connections", "32", "--sizes", "64", "--loads", "0.5"]
    body = run("pingpong", tmp_path, *SHORT, *args)
    for system in systems.split(","):
        assert body["samples"]["closed"][system]["32x64"][0]["requests_per_s"] > 0
        assert body["samples"]["idle"][system]["400"][0]["count"] > 0
        row = body["samples"]["load"][system][0]
        assert row["count"] == pytest.approx(row["rate"] * 0.2, abs=1)
    alone = body["samples"]["frames_alone"]
    assert len(alone) == ("inline_af_xdp" in systems)
    assert all(found["per_s"] > 0 for found in alone)
    # Linux alone has none, inline at 32 connections only what idle ones cost.
    assert len(body["goals"]) == ("inline_wire" in systems)


def test_pingpong_of_no_system_says_so(tmp_path):
    args = ["--samples", 1, "--seconds", "0.2", "--systems", "none"]
    body = run("pingpong", tmp_path, *args)
    assert body["goals"] == [] and body["samples"]["closed"] == {}


def test_plots_of_many_flows(tmp_path):
    from bench import load_plots

    rates = {n: {"requests_per_s": 1000 / int(n)} for n in ("10", "1000")}
    memory = {"toed": {"toed_of_server": {"private": 900, "shared": 192}}}
    body = {"date": "2026-01-01", "commit": "x", "machine": {"cores": 2}, "medians": {}}
    body["flows"] = {"medians": {"each": rates, "in turn": {}}, "memory": memory}
    drawn = load_plots.conns(body, tmp_path)
    assert [path.name for path in drawn] == ["flows.png", "memory.png"]
    assert all(path.stat().st_size > 5000 for path in drawn)
    assert load_plots.conns({**body, "flows": {}}, tmp_path) == []


def test_many_flows_run(tmp_path):
    few = ["--systems", "none", "--flows", "500,3000", "--memory-flows", 1000, "--unpinned"]
    body = run("conns", tmp_path, *SHORT, *few)["flows"]
    assert list(body["rates"]) == list(flows.LOADS)
    for by_count in body["rates"].values():
        for count, list_ in by_count.items():
            assert list_[0]["connections"] == int(count)
            assert list_[0]["requests_per_s"] > 0
    for grown in body["memory"].values():
        for parts in grown.values():
            assert 100 < sum(parts.values()) < 8192
    # Idle flows do not touch their buffers: toed shares only records with its program.
    assert body["memory"]["toed"]["toed_of_server"]["shared"] < 2 * flows.BUFFER


@pytest.mark.parametrize(
    ("systems", "more"),
    [
        ("inline_wire", ["--off", "tso,zero copy,hold", "--samples", 1]),
        pytest.param("inline_wire,inline_af_xdp,toed_wire,toed_af_xdp", [], marks=pytest.mark.long),
    ],
)
def test_bulk_with_features_off_runs(tmp_path, systems, more):
    few = ["--systems", "none", "--features-of", systems, "--zero-copy-of", systems, "--unpinned"]
    few += ["--zero-copy-messages", "65536", "--receive-messages", "65536"]
    receivers = ",".join(s for s in systems.split(",") if s.startswith("inline"))
    body = run("bulk", tmp_path, *SHORT, *few, "--receive-of", receivers, *more)
    for by_frames in body["receiving"].values():
        assert set(by_frames) == set(features.FRAMES)
        for by_message in by_frames.values():
            assert all(v > 0 for way in by_message["65536"].values() for v in way["bytes_per_s"])
    for system in systems.split(","):
        # a wire has all of them; AF_XDP those of kernel and driver
        assert {"all on", "zero copy"} <= set(body["features"][system])
        assert "tso" in body["features"][system] or "af_xdp" in system
        for rates in body["zero_copy"][system]["65536"].values():
            assert len(rates["bytes_per_s"]) == len(rates["bytes_per_cpu_s"]) > 0
    assert body["goals"] == []


@pytest.mark.long
@pytest.mark.parametrize("name", ["bulk", "conns"])
def test_bulk_and_conns_run(tmp_path, name):
    only = (
        ["--messages", "1000", "--features-of", "none", "--zero-copy-of", "none"]
        + ["--receive-of", "none"]
        if name == "bulk"
        else ["--warmup", "1.5", "--seconds", "1"]
    )
    only += ["--flows", "none", "--memory-flows", 0] if name == "conns" else []
    body = run(
        name, tmp_path, *SHORT, *only, "--systems", "linux,toed_wire,toed_af_xdp,inline_wire"
    )
    for by_point in body["samples"].values():
        for list_ in by_point.values():
            assert list_[0].get("bytes_per_s", list_[0].get("per_s")) > 0


@pytest.mark.long
def test_plots_are_made_of_the_json_alone(tmp_path):
    short = [word for word in SHORT if word != "--no-plots"]
    body = run("nginx", tmp_path, *short, "--systems", "linux,inline,ideal")
    assert set(body["medians"]) == {"linux", "inline", "ideal"}
    (tmp_path / "nginx" / "nginx.png").unlink()
    run("nginx", tmp_path, "--plots-only")
    assert (tmp_path / "nginx" / "nginx.png").stat().st_size > 10_000


def test_nginx_runs(tmp_path):
    body = run("nginx", tmp_path, *SHORT, "--systems", "linux,ideal", "--profiler", "none")
    assert set(body["medians"]) == {"linux", "ideal"}
    assert body["medians"]["ideal"]["requests_per_s"] > 0
    assert [goal["goal"] for goal in body["goals"]] == [4, 4]


def test_a_server_that_does_not_start_is_said():
    class Here:
        """The namespace that the test runs in."""

        start = staticmethod(lambda argv, **options: proc.Proc(argv, **options))

    with pytest.raises(proc.Failed, match=r"cannot listen on 192\.0\.2\.77:7000"):
        loadgen.serve(Here(), "pingpong", "192.0.2.77:7000")
