# SPDX-License-Identifier: Apache-2.0
"""The module as a process: a path of known delay, the register socket, real packets."""

import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest

from gateware.lib import live
from gateware.src.rtt.tb.bench import REGS
from tests.lab import proc

TICK = 4
TAG_LOOPED = 0x131  # CONTROL: enable, mode tag, looped
ICMP = 0x021


@pytest.fixture(scope="session")
def rtt_sim() -> Path:
    return live.build()


class Registers:
    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + proc.seconds(20)
        while True:
            try:
                self.socket.connect(str(path))
                break
            except OSError:
                assert time.monotonic() < deadline, "no simulation answers"
                time.sleep(0.05)

    def ask(self, op: int, address: int, value: int = 0) -> tuple[int, int]:
        self.socket.sendall(struct.pack("<4I", op, address, value, 0))
        got = self.socket.recv(16, socket.MSG_WAITALL)
        assert len(got) == 16, "the simulation has ended"
        assert struct.unpack("<2I", got[:8]) == (op, address)
        return struct.unpack("<2I", got[8:])

    def read(self, name: str) -> int:
        value, status = self.ask(1, REGS[name])
        assert status == 0
        return value

    def write(self, name: str, value: int) -> None:
        assert self.ask(2, REGS[name], value)[1] == 0

    def snapshot(self) -> None:
        self.write("COMMAND", 1)
        while self.read("STATUS") & 1:
            pass


@pytest.mark.parametrize(
    ("path", "gap"),
    [
        ("cable=3,mac=400", 200),
        ("cable=3,mac=400,jitter=uniform:20", 200),
        ("cable=100,mac=400,jitter=exp:2000", 60),  # many in flight, reordered
    ],
)
def test_every_sample_within_a_tick_of_truth(rtt_sim, tmp_path, path, gap):
    """Measures 10,000 UDP packets; the counter wraps in between."""
    truth, samples = tmp_path / "truth", tmp_path / "samples"
    subprocess.run(
        [rtt_sim, "--path", path, "--probes", "10000", "--gap", str(gap)]
        + ["--set", f"CONTROL={TAG_LOOPED}", "--start", str((1 << 32) - 100_000)]
        + ["--truth", truth, "--samples", samples],
        check=True,
        timeout=proc.seconds(300),
        stdout=subprocess.DEVNULL,
    )
    right = {}
    for line in truth.read_text().splitlines():
        number, left, arrived = line.split()
        right[int(number)] = (float(left), float(arrived))
    seen = set()
    for line in samples.read_text().splitlines():
        ticks, number, arrival = map(int, line.split())
        left, arrived = right[number]
        assert 0 <= ticks * TICK - (arrived - left) <= TICK * (1 if gap > 100 else 4)
        assert arrival * TICK == left + ticks * TICK
        seen.add(number)
    assert seen == set(range(10000))
    if "exp" not in path:
        assert max(right.values())[1] > TICK << 32  # it did wrap


def test_loss_and_duplicates_are_counted(rtt_sim, tmp_path):
    sock = tmp_path / "regs"
    with subprocess.Popen(
        [rtt_sim, "--path", "loss=0.1,dup=0.05,seed=3", "--probes", "2000", "--stay"]
        + ["--regs", sock, "--set", f"CONTROL={TAG_LOOPED}", "--set", "TIMEOUT=20000"]
        + ["--truth", tmp_path / "truth", "--pcap", tmp_path / "p.pcapng"],
        stdout=subprocess.DEVNULL,
    ) as process:
        regs = Registers(sock)
        got = {}
        names = ("PROBES", "COUNT", "LOST", "DUPLICATES", "UNMATCHED", "RX_PACKETS")
        deadline = time.monotonic() + proc.seconds(120)
        while got.get("COUNT", 0) + got.get("LOST", 0) < 2000:
            assert time.monotonic() < deadline
            regs.snapshot()
            for name in names:
                got[name] = got.get(name, 0) + regs.read(f"S_{name}")
        assert regs.ask(1, 0x4000)[1] == 3  # beyond the window
        assert regs.ask(1, 0xFC)[1] == 2  # an unmapped address
        assert regs.ask(7, 0)[1] == 256
        process.terminate()
        assert process.wait(20) == 0
    truth = [line.split() for line in (tmp_path / "truth").read_text().splitlines()]
    lost = sum(t[2].startswith("-") for t in truth)
    assert got["LOST"] == lost > 100
    assert got["COUNT"] == 2000 - lost
    assert got["DUPLICATES"] == got["RX_PACKETS"] - got["COUNT"] > 50
    assert got["UNMATCHED"] == 0
    recorded = (tmp_path / "p.pcapng").read_bytes()
    assert recorded.count(b"cycle ") == 2000 + got["RX_PACKETS"]


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("ip"), reason="needs root and iproute2")
def test_ping_through_the_module(rtt_sim, tmp_path):
    """Two kernels ping each other through the module, between TAP and AF_PACKET. The module
    measures the path behind it, so its times do not exceed ping's."""
    spaces = [f"gw-{side}-{os.getpid()}" for side in "ab"]
    sock = tmp_path / "regs"
    process = None
    try:
        for space in spaces:
            ip("netns", "add", space)
        a, b = spaces
        # b's interface is one end of a veth; the module uses the other through AF_PACKET
        ip("-n", a, "link", "add", "net0", "type", "veth", "peer", "name", "eth0", "netns", b)
        ip("-n", a, "link", "set", "net0", "up")
        ip("-n", b, "addr", "add", "10.9.0.2/24", "dev", "eth0")
        ip("-n", b, "link", "set", "eth0", "up")
        command = [rtt_sim, "--host", "tap:host0,host=10.9.0.1/24", "--net", "packet:net0"]
        command += ["--regs", sock, "--set", f"CONTROL={ICMP}"]
        process = subprocess.Popen(["ip", "netns", "exec", a, *map(str, command)])
        regs = Registers(sock)
        said = subprocess.run(
            ["ip", "netns", "exec", a, "ping", "-c", "10", "-i", "0.1", "-W", "5", "10.9.0.2"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        times = [float(t) * 1e6 for t in re.findall(r"time=([0-9.]+) ms", said)]
        regs.snapshot()
        assert regs.read("S_COUNT") == len(times) == 10
        assert regs.read("S_MIN") * TICK > 0
        assert regs.read("S_SUM_LO") * TICK < sum(times)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        if process and process.poll() is None:
            process.kill()
            process.wait()
        for space in spaces:
            subprocess.run(["ip", "netns", "del", space], check=False)


def test_refuses_what_it_cannot_do(rtt_sim, tmp_path):
    for options, why in [
        ([], "either --net or --path"),
        (["--path", "cable=x", "--probes", "1"], "cable=x"),
        (["--path", "", "--probes", "0"], "from 1 to"),
        (["--path", "", "--probes", "1", "--set", "NOSUCH=1"], "no such register"),
        (["--host", "tap:x", "--net", "packet:nosuch0"], "nosuch0"),
        (["--path", "", "--probes", "1", "--fst", "f"], "no traces"),
    ]:
        done = subprocess.run(
            [rtt_sim, *options], capture_output=True, text=True, timeout=proc.seconds(20)
        )
        assert done.returncode in (1, 2)
        assert why in done.stderr
