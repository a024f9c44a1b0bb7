# SPDX-License-Identifier: Apache-2.0
"""toed is root, its socket is in a directory of another user, who replaces entries by links while
toed starts and ends: no file of root's changes (docs/SECURITY.md, "Paths")."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import sys
import tempfile
from pathlib import Path

import pytest

from tests.lab import paths, proc

pytestmark = pytest.mark.toehold_only

SWAPPER = paths.ROOT / "tests" / "programs" / "link_swapper.py"
NOBODY = 65534
STARTS = 500


@pytest.fixture
def place():
    """The directory of the user, and a folder of root's with a file. Not in pytest's own folder,
    which others may not enter."""
    outer = Path(tempfile.mkdtemp(prefix="toehold-"))
    outer.chmod(0o755)
    theirs, victims = outer / "theirs", outer / "victims"
    theirs.mkdir(mode=0o755)
    os.chown(theirs, NOBODY, NOBODY)
    victims.mkdir(mode=0o755)
    secret = victims / "secret"
    secret.write_text("root's own\n")
    secret.chmod(0o600)
    yield theirs, secret
    shutil.rmtree(outer)


def state(folder: Path) -> dict[str, tuple]:
    """Everything of the entries that toed could have changed."""
    found = {}
    for entry in [folder, *folder.iterdir()]:
        s = entry.lstat()
        content = entry.read_bytes() if entry.is_file() else b""
        found[entry.name] = (s.st_ino, s.st_mode, s.st_uid, s.st_gid, s.st_nlink, content)
    return found


@contextlib.contextmanager
def attacked(theirs: Path, target: Path):
    with proc.Proc([sys.executable, SWAPPER, NOBODY, theirs, target]) as swapper:
        proc.wait_until(lambda: "ready" in swapper.text(), "the attacker is ready", proc=swapper)
        yield swapper


def test_the_attack_is_one(place):
    """What opens its socket by path alone, and then sets the owner, gives the file away."""
    theirs, secret = place
    path = theirs / "naive"
    with attacked(theirs, secret), socket.socket(socket.AF_UNIX) as s:
        s.bind(str(path))
        proc.wait_until(path.is_symlink, "the socket has become a link")
        os.chown(path, NOBODY, NOBODY)
    assert secret.stat().st_uid == NOBODY


def start_and_end(theirs: Path, private: Path) -> str:
    """One life of toed. Returns its output; it may end at once, as its socket is taken away."""
    toed = proc.Proc(
        [paths.built("toed"), "--netif", f"wire:{private}/w,side=a", "--ip", "10.0.0.1/24"]
        + ["--socket", theirs / "toed.sock", "--user", "nobody"]
    )
    with toed:
        proc.wait_until(lambda: toed.poll() is not None or "ready" in toed.text(), "toed starts")
    text = toed.text()
    toed.log.unlink()
    return text


def clean(folder: Path) -> None:
    """Removes what earlier starts and attacks have left: toed refuses to replace a link."""
    for entry in list(folder.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


def race(place, tmp_path, starts: int) -> None:
    theirs, secret = place
    private = tmp_path / "private"
    private.mkdir()
    before = state(secret.parent)
    with attacked(theirs, secret) as swapper:
        for n in range(starts):
            clean(theirs)
            said = start_and_end(theirs, private)
            assert state(secret.parent) == before, f"start {n}: {said}"
        proc.wait_until(lambda: "replaced" in swapper.text(), "an entry is replaced", proc=swapper)
    assert state(secret.parent) == before


def test_some_starts(place, tmp_path):
    race(place, tmp_path, 10)


@pytest.mark.long
def test_500_starts(place, tmp_path):
    race(place, tmp_path, STARTS)
