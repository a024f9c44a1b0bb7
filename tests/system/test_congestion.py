# SPDX-License-Identifier: Apache-2.0
"""Congestion control chosen by programs: TCP_CONGESTION, SO_MAX_PACING_RATE, TCP_INFO, toed."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time

import pytest

from tests.lab import proc
from tests.lab.robot import PORT, Robot

pytestmark = pytest.mark.toehold_only

SO_MAX_PACING_RATE = 47
NAMES = ["cubic", "reno", "dctcp", "bbr", "bbr3"]

# struct tcp_info (linux/tcp.h): offset of the rates
TCP_INFO_LEN = 232
PACING_RATE, MAX_PACING_RATE, DELIVERY_RATE = 104, 112, 160
NONE = 2**64 - 1


def connect(lab, robot, peer_listener, before: str = "") -> socket.socket:
    robot(f"s = socket.socket(); {before or 'pass'}")
    robot("s.connect(at)", at=(lab.peer_ip, PORT))
    peer, _ = peer_listener.accept()
    peer.settimeout(proc.seconds(20))
    return peer


def read_all(peer: socket.socket, size: int) -> None:
    while size:
        size -= len(peer.recv(size))


def pump(robot, peer: socket.socket, size: int) -> None:
    """The robot sends `size` bytes, the peer reads them."""
    for _ in range(0, size, 65536):
        robot("s.sendall(bytes(65536))")
        read_all(peer, 65536)


def rates(robot) -> dict[str, int]:
    """Of the flow record, which is some time old: wait for what is to be seen there."""
    info = robot(f"s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, {TCP_INFO_LEN})")
    at = {"pacing": PACING_RATE, "max": MAX_PACING_RATE, "delivery": DELIVERY_RATE}
    return {k: struct.unpack_from("=Q", info, v)[0] for k, v in at.items()}


def name_of(robot) -> str:
    name = robot("s.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)")
    return name.split(b"\0")[0].decode()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.shows("setsockopt TCP_CONGESTION")
def test_by_name_before_connecting(lab, robot, peer_listener, name):
    """The TOE carries the connection, whether the kernel has the algorithm or not."""
    choose = f"s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'{name}')"
    with connect(lab, robot, peer_listener, choose) as peer:
        assert name_of(robot) == name
        pump(robot, peer, 1 << 20)
        proc.wait_until(lambda: rates(robot)["delivery"] > 0, "a delivery rate")
        if name.startswith("bbr"):
            proc.wait_until(lambda: rates(robot)["pacing"] != NONE, "a rate of pacing")
        else:  # only BBR is paced by default
            assert rates(robot)["pacing"] == NONE


def test_change_in_the_middle(lab, robot, peer_listener):
    with connect(lab, robot, peer_listener) as peer:
        for name in [*NAMES, "cubic"]:
            robot(f"s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'{name}')")
            assert name_of(robot) == name
            pump(robot, peer, 1 << 20)
        with pytest.raises(FileNotFoundError):
            robot("s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b'none-such')")
        assert name_of(robot) == "cubic"


@pytest.mark.shows("setsockopt SO_MAX_PACING_RATE")
def test_max_pacing_rate(lab, robot, peer_listener):
    with connect(lab, robot, peer_listener) as peer:
        robot(f"s.setsockopt(socket.SOL_SOCKET, {SO_MAX_PACING_RATE}, 5000000)")
        assert robot(f"s.getsockopt(socket.SOL_SOCKET, {SO_MAX_PACING_RATE})") == 5000000
        reader = threading.Thread(target=read_all, args=(peer, 2 << 20))
        reader.start()
        took = robot("t = time.monotonic(); s.sendall(bytes(2 << 20)); time.monotonic() - t")
        reader.join(20)
        # 2 MiB at 5 MB/s are 0.42 s, minus the content of the send buffer at the end
        assert took > 0.2
        proc.wait_until(lambda: 4990000 <= rates(robot)["pacing"] <= 5000000, "its pacing")
        assert rates(robot)["max"] == 5000000


@pytest.mark.parametrize("name", NAMES)
def test_default_of_the_toe(make_lab, name):
    """A program that sets no algorithm gets the one that toed was started with."""
    lab = make_lab(args=["--congestion", name])
    with Robot(lab) as robot, lab.client.socket() as listener:
        listener.bind((lab.peer_ip, PORT))
        listener.listen(8)
        listener.settimeout(proc.seconds(20))
        with connect(lab, robot, listener) as peer:
            pump(robot, peer, 1 << 20)
            assert name_of(robot) == name


def iperf3(lab, *options: object) -> dict:
    with lab.peer(["iperf3", "-s", "-p", PORT, "--forceflush"], says="listening"):
        done = lab.run(["iperf3", "-c", lab.peer_ip, "-p", PORT, "-J", *options])
    result = json.loads(done.stdout)
    assert "error" not in result, result["error"]
    return result["end"]


@pytest.mark.parametrize("name", NAMES)
def test_iperf3(lab, name):
    end = iperf3(lab, "-n", "50M", "-C", name)
    assert end["sender_tcp_congestion"] == name
    assert end["sum_received"]["bytes"] > 1e6


def test_iperf3_rate(lab):
    """--fq-rate is SO_MAX_PACING_RATE: not much less where there is room, and never more."""
    began = time.monotonic()
    end = iperf3(lab, "--fq-rate", "8M", "-t", 2)
    bits = end["sum_received"]["bytes"] * 8
    # iperf3's own rates begin when its processes get a processor
    assert 2 * 1e6 < bits < 8.4e6 * (time.monotonic() - began)
