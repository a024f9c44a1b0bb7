# SPDX-License-Identifier: Apache-2.0
"""`toehold doctor` in a shell with namespaces of its own.

Files of /proc and /sys that belong to the whole machine are replaced in the shell's mount namespace
alone. Limits and variables are the shell's, as a user's cures change them.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.lab import netns, paths, proc

CODES = {"warning": 9, "error": 1}


def inside(ns: netns.Namespace) -> list[object]:
    """A prefix of a command: it runs in this network namespace."""
    return ["ip", "netns", "exec", ns.name]


class Shell:
    """A shell in the mount namespace of this test; $T is a folder, $S the path of toed's socket."""

    def __init__(self, prefix: Sequence[object] = (), run: str = "."):
        self.folder = Path(tempfile.mkdtemp(prefix="toehold-"))
        self.folder.chmod(0o755)
        (self.folder / "run").mkdir()
        self.socket = self.folder / run / "toed.sock"
        self._count = 0
        env = {k: v for k, v in os.environ.items() if not k.startswith("TOEHOLD_")}
        self._p = subprocess.Popen(
            [*map(str, prefix), "unshare", "--mount", "/bin/sh"],
            env={**env, "T": str(self.folder), "S": str(self.socket)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def run(self, command: str, *, code: int | None = 0) -> str:
        """Runs a command in the shell itself. Returns what it prints on standard output."""
        # files of its own: a command that it leaves in the background keeps them open
        self._count += 1
        self._out = self.folder / f"out-{self._count}"
        self._err = self.folder / f"err-{self._count}"
        line = f"{{ {command}\n}} >{self._out} 2>{self._err} </dev/null; echo $?\n"
        self._p.stdin.write(line)
        self._p.stdin.flush()
        got = int(self._p.stdout.readline())
        if code is not None:
            assert got == code, (command, got, self._out.read_text(), self._err.read_text())
        self.code = got
        return self._out.read_text()

    def errors(self) -> str:
        return self._err.read_text()

    def read(self, name: str) -> str:
        """The text of a file in $T."""
        return (self.folder / name).read_text()

    def is_alive(self, name: str) -> bool:
        """Whether the process runs whose pid is in this file of $T."""
        self.run(f"kill -0 $(cat $T/{name})", code=None)
        return self.code == 0

    def doctor(self, words: str = "", prefix: str = "") -> list[dict]:
        """The findings of `toehold doctor` that are worse than a note."""
        program = shlex.quote(str(paths.built("toehold")))
        text = self.run(f"{prefix} {program} doctor --json --socket $S {words}", code=None)
        answer = json.loads(text)
        assert self.code == CODES.get(answer["worst"], 0), answer
        self.findings = [f for f in answer["findings"] if f["found"] not in ordinary()]
        return [f for f in self.findings if f["severity"] in CODES]

    def close(self) -> None:
        self._p.stdin.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._p.pid, 9)
        self._p.wait()
        self._p.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


@functools.cache
def ordinary() -> set[str]:
    """What is wrong with this machine before any test."""
    done = proc.run(
        [paths.built("toehold"), "doctor", "--json", "--socket", "/nowhere"], check=False
    )
    return {f["found"] for f in json.loads(done.stdout)["findings"] if f["severity"] in CODES}


class Case(NamedTuple):
    """A set-up: `given` makes it whole, `broken` breaks it; `found` is the finding's id."""

    found: str
    severity: str
    broken: str
    given: str = ":"
    says: str = ""
    words: str = ""  # more arguments of the doctor
    as_user: str = ""  # a prefix of the doctor
    prefix: Sequence[object] = ()  # of the shell
    run: str = "."  # the socket's folder, within $T


def check(shell: Shell, case: Case) -> str:
    """Breaks, examines, cures. Returns the cure."""
    shell.run(case.given)
    before = shell.doctor(case.words, case.as_user)
    assert case.found not in [f["id"] for f in before], before
    shell.run(case.broken)
    broken = shell.doctor(case.words, case.as_user)
    [finding] = [f for f in broken if f not in before]
    assert [f for f in broken if f in before] == before, "other findings have changed"
    assert (finding["id"], finding["severity"]) == (case.found, case.severity)
    assert case.says in finding["found"]
    shell.run(finding["cure"])
    return finding["cure"]


def is_cured(shell: Shell, case: Case) -> bool:
    return case.found not in [f["id"] for f in shell.doctor(case.words, case.as_user)]
