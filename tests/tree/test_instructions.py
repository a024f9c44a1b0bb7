# SPDX-License-Identifier: Apache-2.0
"""The instruction counts of a segment, an ACK, a request and a connection stay as recorded."""

import json

import pytest

from bench import callgrind, instructions

WITHIN = ("engine_step", "netio_*")


def test_counts_are_those_of_the_baseline():
    baseline = instructions.read_baseline()
    if baseline["compiler"] != instructions.compiler():
        pytest.skip(
            f"the baseline is of {baseline['compiler']}, this build of {instructions.compiler()}"
        )
    told = instructions.moved(instructions.measure(), baseline["counts"])
    assert not told, f"{told}; `{instructions.RECORD}` records these if they are intended"


@pytest.mark.parametrize("case", ["request", "connection"])
def test_events_of_flows_cost_at_most_one_per_cent(case):
    """The rings of toehold trace, against the same without them."""
    traced, untraced = (
        instructions.count(instructions.Case("count_engine", name, "", "", WITHIN, 256))
        for name in (case, f"{case}_untraced")
    )
    assert untraced < traced <= 1.01 * untraced


def test_what_moved_is_told_with_how_far():
    before = {"a": 1000.0, "b": 1000.0, "c": 1000.0, "gone": 5.0}
    told = instructions.moved({"a": 1029.0, "b": 1031.0, "c": 969.0, "new": 7.0}, before)
    assert told == [
        "b: 1031 instructions, baseline 1000 (+3.1 %)",
        "c: 969 instructions, baseline 1000 (-3.1 %)",
        "gone: in the baseline, but no such case",
        "new: 7, not in the baseline",
    ]


def test_a_table_and_goals_are_made_of_what_was_counted():
    counts = {instructions.name(case): 1000.0 for case in instructions.CASES}
    goals = instructions.goals(counts, {"core data_in": 960.0})
    assert [(goal.name, goal.met) for goal in goals] == [("core data_in", False)]
    assert "+4.2 %" in instructions.table(counts, {"core data_in": 960.0})


def test_a_baseline_written_is_the_one_read(tmp_path, monkeypatch):
    monkeypatch.setattr(instructions, "BASELINE", tmp_path / "b.json")
    instructions.write_baseline({"a": 1.0})
    assert json.loads((tmp_path / "b.json").read_text()) == instructions.read_baseline()
    assert instructions.read_baseline()["counts"] == {"a": 1.0}


def test_what_called_functions_cost_is_not_counted_twice(tmp_path):
    out = tmp_path / "out"
    out.write_text(
        "events: Ir\n\nob=(1) /x/prog\nfn=(1) f\n10 5\ncob=(2) /lib/libc.so.6\ncfn=(2) memcpy\n"
        "calls=1 0\n11 70\n+1 2\n\nob=(2)\nfn=(2)\n20 70\n"
    )
    assert callgrind.costs(out) == {("/x/prog", "f"): 7, ("/lib/libc.so.6", "memcpy"): 70}
