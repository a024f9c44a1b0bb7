# SPDX-License-Identifier: Apache-2.0
"""Data both ways over a connection of a robot while a test does something else (stream.py)."""

from __future__ import annotations

import socket
from pathlib import Path

from tests.lab import lab as labs
from tests.lab import proc
from tests.lab.robot import Robot
from tests.lab.stream import Stream

TESTS = str(Path(__file__).resolve().parent)


class Flow:
    """Bytes both ways over the robot's connection `s` and its peer's end, checked at the end."""

    def __init__(self, robot: Robot, peer: socket.socket, name: str = "s", mark: bytes = b""):
        self.robot, self.name = robot, f"stream_{name}"
        robot("import sys; sys.path.insert(0, tests); import stream", tests=TESTS)
        robot(f"{self.name} = stream.Stream({name}, seed, mark)", seed=labs.SEED + 1, mark=mark)
        self.mine = Stream(peer, labs.SEED, mark)

    def amounts(self) -> tuple[int, int]:
        """Bytes received here and at the robot."""
        return self.mine.got, self.robot(f"{self.name}.got")

    def goes_on(self, count: int = 300_000, timeout: float = 30) -> None:
        """Waits until both ends have received so many more bytes."""
        before = self.amounts()
        proc.wait_until(
            lambda: all(n >= b + count for n, b in zip(self.amounts(), before, strict=True)),
            f"{count} bytes each way",
            timeout=timeout,
        )

    def end(self) -> None:
        self.mine.finish()
        self.robot(f"{self.name}.finish()", timeout=70)
        theirs = self.robot(f"{self.name}.result()", timeout=70)
        mine = self.mine.result()
        assert mine["ended"], (mine, theirs)
        assert theirs["ended"], (mine, theirs)
        assert (mine["error"], theirs["error"]) == (None, None)
        assert tuple(theirs["got"]) == mine["sent"]
        assert tuple(theirs["sent"]) == mine["got"]
