# SPDX-License-Identifier: Apache-2.0
"""memcached (libevent, four threads) under the TOE with Linux clients."""

from __future__ import annotations

import random

import pytest

from tests.lab import lab as labs

PORT = 11211


class Client(labs.Talk):
    """The text protocol of memcached over a socket."""

    def line(self, command: bytes) -> bytes:
        self.sock.sendall(command + b"\r\n")
        return self.file.readline().rstrip()

    def set(self, key: bytes, value: bytes) -> None:
        assert self.line(b"set %s 0 0 %d\r\n%s" % (key, len(value), value)) == b"STORED"

    def get(self, key: bytes) -> bytes | None:
        head = self.line(b"get " + key)
        if head == b"END":
            return None
        value = self.file.read(int(head.split()[3]) + 2)[:-2]
        assert self.file.readline() == b"END\r\n"
        return value

    def stats(self) -> dict[bytes, bytes]:
        self.sock.sendall(b"stats\r\n")
        lines = iter(self.file.readline, b"END\r\n")
        return {line.split()[1]: line.split()[2] for line in lines}


@pytest.fixture
def memcached(lab):
    argv = ["memcached", "-u", "root", "-l", lab.ip, "-p", PORT, "-U", 0, "-t", 4, "-I", "4m"]
    with lab.app([*argv, "-m", 256], port=PORT):
        yield lab


@pytest.mark.sanitize
def test_values_come_back(memcached):
    rng = random.Random(labs.SEED)
    with Client(memcached.connect(PORT)) as c:
        for n, size in enumerate((0, 1, 100, 1448, 65536, 1_000_000, 3_000_000)):
            value = rng.randbytes(size)
            c.set(b"key%d" % n, value)
            assert c.get(b"key%d" % n) == value
        assert c.get(b"absent") is None


@pytest.mark.sanitize
def test_many_connections_over_all_threads(memcached):
    """Connections are assigned to the threads round-robin; every thread answers."""
    clients = [Client(memcached.connect(PORT)) for _ in range(200)]
    for turn in range(10):
        for n, c in enumerate(clients):
            c.set(b"k%d" % n, b"%d %d" % (n, turn))
        for n, c in enumerate(clients):
            assert c.get(b"k%d" % ((n + 1) % 200)) == b"%d %d" % ((n + 1) % 200, turn)
    stats = clients[0].stats()
    assert int(stats[b"curr_connections"]) >= 200
    assert stats[b"threads"] == b"4"
    for c in clients:
        c.__exit__()


def test_pipelined_requests(memcached):
    with Client(memcached.connect(PORT, timeout=60)) as c:
        c.set(b"key", b"v" * 1000)
        c.sock.sendall(b"get key\r\n" * 5000)
        one = b"VALUE key 0 1000\r\n" + b"v" * 1000 + b"\r\nEND\r\n"
        for _ in range(5000):
            assert c.file.read(len(one)) == one


def test_connections_come_and_go(memcached):
    for n in range(500):
        with Client(memcached.connect(PORT)) as c:
            c.set(b"last", b"%d" % n)
    with Client(memcached.connect(PORT)) as c:
        assert c.get(b"last") == b"499"
        labs.proc.wait_until(
            lambda: int(c.stats()[b"curr_connections"]) <= 3, "closed connections are noticed"
        )
