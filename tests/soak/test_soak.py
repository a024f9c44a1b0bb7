# SPDX-License-Identifier: Apache-2.0
"""Each program of the table answers its requests on Toehold as on Linux, reloaded in the middle."""

from __future__ import annotations

import json
import sys

import pytest

from tests.lab import lab as labs
from tests.lab import paths, proc
from tests.soak import prepare
from tests.soak.program import Program
from tests.soak.programs import PROGRAMS

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(labs.GATEWARE, reason="the soak compares toed with Linux"),
]
MINUTES = 10


def run(program: Program, mode: str) -> dict:
    """The counts of a run, which are kept in out/soak/."""
    argv = [sys.executable, "-B", "-m", "tests.soak", program.name]
    done = proc.run(argv, cwd=paths.ROOT, env={"TOEHOLD_MODE": mode}, timeout=60 * MINUTES)
    counts = json.loads(done.stdout)
    folder = paths.OUT / "soak"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{program.name}-{mode}.json").write_text(json.dumps(counts, indent=1))
    print(f"{program.name} on {mode}: {counts}")
    return counts


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_program(program):
    """No answer is corrupt. None is lost, or no more than on Linux in the same run."""
    absent = [why for p in (*program.packages, *program.libraries) if (why := prepare.missing(p))]
    assert not absent, "; ".join(absent)
    linux = run(program, "linux")
    assert (linux["corrupt"], linux["faults"]) == (0, [])
    if labs.LINUX:
        assert linux["answered"] >= program.requests
        return
    try:
        toehold = run(program, "toehold")
    except proc.Failed:
        if program.known:
            pytest.xfail(program.known)
        raise
    assert (toehold["corrupt"], toehold["faults"]) == (0, []), toehold["reasons"]
    if program.known and toehold["lost"] > linux["lost"]:
        pytest.xfail(program.known)
    assert toehold["lost"] <= linux["lost"], toehold["reasons"]
    assert toehold["answered"] >= program.requests
    # A reload closes idle connections; one, or its successor, for each client.
    assert toehold["closed"] <= max(linux["closed"], 2 * program.clients)
