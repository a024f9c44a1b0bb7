# SPDX-License-Identifier: Apache-2.0
"""toed, the software TOE, running in the server namespace of a Pair."""

from __future__ import annotations

import json
import shutil
import socket
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.lab import netns, paths, proc

AF_XDP = 44


def af_xdp_missing() -> str | None:
    """Why this kernel has no AF_XDP; None when it has."""
    try:
        socket.socket(AF_XDP, socket.SOCK_RAW).close()
    except OSError as e:
        return f"socket(AF_XDP): {e.strerror}"
    return None


class Toed:
    """A running toed, ready when the constructor returns. As a context manager it stops at the end.

    mode    "af_xdp", or "tap" (the pair must have been made with tap=True); netif overrides it
            with a specification of netio's own.
    shared  toed shares the kernel's address (the pair must have been made with kernel_ip).
    args    more arguments for toed.
    """

    def __init__(
        self,
        pair: netns.Pair,
        *,
        mode: str = "af_xdp",
        netif: str | None = None,
        engines: int = 1,
        shared: bool = False,
        args: Sequence[object] = (),
        env: Mapping[str, str] | None = None,
        log: Path | None = None,
    ):
        self.pair = pair
        self.netif = netif or {"af_xdp": f"af_xdp:{pair.server_if}", "tap": "tap:tap0"}[mode]
        self.engines = engines
        self._address = "shared" if shared else f"{pair.server_ip}/{pair.prefix_len}"
        self.ip = pair.server_ip
        # Not in out/: the path of a Unix socket has at most 107 bytes.
        self._folder = Path(tempfile.mkdtemp(prefix="toehold-"))
        self._folder.chmod(0o755)
        self.socket = self._folder / "toed.sock"
        self._args = list(args)
        self.prefix: list[object] = []  # a program that starts it
        self._env = dict(env or {})
        self._log = log
        self.proc: proc.Proc | None = None
        try:
            self.start()
        except BaseException:
            if self.proc:
                self.proc.kill()
            self._remove_folder()
            raise

    def _launch(self, *more: object) -> proc.Proc:
        return self.pair.server.start(
            [*self.prefix, paths.built("toed"), "--netif", self.netif]
            + ["--ip", self._address, "--mtu", self.pair.mtu]
            + ["--socket", self.socket, "--engines", self.engines, *self._args, *more],
            env=self._env,
            log=self._log,
        )

    def start(self, *, wait: bool = True) -> None:
        """Starts it (again): after stop() or kill(). With wait, returns once it serves."""
        self._killed = False
        self.proc = self._launch()
        if wait:
            proc.wait_until(self._answers, f"toed on {self.netif}", proc=self.proc, timeout=20)

    def take_over(self) -> str:
        """Starts a toed that takes over; the old one must exit with 0. Returns the new output."""
        old, new = self.proc, self._launch("--take-over")
        self.proc = new
        code = old.wait(timeout=20)
        if code != 0:
            raise proc.Failed(f"the toed taken over from ended with {code}{old.tail()}")
        proc.wait_until(lambda: "ready" in new.text(), "the new toed is ready", proc=new)
        return new.text()

    def refused_take_over(self, *args: object) -> tuple[int, str]:
        """Starts a toed that must fail to take over. Returns its exit code and its output."""
        new = self._launch("--take-over", *args)
        return new.wait(timeout=40), new.text()

    def _answers(self) -> bool:
        # The path alone proves nothing: a killed toed leaves it behind.
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            try:
                s.connect(str(self.socket))
            except OSError:
                return False
        return True

    def __enter__(self) -> Toed:
        return self

    def __exit__(self, kind: type | None, *_exc: object) -> None:
        if kind:
            self.proc.stop()
            self._remove_folder()
        else:
            self.close()

    def stop(self) -> None:
        """Sends SIGTERM. Failed when the exit code is not 0: after a sanitizer's report, a leak or
        a crash."""
        code = self.proc.stop(timeout=20)
        if code != 0:
            raise proc.Failed(f"toed ended with {code}{self.proc.tail()}")

    def kill(self) -> None:
        """Sends SIGKILL: toed ends without notifying programs."""
        self.proc.kill()
        self._killed = True

    def close(self) -> None:
        """stop(), unless toed was killed; removes the folder of its socket."""
        try:
            if not self._killed:
                self.stop()
        finally:
            self._remove_folder()

    def _remove_folder(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def stats(self) -> dict:
        """The output of `toehold stats --json`."""
        done = proc.run([paths.built("toehold"), "stats", "--json", "--socket", self.socket])
        return json.loads(done.stdout)

    def usage(self, name: str) -> int:
        """A usage figure summed over the engines: flows, half_open, listeners, time_wait, ..."""
        return sum(engine["usage"][name] for engine in self.stats()["engines"])

    def counter(self, name: str) -> int:
        """A counter summed over the engines."""
        return sum(engine["counters"][name] for engine in self.stats()["engines"])

    def queue_pairs(self) -> list[dict]:
        """The queue pairs of all engines."""
        return [qp for engine in self.stats()["engines"] for qp in engine["queue_pairs"]]

    def wrapped(self, argv: Sequence[object], *, require: bool = True) -> list[object]:
        """argv under `toehold run`, attached to this toed."""
        return [paths.built("toehold"), "run", *(["--require"] if require else [])] + [
            *("--socket", self.socket, "--"),
            *argv,
        ]

    def app(
        self,
        argv: Sequence[object],
        *,
        require: bool = True,
        env: Mapping[str, str] | None = None,
        log: Path | None = None,
        name: str | None = None,
    ) -> proc.Proc:
        """Starts a program on this toed, in the server namespace."""
        return self.pair.server.start(
            self.wrapped(argv, require=require),
            env=env,
            log=log,
            name=name or Path(str(argv[0])).name,
        )
