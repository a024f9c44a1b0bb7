# SPDX-License-Identifier: Apache-2.0
"""Checks that each fault that a proof or a test must find applies to today's sources. Most faults
are tried by --long only, which would notice a stale one late."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from gateware.lib import formal
from gateware.lib.tools import GATEWARE

BENCHES = sorted(p for p in GATEWARE.glob("src/*/tb/test_*.py") if "\nFAULTS" in p.read_text())


def faults_of(bench: Path) -> list[dict]:
    """Returns the bench's table, whose values are (old, new) or (file, old, new)."""
    block = bench.parent.parent.name
    table = import_module(f"gateware.src.{block}.tb.{bench.stem}").FAULTS
    files = set(re.findall(r"src/\w+/rtl/\w+\.sv", bench.read_text()))
    found = []
    for why, words in table.items():
        if len(words) == 2:
            assert len(files) == 1, f"{bench.name}: of which file is it?"
            words = (*files, *words)
        found.append({"why": why, "file": words[0], "old": words[1]})
    return found


@pytest.mark.parametrize("bench", BENCHES, ids=lambda p: p.stem)
def test_faults_of_tests_stand_in_the_sources(bench):
    for fault in faults_of(bench):
        text = (GATEWARE / fault["file"]).read_text()
        times = text.count(fault["old"])
        assert times == 1, f"{fault['why']}: {fault['file']} has it {times} times, not once"


@pytest.mark.parametrize("name, proof", formal.load().items())
def test_faults_of_proofs_stand_in_the_sources(name, proof):
    for fault in proof.get("faults", []):
        assert formal.mutated(fault), f"{name}: {fault['why']}"


def test_each_bench_is_looked_at():
    assert len(BENCHES) >= 8
