# SPDX-License-Identifier: Apache-2.0
"""Processes: started in a namespace, logged to a file, ended with all their children.

Timeouts are in seconds of a quiet machine; they grow with its load (patience.seconds()).
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tests.lab import paths, patience
from tests.lab.patience import seconds

if TYPE_CHECKING:
    from tests.lab.netns import Namespace

__all__ = ["Failed", "Proc", "run", "seconds", "wait_port", "wait_until"]

_serial = itertools.count(1)


class Failed(Exception):
    """An expected event did not happen, or a command failed. The message names it."""


def _command(argv: Sequence[object], ns: Namespace | None) -> list[str]:
    # `ip netns exec` replaces itself by the program, so that the pid is the program's own.
    prefix = ["ip", "netns", "exec", ns.name] if ns else []
    return prefix + [os.fspath(a) if isinstance(a, os.PathLike) else str(a) for a in argv]


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    # No files of settings: those of this machine are not the test's.
    return {**os.environ, "TOEHOLD_CONFIG": "", **(extra or {})}


def _kill_group(pgid: int, sig: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pgid, sig)


def run(
    argv: Sequence[object],
    *,
    ns: Namespace | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    input: str | None = None,
    timeout: float = 60,
    check: bool = True,
) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end. Failed on timeout or, with check, on a nonzero exit code."""
    with subprocess.Popen(
        _command(argv, ns),
        env=_environment(env),
        cwd=cwd,
        stdin=subprocess.PIPE if input is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as p:
        try:
            out, err = p.communicate(input, patience.seconds(timeout))
        except BaseException as e:
            _kill_group(p.pid, signal.SIGKILL)
            if isinstance(e, subprocess.TimeoutExpired):
                out, err = p.communicate()
                said = f"\n{out}{err}".rstrip()
                raise Failed(f"{argv[0]} did not end in {timeout} s{said}") from None
            raise
    if check and p.returncode != 0:
        said = f"\n{out}{err}".rstrip()
        raise Failed(f"{' '.join(map(str, argv))}: exit code {p.returncode}{said}")
    return subprocess.CompletedProcess(list(map(str, argv)), p.returncode, out, err)


class Proc:
    """A process in a session of its own. As a context manager it is stopped at the end.

    Standard output and error go to one log file: log, or out/log/PROGRAM-PID-N.log.
    """

    def __init__(
        self,
        argv: Sequence[object],
        *,
        ns: Namespace | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        log: Path | None = None,
        name: str | None = None,
    ):
        self.argv = list(map(str, argv))
        self.name = name or Path(self.argv[0]).name
        self.log = log or paths.OUT / "log" / f"{self.name}-{os.getpid()}-{next(_serial)}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("wb") as out:
            self._p = subprocess.Popen(
                _command(argv, ns),
                env=_environment(env),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.pid = self._p.pid

    def __enter__(self) -> Proc:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    def poll(self) -> int | None:
        """The exit code (negative: ended by that signal), None while it runs."""
        return self._p.poll()

    def wait(self, timeout: float) -> int:
        """Waits for the end and returns the exit code. Failed after timeout seconds."""
        try:
            return self._p.wait(patience.seconds(timeout))
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name} did not end in {timeout} s{self.tail()}") from None

    def send_signal(self, sig: int) -> None:
        """To the process itself, not to its children."""
        self._p.send_signal(sig)

    def stop(self, timeout: float = 5) -> int:
        """Sends SIGTERM to the process, then SIGKILL to its group if it has not ended in time. A
        stopped process is continued, so that it handles the signal."""
        if self._p.poll() is None:
            self._p.terminate()
            self._p.send_signal(signal.SIGCONT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._p.wait(patience.seconds(timeout))
        return self.kill()

    def kill(self) -> int:
        """Sends SIGKILL to the process and to the children in its group."""
        _kill_group(self.pid, signal.SIGKILL)
        return self._p.wait()

    def text(self) -> str:
        """Its output so far."""
        return self.log.read_text(errors="replace")

    def tail(self, lines: int = 15) -> str:
        """The last lines of its log, indented, for messages."""
        last = self.text().splitlines()[-lines:]
        return "".join(f"\n    {line}" for line in [f"({self.log})", *last])

    def children(self) -> list[int]:
        """The pids of its direct children."""
        task = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        return [int(pid) for pid in task.read_text().split()] if task.exists() else []


def wait_until(
    condition: Callable[[], object], what: str, *, timeout: float = 10, proc: Proc | None = None
) -> object:
    """Waits until condition() is true and returns its value.

    Failed after timeout seconds, or as soon as proc, the process to cause it, has ended.
    """
    limit = patience.Limit(timeout * patience.RESERVE)
    pause = 0.002
    while not (value := condition()):
        if proc is not None and proc.poll() is not None:
            raise Failed(f"{what}: {proc.name} ended with {proc.poll()}{proc.tail()}")
        if limit.over():
            waited = f"not within {limit.elapsed():.0f} s"
            raise Failed(f"{what}: {waited}{proc.tail() if proc else ''}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)
    return value


def wait_port(
    ns: Namespace,
    address: str,
    port: int,
    *,
    timeout: float = 10,
    proc: Proc | None = None,
) -> None:
    """Waits until a connection from namespace ns to address:port is accepted."""

    def accepts() -> bool:
        try:
            ns.connect(address, port, timeout=1).close()
        except OSError:
            return False
        return True

    wait_until(accepts, f"a connection to {address}:{port}", timeout=timeout, proc=proc)
