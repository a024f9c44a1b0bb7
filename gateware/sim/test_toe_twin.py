# SPDX-License-Identifier: Apache-2.0
"""Co-simulation: each event of core/'s random scripts into core/ and into the gateware; segments
out and TCBs must be the same, but for the exceptions that toe_twin.cpp names."""

import re
import subprocess

from gateware.lib import virtual

RUNS = 28  # from seed 1; later ones part, as README.md says
PARTS = 62  # a seed of them: override-stays of docs/gateware-differences.md


def twin(seed: int, runs: int) -> subprocess.CompletedProcess:
    argv = [virtual.twin(), "--mode", "peer", "--seed", str(seed), "--runs", str(runs)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=600)


def test_core_and_gateware_do_the_same() -> None:
    done = twin(1, RUNS)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    found = re.search(r"compared: (\d+) segments, (\d+) TCBs, (\d+) flows", done.stdout)
    segments, tcbs, flows = map(int, found.groups())
    assert segments > 2000 and tcbs > 5000 and flows > 100, found[0]


def test_what_differs_is_seen() -> None:
    """A difference that is known, and shrunk to what is needed of it."""
    done = twin(PARTS, 1)
    assert done.returncode == 1, done.stdout[-8000:]
    assert "segments part" in done.stdout
    assert re.search(r"shrunk from \d+ events to \d: ", done.stdout)
