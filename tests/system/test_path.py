# SPDX-License-Identifier: Apache-2.0
"""The path: Linux routes between the TOE and a Linux peer, over a link with a smaller MTU, with
its ICMP errors and without; ECN with a Linux peer, and marks that the router sets."""

from __future__ import annotations

import itertools

import pytest

from tests.lab import netns, proc
from tests.lab.robot import Robot

pytestmark = pytest.mark.toehold_only

PORT = 7300
SIZE = 2_000_000
FAR_IP = "10.78.0.2"
IP_MTU = 14
TCPI_OPT_ECN, TCPI_OPT_ECN_SEEN = 8, 16
OPTIONS = "s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)[5]"
_serial = itertools.count(1)


class Far:
    """A third namespace behind the client's, which routes; its link has MTU `mtu` one way."""

    def __init__(self, lab, mtu: int):
        self.router = lab.client
        self.ns = netns.Namespace.create(f"{lab.client.name}-far{next(_serial)}")
        self.router.run(
            ["ip", "link", "add", "rt0", "mtu", mtu, "type", "veth"]
            + ["peer", "name", "far0", "netns", self.ns.name, "mtu", 1500]
        )
        ends = (self.router, "rt0", "10.78.0.1/24"), (self.ns, "far0", FAR_IP + "/24")
        for ns, dev, ip in ends:
            ns.run(["ip", "address", "add", ip, "dev", dev])
            ns.run(["ip", "link", "set", dev, "up"])
        self.ns.run(["ethtool", "-K", "far0", "tx", "off", "tso", "off"])
        self.ns.run(["ip", "route", "add", "default", "via", "10.78.0.1"])
        self.router.run(["sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv4.icmp_ratelimit=0"])

    def serve(self) -> object:
        """Accepts connections and counts their bytes."""
        script = (
            "import socket\n"
            f"l = socket.create_server(('{FAR_IP}', {PORT}))\n"
            "print('ready', flush=True)\n"
            "while True:\n"
            "    s, _ = l.accept()\n"
            "    n = 0\n"
            "    while d := s.recv(1 << 16):\n"
            "        n += len(d)\n"
            "    s.sendall(str(n).encode())\n"
            "    s.close()\n"
        )
        return self.ns.start(["python3", "-c", script], name="far")

    def close(self) -> None:
        self.ns.delete()


@pytest.fixture
def routed(make_lab):
    made = []

    def make(mtu: int, *args: object):
        lab = make_lab(args=["--gateway", "10.77.0.2", *args])
        made.append(Far(lab, mtu))
        return lab, made[-1]

    yield make
    for far in made:
        far.close()


def upload(robot: Robot) -> int:
    """Sends SIZE bytes to the far peer; returns the socket's path MTU at the end."""
    robot(
        "import fcntl, termios, time\n"
        "for _ in range(100):\n"
        "    s = socket.socket(); s.settimeout(30)\n"
        "    try:\n"
        "        s.connect((ip, port)); break\n"
        "    except ConnectionRefusedError:\n"
        "        time.sleep(0.1)\n"
        "s.sendall(b'x' * size)\n"
        "while fcntl.ioctl(s, termios.TIOCOUTQ, bytes(4)) != bytes(4): time.sleep(0.01)\n"
        f"mtu = s.getsockopt(socket.IPPROTO_IP, {IP_MTU})\n"
        "s.shutdown(socket.SHUT_WR)",
        ip=FAR_IP,
        port=PORT,
        size=SIZE,
    )
    assert robot("s.recv(100)").decode() == str(SIZE)
    return robot("mtu")


def in_time(recoveries) -> int:
    """The least of what several runs return. A machine that stops a process for longer than the
    retransmission timer causes recoveries of its own, but not in each run."""
    for _ in range(4):
        if not (found := recoveries()):
            break
    return found


def test_frag_needed(routed):
    """R1191-01: a Linux router's report is honoured and costs no timeout."""

    def recoveries() -> int:
        lab, far = routed(1400)
        with far.serve(), Robot(lab) as robot:
            assert upload(robot) == 1400
            assert lab.counter("tcp_pmtu_lowered") == 1
            cost = lab.counter("tcp_timeouts") + lab.counter("tcp_fast_recoveries")
            assert upload(robot) == 1400  # known to the next connection
            assert lab.counter("tcp_pmtu_lowered") == 1
            return cost

    assert not in_time(recoveries)


def test_black_hole(routed):
    """R4821-01: the same router, but its ICMP errors get lost."""
    lab, far = routed(1400)
    far.router.run(["ip", "rule", "add", "pref", "1", "ipproto", "icmp", "blackhole"])
    with far.serve(), Robot(lab) as robot:
        assert 1064 <= upload(robot) <= 1400
        assert lab.counter("tcp_pmtu_lowered") == 0
        assert lab.counter("tcp_black_holes") >= 1


@pytest.mark.parametrize("active", [True, False], ids=["active", "passive"])
@pytest.mark.parametrize("ours", [0, 1, 2])
@pytest.mark.parametrize("theirs", [0, 1, 2])
def test_ecn_with_linux(lab_by_ecn, ours, theirs, active):
    """R3168-02: net.ipv4.tcp_ecn on either side: which side requests, which agrees."""
    lab = lab_by_ecn(ours)
    lab.client.run(["sysctl", "-qw", f"net.ipv4.tcp_ecn={theirs}"])
    with Robot(lab) as robot, Robot(lab, on_peer=True) as peer:
        client, server, ip = (robot, peer, lab.peer_ip) if active else (peer, robot, lab.ip)
        server.listen(ip, PORT)
        client("s = socket.create_connection((ip, port))", ip=ip, port=PORT)
        server.accept()
        for end, other in ((client, server), (server, client)):
            end("s.sendall(b'x' * 50000)")
            assert other("len(s.recv(50000, socket.MSG_WAITALL))") == 50000
        asks, grants = (ours, theirs) if active else (theirs, ours)
        on = asks == 1 and grants != 0
        expected = (TCPI_OPT_ECN | TCPI_OPT_ECN_SEEN) if on else 0
        for end in (client, server):
            # the TOE's record of a flow is not written at every segment
            proc.wait_until(
                lambda e=end: e(OPTIONS) & (TCPI_OPT_ECN | TCPI_OPT_ECN_SEEN) == expected,
                f"ECN flags {expected}",
            )
        for end in (client, server):
            end("s.close()")
        server("listener.close()")


def mark(ns, hook: str, every: int) -> None:
    """One of `every` ECN-capable packets gets Congestion Experienced."""
    ns.run(["nft", "add", "table", "ip", "marks"])
    ns.run(
        ["nft", "add", "chain", "ip", "marks", "ce", f"{{ type filter hook {hook} priority 0; }}"]
    )
    rule = f"ip ecn ect0 numgen inc mod {every} 0 counter ip ecn set ce"
    ns.run(["nft", "add", "rule", "ip", "marks", "ce", *rule.split()])


def marked(ns) -> int:
    words = ns.run(["nft", "list", "table", "ip", "marks"]).stdout.split()
    return int(words[words.index("packets") + 1])


@pytest.mark.parametrize("hook", ["prerouting", "postrouting"])
@pytest.mark.parametrize("cc", ["cubic", "dctcp"])
def test_marks(make_lab, cc, hook):
    """R3168-04, R3168-05: marks on what the TOE sends (prerouting) and on what it receives."""
    assert not in_time(lambda: marked_upload(make_lab, cc, hook))


def marked_upload(make_lab, cc: str, hook: str) -> int:
    """One transfer with marks, which are counted. Returns the TOE's retransmissions."""
    lab = make_lab(args=["--ecn", "1", "--congestion", cc])
    mark(lab.client, hook, 100 if hook == "prerouting" else 4)  # there: before segmentation
    with Robot(lab) as robot, Robot(lab, on_peer=True) as peer:
        peer.listen(lab.peer_ip, PORT)
        robot("s = socket.create_connection((ip, port))", ip=lab.peer_ip, port=PORT)
        peer.accept()
        a, b = (robot, peer) if hook == "prerouting" else (peer, robot)
        a.tell("s.sendall(b'x' * size)", size=SIZE)
        assert b("len(s.recv(size, socket.MSG_WAITALL))", size=SIZE) == SIZE
        a.result()
        n = marked(lab.client)
        assert n > 5
        if hook == "prerouting":
            assert lab.counter("tcp_ecn_echoes") >= 1
            assert 1 <= lab.counter("tcp_ecn_cuts") <= n
        else:
            assert lab.counter("tcp_ecn_ce") >= n
            said = lab.client.run(["nstat", "-asz", "TcpExtTCPDeliveredCE"]).stdout.split()
            assert int(said[said.index("TcpExtTCPDeliveredCE") + 1]) >= 1
        return lab.counter("tcp_retransmits")


@pytest.fixture(scope="module")
def lab_by_ecn():
    from tests.lab import lab as labs

    made = {}

    def make(ecn: int):
        if ecn not in made:
            made[ecn] = labs.Lab(args=["--ecn", ecn])
        return made[ecn]

    yield make
    for lab in made.values():
        lab.close()
