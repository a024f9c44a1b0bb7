# SPDX-License-Identifier: Apache-2.0
"""The hybrid TOE runs unmodified Linux programs through libtoe, all of TCP in firmware on its
RISC-V processor; the peer is Linux. Three configurations: software alone; the prototype, whose
units allocate slots, fetch payload and sum it; the complete one, whose header unit builds the
headers, too."""

import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateware.lib import live
from tests.lab import netns, proc

from . import raw_host as raw
from .raw_host import Host
from .toe_lab import PORT, PYTHON, TOEHOLD, Toe, write_pcap

PROGRAMS = {
    "software": "hyb_toe_sim",
    "prototype": "hyb_toe_sim_prototype",
    "complete": "hyb_toe_sim_complete",
}
ENGINES = {
    "software": "hybrid, simulated",
    "prototype": "hybrid prototype, simulated",
    "complete": "hybrid complete, simulated",
}
SLOTS = 16
BAD = "loss=5,reorder=5,duplicate=2,corrupt=1,seed=7"

REFUSED = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=30)
except OSError as e:
    print(type(e).__name__)
"""

# A web server of one file, in the kernel's TCP.
SERVE = """
import http.server, os, sys
os.chdir(sys.argv[1])
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass
s = http.server.ThreadingHTTPServer((sys.argv[2], 8000), Quiet)
print("listening", flush=True)
s.serve_forever()
"""


class Hybrid(Toe):
    def __init__(self, configuration: str, folder: Path, impair: str | None, *more: object) -> None:
        self.engine = ENGINES[configuration]
        super().__init__(folder, impair, *more, program=PROGRAMS[configuration])

    def env(self, slots: int = SLOTS) -> dict[str, str]:
        return super().env(slots)


@pytest.fixture(params=PROGRAMS)
def configuration(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def toe(configuration: str, tmp_path: Path) -> Iterator[Hybrid]:
    t = Hybrid(configuration, tmp_path, None)
    try:
        yield t
    finally:
        counts = t.close()
        assert counts["strayed"] == counts["unlawful"] == 0


def test_ping_and_a_port_that_is_closed(toe: Hybrid) -> None:
    toe.client.ping(toe.ip, "-s", 1000)
    said = toe.client.run([PYTHON, "-c", REFUSED, toe.ip, "9"]).stdout
    assert said.strip() == "ConnectionRefusedError"


def test_bytes_both_ways(toe: Hybrid) -> None:
    server = toe.echo()
    for n in (1, 1449, 20_000):
        toe.talk(n)
    assert toe.stats()["engine"] == toe.engine
    server.stop()


@pytest.mark.parametrize(
    "n", [60_000, pytest.param(2_000_000, marks=pytest.mark.long)], ids=["short", "long"]
)
def test_bytes_both_ways_over_a_bad_link(configuration: str, tmp_path: Path, n: int) -> None:
    toe = Hybrid(configuration, tmp_path, BAD)
    try:
        server = toe.echo()
        toe.talk(n, timeout=3000)
        server.stop()
    finally:
        counts = toe.close()
    assert counts["strayed"] == counts["unlawful"] == 0


def test_the_link_has_a_rate(configuration: str, tmp_path: Path) -> None:
    """64 frames at once find 16 buffers when each takes its time on the link. In virtual time, so
    the machine's load does not matter; the frames are of no protocol, which takes few cycles."""
    received = tmp_path / "received.pcap"
    frame = bytes(6 * [255]) + bytes.fromhex("02000000000288b5") + bytes(1486)
    write_pcap(received, [(0, frame)] * 64)
    argv = [live.build(PROGRAMS[configuration]), "--netif", f"pcap:in={received}", "--seed", 1]
    argv += ["--ip", "10.0.0.1/24", "--socket", tmp_path / "s", "--time", "virtual"]
    argv += ["--cycles", 350_000]
    done = subprocess.run([str(a) for a in argv], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^  packet_in 64$", done.stderr, re.M), done.stderr
    assert "no_buffer" not in done.stderr


# Reasons of device/commands.json.
NOENT, BADF, INVAL, NOSYS, MSGSIZE, NOPROTOOPT, NOTCONN = 2, 9, 22, 38, 90, 92, 107
OPTION, NO_OPTION = 7, 99


def test_wrong_commands_are_refused(toe: Hybrid) -> None:
    """By a host that speaks the contract by itself; its connection stays as it was. When the host
    ends, its peer gets a RST, and the queue pair is free for the next one."""

    def refused(reason: int, kind: int, **fields: int) -> None:
        host.do(kind, **fields)
        c = host.hear()
        assert (c.type, c.aux, c.arg0, c.arg1) == (raw.ERROR, reason, host.sw_head - 1, kind)

    with Host(toe.socket) as host:
        refused(NOSYS, raw.NO_SUCH)
        refused(BADF, raw.SEND, flow=1, arg0=1)
        refused(BADF, raw.SEND, flow=host.shape.slots, arg0=1)
        refused(NOENT, raw.UNLISTEN, flow=5)
        refused(INVAL, raw.LISTEN, aux=0, flow=5)
        refused(INVAL, raw.CONNECT, aux=0, flow=5)
        host.listen(PORT)
        peer = toe.client.socket()
        peer.settimeout(60)
        peer.connect((toe.ip, PORT))
        opened = host.hear()
        assert (opened.type, opened.arg1) == (raw.LISTEN_ESTABLISHED, 1)
        assert opened.aux == peer.getsockname()[1]
        flow = opened.flow
        refused(INVAL, raw.SEND, flow=flow, arg0=0)
        refused(MSGSIZE, raw.SEND, flow=flow, arg0=host.shape.tx + 1)
        refused(MSGSIZE, raw.RECV, flow=flow, arg0=1)
        refused(NOPROTOOPT, OPTION, flow=flow, aux=NO_OPTION, arg0=1)
        refused(NOTCONN, raw.RELEASE, flow=flow)
        peer.sendall(b"abc")
        data = host.hear()
        assert (data.type, data.flow, data.arg0) == (raw.DATA_RECEIVED, flow, 3)
        refused(MSGSIZE, raw.RECV, flow=flow, arg0=4)
        host.do(raw.RECV, flow=flow, arg0=3)
    with pytest.raises(ConnectionResetError):
        peer.recv(1)
    peer.close()
    proc.wait_until(
        lambda: not toe.stats()["engines"][0]["queue_pairs"], "a queue pair stays", timeout=30
    )
    with Host(toe.socket) as host:
        refused(NOSYS, raw.NO_SUCH)


def test_curl_by_toehold_run(configuration: str, tmp_path: Path) -> None:
    """The TOE is started for the command, connects to a Linux peer, and ends with the command."""
    live.build(PROGRAMS[configuration])
    data = random.Random(1).randbytes(30_000)
    (tmp_path / "data").write_bytes(data)
    pair = netns.Pair(kernel_ip=None, tap=True)
    try:
        server = pair.client.start([PYTHON, "-c", SERVE, tmp_path, pair.client_ip])
        proc.wait_until(lambda: "listening" in server.text(), "no web server", timeout=30)
        argv = [TOEHOLD, "run", "--require", "--engine", "hybrid", "--hybrid", configuration]
        argv += ["--netif", "tap:tap0", "--ip", f"{pair.server_ip}/24"]
        argv += ["--socket", tmp_path / "toe.sock", "--"]
        argv += ["curl", "--silent", "--show-error", "--output", tmp_path / "got"]
        pair.server.run([*argv, f"http://{pair.client_ip}:8000/data"], timeout=120)
        assert (tmp_path / "got").read_bytes() == data
        server.stop()
    finally:
        pair.delete()


@pytest.mark.parametrize(
    ("configuration", "other"),
    [
        ("software", "prototype"),
        ("prototype", "software"),
        ("prototype", "complete"),
        ("complete", "prototype"),
    ],
)
def test_another_configurations_image_ends(configuration: str, other: str, tmp_path: Path) -> None:
    """The firmware compares what it is built for with the registers of the design."""
    image = live.build(PROGRAMS[other]).with_name("toe.bin")
    argv = [live.build(PROGRAMS[configuration]), "--netif", "pcap:out=/dev/null"]
    argv += ["--ip", "192.0.2.1/24", "--socket", tmp_path / "toe.sock", "--firmware", image]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "failed: this image is the " in done.stderr
    assert f"{PROGRAMS[other]} " in done.stderr and "the firmware ended with 1" in done.stderr


def test_help_names_the_firmware() -> None:
    program = live.build(PROGRAMS["software"])
    said = subprocess.run([program, "--help"], capture_output=True, text=True).stdout
    assert re.search(r"hybrid TOE.*--firmware FILE", said, re.S)
