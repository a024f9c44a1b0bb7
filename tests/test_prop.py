# SPDX-License-Identifier: Apache-2.0
"""The random scripts of core/tests/prop find bugs (scripts/test --long runs them for hours)."""

import subprocess

import pytest

from harness import paths

pytestmark = [pytest.mark.toehold_only, pytest.mark.long]


def test_every_mutant_is_found():
    done = subprocess.run(
        [paths.ROOT / "core" / "tests" / "prop" / "mutants.py"],
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
