# SPDX-License-Identifier: Apache-2.0
"""A program on a terminal: its screen as text, and keys to it.

The terminal is a pseudo terminal with few abilities (TERMINFO below), so that what a program writes
is easy to follow: clear, move the cursor, print.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Sequence
from pathlib import Path

from tests.lab import proc

TERMINFO = r"""lab|terminal of the tests,
        cr=^M, cud1=^J, ind=^J, clear=\E[H\E[J, cup=\E[%i%p1%d;%p2%dH,
        kcuu1=\E[A, kcud1=\E[B, kbs=^H,
"""
STEP = re.compile(r"\x1b\[(\d+);(\d+)H|\x1b\[H\x1b\[J|[\r\n]|[^\x00-\x1f\x7f]|.", re.DOTALL)

UP, DOWN, ENTER, ESCAPE = "\x1b[A", "\x1b[B", "\r", "\x1b"


class Screen:
    """argv, running on a terminal of so many rows and columns. A context manager."""

    def __init__(self, argv: Sequence[object], folder: Path, rows: int = 24, columns: int = 160):
        (folder / "lab.ti").write_text(TERMINFO)
        subprocess.run(["tic", "-o", folder, folder / "lab.ti"], check=True)
        self._pending = b""
        self.code: int | None = None
        self._blank(rows, columns)
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            try:
                _set_size(0, rows, columns)
                env = {**os.environ, "TERM": "lab", "TERMINFO": str(folder)}
                os.execve(str(argv[0]), [str(a) for a in argv], env)
            finally:
                os._exit(127)

    def _blank(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self._cells = [[" "] * columns for _ in range(rows)]
        self._y = self._x = 0

    def _show(self, text: str) -> None:
        for step in STEP.finditer(text):
            if step[1]:
                self._y, self._x = int(step[1]) - 1, int(step[2]) - 1
            elif step[0] == "\x1b[H\x1b[J":
                self._blank(self.rows, self.columns)
            elif step[0] == "\r":
                self._x = 0
            elif step[0] == "\n":
                self._y = min(self._y + 1, self.rows - 1)
            elif step[0] >= " " and self._y < self.rows and self._x < self.columns:
                self._cells[self._y][self._x] = step[0]
                self._x += 1

    def _read(self) -> None:
        """Reads what the program has written, and its exit code once it has ended."""
        while self.code is None and select.select([self._fd], [], [], 0)[0]:
            try:
                data = os.read(self._fd, 65536)
            except OSError:  # the program has closed the terminal
                data = b""
            if not data:
                self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
                return
            data = self._pending + data
            # A control sequence may arrive in two parts.
            cut = data.rfind(b"\x1b") if re.search(rb"\x1b(\[[\d;]*)?$", data) else len(data)
            if data.endswith(b"\x1b[H"):
                cut = len(data) - 3
            self._pending = data[cut:]
            self._show(data[:cut].decode(errors="replace"))

    def lines(self) -> list[str]:
        self._read()
        return ["".join(row).rstrip() for row in self._cells]

    def text(self) -> str:
        return "\n".join(self.lines())

    def wait_for(self, *words: str) -> str:
        """Waits until the screen shows all of these; returns its text."""
        try:
            proc.wait_until(lambda: all(word in self.text() for word in words), f"{words}")
        except proc.Failed as e:
            raise proc.Failed(f"{e}; the screen is:\n{self.text()}") from None
        return self.text()

    def wait_without(self, word: str) -> str:
        proc.wait_until(lambda: word not in self.text(), f"without {word}")
        return self.text()

    def keys(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def resize(self, rows: int, columns: int) -> None:
        self._read()
        self._blank(rows, columns)
        _set_size(self._fd, rows, columns)

    def wait(self) -> int:
        """The exit code."""

        def ended() -> bool:
            self._read()
            return self.code is not None

        proc.wait_until(ended, "the program has ended")
        return self.code

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *_exc: object) -> None:
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._fd)


def _set_size(fd: int, rows: int, columns: int) -> None:
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
