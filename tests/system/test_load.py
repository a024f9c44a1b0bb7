# SPDX-License-Identifier: Apache-2.0
"""Many connections, at once and one after the other: nothing is lost and nothing leaks."""

from __future__ import annotations

import json
import os

import pytest

from tests.lab import lab as labs
from tests.lab import nginx, paths, proc

REQUEST = b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
ANSWER = b"hello\n"
CONNLOAD = paths.build_dir("connload") / "tests/connload"
ROOM = {"TOEHOLD_SLOTS": "16384", "TOEHOLD_TX_SIZE": "8192", "TOEHOLD_RX_SIZE": "8192"}


def ask(s) -> None:
    """One request and its whole answer."""
    s.sendall(REQUEST)
    got = b""
    while not got.endswith(ANSWER):
        chunk = s.recv(4096)
        assert chunk, got
        got += chunk


def short_connections(lab: labs.Lab, rate: int, count: int, closer: str) -> proc.Proc:
    """Starts short connections from the peer at a steady rate; see programs/connload.c."""
    request = REQUEST.decode()
    if closer == "server":
        request = request.replace("Host: x", "Host: x\r\nConnection: close")
    argv = [CONNLOAD, lab.ip, 80, rate, count, closer]
    return lab.client.start([*argv, ANSWER.decode(), request])


def result_of(load: proc.Proc, timeout: float) -> dict:
    assert load.wait(timeout) == 0, load.tail()
    return json.loads(load.text())


def unchanged(before: dict[str, int], lab: labs.Lab, slack_kib: int) -> None:
    """toed uses no more memory and descriptors than before. slack: pools are touched on use, some
    only when a slow machine makes a connection lose segments.

    The last client of the statistics counts as a descriptor or two until toed has seen it close.
    """
    proc.wait_until(
        lambda: lab.footprint()["fds"] <= before["fds"], "toed has no more descriptors than before"
    )
    after = lab.footprint()
    # A sanitizer keeps freed memory for a while, and reports leaks itself.
    if "TOEHOLD_TOED_BUILD" not in os.environ:
        assert after["anon_kib"] <= before["anon_kib"] + slack_kib


def count_descriptors(pids: list[int]) -> int:
    """The open descriptors of all of them."""
    return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids)


def use_many_at_once(lab: labs.Lab, count: int) -> None:
    with labs.closing_all() as sockets:
        for _ in range(count):
            sockets.append(lab.connect(80, timeout=60))
        if lab.toed:
            assert lab.usage("flows") >= count
            assert lab.slots_used() >= count
        for s in sockets:
            ask(s)
        for s in sockets[::-1]:
            ask(s)


def test_10000_connections(make_lab, tmp_path):
    lab = make_lab(args=["--max-flows", 12000])
    more = {"connections": 11000, "env": ROOM}
    with nginx.start(lab, tmp_path, **more) as server:
        workers = server.children()
        use_many_at_once(lab, 100)
        lab.wait_no_flows()
        descriptors = count_descriptors(workers)
        use_many_at_once(lab, 10_000)
        lab.wait_no_flows()
        lab.wait_no_slots()
        before = lab.footprint()
        use_many_at_once(lab, 10_000)
        lab.wait_no_flows()
        unchanged(before, lab, 4096)
        proc.wait_until(
            lambda: count_descriptors(workers) <= descriptors,
            "nginx has closed its descriptors",
        )
    lab.wait_idle()


@pytest.mark.parametrize("closer", ["server", "client"])
@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(3, marks=pytest.mark.sanitize),
        pytest.param(30, marks=pytest.mark.long),
    ],
)
def test_2000_short_connections_a_second(make_lab, tmp_path, closer, seconds):
    lab = make_lab(args=["--max-flows", 1200])
    warm = 2000 * seconds // 3
    with nginx.start(lab, tmp_path, workers=2, connections=2000, env=ROOM) as server:
        use_many_at_once(lab, 1000)
        lab.wait_no_flows()
        with short_connections(lab, 2000, 2000, closer) as load:
            assert result_of(load, 60)["done"] == 2000
        lab.wait_no_flows()
        workers = server.children()
        descriptors = count_descriptors(workers)
        served = lab.counter("tcp_established")
        with short_connections(lab, 2000, 2000 * seconds, closer) as load:
            if lab.toed:
                # Pools are touched as they are used: TCBs above, TIME-WAIT by 16384 connections.
                proc.wait_until(
                    lambda: lab.counter("tcp_established") >= served + warm,
                    "a third of the connections",
                    timeout=60 + 4 * seconds,
                    proc=load,
                )
            before = lab.footprint()
            result = result_of(load, 60 + 4 * seconds)
        assert result == {"done": 2000 * seconds, "wrong": 0, "failed": 0, "first_error": ""}
        lab.wait_no_flows()
        lab.wait_no_slots()
        # 26 bytes lost with each of the 40,000 connections of the long run would be as much.
        unchanged(before, lab, 4096)
        proc.wait_until(
            # fewer: one was still to be closed when they were counted
            lambda: count_descriptors(workers) <= descriptors,
            "nginx has closed its descriptors",
        )
    lab.wait_idle()


def test_short_connections_as_a_client(lab, tmp_path):
    """connload itself under the TOE: active opens, more of them than ephemeral ports in use."""
    with nginx.start_on_peer(lab, tmp_path, workers=1):
        argv = [CONNLOAD, lab.peer_ip, 80, 2000, 6000]
        for closer, headers in (("server", "Connection: close\r\n"), ("client", "")):
            request = f"GET /hello HTTP/1.1\r\nHost: x\r\n{headers}\r\n"
            done = lab.run([*argv, closer, ANSWER.decode(), request], timeout=60)
            result = json.loads(done.stdout)
            assert result == {"done": 6000, "wrong": 0, "failed": 0, "first_error": ""}
            lab.wait_no_flows()


@pytest.mark.toehold_only
@pytest.mark.parametrize("limit", ["slots", "flows"])
def test_more_connections_than_room(make_lab, tmp_path, limit):
    """Those beyond it wait (their SYN is dropped and counted) and are served when there is room."""
    room = 16
    lab = make_lab(args=["--max-flows", room] if limit == "flows" else [])
    env = {"TOEHOLD_SLOTS": str(room)} if limit == "slots" else {}
    with nginx.start(lab, tmp_path, env=env), labs.closing_all() as waiting:
        with labs.closing_all() as served:
            for _ in range(room):
                served.append(lab.connect(80))
                ask(served[-1])
            for _ in range(room):
                s = lab.client.socket()
                waiting.append(s)
                s.setblocking(False)
                s.connect_ex((lab.ip, 80))
            for s in served:
                ask(s)
        for s in waiting:
            s.settimeout(proc.seconds(60))
            proc.wait_until(lambda s=s: connected(s), "a waiting client is served", timeout=60)
            ask(s)
    lab.wait_idle()


def connected(s) -> bool:
    try:
        s.getpeername()
    except OSError:
        return False
    return True
