# SPDX-License-Identifier: Apache-2.0
"""Ports, waveforms and recordings of a live simulation. test_rtt_sim.py tests the measurement
itself, TAP and AF_PACKET."""

import contextlib
import itertools
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest

from gateware.lib import live
from tests.lab import proc

TAG_LOOPED = 0x131  # CONTROL: enable, mode tag, looped


@pytest.fixture(scope="session")
def rtt_sim() -> Path:
    return live.build()


def frames(count: int, seed: int) -> list[bytes]:
    """Returns frames of random lengths to unused addresses."""
    rng = random.Random(seed)
    head = bytes.fromhex("020000000001020000000002") + b"\x88\xb5"
    return [head + rng.randbytes(rng.randint(60, 1514) - len(head)) for _ in range(count)]


def write_pcap(path: Path, packets: list[bytes]) -> None:
    out = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)]
    out += [struct.pack("<4I", i, 0, len(p), len(p)) + p for i, p in enumerate(packets)]
    path.write_bytes(b"".join(out))


def read_pcap(path: Path) -> list[bytes]:
    data, at, packets = path.read_bytes() if path.exists() else b"", 24, []
    while at + 16 <= len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        if at + 16 + size > len(data):
            break
        packets.append(data[at + 16 : at + 16 + size])
        at += 16 + size
    return packets


def read_pcapng(path: Path) -> list[tuple[int, int, int, bytes]]:
    """Returns for each packet: interface, nanoseconds, the cycle in its comment, bytes."""
    data, at, packets = path.read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<2I", data, at)
        if kind == 6:
            interface, high, low, size = struct.unpack_from("<4I", data, at + 8)
            frame = data[at + 28 : at + 28 + size]
            options = data[at + 28 + (size + 3) // 4 * 4 : at + length]
            cycle = int(re.search(rb"cycle (\d+)", options)[1])
            packets.append((interface, high << 32 | low, cycle, frame))
        at += length
    return packets


@contextlib.contextmanager
def running(*command: object):
    with subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True) as p:
        try:
            yield p
        finally:
            if p.poll() is None:
                p.kill()


def stopped(process: subprocess.Popen) -> str:
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=proc.seconds(30))[0]
    assert process.returncode == 0
    return said


@pytest.mark.parametrize("pace", ["wall", "virtual"])
def test_frames_pass_two_modules_and_a_wire_unchanged(rtt_sim, tmp_path, pace):
    """pcap - module - wire - module - pcap, with ready withheld at random: each frame arrives once,
    in order, unchanged, and is recorded with its cycle."""
    sent = frames(200, 5)
    wire, out, recorded = tmp_path / "wire", tmp_path / "out", tmp_path / "r.pcapng"
    write_pcap(tmp_path / "in", sent)
    common = ["--time", pace, "--stall", 30]
    far = [rtt_sim, "--host", f"wire:{wire}", "--net", f"pcap:out={out}", *common]
    near = [rtt_sim, "--host", f"pcap:in={tmp_path}/in", "--net", f"wire:{wire}", *common]
    with running(*far, "--pcap", recorded) as b:
        deadline = time.monotonic() + proc.seconds(60)
        while not wire.exists():
            assert time.monotonic() < deadline and b.poll() is None
            time.sleep(0.02)
        with running(*near) as a:
            while len(read_pcap(out)) < len(sent):
                assert time.monotonic() < deadline and a.poll() is None and b.poll() is None
                time.sleep(0.05)
            assert "lost" not in stopped(a)
        assert "lost" not in stopped(b)
    assert read_pcap(out) == sent
    packets = read_pcapng(recorded)
    assert [p[3] for p in packets] == sent
    assert {p[0] for p in packets} == {0}  # all sent, none received
    cycles = [p[2] for p in packets]
    assert all(ns == 4 * cycle for _, ns, cycle, _ in packets)
    # in sequence: a frame takes at least one cycle for each 64 bytes
    for (_, _, first, frame), (_, _, second, _) in itertools.pairwise(packets):
        assert second - first >= (len(frame) + 63) // 64
    assert cycles == sorted(cycles)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("ip"), reason="needs root and iproute2")
def test_what_a_port_does_not_take_is_said(rtt_sim, tmp_path):
    """Frames that exceed the interface's MTU are dropped there, and counted."""
    sent, space = [*frames(300, 6), bytes(60)], f"gw-live-{os.getpid()}"
    kept = [f for f in sent if len(f) <= 576 + 14]
    write_pcap(tmp_path / "in", sent)
    subprocess.run(["ip", "netns", "add", space], check=True)
    try:
        for words in (
            "link add p0 mtu 576 type veth peer p1",
            "link set p0 up",
            "link set p1 addrgenmode none up",
        ):
            subprocess.run(["ip", "-n", space, *words.split()], check=True)
        watch = ["ip", "netns", "exec", space, "tcpdump", "-i", "p1", "-Uw", str(tmp_path / "out")]
        command = [rtt_sim, "--host", f"pcap:in={tmp_path}/in", "--net", "packet:p0"]
        with subprocess.Popen(watch, stderr=subprocess.PIPE, text=True) as tcpdump:
            assert any("listening" in line for line in tcpdump.stderr)
            with running("ip", "netns", "exec", space, *command) as p:
                deadline = time.monotonic() + proc.seconds(60)
                while len(read_pcap(tmp_path / "out")) < len(kept):
                    assert time.monotonic() < deadline and p.poll() is None
                    time.sleep(0.05)
                said = stopped(p)
            tcpdump.terminate()
    finally:
        subprocess.run(["ip", "netns", "del", space], check=False)
    assert read_pcap(tmp_path / "out") == kept
    assert f"0 at --host, {len(sent) - len(kept)} at --net" in said


# ---- waveforms


def value_changes(vcd: str, wanted: dict[str, str]):
    """Yields the time and the values of the wanted signals (by full name) at each time stamp."""
    names, scope, now, at = {}, [], dict.fromkeys(wanted.values(), 0), 0
    for line in vcd.splitlines():
        word = line.split()
        if not word:
            continue
        if word[0] == "$scope":
            scope.append(word[2])
        elif word[0] == "$upscope":
            scope.pop()
        elif word[0] == "$var":
            full = ".".join([*scope, word[4]])
            if full in wanted:
                names.setdefault(word[3], []).append(wanted[full])
        elif word[0][0] == "#":
            yield at, dict(now)
            at = int(word[0][1:])
        elif word[0][0] in "bB" and len(word) == 2:
            for name in names.get(word[1], []):
                now[name] = int(re.sub("[xz]", "0", word[0][1:]), 2)
        elif word[0][0] in "01xz":
            for name in names.get(word[0][1:], []):
                now[name] = int(word[0][0] == "1")
    yield at, dict(now)


@pytest.mark.long  # builds the module a second time, with traces
def test_a_waveform_has_the_cycles_that_the_recording_names(tmp_path):
    """Requested FST: its beats are those of the pcapng, at the same counter values."""
    program = live.build(trace=True)
    fst, recorded = tmp_path / "w.fst", tmp_path / "r.pcapng"
    subprocess.run(
        [program, "--path", "cable=3,mac=400", "--probes", "25", "--gap", "150"]
        + ["--set", f"CONTROL={TAG_LOOPED}", "--fst", fst, "--pcap", recorded],
        check=True,
        timeout=proc.seconds(120),
        stdout=subprocess.DEVNULL,
        stderr=(tmp_path / "err").open("wb"),
    )
    assert (tmp_path / "err").read_text() == ""
    vcd = subprocess.run(["fst2vcd", "-f", fst], check=True, capture_output=True, text=True).stdout
    assert re.search(r"\$timescale\s+1ns\s+\$end", vcd)
    names = scoped_names(vcd)
    counter = next(n for n in names if n.endswith("u_counter.lo_q"))
    top = min((n for n in names if n.endswith(".tx_tvalid_i")), key=len).rpartition(".")[0]
    wanted = {counter: "counter"}
    for s in ("clk_i", "tx_tvalid_i", "tx_tready_i", "rx_tvalid_i", "rx_tready_i"):
        wanted[f"{top}.{s}"] = s
    beats, before, clock = {0: [], 1: []}, 0, 0
    for _, v in value_changes(vcd, wanted):
        if v["clk_i"] and not clock:  # at the edge, the value before it is the beat's cycle
            for which, side in enumerate(("tx", "rx")):
                if v[f"{side}_tvalid_i"] and v[f"{side}_tready_i"]:
                    beats[which].append(before)
        clock, before = v["clk_i"], v["counter"]
    packets = read_pcapng(recorded)
    for which in (0, 1):
        cycles = [p[2] for p in packets if p[0] == which]
        assert len(cycles) == 25  # a frame of 60 bytes is one beat
        assert beats[which] == cycles


def scoped_names(vcd: str) -> list[str]:
    scope, names = [], []
    for line in vcd.splitlines():
        word = line.split()
        if word[:1] == ["$scope"]:
            scope.append(word[2])
        elif word[:1] == ["$upscope"]:
            scope.pop()
        elif word[:1] == ["$var"]:
            names.append(".".join([*scope, word[4]]))
        elif word[:1] == ["$enddefinitions"]:
            break
    return names
