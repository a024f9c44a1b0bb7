# SPDX-License-Identifier: Apache-2.0
"""A Debian that systemd boots in a container, in a network namespace of the tests."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.lab import netns, proc

_serial = itertools.count(1)
# What toed does and systemd-nspawn forbids by default.
_CALLS = "bpf perf_event_open"


class Machine:
    """A booted machine. As a context manager it is shut down at the end."""

    def __init__(self, root: Path, ns: netns.Namespace):
        self.root = root
        name = f"toehold-{os.getpid()}-{next(_serial)}"
        command: list[object] = ["systemd-nspawn", "--quiet", "--boot", f"--directory={root}"]
        command += [f"--machine={name}", "--register=no", "--keep-unit", "--console=pipe"]
        command += [f"--network-namespace-path=/run/netns/{ns.name}"]
        command += ["--capability=all", f"--system-call-filter={_CALLS}"]
        self._container = proc.Proc(command, name=name)
        try:
            proc.wait_until(self._booted, "a booted machine", timeout=60, proc=self._container)
        except BaseException:
            self.close()
            raise

    def _leader(self) -> int | None:
        """The machine's process 1. At first systemd-nspawn has other children, which prepare it."""
        for pid in self._container.children():
            with contextlib.suppress(FileNotFoundError):
                if Path(f"/proc/{pid}/comm").read_text() == "systemd\n":
                    return pid
        return None

    def _booted(self) -> bool:
        if self._leader() is None:
            return False
        done = self.run(["systemctl", "is-system-running"], check=False)
        return done.stdout.strip() in ("running", "degraded")

    def __enter__(self) -> Machine:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        self._container.stop(timeout=30)

    def run(self, argv: Sequence[object], **options: object) -> subprocess.CompletedProcess[str]:
        """proc.run() as root of the machine."""
        leader = self._leader()
        if leader is None:
            raise proc.Failed(f"the machine has ended{self._container.tail()}")
        enter = ["nsenter", f"--target={leader}", "--mount", "--uts", "--ipc", "--net", "--pid"]
        return proc.run([*enter, "--wd=/", *argv], **options)

    def show(self, unit: str, name: str) -> str:
        """A property of a unit."""
        return self.run(["systemctl", "show", unit, f"--property={name}", "--value"]).stdout.strip()

    def journal(self, unit: str) -> str:
        return self.run(["journalctl", "--no-pager", "--output=cat", f"--unit={unit}"]).stdout
