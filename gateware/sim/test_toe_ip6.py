# SPDX-License-Identifier: Apache-2.0
"""The gateware over IPv6 against Linux: neighbours, echo, active and passive open, bytes over a bad
link, a router, the output of tools."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import proc

from .test_toe_sim import CONNECT
from .toe_lab import ECHO, PORT, PYTHON, TALK, Toe

OWN, PEER, FAR = "fd77::1", "fd77::2", "fd99::9"
ECHO6 = ECHO.replace("socket.socket()", "socket.socket(socket.AF_INET6)").replace("0.0.0.0", "::")

# Prints both addresses, and the MSS from the flow record (TCP_INFO).
NAMES = """
import socket, struct, sys
s = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=300)
mss = struct.unpack_from("=I", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 16)[0]
print(s.getsockname()[0], *s.getpeername()[:2], mss)
"""


def with_ip6(tmp_path: Path, impair: str | None = None, *more: object) -> Toe:
    toe = Toe(tmp_path, impair, "--ip6", f"{OWN}/64", *more)
    ip = ["ip", "-6", "address", "add"]
    for address in (f"{PEER}/64", "fe80::2/64"):
        toe.client.run([*ip, address, "dev", toe.pair.client_if, "nodad"])
    return toe


@pytest.fixture
def toe(tmp_path: Path) -> Iterator[Toe]:
    it = with_ip6(tmp_path)
    try:
        yield it
        counts = it.close()
        assert counts["strayed"] == counts["unlawful"] == 0
    finally:
        it.sim.stop()
        it.pair.delete()


def serve(toe: Toe, where: str = "server") -> proc.Proc:
    on_toe = where == "server"
    ns = toe.server if on_toe else toe.client
    p = ns.start([PYTHON, "-c", ECHO6, PORT], env=toe.env() if on_toe else {})
    proc.wait_until(lambda: "listening" in p.text(), "it does not listen", timeout=30)
    return p


def test_ping_and_a_port_that_is_closed(toe: Toe) -> None:
    for size in (0, 1, 1000):
        toe.client.run(["ping", "-6", "-c", "2", "-i", "0.1", "-s", size, "-W", "5", OWN])
    said = toe.client.run([PYTHON, "-c", CONNECT, OWN, "9"]).stdout
    assert said.strip() == "ConnectionRefusedError"


def test_bytes_both_ways(toe: Toe) -> None:
    server = serve(toe)
    for n in (1, 1427, 1428, 1429, 400000):  # 1428: an MSS of 1440, less the timestamps
        toe.client.run([PYTHON, "-c", TALK, OWN, PORT, n], timeout=300)
    toe.client.run([PYTHON, "-c", TALK, toe.ip, PORT, 5000])  # IPv4 through the same listener
    server.stop()


def test_a_bad_link(tmp_path: Path) -> None:
    toe = with_ip6(tmp_path, "loss=5,reorder=5,duplicate=2,corrupt=1,seed=7")
    try:
        server = serve(toe)
        toe.client.run([PYTHON, "-c", TALK, OWN, PORT, 300000], timeout=300)
        server.stop()
    finally:
        counts = toe.close()
    assert counts["resent"] > 0
    assert counts["strayed"] == counts["unlawful"] == 0


def test_connects_to_a_neighbour_that_it_must_ask_for(toe: Toe) -> None:
    peer = serve(toe, "client")
    toe.server.run([PYTHON, "-c", TALK, PEER, PORT, 100000], env=toe.env(), timeout=300)
    peer.stop()
    said = toe.server.run([PYTHON, "-c", CONNECT, "fd77::77", "9"], env=toe.env()).stdout
    assert said.strip() == "OSError"  # no such neighbour


def test_by_its_router(tmp_path: Path) -> None:
    toe = with_ip6(tmp_path, None, "--gateway6", PEER)
    try:
        toe.client.run(["ip", "-6", "address", "add", f"{FAR}/128", "dev", "lo", "nodad"])
        toe.client.run(["ip", "link", "set", "lo", "up"])
        peer = serve(toe, "client")
        toe.server.run([PYTHON, "-c", TALK, FAR, PORT, 50000], env=toe.env(), timeout=300)
        peer.stop()
    finally:
        counts = toe.close()
    assert counts["strayed"] == counts["unlawful"] == 0


def test_names_of_its_connections(toe: Toe) -> None:
    peer = serve(toe, "client")
    said = toe.server.run([PYTHON, "-c", NAMES, PEER, PORT], env=toe.env()).stdout.split()
    assert said == [OWN, PEER, str(PORT), "1428"]
    peer.stop()
