# SPDX-License-Identifier: Apache-2.0
"""A socket that sends and receives without a pause, and knows what of it should arrive.

For both ends of a connection: flow.py has one in the test, and one in the process under test.
"""

from __future__ import annotations

import hashlib
import random
import socket
import threading
import time

BLOCK = 1 << 16
PAUSE = 0.002  # after each block: who tests has two processors, not twenty


class Stream:
    """Sends bytes made of a seed until told to finish, and hashes those and what comes.

    mark    stands in what it sends at every 1,000 bytes.
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
        """Sends no more. result() is there when the other end has done the same."""
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
