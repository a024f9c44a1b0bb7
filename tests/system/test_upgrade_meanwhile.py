# SPDX-License-Identifier: Apache-2.0
"""What happens while a new toed takes over (docs/UPGRADE.md): programs and peers exit, the new one
stays silent, the network sends ARP requests for the address."""

from __future__ import annotations

import contextlib
import signal
import socket
import struct

import pytest
from test_upgrade import HOLDS, before_the_last_word, still_serves, then_says, upgrade

from tests.lab import lab as labs
from tests.lab import proc
from tests.lab.robot import PORT, Robot

pytestmark = pytest.mark.toehold_only


def ended(peer: socket.socket) -> bool:
    """The peer receives the end of its connection: a FIN or an RST."""
    try:
        return peer.recv(10) == b""
    except ConnectionResetError:
        return True


@pytest.mark.sanitize
@pytest.mark.parametrize("serves", ["the new one", "the old one"])
def test_a_program_dies(lab, tmp_path, serves):
    """No toed watches its end for that moment: the one that serves then finds it closed."""
    with contextlib.ExitStack() as stack:
        robot, other = stack.enter_context(Robot(lab)), stack.enter_context(Robot(lab))
        peers = []
        for port, each in ((PORT, robot), (PORT + 1, other)):
            each.listen(lab.ip, port)
            peers.append(stack.enter_context(lab.connect(port)))
            each.accept()
        had = lab.queue_pairs(), lab.usage("listeners")
        with before_the_last_word(lab, tmp_path / "relay") as (new, go_on):
            robot.proc.kill()
            if serves == "the new one":
                go_on()
                assert lab.toed.proc.wait(20) == 0, lab.toed.proc.tail()
                lab.toed.proc = new
            else:
                new.kill()
        assert ended(peers[0])
        peers[0].close()
        proc.wait_until(lambda: lab.queue_pairs() == had[0] - 1, "it is gone", proc=lab.toed.proc)
        assert lab.usage("listeners") == had[1] - 1
        still_serves(other, peers[1])
    lab.wait_idle()


@pytest.mark.parametrize("how", ["ends", "resets"])
def test_a_peer_goes(lab, robot, peer, tmp_path, how):
    """Its FIN or RST arrives while no toed receives. A FIN is retransmitted; a reset shows at the
    next send."""
    if how == "resets":
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with before_the_last_word(lab, tmp_path / "relay") as (new, go_on):
        peer.close()
        go_on()
        assert lab.toed.proc.wait(20) == 0, lab.toed.proc.tail()
        lab.toed.proc = new
    if how == "ends":
        assert robot("s.recv(10)") == b""
    else:
        with pytest.raises(ConnectionResetError):
            robot("s.send(b'hello')\ns.recv(10)")
    robot("s.close()")
    lab.wait_no_flows()


SAYS_NOTHING = HOLDS.replace('s.send(b"it cannot")\n', "")


@pytest.mark.long  # the 20 s that the old one waits
@pytest.mark.parametrize("run_as", [False, True], ids=["root", "run-as"])
def test_the_new_one_says_nothing(make_lab, run_as):
    """It has everything, and neither takes over nor aborts. An old one that runs as another user
    than root may end it, since the new one has made that user its real user (privilege_mark())."""
    assert SAYS_NOTHING != HOLDS
    lab = make_lab(args=["--run-as", "nobody:nogroup"] if run_as else [])
    mark = "import os; os.setresuid(65534, -1, -1)\n" if run_as else ""
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            robot.accept()
            with (
                then_says(lab, "it takes too long", "does not let go", "serving on"),
                lab.server.start([labs.PYTHON, "-c", mark + SAYS_NOTHING, lab.toed.socket]) as new,
            ):
                assert new.wait(60) == -signal.SIGKILL
                assert "has it" in new.text()
            still_serves(robot, peer)
            upgrade(lab)
            still_serves(robot, peer)


def arp(lab: labs.Lab) -> socket.socket:
    """The ARP packets that the peer receives from now on."""
    s = lab.client.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind((lab.pair.client_if, 0x0806))
    s.setblocking(False)
    return s


def heard(s: socket.socket, of: str) -> list[tuple[int, str]]:
    """Operation and target of each packet of this sender."""
    found = []
    with contextlib.suppress(BlockingIOError):
        while frame := s.recv(100):
            if frame[28:32] == socket.inet_aton(of):
                found.append((frame[21], socket.inet_ntoa(frame[38:42])))
    return found


def test_neighbours_are_known(lab, robot, accepted):
    """Neighbours are not resolved again, and the address is announced twice in all (RFC 5227 2.3),
    by either toed; the new one answers requests for it."""
    proc.wait_until(lambda: lab.toed.stats()["uptime_s"] > 3, "the announcements are over")
    with arp(lab) as s:
        for _ in range(2):
            upgrade(lab)
            still_serves(robot, accepted)
        started = lab.toed.stats()["uptime_s"]
        proc.wait_until(lambda: lab.toed.stats()["uptime_s"] > started + 2, "two seconds")
        assert [one for one in heard(s, lab.ip) if one[0] == 1] == []
        lab.client.run(["ip", "neigh", "flush", "dev", lab.pair.client_if])
        accepted.sendall(b"who has it?")
        assert robot("s.recv(100)") == b"who has it?"
        assert (2, lab.peer_ip) in heard(s, lab.ip)


def test_who_claims_the_address_is_known(make_lab):
    """--check-ip: the test is not repeated; during it no host would own the address."""
    lab = make_lab(args=["--check-ip"])
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer, arp(lab) as s:
            robot.accept()
            upgrade(lab)
            still_serves(robot, peer)
            with lab.connect(PORT) as another:
                robot.accept("q")
                another.sendall(b"at once")
                assert robot("q.recv(10)") == b"at once"
            assert heard(s, "0.0.0.0") == []
