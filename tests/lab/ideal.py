# SPDX-License-Identifier: Apache-2.0
"""toe-ideal, the TOE without TCP (bench/ideal/), and a program attached to it."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.lab import paths, proc

IP = "192.0.2.1"  # the address of its hosts


class Ideal:
    """A running toe-ideal. It measures as soon as a program listens, prints JSON and ends."""

    def __init__(self, *args: object, prefix: Sequence[object] = ()):
        # Not in out/: the path of a Unix socket has at most 107 bytes.
        self._folder = Path(tempfile.mkdtemp(prefix="toehold-"))
        self._folder.chmod(0o755)
        self.socket = self._folder / "ideal.sock"
        argv = [*prefix, paths.built("toe-ideal"), "--socket", self.socket, *args]
        self.proc = proc.Proc(argv, name="toe-ideal")
        try:
            proc.wait_until(lambda: "ready" in self.proc.text(), "toe-ideal", proc=self.proc)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Ideal:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        self.proc.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def app(
        self,
        argv: Sequence[object],
        *,
        env: Mapping[str, str] | None = None,
        prefix: Sequence[object] = (),
        name: str | None = None,
    ) -> proc.Proc:
        """Starts a program over it."""
        wrapped = [paths.built("toehold"), "run", "--require", "--socket", self.socket, "--", *argv]
        name = name or Path(str(argv[0])).name
        return proc.Proc([*prefix, *wrapped], env=env, name=name)

    def result(self, timeout: float) -> tuple[int, dict]:
        """The exit code and the measurement; {} if there is none."""
        code = self.proc.wait(timeout)
        text = self.proc.text()
        at = text.find("\n{")
        return code, json.loads(text[at : text.index("\n}", at) + 2]) if at >= 0 else {}
