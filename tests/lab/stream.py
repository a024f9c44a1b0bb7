# SPDX-License-Identifier: Apache-2.0
"""A thread that sends and receives on a socket without a pause, and hashes what it sends and gets.

flow.py runs one in the test and one in the process under test: one per end of a connection.
"""

from __future__ import annotations

import hashlib
import random
import socket
import threading
import time

BLOCK = 1 << 16
PAUSE = 0.002  # after each block, to leave processor time to the program under test


class Stream:
    """Sends bytes made from a seed until finish(); hashes them and what it receives.

    mark    is in the data at every 1,000 bytes.
    """

    def __init__(self, sock: socket.socket, seed: int, mark: bytes = b""):
        self.sock = sock
        self.sock.settimeout(None)
        self.sent, self.got = 0, 0
        self.error: str | None = None
        self._stop = threading.Event()
        data = bytearray(random.Random(seed).randbytes(BLOCK * 7))
        for at in range(0, len(data) if mark else 0, 1000):
            data[at : at + len(mark)] = mark
        self._data = bytes(data)
        self._said, self._heard = hashlib.sha256(), hashlib.sha256()
        self._threads = [threading.Thread(target=f, daemon=True) for f in (self._send, self._hear)]
        for t in self._threads:
            t.start()

    def _send(self) -> None:
        try:
            while not self._stop.is_set():
                at = self.sent % len(self._data)
                n = self.sock.send(self._data[at : at + BLOCK])
                self._said.update(self._data[at : at + n])
                self.sent += n
                time.sleep(PAUSE)
            self.sock.shutdown(socket.SHUT_WR)
        except OSError as e:
            self.error = self.error or f"sending: {e}"

    def _hear(self) -> None:
        try:
            while chunk := self.sock.recv(BLOCK):
                self._heard.update(chunk)
                self.got += len(chunk)
        except OSError as e:
            self.error = self.error or f"receiving: {e}"

    def finish(self, seconds: float = 60) -> None:
        """Stops sending. result() returns when the other end has stopped too."""
        self._stop.set()
        self._threads[0].join(seconds)

    def result(self, seconds: float = 60) -> dict:
        self._threads[1].join(seconds)
        ended = not any(t.is_alive() for t in self._threads)
        return {
            "ended": ended,
            "error": self.error,
            "sent": (self.sent, self._said.hexdigest()),
            "got": (self.got, self._heard.hexdigest()),
        }
