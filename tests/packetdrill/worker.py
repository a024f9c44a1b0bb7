# SPDX-License-Identifier: Apache-2.0
"""Runs scripts in a separate process, one after the other: a stack that crashes or hangs ends one
script, not the runner.

    with Worker("core") as worker:
        result = worker.run("x.pkt")
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path

from tests.packetdrill.api import Result, run_file
from tests.packetdrill.config import Config, apply

ROOT = Path(__file__).resolve().parents[2]
PYTHON = "/usr/bin/python3"


def serve(backend: str) -> None:
    """Reads a script with options per line of standard input, prints a result per line."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        config = Config()
        for name, value in request["options"]:
            config = apply(config, name, value)
        r = run_file(request["path"], backend, config)
        out.write(json.dumps({"kind": r.kind, "message": r.message, "log": r.log}) + "\n")
        out.flush()


class Worker:
    def __init__(self, backend: str = "core", limit: float = 60.0) -> None:
        self.backend, self.limit = backend, limit
        self.child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self.child:
            self.child.kill()
            self.child.wait()
        self.child = None

    def start(self) -> subprocess.Popen[bytes]:
        command = [PYTHON, "-B", "-c", "import sys; from tests.packetdrill.worker import serve; "
                   "serve(sys.argv[1])", self.backend]  # fmt: skip
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, cwd=ROOT
        )

    def run(self, path: str | Path, options: list[tuple[str, str]] | None = None) -> Result:
        if not self.child:
            self.child = self.start()
        child = self.child
        request = {"path": str(path), "options": options or []}
        try:
            child.stdin.write(json.dumps(request).encode() + b"\n")
            child.stdin.flush()
        except BrokenPipeError:
            pass
        ready, _, _ = select.select([child.stdout], [], [], self.limit)
        line = child.stdout.readline() if ready else b""
        if line:
            return Result(**json.loads(line))
        self.close()
        what = f"ended with {child.returncode}" if ready else f"did not end in {self.limit:.0f} s"
        return Result("failed", f"{path}: the process that ran it {what}")
