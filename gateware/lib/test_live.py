# SPDX-License-Identifier: Apache-2.0
"""Rebuilds of the live simulations."""

import os
import subprocess
from pathlib import Path

import pytest

from gateware.lib import live


@pytest.mark.parametrize("newer", [False, True])
def test_a_header_that_has_changed_makes_our_objects_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, newer: bool
) -> None:
    include, folder = tmp_path / "include", tmp_path / "built"
    header, ours, other = include / "toe" / "device.h", folder / "ours.o", folder / "Vtop.o"
    for path in (header, ours, other):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    made = ours.stat().st_mtime
    os.utime(header, (made + 1, made + 1) if newer else (made, made))
    there = []

    def build(command: list[object], **_more: object) -> subprocess.CompletedProcess:
        there.extend(path.exists() for path in (ours, other))
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(live, "run", build)
    sources = [tmp_path / "ours.cpp", tmp_path / "not_yet.cpp"]
    flags = ["-std=c++20", f"-isystem{include}"]
    live.verilate(folder / "it", "rtt", "src/rtt/rtt.f", flags, [], *sources)
    assert there == [not newer, True]
