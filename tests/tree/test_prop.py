# SPDX-License-Identifier: Apache-2.0
"""The random scripts of core/tests/prop find bugs (scripts/test --long runs them for hours)."""

import subprocess

import pytest

from tests.lab import paths, proc

pytestmark = pytest.mark.toehold_only


def mutants(*args: str, timeout: int) -> None:
    done = subprocess.run(
        [paths.ROOT / "core" / "tests" / "prop" / "mutants.py", *args],
        capture_output=True,
        text=True,
        timeout=proc.seconds(timeout),
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_mutant_is_found():
    mutants("--only", "window_over_buffer", "--runs", "200", timeout=300)


@pytest.mark.long
def test_every_mutant_is_found():
    mutants(timeout=1800)
