# SPDX-License-Identifier: Apache-2.0
"""Random scripts against the invariants of core/ for minutes, and proof that they find bugs.
TOEHOLD_PROP_SECONDS (300) is how long each mode runs; TOEHOLD_PROP_SEED where it begins."""

import os
import subprocess
import time

import pytest

from harness import paths

pytestmark = [pytest.mark.toehold_only, pytest.mark.long]

SECONDS = int(os.environ.get("TOEHOLD_PROP_SECONDS", "300"))


@pytest.mark.parametrize("mode", ["pair", "peer"])
def test_invariants_hold_for_long(mode):
    seed = os.environ.get("TOEHOLD_PROP_SEED", str(int(time.time()) * 1000))
    done = subprocess.run(
        [paths.built("prop"), "--mode", mode, "--seed", seed, "--seconds", str(SECONDS)],
        capture_output=True,
        text=True,
        timeout=SECONDS + 600,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_mutant_is_found():
    done = subprocess.run(
        [paths.ROOT / "core" / "tests" / "prop" / "mutants.py"],
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
