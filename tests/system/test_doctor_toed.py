# SPDX-License-Identifier: Apache-2.0
"""`toehold doctor` beside a running toed, or a process in its place."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import socket
import sys
from collections.abc import Iterator

import pytest

from tests.lab import netns, paths, proc
from tests.lab.doctor import Case, Shell, check, inside, is_cured

NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups"

pytestmark = pytest.mark.toehold_only


@pytest.fixture(scope="module")
def pair() -> Iterator[netns.Pair]:
    with netns.Pair(kernel_ip="10.77.0.1/24", queues=2) as made:
        yield made


class Rig:
    """toed from a copy of its program in $T, started in a Shell; ended with it."""

    def __init__(self, pair: netns.Pair, netif: str, ip: str, *more: object):
        self.shell = Shell(inside(pair.server))
        words = " ".join(map(str, more))
        self.shell.run(f"cp {paths.built('toed')} $T/toed")
        argv = f"$T/toed --netif {netif} --ip {ip} --socket $S {words}"
        self.shell.run(f"{argv} >$T/log 2>&1 & echo $! >$T/pid")
        try:
            self.wait()
        except BaseException:
            self.shell.close()
            raise

    def pid(self) -> int | None:
        """The process that listens at the socket."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            try:
                s.connect(str(self.shell.socket))
            except OSError:
                return None
            return int.from_bytes(s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 4), "little")

    def wait(self, other_than: int | None = None) -> int:
        """Waits until a toed serves, which is not the process `other_than`."""

        def serves() -> int | None:
            assert other_than or self.shell.is_alive("pid"), self.shell.read("log")
            pid = self.pid()
            return pid if pid != other_than else None

        return proc.wait_until(serves, "toed serves", timeout=20)

    def __enter__(self) -> Rig:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.shell.close()


@pytest.fixture(scope="module")
def rig(pair) -> Iterator[Rig]:
    """A toed that tests share: each leaves it as it was."""
    with Rig(pair, f"af_xdp:{pair.server_if}", "10.77.0.5/24", "--engines 2") as made:
        yield made


WITH_TOED = [
    Case(
        "addresses.conflict",
        "error",
        "ip address add 10.77.0.5/24 dev lo",
        says="the kernel has the TOE's address 10.77.0.5, on lo",
    ),
    Case(
        "toed.state",
        "error",
        "chgrp 0 $S",
        given="chgrp 65534 $S",
        says="user 65534 may not connect",
        as_user=NOBODY,
    ),
    Case("toed.state", "error", "chmod 700 $T", given="chgrp 65534 $S", as_user=NOBODY),
    Case("interface.mtu", "error", "ip link set srv0 mtu 500", says="500"),
]


@pytest.mark.parametrize("case", WITH_TOED, ids=lambda c: c.found)
def test_with_toed(rig, case):
    check(rig.shell, case)
    assert is_cured(rig.shell, case), rig.shell.findings


def test_stopped(rig):
    pid = rig.pid()
    case = Case("toed.state", "error", f"kill -STOP {pid}", says=f"toed (pid {pid}) is stopped")
    try:
        assert check(rig.shell, case) == f"kill -CONT {pid}"
        assert is_cured(rig.shell, case), rig.shell.findings
    finally:
        os.kill(pid, signal.SIGCONT)


LISTEN = """
import socket, sys
s = socket.create_server(("10.77.0.5", int(sys.argv[1])))
open(sys.argv[2], "w").close()
sys.stdin.read()
s.accept()
"""


@contextlib.contextmanager
def listener(rig: Rig, port: int, env: str = "") -> Iterator[int]:
    """A program that listens on the TOE; its pid."""
    shell = rig.shell
    ready = shell.folder / f"ready-{port}"
    (shell.folder / "listen.py").write_text(LISTEN)
    (shell.folder / "pipe").unlink(missing_ok=True)
    os.mkfifo(shell.folder / "pipe")
    shell.run(
        f"{env} {paths.built('toehold')} run --require --socket $S -- {sys.executable}"
        f" $T/listen.py {port} {ready} <>$T/pipe & echo $! >$T/pid"
    )
    pid = int((shell.folder / "pid").read_text())
    try:
        proc.wait_until(ready.exists, "the program listens", timeout=20)
        yield pid
    finally:
        shell.run(f"kill {pid}", code=None)
        shell.run(f"wait {pid}", code=None)
        ready.unlink(missing_ok=True)


def test_port_that_connections_may_take(rig):
    case = Case("ports.reserved", "warning", ":", says="listens on port 40000")
    with listener(rig, 40000):
        [finding] = rig.shell.doctor()
        assert (finding["id"], finding["severity"]) == (case.found, case.severity)
        assert case.says in finding["found"]
        rig.shell.run(finding["cure"])
        assert rig.shell.doctor() == []
        rig.shell.run("sysctl -qw net.ipv4.ip_local_reserved_ports=''")


def test_port_that_the_kernel_has_too(rig, pair):
    """It is listed, and a program on the TOE does not get it."""
    with pair.server.socket() as s:
        s.bind(("0.0.0.0", 8080))
        s.listen(1)
        assert rig.shell.doctor() == []
        [line] = [f for f in rig.shell.findings if f["id"] == "ports.kernel"]
        assert line["found"] == "the kernel listens at all addresses on 8080"
        listen = "import socket; socket.create_server(('10.77.0.5', 8080))"
        run = f"{paths.built('toehold')} run --require --socket $S -- {sys.executable}"
        rig.shell.run(f'{run} -c "{listen}"', code=1)
        assert "Address already in use" in rig.shell.errors()


def test_library_that_was_replaced(rig):
    shell = rig.shell
    shell.run(f"cp {paths.built('libtoe_preload.so')} $T/libtoe_preload.so")
    with listener(rig, 8081, env="TOEHOLD_PRELOAD=$T/libtoe_preload.so") as pid:
        assert shell.doctor() == []
        shell.run("cp $T/libtoe_preload.so $T/new && mv $T/new $T/libtoe_preload.so")
        [finding] = shell.doctor()
        assert (finding["id"], finding["severity"]) == ("versions.program", "warning")
        assert f"(pid {pid})" in finding["found"]
        shell.run(finding["cure"])
        proc.wait_until(lambda: shell.doctor() == [], "the program has ended")


def test_toed_elsewhere(rig, pair):
    """An interface that the toed of another socket serves; a toed of another namespace."""
    pid = rig.pid()
    with contextlib.closing(Shell(inside(pair.server))) as shell:
        assert shell.doctor("--interface srv0") == []
        [note] = [f for f in shell.findings if f["id"] == "interface.claimed"]
        assert note["found"] == f"process {pid} serves srv0 as a TOE: another toed cannot"
    with contextlib.closing(Shell(inside(pair.client))) as shell:
        assert shell.doctor(f"--socket {rig.shell.socket}") == []
        [note] = [f for f in shell.findings if f["id"] == "toed.namespace"]
        cure = note["cure"].replace("toehold", f"{paths.built('toehold')}", 1)
        text = shell.run(f"{cure} --json --socket {rig.shell.socket}")
        found = {f["id"] for f in json.loads(text)["findings"]}
        assert "toed.namespace" not in found and "addresses.toe" in found


def test_cures_by_another_toed(rig):
    """By a take-over when the file of toed was replaced, by a start when it lacks a router."""
    shell, old = rig.shell, rig.pid()
    case = Case("versions.replaced", "warning", "cp $T/toed $T/new && mv $T/new $T/toed")
    assert check(shell, case).endswith(" --take-over &")
    old = rig.wait(other_than=old)
    assert is_cured(shell, case), shell.findings
    case = Case("addresses.router", "warning", "ip route add default via 10.77.0.2", says="is 10.7")
    assert check(shell, case).endswith(" --gateway 10.77.0.2 &")
    rig.wait(other_than=old)
    assert is_cured(shell, case), shell.findings
    shell.run("ip route del default")


def test_queue_without_an_engine():
    with (
        netns.Pair(queues=2) as pair,
        Rig(pair, f"af_xdp:{pair.server_if}", "10.77.0.1/24") as rig,
    ):
        # veth keeps a receive queue for each queue that the other end sends to
        pair.client.run(["ethtool", "-L", pair.client_if, "tx", "1"])
        [finding] = rig.shell.doctor()
        assert (finding["id"], finding["severity"]) == ("interface.queues", "error")
        assert "has 2 receive queues, toed has 1 engine" in finding["found"]
        rig.shell.run(finding["cure"])
        assert rig.shell.doctor() == []


def test_tap_without_a_route(pair):
    with Rig(pair, "tap:toe9,host=10.78.0.2/24", "10.78.0.1/24") as rig:
        case = Case(
            "addresses.route",
            "warning",
            "ip address del 10.78.0.2/24 dev toe9",
            says="does not send to 10.78.0.1 by toe9",
        )
        check(rig.shell, case)
        assert is_cured(rig.shell, case), rig.shell.findings
        notes = {f["id"]: f for f in rig.shell.findings if f["severity"] == "note"}
        rig.shell.run(notes["addresses.forwarding"]["cure"])
        rig.shell.doctor()
        assert "addresses.forwarding" not in [f["id"] for f in rig.shell.findings]
        rig.shell.run("sysctl -qw net.ipv4.ip_forward=0")


FAKE = """
import json, os, socket, sys
path, version = sys.argv[1:3]
engines = json.loads(os.environ.get("ENGINES", "[]"))
if "--take-over" in sys.argv:
    version = os.environ["VERSION"]
    os.unlink(path)
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
    s.bind(path)
    s.listen(8)
    while True:
        peer, _ = s.accept()
        if peer.recv(4096):
            answer = {"version": version, "address": "192.0.2.1/24", "engines": engines}
            peer.send(json.dumps(answer).encode()) if version != "none" else peer.recv(1)
        peer.close()
"""


def test_another_version():
    version = proc.run([paths.built("toehold"), "--version"]).stdout.split()[1]
    with contextlib.closing(Shell()) as shell:
        (shell.folder / "fake.py").write_text(FAKE)
        shell.run(f"export VERSION={version}")
        fake = f"exec -a toed {sys.executable} $T/fake.py $S 0.0.9"
        shell.run(f'bash -c "{fake}" >$T/log 2>&1 & echo $! >$T/pid')
        rig = object.__new__(Rig)
        rig.shell = shell
        old = rig.wait()
        [finding] = shell.doctor()
        assert (finding["id"], finding["severity"]) == ("versions.toed", "warning")
        assert f"is 0.0.9, toehold is {version}" in finding["found"]
        shell.run(finding["cure"])
        rig.wait(other_than=old)
        assert shell.doctor() == []


def test_what_toed_reports():
    """A halted queue pair; an address that another host has."""
    pair = {"id": 7, "name": "sh", "halted": 3}
    version = proc.run([paths.built("toehold"), "--version"]).stdout.split()[1]
    with contextlib.closing(Shell()) as shell:
        (shell.folder / "fake.py").write_text(FAKE)
        shell.run("sleep 1000 & echo $! >$T/sleeper")
        sleeper = int(shell.read("sleeper"))
        engine = {"ip6": ["2001:db8::1/64 duplicate", "fe80::1/64"]}
        engine["queue_pairs"] = [{**pair, "pid": sleeper}, {"id": 8, "name": "sh", "halted": 0}]
        shell.run(f"export ENGINES={shlex.quote(json.dumps([engine]))}")
        shell.run(f"{sys.executable} $T/fake.py $S {version} >$T/log 2>&1 & echo $! >$T/pid")
        rig = object.__new__(Rig)
        rig.shell = shell
        rig.wait()
        halted, duplicate = shell.doctor()
        assert (halted["id"], halted["severity"]) == ("toed.halted", "error")
        assert f"queue pair 7 of sh (pid {sleeper})" in halted["found"]
        assert (duplicate["id"], duplicate["severity"]) == ("addresses.duplicate", "error")
        assert "the TOE's address 2001:db8::1/64:" in duplicate["found"]
        shell.run(halted["cure"])
        shell.run("wait $(cat $T/sleeper)", code=128 + signal.SIGTERM)


def test_silent_process_and_progress():
    """A process that accepts and does not answer; the doctor reports what it waits for."""
    with contextlib.closing(Shell()) as shell:
        (shell.folder / "fake.py").write_text(FAKE)
        shell.run(f"{sys.executable} $T/fake.py $S none >$T/log 2>&1 & echo $! >$T/pid")
        rig = object.__new__(Rig)
        rig.shell = shell
        pid = rig.wait()
        [finding] = shell.doctor()
        assert (finding["id"], finding["severity"]) == ("toed.state", "error")
        assert f"(pid {pid})" in finding["found"]
        assert "within 5 seconds" in finding["found"]
        assert finding["cure"] == f"kill -KILL {pid}"
        assert "at check 4 of 11: waiting for toed" in shell.errors()
