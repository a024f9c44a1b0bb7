# SPDX-License-Identifier: Apache-2.0
"""Servers of Debian on the hybrid TOE, unmodified; Linux clients. Amounts are small: a simulated
second takes minutes."""

import csv
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import nginx, proc

from .test_hybrid_toe import PROGRAMS, Hybrid

WAIT = 120  # seconds, of a machine that does other work
REDIS, IPERF = 6379, 5201


@pytest.fixture(params=PROGRAMS)
def toe(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Hybrid]:
    t = Hybrid(request.param, tmp_path, None)
    try:
        yield t
    finally:
        counts = t.close()
        assert counts["strayed"] == counts["unlawful"] == 0


def serve(toe: Hybrid, argv: list[object], says: str, times: int = 1) -> proc.Proc:
    """Starts a server on the TOE, and returns when it has printed `says` so often."""
    server = toe.server.start(argv, env=toe.env())
    proc.wait_until(
        lambda: server.text().count(says) >= times,
        f"{argv[0]} is not ready",
        proc=server,
        timeout=WAIT,
    )
    return server


def test_nginx_with_two_workers(toe: Hybrid, tmp_path: Path) -> None:
    argv = nginx.configuration(tmp_path, f"{toe.ip}:80", workers=2)
    data = random.Random(1).randbytes(20_000)
    (tmp_path / "files" / "data").write_bytes(data)
    server = serve(toe, argv, "start worker process ", times=2)
    curl = ["curl", "--silent", "--show-error", "--max-time", WAIT]
    for _ in range(4):
        assert toe.client.run([*curl, f"http://{toe.ip}/hello"], timeout=WAIT).stdout == "hello\n"
    got = tmp_path / "got"
    toe.client.run([*curl, "--output", got, f"http://{toe.ip}/data"], timeout=WAIT)
    assert got.read_bytes() == data
    server.stop()


def test_redis(toe: Hybrid) -> None:
    argv = ["redis-server", "--bind", toe.ip, "--port", REDIS, "--protected-mode", "no"]
    server = serve(toe, [*argv, "--save", "", "--appendonly", "no"], "Ready to accept connections")
    argv = ["redis-benchmark", "-h", toe.ip, "-p", REDIS, "-n", 40, "-c", 4, "-P", 4, "--csv"]
    done = toe.client.run([*argv, "-t", "set,get"], timeout=2 * WAIT)
    assert "rror" not in done.stdout + done.stderr
    assert [row["test"] for row in csv.DictReader(done.stdout.splitlines())] == ["SET", "GET"]
    server.stop()


@pytest.mark.parametrize("way", [[], ["-R"]], ids=["receive", "send"])
def test_iperf3(toe: Hybrid, way: list[str]) -> None:
    argv = ["iperf3", "-s", "-1", "-p", IPERF, "-B", toe.ip, "--forceflush"]
    server = serve(toe, argv, "listening")
    # The client ends when it has written all; what is in buffers then is not counted. Both buffers
    # together hold 80 KB.
    argv = ["iperf3", "-c", toe.ip, "-p", IPERF, "-n", "160K", "-l", "4K", "-w", "8K", "-J", *way]
    end = json.loads(toe.client.run(argv, timeout=2 * WAIT).stdout)["end"]
    assert 0 < end["sum_received"]["bytes"] <= end["sum_sent"]["bytes"]
    server.stop()
