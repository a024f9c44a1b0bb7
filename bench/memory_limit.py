# SPDX-License-Identifier: Apache-2.0
"""A memory cgroup that limits what processes may use, page cache included: version 2 or 1."""

from __future__ import annotations

import contextlib
import itertools
import os
from pathlib import Path

from tests.lab import proc

_V1 = Path("/sys/fs/cgroup/memory")
_V2 = Path("/sys/fs/cgroup")
_serial = itertools.count(1)


def _root() -> tuple[Path, str] | None:
    """Return the hierarchy that has the memory controller, and its file for the limit."""
    if (_V1 / "memory.limit_in_bytes").exists():
        return _V1, "memory.limit_in_bytes"
    with contextlib.suppress(OSError):
        if "memory" in (_V2 / "cgroup.subtree_control").read_text().split():
            return _V2, "memory.max"
    return None


def missing() -> str | None:
    """Return why there is no memory cgroup here, or None."""
    if not _root():
        return f"no memory controller in {_V2} (cgroup.subtree_control) or {_V1}"
    return None if os.access(_root()[0], os.W_OK) else f"{_root()[0]} is not writable"


class MemoryLimit:
    """A context manager: processes are added by their id, and must end before it does."""

    def __init__(self, limit: int):
        if why := missing():
            raise proc.Failed(f"a limit of memory: {why}")
        root, file = _root()
        self.folder = root / f"toehold-bench-{os.getpid()}-{next(_serial)}"
        self.folder.mkdir()
        (self.folder / file).write_text(str(limit))

    def add(self, pids: list[int]) -> None:
        """What these processes read from now on counts, until there is no room."""
        for pid in pids:
            (self.folder / "cgroup.procs").write_text(str(pid))

    def __enter__(self) -> MemoryLimit:
        return self

    def __exit__(self, *_exc: object) -> None:
        def removed() -> bool:
            with contextlib.suppress(OSError):  # EBUSY: the last process is about to end
                self.folder.rmdir()
            return not self.folder.exists()

        proc.wait_until(removed, f"{self.folder} is empty")
