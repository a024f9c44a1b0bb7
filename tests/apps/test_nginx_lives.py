# SPDX-License-Identifier: Apache-2.0
"""nginx's processes come and go under load: reload, upgrade of the binary, workers that crash."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import signal
import socket
from pathlib import Path

import pytest

from tests.lab import lab as labs
from tests.lab import nginx, proc

MB = 1_000_000
LARGE = 8 * MB


class Load:
    """wrk at work while a `with` lasts, a connection for each request or kept ones."""

    def __init__(self, lab: labs.Lab, *, keep: bool = False):
        header = [] if keep else ["-H", "Connection: close"]
        # line-buffered: its first line shows that it handles SIGINT
        argv = ["stdbuf", "-oL", "wrk", "-t1", "-c16", "-d900s", *nginx.PATIENT, *header]
        argv.append(f"http://{lab.ip}/hello")
        self._lab = lab
        self._wrk = lab.client.start(argv)

    def __enter__(self) -> Load:
        def connected() -> str:
            return self._lab.client.run(["ss", "-Htn", "dst", f"{self._lab.ip}:80"]).stdout

        proc.wait_until(lambda: "Running" in self._wrk.text(), "wrk starts", proc=self._wrk)
        proc.wait_until(lambda: connected().count("ESTAB") > 4, "wrk is at work", proc=self._wrk)
        return self

    def __exit__(self, *_exc: object) -> None:
        self._wrk.kill()

    def end(self) -> tuple[int, str]:
        """The number of answered requests, and the failures."""

        def ended() -> bool:  # a signal just before it sleeps is not enough
            self._wrk.send_signal(signal.SIGINT)
            return self._wrk.poll() is not None

        proc.wait_until(ended, "wrk ends")
        said = self._wrk.text()
        failed = re.findall(r"(?:Socket errors|Non-2xx).*", said)
        return int(re.search(r"(\d+) requests in", said)[1]), " ".join(failed)


class Download:
    """A large file in transfer, whose client does not read yet."""

    def __init__(self, lab: labs.Lab):
        with lab.client.entered():
            s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        s.settimeout(proc.seconds(30))
        s.connect((lab.ip, 80))
        s.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        self._file = s.makefile("rb")
        assert b" 200 " in self._file.readline()
        s.close()

    def digest(self) -> str:
        with self._file as f:
            while f.readline().strip():
                pass
            return hashlib.sha256(f.read()).hexdigest()


def served_by(lab: labs.Lab) -> int:
    return int(nginx.get(lab, "/pid"))


def wait_new_workers(server, before: set[int]) -> None:
    proc.wait_until(lambda: len(set(server.children()) - before) == 2, "new workers", proc=server)


def lives(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


def wait_ended(pids, what: str) -> None:
    proc.wait_until(lambda: not any(map(lives, pids)), what, timeout=20)


@pytest.mark.sanitize
def test_reload(lab, tmp_path):
    """Several in a row; no request fails, and transfers in progress complete."""
    digest = None
    with nginx.start(lab, tmp_path, workers=2) as server:
        digest = nginx.make_file(tmp_path / "files/large", LARGE)
        first = set(server.children())
        slow = Download(lab)
        with Load(lab) as load:
            for _ in range(3):
                before = set(server.children())
                server.send_signal(signal.SIGHUP)
                wait_new_workers(server, before)
            assert slow.digest() == digest
            wait_ended(first, "the first workers end")
            answered, failed = load.end()
    assert not failed
    assert answered > 100


@pytest.mark.sanitize
def test_worker_killed_under_load(lab, tmp_path):
    """Its connections are reset, the other worker's continue, a new worker serves the next."""
    with nginx.start(lab, tmp_path, workers=2) as server, labs.closing_all() as sockets:
        kept = []
        while len({pid for _, pid in kept}) < 2 or len(kept) < 20:
            web = nginx.Http(lab)
            sockets.append(web.sock)
            kept.append((web, int(web.get("/pid"))))
        victim, other = sorted({pid for _, pid in kept})
        with Load(lab, keep=True) as load:
            os.kill(victim, signal.SIGKILL)
            for web, pid in kept:
                if pid == other:
                    assert int(web.get("/pid")) == other
                else:
                    with pytest.raises((ConnectionError, nginx.http.client.HTTPException)):
                        web.get("/pid")

            def fresh() -> set[int]:
                return set(server.children()) - {victim, other}

            proc.wait_until(fresh, "a new worker", proc=server)
            proc.wait_until(lambda: served_by(lab) in fresh(), "the new worker serves")
            answered, _failed = load.end()
        assert answered > 100


class Daemon:
    """nginx as init runs it: in the background, with a pid file. Stopped at the end of `with`."""

    def __init__(self, lab: labs.Lab, folder: Path):
        listen = f"{lab.ip}:80"
        # The daemon inherits the pipes and keeps them open: its output goes to a file.
        argv = nginx.configuration(folder, listen, workers=2, daemon=True)
        lab.run(["sh", "-c", f"exec {' '.join(argv)} >{folder}/said 2>&1"])
        self.pid_file = folder / "nginx.pid"
        self.masters = [self._new_master()]
        proc.wait_port(lab.client, lab.ip, 80)

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, *_exc: object) -> None:
        alive = [pid for pid in self.masters if lives(pid)]
        pids = {pid for master in alive for pid in (master, *workers_of(master))}
        for pid in pids:  # among them, after a failure, a new master that is not known yet
            with contextlib.suppress(ProcessLookupError):  # its master may have ended it by now
                os.kill(pid, signal.SIGTERM)
        wait_ended(pids, "nginx ends")

    def _new_master(self, *old: int) -> int:
        def read() -> int:
            try:  # the old master may be renaming it
                text = self.pid_file.read_text()
            except FileNotFoundError:
                return 0
            return int(text) if text.strip() and int(text) not in old else 0

        return int(proc.wait_until(read, "a new master"))

    def upgrade(self) -> tuple[int, int]:
        """Starts the new binary as a child of the old master; returns both masters."""
        old = self.masters[-1]
        os.kill(old, signal.SIGUSR2)
        new = self._new_master(old)
        self.masters.append(new)
        proc.wait_until(lambda: len(workers_of(new)) == 2, "new workers")
        return old, new


def workers_of(master: int) -> set[int]:
    return {int(pid) for pid in Path(f"/proc/{master}/task/{master}/children").read_text().split()}


def serves_alone(lab: labs.Lab, master: int) -> bool:
    return {served_by(lab) for _ in range(20)} <= workers_of(master)


@pytest.mark.sanitize
def test_upgrade_of_the_binary(lab, tmp_path):
    """USR2, WINCH, QUIT: the new master gets the listener by exec; no request fails."""
    with Daemon(lab, tmp_path) as server:
        digest = nginx.make_file(tmp_path / "files/large", LARGE)
        old_workers = workers_of(server.masters[0])
        slow = Download(lab)
        with Load(lab) as load:
            old, new = server.upgrade()
            proc.wait_until(lambda: served_by(lab) in workers_of(new), "new workers serve")
            os.kill(old, signal.SIGWINCH)
            assert slow.digest() == digest
            wait_ended(old_workers, "the old workers end")
            assert serves_alone(lab, new)
            os.kill(old, signal.SIGQUIT)
            wait_ended([old], "the old master ends")
            assert serves_alone(lab, new)
            answered, failed = load.end()
        assert not failed
        assert answered > 100


def test_upgrade_taken_back(lab, tmp_path):
    """The old master, whose workers have exited, starts new ones; the new master exits."""
    with Daemon(lab, tmp_path) as server, Load(lab) as load:
        old_workers = workers_of(server.masters[0])
        old, new = server.upgrade()
        new_workers = workers_of(new)
        os.kill(old, signal.SIGWINCH)
        wait_ended(old_workers, "the old workers end")
        os.kill(old, signal.SIGHUP)
        proc.wait_until(lambda: len(workers_of(old) - {new}) == 2, "the old master's workers")
        proc.wait_until(lambda: served_by(lab) in workers_of(old), "they serve")
        os.kill(new, signal.SIGQUIT)
        wait_ended({new, *new_workers}, "the new master and its workers end")
        assert serves_alone(lab, old)
        answered, failed = load.end()
    assert not failed
    assert answered > 100
