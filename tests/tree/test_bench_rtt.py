# SPDX-License-Identifier: Apache-2.0
"""make bench NAME=rtt: its parser of captures, its table, and a small run."""

import json
import socket
import struct
import subprocess
import sys

import pytest

from bench import rtt
from tests.lab import paths, proc

pytestmark = pytest.mark.toehold_only


def frame(number: int, leaves: bool) -> bytes:
    ends = [socket.inet_aton(rtt.NEAR), socket.inet_aton(rtt.FAR)]
    ip = bytes(12) + b"".join(ends if leaves else ends[::-1])
    return bytes(12) + b"\x08\x00" + ip + bytes(8) + struct.pack("!4sIQ", rtt.MAGIC, 1, number)


def capture(path, magic: int, packets: list[tuple[int, bytes]]):
    unit = 1 if magic == 0xA1B23C4D else 1000
    out = struct.pack("<IHHiIII", magic, 2, 4, 0, 0, 65535, 1)
    for stamp, data in packets:
        out += struct.pack("<4I", stamp // 10**9, stamp % 10**9 // unit, len(data), len(data) + 9)
        out += data
    path.write_bytes(out)
    return path


@pytest.mark.parametrize("magic", [0xA1B23C4D, 0xA1B2C3D4])
def test_times_of_a_capture(tmp_path, magic):
    packets = [
        (1_000_000_000, frame(0, True)),
        (1_000_005_000, frame(1, True)),
        (1_000_009_000, frame(0, False)),
        (2_000_000_000, frame(1, False)),
        (2_000_001_000, frame(1, False)),  # a duplicate
        (2_000_002_000, frame(2, True)),  # lost
        (2_000_003_000, b"something else that is longer than a header of any kind"),
    ]
    file = capture(tmp_path / "a.pcap", magic, packets)
    assert rtt.from_capture(file, looped=False) == [9_000, 999_995_000]


def test_times_of_what_comes_back_itself(tmp_path):
    packets = [(10**9 + at, frame(n, True)) for at, n in ((0, 0), (500, 1), (700, 0), (900, 1))]
    assert rtt.from_capture(capture(tmp_path / "a.pcap", 0xA1B23C4D, packets), looped=True) == [
        700,
        400,
    ]


def test_the_table_stands_beside_the_papers():
    found = {"cable": {"module": rtt.figures([400, 404, 420]), "tcpdump": rtt.figures([90_000])}}
    text = rtt.table(found)
    assert "408" in text and "393" not in text and "392.56" in text and "161,000" in text
    goals = {
        g.name: g for g in rtt.goals({"cable": {**found["cable"], "tshark": rtt.figures([300])}}, 3)
    }
    assert goals["cable: mean of the module against tcpdump's"].met
    assert not goals["cable: mean of the module against tshark's"].met
    assert goals["cable: spread of the module"].met
    assert goals["cable: packets not timed"].value == 0


def test_a_small_run_has_every_packet_by_each(tmp_path, monkeypatch):
    out = tmp_path / "rtt.json"
    argv = [sys.executable, "-m", "bench.rtt", "--packets", "50", "--no-plots", "--out", str(out)]
    done = subprocess.run(
        argv, cwd=paths.ROOT, capture_output=True, text=True, timeout=proc.seconds(120)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    body = json.loads(out.read_text())
    own = "module" if rtt.SIM.exists() else "software"
    cases = ["cable", "direct", "bridge"] if rtt.SIM.exists() else ["direct", "bridge"]
    assert list(body["medians"]) == cases
    for case in cases:
        rows = body["medians"][case]
        assert set(rows) == {own, "tcpdump", "tshark"}
        # a simulation on a busy machine may be late with some; through the cable nothing is lost
        least = 50 if case == "cable" or own == "software" else 40
        assert all(least <= row["count"] <= 50 for row in rows.values()), rows
    assert ("not available: the module" in done.stdout) == (own == "software")
