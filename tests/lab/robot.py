# SPDX-License-Identifier: Apache-2.0
"""A process under test that makes the system calls that a test sends it, one at a time.

    robot("s = socket.create_connection((peer, 80)); s.recv(10)", peer=lab.peer_ip)

runs the statements there and returns the value of the last one; an OSError there is raised here.
`tell()` does not wait for the end of a call that blocks; `result()` does.
"""

from __future__ import annotations

import builtins
import contextlib
import pickle
import select
import shutil
import socket
import struct
import tempfile
import time
from pathlib import Path

from tests.lab import lab as labs
from tests.lab import patience, proc

# The system call in which a robot waits for statements (x86-64), on its control socket.
RECVFROM = 45
FUTEX = "202"

PORT = 7000  # robots listen here, and peers


class Robot:
    def __init__(self, lab: labs.Lab, *, env: dict | None = None, on_peer: bool = False):
        folder = Path(tempfile.mkdtemp(prefix="toehold-"))
        try:
            with socket.socket(socket.AF_UNIX) as listener:
                path = folder / "robot"
                listener.bind(str(path))
                listener.listen()
                listener.settimeout(patience.seconds(20))
                if on_peer:
                    self.proc = lab.peer_script("robot.py", path)
                else:
                    # The control socket is the kernel's, not the TOE's.
                    self.proc = lab.script("robot.py", path, require=False, env=env)
                try:
                    self._control, _ = listener.accept()
                except BaseException:
                    self.proc.kill()
                    raise
        finally:
            shutil.rmtree(folder)
        self._stream = self._control.makefile("rwb")
        self._waiting = 0
        self.pid = self.proc.pid
        self._idle = [str(RECVFROM), hex(self("control_number"))]

    def __enter__(self) -> Robot:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        self._control.shutdown(socket.SHUT_RDWR)
        self._stream.close()
        self._control.close()
        self.proc.stop()

    def tell(self, code: str, **given: object) -> None:
        """Starts the statements without waiting for their end."""
        data = pickle.dumps((code, given))
        self._stream.write(struct.pack("<I", len(data)) + data)
        self._stream.flush()
        self._waiting += 1

    def result(self, timeout: float = 30) -> object:
        """Returns the value of the statements that `tell()` started."""
        self._control.settimeout(patience.seconds(timeout))
        head = self._stream.read(4)
        if not head:
            raise RuntimeError(f"the robot has ended: {self.proc.wait(10)}{self.proc.tail()}")
        kind, *rest = pickle.loads(self._stream.read(struct.unpack("<I", head)[0]))
        self._waiting -= 1
        if kind == "value":
            return rest[0]
        if kind == "error":
            name, errno, text = rest
            raise OSError(errno, text) if errno else getattr(builtins, name)(text)
        raise RuntimeError(f"in the robot: {rest[0]}")

    def sleeps(self) -> None:
        """Waits until the statements sleep in a system call, so that what the test does next meets
        them there. Only the robot's main thread counts."""

        def call() -> str:
            text = Path(f"/proc/{self.pid}/syscall").read_text()
            return "" if text == "running\n" or text.split()[:2] == self._idle else text

        def asleep() -> bool:
            before = call()
            time.sleep(0.02)
            return before != "" and before == call()

        proc.wait_until(asleep, "the robot sleeps in a call", proc=self.proc)

    def threads_sleep(self, count: int) -> None:
        """Waits until `count` threads that the statements started sleep in a system call. A thread
        that waits for Python's lock does not count."""

        def calls() -> dict[str, str]:
            found = {}
            for task in Path(f"/proc/{self.pid}/task").iterdir():
                with contextlib.suppress(OSError):  # the thread has ended
                    found[task.name] = (task / "syscall").read_text()
            del found[str(self.pid)]
            return {t: c for t, c in found.items() if c.split()[0] not in ("running", FUTEX)}

        def asleep() -> bool:
            before = calls()
            time.sleep(0.02)
            after = calls()
            return sum(after.get(t) == c for t, c in before.items()) >= count

        proc.wait_until(asleep, f"{count} threads sleep in calls", proc=self.proc)

    def waits(self, seconds: float = 0.3) -> bool:
        """Whether the statements have not ended after so many seconds."""
        return not select.select([self._control], [], [], seconds)[0]

    def __call__(self, code: str, timeout: float = 30, **given: object) -> object:
        self.tell(code, **given)
        return self.result(timeout)

    # The robot keeps its end of a connection in a variable, by default "s".

    def listen(self, ip: str, port: int, name: str = "listener", backlog: int = 128) -> int:
        """Makes the robot listen. Returns the port."""
        return self(
            f"{name} = socket.create_server((ip, port), backlog=backlog)\n{name}.getsockname()[1]",
            ip=ip,
            port=port,
            backlog=backlog,
        )

    def accept(self, name: str = "s", listener: str = "listener") -> tuple:
        """Makes the robot accept a connection. Returns the peer's address."""
        return self(f"{name}, _ = {listener}.accept(); _")


def take(s: socket.socket, count: int) -> bytes:
    """The next `count` bytes; fewer only at the end of the stream."""
    got = bytearray()
    while len(got) < count and (chunk := s.recv(count - len(got))):
        got += chunk
    return bytes(got)
