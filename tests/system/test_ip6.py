# SPDX-License-Identifier: Apache-2.0
"""IPv6 with real programs and a Linux peer: static addresses, autoconfiguration, both roles."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import time

import pytest

from tests.lab import lab as labs
from tests.lab import nginx, proc

OWN, PEER = "fd77::1", "fd77::2"
PEER_LOCAL = "fe80::2"
MB = 1_000_000


def wait_answers(lab: labs.Lab, address: str) -> None:
    """Until the address is the TOE's, duplicates looked for."""
    ping = ["ping", "-6", "-c", 1, "-W", 1, "-q", address]
    proc.wait_until(
        lambda: lab.client.run(ping, check=False).returncode == 0,
        f"{address} answers",
        proc=lab.toed.proc if lab.toed else None,
        timeout=20,
    )


def wait_usable(lab: labs.Lab, address: str) -> None:
    """Waits until a program may listen there: each engine runs duplicate address detection."""
    script = f"import socket; socket.create_server(({address!r}, 81), family=socket.AF_INET6)"
    proc.wait_until(
        lambda: lab.run([labs.PYTHON, "-c", script], check=False).returncode == 0,
        f"{address} may be listened on",
        proc=lab.toed.proc if lab.toed else None,
        timeout=20,
    )


def add_peer(lab: labs.Lab) -> None:
    """The Linux peer's addresses of IPv6; made by hand, for its link has no automatic ones."""
    for address in (f"{PEER}/64", f"{PEER_LOCAL}/64"):
        argv = ["ip", "-6", "address", "add", address, "dev", lab.pair.client_if, "nodad"]
        lab.client.run(argv)


def make(make_lab, *args: object, **options: object) -> labs.Lab:
    made = make_lab(args=["--ip6", f"{OWN}/64", *args], **options)
    add_peer(made)
    if labs.LINUX:
        argv = ["ip", "-6", "address", "add", f"{OWN}/64", "dev", made.pair.server_if, "nodad"]
        made.server.run(argv)
    wait_answers(made, OWN)
    if options.get("engines", 1) > 1:
        wait_usable(made, OWN)
    made.ip, made.peer_ip = OWN, PEER
    return made


@pytest.fixture(scope="module")
def shared():
    if os.geteuid() != 0:
        pytest.fail("these tests make network namespaces: run them as root (sudo)")
    with labs.Lab(args=["--ip6", f"{OWN}/64"]) as one:
        yield make(lambda **_options: one)


@pytest.fixture
def lab6(shared):
    yield shared
    if shared.toed:
        assert shared.toed.proc.poll() is None, f"toed has ended{shared.toed.proc.tail()}"
        shared.wait_idle()


@pytest.mark.parametrize("size", [0, 56, 1452, 1453, 4000, 60000])
def test_ping(lab6, size):
    lab6.client.ping(OWN, "-6", "-s", size)


@pytest.mark.toehold_only
def test_udp_is_refused(lab6):
    with lab6.client.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
        s.settimeout(proc.seconds(5))
        s.connect((OWN, 9))
        s.send(b"anyone?")
        with pytest.raises(ConnectionRefusedError):
            s.recv(1)


@pytest.mark.sanitize
@pytest.mark.parametrize("listen", [f"[{OWN}]:80", "[::]:80", "[::]:80 ipv6only=off"])
def test_nginx(lab6, tmp_path, listen):
    argv = nginx.configuration(tmp_path, listen)
    digest = nginx.make_file(tmp_path / "files/large", 50 * MB)
    with lab6.app(argv, port=80, require="::" not in listen):
        assert lab6.client.run(["curl", "-sS", f"http://[{OWN}]/hello"]).stdout == "hello\n"
        lab6.client.run(["curl", "-sS", "-o", tmp_path / "got", f"http://[{OWN}]/large"])
        assert hashlib.sha256((tmp_path / "got").read_bytes()).hexdigest() == digest
        if listen.endswith("off"):  # both families, one listener
            argv = ["curl", "-sS", f"http://{lab6.pair.server_ip}/hello"]
            assert lab6.client.run(argv).stdout == "hello\n"


@pytest.mark.sanitize
def test_curl(lab6, tmp_path):
    digest = nginx.make_file(tmp_path / "large", 50 * MB)
    more = 'location = /who { return 200 "$remote_addr"; }'
    with lab6.peer(nginx.configuration(tmp_path, f"[{PEER}]:80", more=more), port=80):
        out = lab6.run(["curl", "-sS", f"http://[{PEER}]/who", "-w", " %{local_ip}"]).stdout
        assert out == f"{OWN} {OWN}"
        lab6.run(["curl", "-sS", "-f", "-T", tmp_path / "large", f"http://[{PEER}]/up"])
    assert hashlib.sha256((tmp_path / "files/up").read_bytes()).hexdigest() == digest


@pytest.mark.parametrize("reverse", [False, True], ids=["receive", "send"])
def test_iperf3(lab6, reverse):
    with lab6.app(["iperf3", "-s", "-B", OWN, "--forceflush"], says="listening"):
        argv = ["iperf3", "-6", "-c", OWN, "-n", "100M", "-P", 4, "-J"] + (
            ["-R"] if reverse else []
        )
        result = json.loads(lab6.client.run(argv).stdout)
        assert result["end"]["sum_received"]["bytes"] > MB


def test_redis(lab6):
    argv = ["redis-server", "--bind", OWN, "--port", 6379, "--protected-mode", "no"]
    argv += ["--save", "", "--appendonly", "no", "--daemonize", "no"]
    with lab6.app(argv, port=6379):
        argv = ["redis-benchmark", "-h", OWN, "-n", 20000, "-c", 50, "-t", "set,get", "--csv"]
        out = lab6.client.run(argv, timeout=120).stdout
        assert '"SET"' in out and '"GET"' in out and "rror" not in out


NAMES = """
import socket, sys
own, peer = sys.argv[1:3]
s = socket.socket(socket.AF_INET6)
s.bind((own, 0))
s.connect((peer, 80))
print(s.getsockname()[:1] + s.getpeername()[:2])
"""


@pytest.mark.sanitize
def test_bound_address_and_names(lab6, tmp_path):
    with lab6.peer(nginx.configuration(tmp_path, f"[{PEER}]:80"), port=80):
        out = lab6.run([labs.PYTHON, "-c", NAMES, OWN, PEER]).stdout
        assert out == f"('{OWN}', '{PEER}', 80)\n"


FAST = """
import socket, sys
own, peer = sys.argv[1:]
for _ in range(3):
    with socket.socket(socket.AF_INET6) as s:
        s.setsockopt(socket.IPPROTO_TCP, 34, 1)  # TCP_FASTOPEN_NO_COOKIE
        s.sendto(b"GET / HTTP/1.0\\r\\n\\r\\n", socket.MSG_FASTOPEN, (peer, 80))
        assert s.recv(5) == b"HTTP/"
        print(s.getsockname()[:1] + s.getpeername()[:2])
"""


@pytest.mark.sanitize
def test_names_after_fast_open(lab6, tmp_path):
    with lab6.peer(nginx.configuration(tmp_path, f"[{PEER}]:80"), port=80):
        out = lab6.run([labs.PYTHON, "-c", FAST, OWN, PEER]).stdout
        assert out == f"('{OWN}', '{PEER}', 80)\n" * 3


OPENING = """
import select, socket, sys
own, peer = sys.argv[1:]
s = socket.socket(socket.AF_INET6)
s.setblocking(False)
s.connect_ex((peer, 80))
name = s.getsockname()
print(name[0], name[1] != 0)
select.select([], [s], [])
assert s.getsockname() == name
s = socket.socket(socket.AF_INET6)
s.connect_ex((peer, 81))
name = s.getsockname()
print(name[0], name[1] != 0)
"""


def test_names_while_connecting_and_after_a_refusal(lab6, tmp_path):
    with lab6.peer(nginx.configuration(tmp_path, f"[{PEER}]:80"), port=80):
        out = lab6.run([labs.PYTHON, "-c", OPENING, OWN, PEER]).stdout
        assert out == f"{OWN} True\n:: True\n"


def test_refused(lab6):
    done = lab6.run(["curl", "-sS", f"http://[{PEER}]:81/"], check=False)
    assert done.returncode == 7  # REFUSED


@pytest.mark.toehold_only
def test_nobody_there(lab6):
    """RFC 4861 7.2.2: three solicitations, then unreachable."""
    begin = time.monotonic()
    argv = ["curl", "-sS", "--connect-timeout", 90, "http://[fd77::99]/"]
    done = lab6.run(argv, check=False)
    assert done.returncode == 7  # not 28: curl's own limit
    assert time.monotonic() - begin > 2


@pytest.mark.toehold_only
@pytest.mark.parametrize("network", ["loss=5", "loss=5,reorder=5,duplicate=5,corrupt=1"])
def test_bad_network(make_lab, tmp_path, network):
    lab = make(make_lab, impair=f"{network},seed={labs.SEED}")
    digest = nginx.make_file(tmp_path / "large", 5 * MB)
    with lab.app(nginx.configuration(tmp_path, f"[{OWN}]:80"), port=80):
        url = f"http://[{OWN}]/up"
        lab.client.run(["curl", "-sS", "-f", "-T", tmp_path / "large", url], timeout=120)
        lab.client.run(["curl", "-sS", "-o", tmp_path / "got", url], timeout=120)
    for name in ("files/up", "got"):
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest


def interface_of(lab: labs.Lab) -> str:
    """The scope of the side under test: the part after % in its link-local addresses."""
    return lab.pair.tap_if or lab.pair.server_if


def own_local(lab: labs.Lab) -> str:
    """The link-local address of the side under test."""
    if labs.LINUX:
        argv = ["ip", "-6", "address", "add", "fe80::1/64", "dev", interface_of(lab), "nodad"]
        lab.server.run(argv, check=False)
        return "fe80::1"

    def usable() -> list[str]:
        own = lab.toed.stats()["engines"][0]["ip6"]
        return [a[: -len("/64")] for a in own if a.startswith("fe80:") and a.endswith("/64")]

    proc.wait_until(usable, "a link-local address, known to be unique", proc=lab.toed.proc)
    return usable()[0]


LOCAL = """
import socket, sys
own, peer, interface, bind = sys.argv[1:5]
scope = socket.if_nametoindex(interface)
s = socket.socket(socket.AF_INET6)
s.settimeout(60)
if bind == "bind":
    s.bind((own, 0, 0, scope))
    assert s.getsockname()[3] == scope
    s.connect((peer, 80))  # the interface is known already
else:
    s.connect((peer, 80, 0, scope))
assert s.getsockname()[0] == own and s.getsockname()[3] == scope, s.getsockname()
assert s.getpeername() == (peer, 80, 0, scope), s.getpeername()
s.sendall(b"GET /hello HTTP/1.0\\r\\n\\r\\n")
data = b""
while part := s.recv(4096):
    data += part
assert data.endswith(b"hello\\n"), data
print("done")
"""

LISTENS = """
import socket, sys
own, interface = sys.argv[1:3]
scope = socket.if_nametoindex(interface)
l = socket.socket(socket.AF_INET6)
l.bind((own, 8080, 0, scope))
l.listen(5)
assert l.getsockname() == (own, 8080, 0, scope), l.getsockname()
print("listens", flush=True)
s, name = l.accept()
assert s.getsockname() == (own, 8080, 0, scope), s.getsockname()
assert name[0] == s.getpeername()[0] == "fe80::2" and name[3] == scope, name
s.sendall(s.recv(100).upper())
"""


@pytest.mark.sanitize
@pytest.mark.parametrize("bind", ["bind", "unbound"])
def test_link_local_to_the_peer(lab6, tmp_path, bind):
    """RFC 4007 11: fe80::2%interface; the interface may come from bind() too."""
    own, interface = own_local(lab6), interface_of(lab6)
    flows = lab6.counter("tcp_established")
    argv = [labs.PYTHON, "-c", LOCAL, own, PEER_LOCAL, interface, bind]
    # nginx takes no scope in "listen": any address, reached by the link-local one
    peer = nginx.configuration(tmp_path, "[::]:80")
    with lab6.peer(peer) as web:
        proc.wait_port(lab6.client, PEER, 80, proc=web, timeout=20)
        assert lab6.run(argv).stdout == "done\n"
        url = f"http://[{PEER_LOCAL}%25{interface}]/hello"
        assert lab6.run(["curl", "-sS", url]).stdout == "hello\n"
    assert labs.LINUX or lab6.counter("tcp_established") == flows + 2


@pytest.mark.sanitize
def test_link_local_from_the_peer(lab6):
    own, scope = own_local(lab6), lab6.pair.client_if
    argv = [labs.PYTHON, "-u", "-c", LISTENS, own, interface_of(lab6)]
    with lab6.app(argv, says="listens") as server:
        ask = f"exec 3<>/dev/tcp/{own}%{scope}/8080; echo -n word >&3; cat <&3"
        assert lab6.client.run(["bash", "-c", ask], timeout=20).stdout == "WORD"
        proc.wait_until(lambda: server.poll() is not None, "the server has ended", timeout=10)
        assert server.poll() == 0, server.tail()


@pytest.mark.toehold_only
def test_link_local_of_other_interfaces_stays_with_the_kernel(lab6):
    script = """
import errno, socket
s = socket.socket(socket.AF_INET6)
for scope, why in ((0, errno.EINVAL), (socket.if_nametoindex("lo"), errno.ENETUNREACH)):
    try:
        s.connect(("fe80::2", 80, 0, scope))
    except OSError as e:
        assert e.errno in (why, errno.EADDRNOTAVAIL), e
    else:
        raise SystemExit("connected")
print("refused")
"""
    opens = lab6.counter("tcp_established")
    assert lab6.run([labs.PYTHON, "-c", script]).stdout == "refused\n"
    assert lab6.counter("tcp_established") == opens


@pytest.mark.toehold_only
def test_tap(make_lab, tmp_path):
    """Both roles over a TAP device behind a bridge, its link-local address included."""
    lab = make(make_lab, mode="tap")
    argv = nginx.configuration(tmp_path, "[::]:80")
    digest = nginx.make_file(tmp_path / "files/large", 10 * MB)
    with lab.app(argv, port=80, require=False):
        for address in (OWN, f"{own_local(lab)}%25{lab.pair.client_if}"):
            lab.client.run(["curl", "-sS", "-o", tmp_path / "got", f"http://[{address}]/large"])
            assert hashlib.sha256((tmp_path / "got").read_bytes()).hexdigest() == digest
    with lab.peer(nginx.configuration(tmp_path, "[::]:80")) as web:
        proc.wait_port(lab.client, PEER, 80, proc=web, timeout=20)
        for address in (PEER, f"{PEER_LOCAL}%25{lab.pair.tap_if}"):
            assert lab.run(["curl", "-sS", f"http://[{address}]/hello"]).stdout == "hello\n"
    assert lab.toed.netif == "tap:tap0"


@pytest.mark.toehold_only
def test_several_engines(make_lab, tmp_path):
    lab = make(make_lab, engines=2)
    with lab.app(nginx.configuration(tmp_path, f"[{OWN}]:80", workers=2), port=80) as server:
        # Connections that the master accepted before its workers existed are reset.
        proc.wait_until(
            lambda: len(server.children()) == 2 and set(server.children()) <= lab.listening(),
            "nginx's workers listen",
            proc=server,
        )
        for _ in range(20):
            assert lab.client.run(["curl", "-sS", f"http://[{OWN}]/hello"]).stdout == "hello\n"
    with lab.peer(nginx.configuration(tmp_path, f"[{PEER}]:80"), port=80):
        out = lab.run(["curl", "-sS", f"http://[{PEER}]/hello?[1-20]"]).stdout
        assert out == "hello\n" * 20


RADVD = """
interface {interface} {{
    AdvSendAdvert on;
    MinRtrAdvInterval 3;
    MaxRtrAdvInterval 4;
    AdvLinkMTU 1400;
    prefix fd88::/64 {{ AdvOnLink on; AdvAutonomous on; }};
}};
"""


@pytest.mark.toehold_only
def test_autoconfiguration(make_lab, tmp_path):
    """Addresses, router and MTU from a real radvd; off-link hosts are reached through it."""
    lab = make_lab(args=["--ip6-auto"])
    add_peer(lab)
    interface = lab.pair.client_if
    for setting in ("net.ipv6.conf.all.forwarding=1", f"net.ipv6.conf.{interface}.forwarding=1"):
        lab.client.run(["sysctl", "-qw", setting])
    lab.client.run(["ip", "-6", "address", "add", "fd88::2/64", "dev", interface, "nodad"])
    lab.client.run(["ip", "-6", "address", "add", "fd99::1/128", "dev", "lo"])
    config = tmp_path / "radvd.conf"
    config.write_text(RADVD.format(interface=interface))
    argv = ["radvd", "-n", "-C", config, "-p", tmp_path / "pid", "-m", "stderr"]
    with lab.client.start(argv, name="radvd"):

        def address() -> str | None:
            own = lab.toed.stats()["engines"][0]["ip6"]
            made = [a for a in own if a.startswith("fd88:") and a.endswith("/64")]
            return made[0].split("/")[0] if made else None

        proc.wait_until(lambda: address() is not None, "an address by SLAAC", timeout=20)
        own = address()
        wait_answers(lab, own)
        with lab.app(nginx.configuration(tmp_path, f"[{own}]:80"), port=None) as server:
            proc.wait_port(lab.client, own, 80, proc=server, timeout=20)
            assert lab.client.run(["curl", "-sS", f"http://[{own}]/hello"]).stdout == "hello\n"
        with lab.peer(nginx.configuration(tmp_path, "[fd99::1]:80")) as web:
            proc.wait_port(lab.client, "fd99::1", 80, proc=web, timeout=20)
            out = lab.run(["curl", "-sS", "http://[fd99::1]/hello", "-w", "%{local_ip}"]).stdout
            assert out == f"hello\n{own}"
