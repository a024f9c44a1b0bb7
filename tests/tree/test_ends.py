# SPDX-License-Identifier: Apache-2.0
"""A hundred thousand connections that end in any way lose no byte (core/tests/test_tcp_ends.c)."""

import os
import subprocess

import pytest

from tests.lab import paths, proc

pytestmark = [pytest.mark.toehold_only, pytest.mark.long]


def test_a_hundred_thousand_ends():
    done = subprocess.run(
        [paths.built("test_tcp_ends")],
        env={**os.environ, "TOE_TEST_LONG": "1"},
        capture_output=True,
        text=True,
        timeout=proc.seconds(600),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("100000 connections") == 2  # over IPv4, over IPv6
