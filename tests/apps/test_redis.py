# SPDX-License-Identifier: Apache-2.0
"""redis-server under the TOE with Linux clients, and redis-cli as the client."""

from __future__ import annotations

import csv
import random

import pytest

from tests.lab import lab as labs

PORT = 6379


def command(address: str) -> list[str]:
    return ["redis-server", "--bind", address, "--port", str(PORT), "--protected-mode", "no"] + [
        *("--save", "", "--appendonly", "no", "--daemonize", "no"),
        *("--client-output-buffer-limit", "normal 0 0 0"),
    ]


@pytest.fixture
def redis(lab):
    with lab.app(command(lab.ip), port=PORT):
        yield lab


def benchmark(lab: labs.Lab, *args: object) -> dict[str, float]:
    """Requests a second of each test that redis-benchmark ran."""
    argv = ["redis-benchmark", "-h", lab.ip, "-p", PORT, "--csv", *args]
    done = lab.client.run(argv, timeout=120)
    assert "rror" not in done.stdout + done.stderr, done.stdout + done.stderr
    return {row["test"]: float(row["rps"]) for row in csv.DictReader(done.stdout.splitlines())}


class Resp(labs.Talk):
    """The Redis protocol over a socket."""

    def send(self, *words: bytes) -> None:
        head = b"*%d\r\n" % len(words)
        self.sock.sendall(head + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))

    def answer(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"$":
            return self.file.read(int(rest) + 2)[:-2] if rest != b"-1" else None
        if kind == b"*":
            return [self.answer() for _ in range(int(rest))]
        assert kind in b"+:" and line.endswith(b"\r\n"), line
        return rest

    def call(self, *words: bytes):
        self.send(*words)
        return self.answer()


@pytest.mark.sanitize
def test_benchmark(redis):
    rates = benchmark(redis, "-t", "ping,set,get,lpush,lrange_100", "-n", 10000, "-c", 50)
    assert len(rates) >= 5 and min(rates.values()) > 0


@pytest.mark.sanitize
def test_benchmark_pipelined(redis):
    rates = benchmark(redis, "-t", "ping,set,get", "-n", 50000, "-c", 50, "-P", 16)
    assert len(rates) >= 3 and min(rates.values()) > 0


def test_benchmark_connection_per_request(redis):
    rates = benchmark(redis, "-t", "ping,set,get", "-n", 3000, "-c", 20, "-k", 0)
    assert len(rates) >= 3 and min(rates.values()) > 0


def test_benchmark_large_values(redis):
    rates = benchmark(redis, "-t", "set,get", "-n", 2000, "-c", 10, "-d", 100_000)
    assert len(rates) == 2 and min(rates.values()) > 0


def test_values_up_to_20_mb_come_back(redis):
    with Resp(redis.connect(PORT, timeout=60)) as r:
        rng = random.Random(labs.SEED)
        for size in (0, 1, 1447, 65535, 65537, 1_000_000, 20_000_000):
            value = rng.randbytes(size)
            assert r.call(b"SET", b"key", value) == b"OK"
            assert r.call(b"GET", b"key") == value


def test_pipeline_deeper_than_the_buffers(redis):
    """Requests and responses that together exceed every buffer do not deadlock."""
    count = 20_000
    value = bytes(1000)
    with Resp(redis.connect(PORT, timeout=60)) as r:
        assert r.call(b"SET", b"key", value) == b"OK"
        one = b"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n"
        r.sock.sendall(one * count)
        for _ in range(count):
            assert r.answer() == value


def test_publish_reaches_subscribers(redis):
    subscribers = [Resp(redis.connect(PORT)) for _ in range(50)]
    for r in subscribers:
        assert r.call(b"SUBSCRIBE", b"news") == [b"subscribe", b"news", b"1"]
    with Resp(redis.connect(PORT)) as publisher:
        for n in range(20):
            assert publisher.call(b"PUBLISH", b"news", b"%d" % n) == b"50"
    for r in subscribers:
        for n in range(20):
            assert r.answer() == [b"message", b"news", b"%d" % n]
        r.__exit__()


def test_redis_cli_as_client(lab):
    with lab.client.start(command(lab.peer_ip), name="peer-redis") as server:
        labs.proc.wait_port(lab.client, lab.peer_ip, PORT, proc=server)
        cli = ["redis-cli", "-h", lab.peer_ip, "-p", PORT]
        assert lab.run([*cli, "SET", "k", "v"]).stdout.strip() == "OK"
        assert lab.run([*cli, "GET", "k"]).stdout.strip() == "v"
        commands = "".join(f"SET key{n} {n}\n" for n in range(2000))
        assert lab.run(cli, input=commands).stdout.count("OK") == 2000


def test_benchmark_as_client(lab):
    """redis-benchmark, 50 connections in one epoll, under the TOE."""
    with lab.client.start(command(lab.peer_ip), name="peer-redis") as server:
        labs.proc.wait_port(lab.client, lab.peer_ip, PORT, proc=server)
        argv = ["redis-benchmark", "-h", lab.peer_ip, "-p", PORT, "--csv"]
        out = lab.run([*argv, "-t", "set,get", "-n", 10000, "-c", 50, "-P", 4]).stdout
        assert len(out.splitlines()) == 3, out
