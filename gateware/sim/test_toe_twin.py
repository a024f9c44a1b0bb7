# SPDX-License-Identifier: Apache-2.0
"""Co-simulation: core/ and the gateware process each event of core/'s random scripts. Segments and
TCBs must be equal, except for the differences that twin_compare.h lists."""

import os
import re
import subprocess

from gateware.lib import virtual
from tests.lab import proc

RUNS = 120  # from seed 1
PARTED = [186, 187, 214, 224, 381, 464, 465, 521, 569, 689, 713, 934, 1238, 1246, 1953, 2038]
PARTED += [2587, 3915, 4045, 4079]


def twin(runs: int, seed: int = 1, **env: str) -> subprocess.CompletedProcess:
    argv = [virtual.twin(), "--mode", "peer", "--seed", str(seed), "--runs", str(runs)]
    return subprocess.run(
        argv, capture_output=True, text=True, timeout=proc.seconds(600), env={**os.environ, **env}
    )


def test_core_and_gateware_do_the_same() -> None:
    done = twin(RUNS)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    found = re.search(r"compared: (\d+) segments, (\d+) TCBs, (\d+) flows", done.stdout)
    segments, tcbs, flows = map(int, found.groups())
    assert segments > 10000 and tcbs > 40000 and flows > 400, found[0]


def test_what_has_parted_does_no_more() -> None:
    """Runs seeds that found a fault in either implementation or in the comparison."""
    for seed in PARTED:
        done = twin(1, seed)
        assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


def test_what_differs_is_seen() -> None:
    """core/ gets no PUSH: the scripts differ at the first one, and are shrunk to it."""
    done = twin(1, TOE_TWIN_DIFFERS="1")
    assert done.returncode == 1, done.stdout[-8000:]
    assert "segments part" in done.stdout
    assert re.search(r"shrunk from \d+ events to \d: ", done.stdout)
