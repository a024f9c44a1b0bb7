# SPDX-License-Identifier: Apache-2.0
"""Debian's packages of this tree, and a minimal Debian to install them in."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.lab import paths, proc

# What a machine has besides the packages under test.
_PROGRAMS = ("systemd", "systemd-sysv", "dbus", "nginx-light", "iproute2", "procps")
_SUITE = "bookworm"
_BUILD_SECONDS = 1500
_FETCH_SECONDS = 900


@contextlib.contextmanager
def _locked(name: str) -> Iterator[None]:
    """Test files run in several processes."""
    paths.OUT.mkdir(exist_ok=True)
    with (paths.OUT / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def packages() -> dict[str, Path]:
    """The packages of the commit that is checked out, by name; builds them if they are older."""
    commit = proc.run(["git", "rev-parse", "HEAD"], cwd=paths.ROOT).stdout
    folder = paths.OUT / "deb"
    stamp = folder / "commit"
    with _locked("deb"):
        if not stamp.exists() or stamp.read_text() != commit:
            proc.run([paths.ROOT / "scripts" / "deb"], timeout=_BUILD_SECONDS)
            stamp.write_text(commit)
    return {path.name.split("_")[0]: path for path in folder.glob("*.deb")}


def field(package: Path, name: str) -> str:
    return proc.run(["dpkg-deb", "-f", package, name]).stdout.strip()


def with_version(package: Path, version: str, folder: Path) -> Path:
    """A copy of a package that has another version."""
    tree = folder / f"{package.stem}-{version}"
    proc.run(["dpkg-deb", "-R", package, tree])
    control = tree / "DEBIAN" / "control"
    control.write_text(re.sub(r"(?m)^Version: .*", f"Version: {version}", control.read_text()))
    copy = folder / f"{field(package, 'Package')}_{version}.deb"
    proc.run(["dpkg-deb", "--root-owner-group", "-b", tree, copy])
    return copy


def _dependencies(package: Path) -> list[str]:
    """The first alternative of each."""
    depends = field(package, "Depends").split(",")
    return [re.split(r"[ (|]", choice.strip())[0] for choice in depends]


def base(package: Path) -> Path:
    """The archive of a minimal Debian with what a package depends on, made once by mmdebstrap."""
    include = ",".join([*_PROGRAMS, *_dependencies(package)])
    mark = hashlib.sha256(include.encode()).hexdigest()[:12]
    archive = paths.OUT / f"debian-{mark}.tar"
    with _locked("debian"):
        if not archive.exists():
            part = archive.with_suffix(".part.tar")
            command = ["mmdebstrap", "--quiet", "--variant=minbase", "--mode=root"]
            command += [f"--include={include}", _SUITE, part]
            proc.run(command, timeout=_FETCH_SECONDS)
            part.rename(archive)
    return archive


def unpack(archive: Path, root: Path) -> None:
    """Into a folder whose parents root's programs alone use."""
    root.mkdir(mode=0o755)
    subprocess.run(["tar", "-x", "-C", root, "-f", archive], check=True)
