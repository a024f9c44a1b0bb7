# SPDX-License-Identifier: Apache-2.0
"""Runs one program of the table under load.

    python3 -m tests.soak NAME [--requests N]

On Toehold, or with TOEHOLD_MODE=linux on Linux. Prints the counts of load.py as one line of JSON,
with what the comparison of stored data has found (faults) and the seconds that the reload took.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.lab import lab as labs
from tests.lab import netns, nginx, paths, proc
from tests.soak import prepare, talks
from tests.soak.program import ORIGIN, PORT, Program
from tests.soak.programs import BY_NAME

HERE = Path(__file__).parent
SECONDS = 240  # for all requests
RELOADING = 60


class Server:
    """A program in its folder. As a context manager it is stopped at the end."""

    def __init__(self, lab: labs.Lab, program: Program, folder: Path):
        self.lab, self.program, self.folder = lab, program, folder
        self.ip, self.peer = lab.ip, lab.peer_ip
        self.words = {
            "folder": folder,
            "ip": lab.ip,
            "peer": lab.peer_ip,
            "port": PORT,
            "second": PORT + 1,
            "origin": ORIGIN,
            **program.words,
        }
        self.env = {name: self.fill(value) for name, value in program.env.items()}
        self.others: list[proc.Proc] = []
        self.proc: proc.Proc | None = None
        self.where = lab.peer_ip if program.front else lab.ip

    def fill(self, text: str) -> str:
        for word, value in reversed(self.words.items()):  # a row's words may have others in them
            text = text.replace(f"@{word}@", str(value))
        return text

    def __enter__(self) -> Server:
        program, folder = self.program, self.folder
        (folder / "state").mkdir()
        talks.make_files(folder, labs.SEED)
        prepare.site_file(self)
        for name in [*program.conf, *[program.front] * bool(program.front)]:
            source = HERE / ("conf" if (HERE / "conf" / name).exists() else "apps") / name
            (folder / name).write_text(self.fill(source.read_text()))
        program.prepare(self)
        for path in [folder / "state", *(folder / "state").rglob("*")]:
            shutil.chown(path, program.user)
        try:
            if program.origin:
                nginx.start_on_peer(self.lab, folder, port=ORIGIN)
            if program.front:
                argv = ["nginx", "-e", "stderr", "-c", folder / program.front]
                self.lab.peer(argv, name="front")
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    def start(self) -> None:
        argv = [self.fill(word) for word in self.program.command.split()]
        self.proc = self.lab.app(argv, require=False, env=self.env, name=self.program.name)

        def serves() -> bool:
            try:
                with talks.opener(self.program.client, self.where, PORT, self.folder)() as talk:
                    return talk.ask(0) is not False
            except Exception:
                return False

        with self.lab.client.entered():
            what = f"{self.program.name} serves"
            proc.wait_until(serves, what, proc=self.proc, timeout=self.program.ready)

    def stop(self) -> None:
        if self.proc:
            self.proc.stop(timeout=20)

    def reload(self) -> None:
        how, before = self.program.reload, set(self.proc.children())
        said = self.proc.text().count(how.says) if how.says else 0
        if how.signal:
            self.proc.send_signal(how.signal)
        for command in how.commands:
            argv = [self.fill(word) for word in command.split()]
            self.lab.run(argv, require=False, env=self.env)
        if not how.signal and not how.commands:
            self.proc.send_signal(signal.SIGTERM)
            self.proc.wait(RELOADING)
            self.start()
        if how.says:
            self._until(lambda: self.proc.text().count(how.says) > said, f"says {how.says!r}")
        if how.replaces:
            # The first process may have none for a moment.
            children = self.proc.children
            self._until(lambda: children() and not before & set(children()), "has new processes")

    def _until(self, condition: Callable[[], object], what: str) -> None:
        what = f"{self.program.name} {what}"
        proc.wait_until(condition, what, proc=self.proc, timeout=RELOADING)


def serve(lab: labs.Lab, program: Program, folder: Path, requests: int) -> dict:
    """The counts of a run."""
    with Server(lab, program, folder) as server:
        (folder / "accepted").unlink(missing_ok=True)
        argv = [labs.PYTHON, "-m", "tests.soak.load", folder, program.client, server.where, PORT]
        argv += ["--requests", requests, "--clients", program.clients]
        argv += ["--gap"] * program.reload.gap
        with lab.client.start(argv, cwd=paths.ROOT, name=f"load-{program.name}") as load:
            half = folder / "half"
            proc.wait_until(half.exists, "half of the answers", timeout=SECONDS, proc=load)
            began = time.monotonic()
            try:
                server.reload()
            finally:
                (folder / "reloaded").touch()
            took = time.monotonic() - began
            load.wait(SECONDS)
        counts = json.loads((folder / "counts").read_text())
        faults = program.check(server) if program.check else []
        return {**counts, "faults": faults, "reload_s": round(took, 2), "log": str(server.proc.log)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tests.soak")
    parser.add_argument("name", choices=BY_NAME)
    parser.add_argument("--requests", type=int)
    options = parser.parse_args()
    netns.end_on_signals()
    program = BY_NAME[options.name]
    # Not in out/: other users than root must get there, and a Unix socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="toehold-soak-"))
    folder.chmod(0o755)
    try:
        with labs.Lab() as lab:
            if lab.toed:
                lab.toed.socket.chmod(0o666)  # processes of several users attach
            print(json.dumps(serve(lab, program, folder, options.requests or program.requests)))
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
