# SPDX-License-Identifier: Apache-2.0
"""Faults of the interface, the clock and the processes while data flows: no data is lost, no
process hangs, and toed reports the fault. docs/FAULTS.md lists these faults and the others."""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import time

import pytest

from tests.lab import lab as labs
from tests.lab import paths, proc
from tests.lab.flow import Flow
from tests.lab.robot import PORT, Robot

MODES = ["own"] if labs.LINUX else ["own", "shared", "tap"]


@pytest.fixture(params=MODES)
def kind(request):
    return request.param


def lab_of(make_lab, kind: str, **options):
    more = {"own": {}, "shared": {"shared": True}, "tap": {"mode": "tap"}}[kind]
    return make_lab(**more, **options)


@contextlib.contextmanager
def flowing(lab):
    """A connection with data both ways, before and after the body of the `with`."""
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            robot.accept()
            flow = Flow(robot, peer)
            flow.goes_on()
            yield flow
            flow.goes_on()
            flow.end()
    lab.wait_idle(timeout=60)


def says(lab, text: str, times: int = 1) -> None:
    """toed reports it, if there is a toed."""
    if lab.toed:
        proc.wait_until(lambda: lab.toed.proc.text().count(text) >= times, text, proc=lab.toed.proc)


def link(lab, end: str, *what: object) -> None:
    """Runs `ip link set` on the interface of either end."""
    ns, interface = {
        "server": (lab.server, lab.pair.server_if),
        "client": (lab.client, lab.pair.client_if),
    }[end]
    ns.run(["ip", "link", "set", interface, *what])


# ---- the interface


@pytest.mark.parametrize("end", ["server", "client"])
def test_down_and_up(make_lab, kind, end):
    """Of the peer's end it is the carrier that is lost."""
    lab = lab_of(make_lab, kind)
    with flowing(lab) as flow:
        for n in (1, 2):
            link(lab, end, "down")
            if kind != "tap":  # there it is a port of a bridge that is down, not tap0
                says(lab, {"server": "is down", "client": "no carrier"}[end], n)
            time.sleep(0.3)
            link(lab, end, "up")
            if kind != "tap":
                says(lab, "the interface is up again", n)
            flow.goes_on()


def mss_of_new(lab, robot) -> tuple[int, int]:
    """The largest segment of a new connection, of the peer and of the robot, with timestamps."""
    with lab.connect(PORT) as s:
        robot.accept("other")
        maxseg = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
        theirs = robot("other.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)")
        robot("other.close()")
        return maxseg, theirs


@pytest.mark.sanitize
def test_mtu_changes(make_lab, kind):
    """Connections respect it, open ones too; it never exceeds the value at the start."""
    lab = lab_of(make_lab, kind)
    interfaces = [("server", lab.pair.server_if), ("client", lab.pair.client_if)]
    interfaces += [("server", name) for name in ("br0", "tap0") if kind == "tap"]

    def set_mtu(mtu: int) -> None:
        for end, interface in interfaces if mtu > 1000 else interfaces[::-1]:
            ns = {"server": lab.server, "client": lab.client}[end]
            ns.run(["ip", "link", "set", interface, "mtu", mtu])

    with flowing(lab) as flow:
        robot = flow.robot

        def maxseg(expected: int) -> bool:
            return robot("s.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)") == expected

        set_mtu(1000)
        says(lab, "the MTU of the interface is now 1000: all connections use it")
        flow.goes_on()
        proc.wait_until(lambda: maxseg(1000 - 52), "smaller segments")
        assert mss_of_new(lab, robot) == (1000 - 52, 1000 - 52)
        set_mtu(1500)
        says(lab, "the MTU of the interface is now 1500")
        flow.goes_on()
        proc.wait_until(lambda: maxseg(1500 - 52), "larger segments")
        assert mss_of_new(lab, robot) == (1500 - 52, 1500 - 52)
    if lab.toed:
        lab.server.run(["ip", "link", "set", interfaces[-1 if kind == "tap" else 0][1], "mtu", 500])
        says(lab, "the MTU of the interface is now 500, and toed sends frames for 576")
        lab.server.run(
            ["ip", "link", "set", interfaces[-1 if kind == "tap" else 0][1], "mtu", 1600]
        )
        says(lab, "toed keeps 1500, its value at the start")
        assert lab.toed.stats()["engines"]


@pytest.mark.parametrize("said", [False, True])
def test_the_peers_ethernet_address_changes(make_lab, said):
    """It announces itself by ARP, or it does not."""
    lab = make_lab()
    setting = f"net.ipv4.conf.{lab.pair.client_if}.arp_notify={int(said)}"
    lab.client.run(["sysctl", "-qw", setting])
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            robot.accept()
            robot("s.sendall(b'one')")
            assert peer.recv(3) == b"one"
            changed = lab.counter("neigh_changed")
            link(lab, "client", "address", "02:00:00:00:77:97")
            if said and lab.toed:
                proc.wait_until(lambda: lab.counter("neigh_changed") > changed, "it is heard")
            # Otherwise a sender must detect it: the peer does not announce itself.
            robot("s.sendall(b'two')")
            peer.settimeout(proc.seconds(150))
            assert peer.recv(3) == b"two"


def test_own_ethernet_address_changes(make_lab):
    """The TOE keeps the address that it announced."""
    lab = make_lab()
    with flowing(lab):
        link(lab, "server", "address", "02:00:00:00:77:96")
        says(lab, "the Ethernet address of the interface has changed")


@pytest.mark.toehold_only
def test_addresses_of_the_kernel_come_and_go(make_lab):
    """They do not concern the TOE if it has its own address."""
    lab = make_lab(kernel=True)
    with flowing(lab) as flow:
        address = [f"{lab.kernel_ip}/24", "dev", lab.pair.server_if]
        lab.server.run(["ip", "address", "del", *address])
        flow.goes_on()
        lab.server.run(["ip", "address", "add", *address])


# ---- its XDP program


def program(lab) -> str | None:
    """The number of the program on the interface."""
    shown = lab.server.run(["ip", "-d", "link", "show", "dev", lab.pair.server_if]).stdout
    found = re.search(r"prog/xdp id (\d+)", shown)
    return found[1] if found else None


def take_off(lab) -> None:
    lab.server.run([labs.PYTHON, labs.PROGRAMS / "xdp_off.py", program(lab)])


@pytest.mark.toehold_only
@pytest.mark.sanitize
def test_the_program_is_taken_off(make_lab):
    """toed puts it back, each time."""
    lab = make_lab()
    with flowing(lab) as flow:
        off = lab.server.run(["ip", "link", "set", lab.pair.server_if, "xdp", "off"], check=False)
        assert off.returncode != 0  # a link's program is the link's alone
        for n in (1, 2):
            take_off(lab)
            says(lab, "detached toed's XDP program from interface", n)
            says(lab, "attached again", n)
            assert program(lab)
            flow.goes_on()


@pytest.mark.toehold_only
def test_the_program_is_taken_off_where_nobody_is_attached(make_lab):
    lab = make_lab(shared=True)
    take_off(lab)
    says(lab, "attached again")
    with flowing(lab):
        pass


@pytest.mark.toehold_only
@pytest.mark.parametrize("shared", [False, True])
def test_another_program_takes_its_place(make_lab, shared):
    """toed exits with the reason; programs are notified."""
    lab = make_lab(shared=shared)
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT):
            robot.accept()
            robot.tell("s.recv(1)")
            lab.toed.proc.send_signal(signal.SIGSTOP)
            take_off(lab)
            other = paths.built("steer.bpf.o")
            interface = lab.pair.server_if
            lab.server.run(["ip", "link", "set", interface, "xdp", "obj", other, "sec", "xdp"])
            lab.toed.proc.send_signal(signal.SIGCONT)
            with pytest.raises(ConnectionResetError):
                robot.result()
            assert lab.toed.proc.wait(20) == 1
            assert "another program is there" in lab.toed.proc.text()
            lab.server.run(["ip", "link", "set", interface, "xdp", "off"])
            lab.toed.start()
