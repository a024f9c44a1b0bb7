# SPDX-License-Identifier: Apache-2.0
"""The same source gives the same bytes in any folder (docs/SECURITY.md, "How it is built")."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.lab import paths

TARGETS = [
    *("engine/toed", "cli/toehold", "bench/load/toehold-bench", "netio/steer.bpf.o"),
    *("manager/libtoe.so.1", "manager/libtoe_preload.so", "engine/libtoe_inline.so"),
]


def export(folder: Path) -> None:
    """The files of the tree that git knows, as they are now."""
    listed = subprocess.run(
        ["git", "-C", paths.ROOT, "ls-files", "-z"], capture_output=True, check=True
    ).stdout
    folder.mkdir(parents=True)
    subprocess.run(
        ["tar", "-C", paths.ROOT, "--null", "--files-from=-", "-cf", folder / "tree.tar"],
        input=listed,
        check=True,
    )
    subprocess.run(["tar", "-C", folder, "-xf", folder / "tree.tar"], check=True)
    (folder / "tree.tar").unlink()


def build(folder: Path, build_dir: Path) -> dict[str, bytes]:
    """Builds without a cache, which would give both folders the same objects."""
    env = {**os.environ, "CCACHE_DISABLE": "1"}
    for command in (
        ["meson", "setup", build_dir, folder, "-Ddpdk=disabled"],
        ["ninja", "-C", build_dir, "--quiet", *TARGETS],
    ):
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    return {name: (build_dir / name).read_bytes() for name in TARGETS}


@pytest.mark.long
def test_two_folders_give_the_same_bytes(tmp_path):
    one, two = tmp_path / "one", tmp_path / "another" / "much-longer-name"
    export(one)
    export(two)
    first = build(one, one / "build")
    second = build(two, two / "build")
    differ = [name for name in TARGETS if first[name] != second[name]]
    assert not differ
    for name, data in first.items():
        assert str(tmp_path).encode() not in data, f"{name} contains its folder"
