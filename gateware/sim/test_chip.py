# SPDX-License-Identifier: Apache-2.0
"""The chip of gateware/src/chip: its host's program, examples/bare_http, serves Linux clients
through the hybrid TOE beside it, over a GMII."""

import contextlib
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gateware.lib import live
from tests.lab import netns, proc

from .toe_lab import PYTHON

ADDRESS = "192.0.2.10"  # of examples/bare_http/main.c
SLOTS = 16
# Writes what a server answers to bytes that no client would send, until it closes. It resets when
# it has not read all of them.
RAW = """
import socket, sys
s = socket.create_connection((sys.argv[1], 80), timeout=120)
try:
    s.sendall(bytes.fromhex(sys.argv[2]))
    while data := s.recv(4096):
        sys.stdout.buffer.write(data)
except ConnectionResetError:
    pass
"""


class Chip:
    def __init__(self) -> None:
        program = live.build("chip_sim")
        self.pair = netns.Pair(subnet="192.0.2", kernel_ip=None, tap=True)
        self.process = self.pair.server.start([program, "--netif", "tap:tap0"])
        listens = lambda: "host: listening" in self.process.text()  # noqa: E731
        proc.wait_until(listens, "the chip's host does not listen", timeout=120)

    def close(self) -> dict[str, int]:
        """Returns what the simulation counted."""
        try:
            self.process.stop()
            text = self.process.text()
        finally:
            self.pair.delete()
        assert "ended with" not in text, text
        return {name: int(n) for name, n in re.findall(r"^([a-z ]+) (\d+)$", text, re.M)}

    def curl(self, path: str, *more: str) -> str:
        argv = ["curl", "--silent", "--show-error", "--max-time", "240", *more]
        return self.pair.client.run([*argv, f"http://{ADDRESS}{path}"], timeout=300).stdout

    def raw(self, data: bytes) -> str:
        return self.pair.client.run([PYTHON, "-c", RAW, ADDRESS, data.hex()], timeout=300).stdout


@contextlib.contextmanager
def running() -> Iterator[Chip]:
    chip = Chip()
    counts: dict[str, int] = {}
    try:
        yield chip
    finally:
        counts = chip.close()
    assert counts["frames from the chip"] > 0
    assert counts["wrong frames from the chip"] == 0


@pytest.fixture(scope="module")
def chip() -> Iterator[Chip]:
    with running() as c:
        yield c


def pattern(n: int) -> bytes:
    return bytes(i % 251 for i in range(n))


def test_curl_gets_a_page(chip: Chip) -> None:
    said = chip.curl("/", "--include")
    assert re.fullmatch(
        r"HTTP/1\.1 200 OK\nContent-Type: text/plain\nContent-Length: \d+\n\n"
        r"requests \d+\nmilliseconds \d+\n",
        said,
    ), said


def test_bytes_beyond_the_send_buffer(chip: Chip, tmp_path: Path) -> None:
    """9000 bytes wrap around a send buffer of 2048 several times, and end within it."""
    chip.curl("/bytes/9000", "--output", str(tmp_path / "got"))
    assert (tmp_path / "got").read_bytes() == pattern(9000)


def test_requests_of_one_connection(chip: Chip) -> None:
    """A second request that came with the first one is answered behind it."""
    get = b"GET /bytes/10 HTTP/1.1\r\n\r\n"
    said = chip.raw(get + b"HEAD / HTTP/1.1\r\n\r\n" + get + b"GET / HTTP/1.0\r\n\r\n")
    assert said.count("HTTP/1.1 200 OK") == 4
    assert said.count(pattern(10).decode()) == 2
    assert said.count("requests ") == 1, "HEAD has no body"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET /none HTTP/1.0\r\n\r\n", "404"),
        (b"PUT / HTTP/1.1\r\n\r\n", "501"),
        (b"GET /\r\n\r\n", "400"),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 690, "431"),
    ],
    ids=["missing", "method", "version", "endless"],
)
def test_wrong_requests_are_answered(chip: Chip, data: bytes, status: str) -> None:
    assert chip.raw(data).startswith(f"HTTP/1.1 {status} ")


def test_slots_are_used_again(chip: Chip) -> None:
    """More connections than slots, four at a time: each is answered."""
    with ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda _: chip.curl("/bytes/10"), range(SLOTS + 4)))
    assert got == [pattern(10).decode()] * (SLOTS + 4)


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        ([], "--netif is missing"),
        (["--netif"], "--netif needs a value"),
        (["--net", "tap:x"], "write --netif in full"),
        (["--netif", "pcap:out=/dev/null", "--cycles", "0"], "--cycles 0 is not"),
        (["--netif", "pcap:out=/dev/null", "more"], "more: no such argument"),
        (["--wrong"], "--wrong: no such option"),
    ],
)
def test_options(argv: list[str], why: str) -> None:
    done = subprocess.run(
        [live.build("chip_sim"), *argv], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert why in done.stderr
