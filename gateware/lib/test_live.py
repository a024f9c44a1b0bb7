# SPDX-License-Identifier: Apache-2.0
"""What is built anew for the live simulations."""

import os
from pathlib import Path

import pytest

from gateware.lib import live


@pytest.mark.parametrize("newer", [False, True])
def test_a_header_that_has_changed_makes_our_objects_anew(tmp_path: Path, newer: bool) -> None:
    include, folder = tmp_path / "include", tmp_path / "built"
    header, ours, other = include / "toe" / "device.h", folder / "ours.o", folder / "Vtop.o"
    for path in (header, ours, other):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    made = ours.stat().st_mtime
    os.utime(header, (made + 1, made + 1) if newer else (made, made))
    sources = [tmp_path / "ours.cpp", tmp_path / "not_yet.cpp", tmp_path / "lint.vlt"]
    live.forget_stale(folder, ["-std=c++20", f"-isystem{include}"], sources)
    assert ours.exists() != newer
    assert other.exists()
