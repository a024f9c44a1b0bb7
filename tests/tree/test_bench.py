# SPDX-License-Identifier: Apache-2.0
"""The computations of benches on their samples, and their reports."""

import json
import sys

import pytest

from bench import cpu, demo, demo_plot, figures, report, syscalls, terminal
from tests.lab import netns, proc

LINUX = {
    "requests_per_s": 100_000.0,
    "p50_us": 300.0,
    "p99_us": 900.0,
    "cpu_user_us": 1.0,
    "cpu_system_us": 7.0,
}
TOED = {
    "requests_per_s": 200_000.0,
    "p50_us": 150.0,
    "p99_us": 300.0,
    "cpu_user_us": 2.0,
    "cpu_system_us": 0.5,
    "toed_cpu_us": 5.0,
}
INLINE = {**LINUX, "requests_per_s": 150_000.0, "cpu_system_us": 3.0}
IDEAL = {**LINUX, "requests_per_s": 400_000.0, "cpu_user_us": 1.5, "cpu_system_us": 0.0}


def samples() -> dict:
    # One sample far off on either side: a median does not see it.
    wild = {name: value * 50 for name, value in TOED.items()}
    tame = {name: value / 50 for name, value in TOED.items()}
    toed = [wild, TOED, TOED, TOED, tame]
    others = {"linux": [LINUX] * 5, "toed": toed, "inline": [INLINE] * 5, "ideal": [IDEAL] * 5}
    return dict.fromkeys(("return200", "file256"), others)


def whole_demo() -> dict:
    """The JSON of a demo, as far as tables and the picture need it."""
    cases, ratios, goals = demo.summarise(samples())
    return {
        "date": "2026-01-02T03:04:05+00:00",
        "commit": "abc",
        "netio": "af_xdp",
        "settings": {"connections": 64, "samples": 5, "seconds": 4},
        "machine": {"cores": 2, "cpu": "X", "memory_gib": 8, "kernel": "Linux 6"},
        "systems": demo.SYSTEMS,
        "titles": demo.TITLES,
        "cases": cases,
        "ratios": ratios,
        "toed_cpu_us": {"return200": 5.0, "file256": 5.0},
        "goals": [goal.as_json() for goal in goals],
    }


def test_summary_is_of_medians_and_goals_are_judged():
    cases, ratios, goals = demo.summarise(samples())
    assert list(cases["return200"]) == ["linux", "toed", "inline", "ideal"]
    assert set(cases["return200"]["toed"]) == set(demo.FIGURES)
    assert cases["file256"]["toed"]["requests_per_s"] == 200_000
    assert ratios["return200"]["toed"]["cpu"] == 0.312  # 2.5 of 8
    assert ratios["return200"]["toed"]["cpu_with_toed"] == 0.938  # 7.5 of 8
    assert ratios["return200"]["inline"]["cpu_with_toed"] == 0.5  # no second core
    assert ratios["return200"]["ideal"]["requests_per_s"] == 4
    assert [goal.met for goal in goals] == [True, True]


def test_a_ratio_to_nothing_is_not_made_up():
    idle = {**LINUX, "cpu_user_us": 0.0}
    assert demo.ratios_to(idle, TOED)["cpu_user"] is None


def test_a_goal_missed_is_reported_as_missed(tmp_path):
    goals = [report.Goal("cost", 0.4, "ratio", 0.333), report.Goal("rate", 9, "1/s", 8, False)]
    report.write(tmp_path / "x" / "b.json", {"settings": {}}, goals)
    written = json.loads((tmp_path / "x" / "b.json").read_text())
    assert [goal["met"] for goal in written["goals"]] == [False, True]
    assert written["machine"]["cores"] >= 1
    assert written["commit"]


def test_figures_for_the_readme_say_where_they_come_from():
    text = figures.markdown(whole_demo())
    assert "`make demo`, 2026-01-02, commit abc" in text
    assert "| toed | 200,000 | 150 | 300 | 2.50 | 2.00 + 0.50 | 5.0 |" in text
    assert "| inline | 150,000 | 300 | 900 | 4.00 | 1.00 + 3.00 | - |" in text
    assert all(sentence.split(":")[0] in " ".join(text.split()) for sentence in demo.CHOICE)
    prose = [line for line in text.splitlines() if not line.startswith("|")]
    assert max(map(len, prose)) <= figures.WIDTH


def test_the_picture_of_the_demo_comes_from_its_json_alone(tmp_path):
    body = json.loads(json.dumps(whole_demo()))
    demo_plot.draw(body, tmp_path / "a.svg")
    demo_plot.draw(body, tmp_path / "b.svg")
    text = (tmp_path / "a.svg").read_text()
    assert (tmp_path / "b.svg").read_text() == text
    assert all(title in text for title in (*demo.SYSTEMS.values(), *demo.TITLES.values()))
    assert "2.5 us, 200k req/s" in text
    assert not any(line != line.rstrip() for line in text.splitlines())
    assert demo_plot.bars(body, "file256")["inline"]["toed_cpu_us"] == 0


def test_offloads_of_the_peer_are_those_it_has():
    for on in (True, False):
        with netns.Pair(offload=on) as pair:
            found = demo.offloads(pair.client, pair.client_if)
        assert ("tx-checksumming" in found) == on
        assert ("tcp-segmentation-offload" in found) == on


@pytest.mark.parametrize(
    ("bench", "text", "said"),
    [
        ("pingpong", None, "there is no"),
        ("gateware", None, "there is no"),
        ("scaling", "{", "is no JSON of a bench"),
    ],
)
def test_plots_of_nothing_are_refused(tmp_path, bench, text, said):
    out = tmp_path / "x.json"
    if text:
        out.write_text(text)
    argv = [sys.executable, "-m", f"bench.{bench}", "--plots-only", "--out", out]
    done = proc.run(argv, check=False)
    assert done.returncode == 1
    assert said in done.stderr and "Traceback" not in done.stderr


def test_cpu_time_of_a_process_is_seen():
    with proc.Proc(["/usr/bin/python3", "-c", "while 1: pass"]) as busy:
        proc.wait_until(lambda: cpu.of(busy.pid).user > 0, "CPU time passes", timeout=60)
        before = cpu.of_all([busy.pid, busy.pid])
        assert (cpu.of_all([busy.pid, busy.pid]) - before).user >= 0


def test_system_calls_are_counted_per_unit_of_work(tmp_path):
    script = "import os\nprint('ready', flush=True)\nwhile 1: os.getppid()"
    with proc.Proc(["/usr/bin/python3", "-c", script]) as spinner:
        proc.wait_until(spinner.text, "the loop is reached", proc=spinner)

        def work() -> int:
            start = cpu.of(spinner.pid).total
            proc.wait_until(lambda: cpu.of(spinner.pid).total > start + 0.1, "work", proc=spinner)
            return 2

        counts = syscalls.count([spinner.pid], work, tmp_path / "strace.log")
    assert counts["getppid"] > 1


def test_a_table_without_a_terminal_has_no_colour():
    assert terminal.table(["", "n"], [["row", "1"], ["longer", "22"]]) == (
        "         n\nrow      1\nlonger  22"
    )


def test_a_goal_tells_its_limit_where_that_is_known(tmp_path, capsys):
    goals = [
        report.Goal("rate", 1.5, "ratio", 5, at_most=False, limit=2.5),
        report.Goal("cost", 0.3, "ratio", 0.4),
    ]
    report.print_goals({}, goals)
    said = capsys.readouterr().out.splitlines()
    assert [line.endswith("(frames alone: 2.5)") for line in said] == [False, True, False]
    report.write(tmp_path / "b.json", {}, goals)
    written = json.loads((tmp_path / "b.json").read_text())["goals"]
    assert [goal.get("limit") for goal in written] == [2.5, None]
    assert "limit" not in written[1]


@pytest.mark.parametrize(
    ("bench", "option", "value"),
    [
        ("demo", "--seconds", "0"),
        ("demo", "--samples", "-1"),
        ("demo", "--connections", "many"),
        ("gateware", "--packets", "0"),
        ("hostcores", "--hosts", "0"),
        ("hostcores", "--seconds", "0"),
        ("hostcores", "--seconds", "nan"),
        ("multicore", "--idle", "-2"),
        ("nginx", "--samples", "1.5"),
        ("patterns", "--samples", "0"),
        ("rtt", "--packets", ""),
        ("scaling", "--cores", "0"),
        ("sums", "--rounds", "0"),
    ],
)
def test_numbers_that_measure_nothing_are_refused(bench, option, value):
    done = proc.run([sys.executable, "-m", f"bench.{bench}", option, value], check=False)
    assert done.returncode == 2
    assert f"argument {option}: '{value}': want " in done.stderr
