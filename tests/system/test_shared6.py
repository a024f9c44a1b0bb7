# SPDX-License-Identifier: Apache-2.0
"""IPv6 addresses that toed shares with the kernel; test_shared.py has the common tests, over IPv4.

The kernel's programs here are sockets of this test in the server's namespace.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import signal
import socket
import threading

import pytest
from test_shared import echo_stream, exchange, has_xdp
from test_upgrade import resets

from tests.lab import lab as labs
from tests.lab import nginx, proc, ssh
from tests.lab.robot import PORT, Robot

MB = 1_000_000
KERNEL_PORT = 2222
OWN, SECOND, PEER = "fd77::1", "fd77::3", "fd77::2"
OWN_LOCAL, PEER_LOCAL = "fe80::1", "fe80::2"

pytestmark = pytest.mark.toehold_only


def change(ns, what: str, address: str, interface: str, *how: str) -> None:
    ns.run(["ip", "-6", "address", what, address, "dev", interface, *how])


def make(make_lab, **options):
    """A lab with IPv6 addresses set by hand: its link has no automatic ones."""
    lab = make_lab(shared=True, **options)
    with_addresses(lab)
    return lab


def with_addresses(lab) -> None:
    for address in (OWN, SECOND, OWN_LOCAL):
        change(lab.server, "add", f"{address}/64", lab.pair.server_if, "nodad")
    for address in (PEER, PEER_LOCAL):
        change(lab.client, "add", f"{address}/64", lab.pair.client_if, "nodad")


@pytest.fixture(scope="module")
def _shared_lab():
    with labs.Lab(shared=True) as lab:
        with_addresses(lab)
        yield lab


def kernel_socket(lab, at: str, port: int, *, reuse=False, kind=socket.SOCK_STREAM):
    """One of the server's kernel."""
    s = lab.server.socket(socket.AF_INET6, kind)
    try:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
        s.bind((at, port))
    except BaseException:
        s.close()
        raise
    s.settimeout(proc.seconds(20))
    return s


def connect(lab, at: str = OWN, port: int = PORT, timeout: float = 20) -> socket.socket:
    s = lab.client.socket(socket.AF_INET6)
    s.settimeout(timeout)
    try:
        s.connect((at, port, 0, link(lab.client, lab.pair.client_if) if at[:4] == "fe80" else 0))
    except BaseException:
        s.close()
        raise
    return s


def link(ns, interface: str) -> int:
    with ns.entered():
        return socket.if_nametoindex(interface)


def listen(robot, at: str = OWN, port: int = PORT, *, only6=True, scope: int = 0) -> None:
    robot("listener = socket.socket(socket.AF_INET6)")
    robot("listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)")
    robot("listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, v)", v=int(only6))
    robot("listener.bind(at); listener.listen()", at=(at, port, 0, scope))


def served_by_the_toe(lab, robot, at: str = OWN, port: int = PORT) -> None:
    """A connection from the peer, its bytes both ways."""
    before = lab.counter("tcp_rx")
    with connect(lab, at, port) as s:
        robot.accept()
        s.sendall(b"there")
        assert robot("s.recv(10)") == b"there"
        robot("s.sendall(b'back')")
        assert s.recv(10) == b"back"
        robot("s.close()")
    assert lab.counter("tcp_rx") > before, "the TOE has served it"


@pytest.fixture
def peer_listener6(lab):
    with lab.client.socket(socket.AF_INET6) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("::", PORT))
        s.listen()
        s.settimeout(proc.seconds(20))
        yield s


# ---- both on one address


@pytest.mark.sanitize
@pytest.mark.parametrize("at", [OWN, "::"])
def test_served_by_the_toe(lab, robot, at):
    listen(robot, at)
    served_by_the_toe(lab, robot)
    robot("listener.close()")


def test_one_listener_for_both_families(lab, robot):
    listen(robot, "::", only6=False)
    served_by_the_toe(lab, robot)
    before = lab.counter("tcp_rx")
    with lab.connect(PORT):
        robot.accept()
        robot("s.close()")
    assert lab.counter("tcp_rx") > before
    with lab.server.socket(socket.AF_INET6) as s:  # from local programs, by its kernel half
        s.connect(("::1", PORT))
        robot.accept()
        robot("s.close()")
    robot("listener.close()")


def test_from_this_very_host(lab, robot):
    listen(robot)
    with lab.server.socket(socket.AF_INET6) as s:
        s.settimeout(proc.seconds(20))
        s.connect((OWN, PORT))
        robot("s, _ = listener.accept(); s.sendall(b'hello'); s.close()")
        assert s.recv(10) == b"hello"
    robot("listener.close()")


def test_100_mb_both_ways(make_lab):
    lab = make(make_lab)
    args = [PORT, 100 * MB, labs.SEED]
    with lab.script("transfer.py", "serve", OWN, *args, port=None, says="ready"):
        peer = lab.peer_script("transfer.py", "client", OWN, *args)
        assert peer.wait(240) == 0, peer.tail()
    with lab.peer_script("transfer.py", "serve", PEER, *args, says="ready"):
        own = lab.script("transfer.py", "client", PEER, *args)
        assert own.wait(240) == 0, own.tail()
    assert lab.counter("tcp_rx") > 1000, "the TOE has carried it"


@pytest.mark.sanitize
def test_nginx_beside_the_kernel(lab, tmp_path):
    """SSH, ping and UDP continue; so does the kernel's TCP at another port."""
    sshd = lab.server.start(ssh.server(tmp_path, OWN), name="sshd")
    argv = nginx.configuration(tmp_path, f"[{OWN}]:80")
    digest = nginx.make_file(tmp_path / "files/large", 20 * MB)
    with (
        sshd,
        lab.app(argv) as web,
        kernel_socket(lab, "::", KERNEL_PORT, reuse=True) as listener,
        kernel_socket(lab, "::", KERNEL_PORT, kind=socket.SOCK_DGRAM) as datagrams,
        lab.client.socket(socket.AF_INET6, socket.SOCK_DGRAM) as udp,
    ):
        listener.listen()
        thread = threading.Thread(target=echo_stream, args=[listener], daemon=True)
        thread.start()
        udp.settimeout(proc.seconds(20))
        proc.wait_port(lab.client, OWN, ssh.PORT, proc=sshd)
        proc.wait_port(lab.client, OWN, 80, proc=web)
        before = lab.counter("tcp_rx")
        url = f"http://[{OWN}]/hello"
        with (
            ssh.Session(lab.client, ssh.client(tmp_path, OWN, "sh")) as session,
            connect(lab, port=KERNEL_PORT) as stream,
        ):
            wrk = lab.client.start(["wrk", "-t1", "-c16", "-d900s", *nginx.PATIENT, url])
            with wrk:
                for rounds in range(10):
                    assert session(f"echo $(({rounds} * 7))") == str(rounds * 7)
                    exchange(stream, b"still here")
                    udp.sendto(b"and here", (OWN, KERNEL_PORT))
                    data, who = datagrams.recvfrom(100)
                    datagrams.sendto(data, who)
                    assert udp.recv(100) == b"and here"
                    lab.client.ping(OWN, "-6", count=1)

                def ended() -> bool:  # a signal just before it sleeps is not enough
                    wrk.send_signal(signal.SIGINT)
                    return wrk.poll() is not None

                proc.wait_until(ended, "wrk ends")
                said = wrk.text()
            assert session.end() == 0
        thread.join(20)
        lab.client.run(["curl", "-sS", "-f", "-o", tmp_path / "got", f"http://[{OWN}]/large"])
    assert "requests in" in said, said
    assert "Socket errors" not in said, said
    assert "Non-2xx" not in said, said
    assert hashlib.sha256((tmp_path / "got").read_bytes()).hexdigest() == digest
    assert lab.counter("tcp_rx") - before > 100, "the TOE has served it"


# ---- connections from here


def test_active_open(lab, robot, peer_listener6):
    before = lab.counter("tcp_rx")
    robot("s = socket.create_connection(at)", at=(PEER, PORT))
    peer, who = peer_listener6.accept()
    with peer:
        peer.settimeout(proc.seconds(20))
        assert who[:2] == tuple(robot("s.getsockname()[:2]"))
        assert who[0] in (OWN, SECOND)
        robot("s.sendall(b'hello')")
        assert peer.recv(10) == b"hello"
        with pytest.raises(OSError, match="in use"):
            kernel_socket(lab, "::", who[1]).close()
        robot("s.close()")
    assert lab.counter("tcp_rx") > before


def test_from_an_address_and_port_that_bind_chose(lab, robot, peer_listener6):
    before = lab.counter("tcp_rx")
    robot("s = socket.socket(socket.AF_INET6); s.bind((own, 0))", own=SECOND)
    port = robot("s.getsockname()[1]")
    robot("s.connect(at)", at=(PEER, PORT))
    with peer_listener6.accept()[0] as peer:
        assert peer.getpeername()[:2] == (SECOND, port)
        robot("s.close()")
    assert lab.counter("tcp_rx") > before


def test_absent_neighbour(lab, robot):
    with pytest.raises(OSError, match="No route to host"):
        robot("socket.create_connection(at)", at=("fd77::99", PORT))


def test_to_a_service_of_this_very_host(lab, robot):
    with kernel_socket(lab, OWN, KERNEL_PORT, reuse=True) as listener:
        listener.listen()
        before = lab.counter("tcp_tx")
        robot(
            "s = socket.create_connection(at); s.sendall(b'hello'); s.close()",
            at=(OWN, KERNEL_PORT),
        )
        with listener.accept()[0] as s:
            assert s.recv(10) == b"hello"
        assert lab.counter("tcp_tx") == before


# ---- ports: of each family, at each address


def test_a_port_of_the_toe_is_taken_for_the_kernel(lab, robot):
    listen(robot)
    for at in (OWN, "::"):
        for reuse in (False, True):
            with (
                pytest.raises(OSError, match="in use"),
                kernel_socket(lab, at, PORT, reuse=reuse) as s,
            ):
                s.listen()
    robot("listener.close()")
    proc.wait_until(lambda: lab.usage("listeners") == 0, "the listener is gone")
    with kernel_socket(lab, OWN, PORT, reuse=True) as s:
        s.listen()
        with connect(lab) as peer:
            s.accept()[0].close()
            assert peer.recv(1) == b""


def test_a_port_of_the_kernel_is_taken_for_the_toe(lab, robot):
    with kernel_socket(lab, "::", PORT, reuse=True) as s:
        s.listen()
        for at in (OWN, "::"):
            with pytest.raises(OSError, match="in use"):
                listen(robot, at)


def test_the_same_port_of_the_other_family_is_the_kernels(lab, robot):
    listen(robot)
    s4 = lab.server.socket()
    with s4:
        s4.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s4.bind((lab.ip, PORT))
        s4.listen()
        s4.settimeout(proc.seconds(20))
        with lab.connect(PORT) as peer:
            with s4.accept()[0] as s:
                s.sendall(b"kernel")
            assert peer.recv(10) == b"kernel"
        served_by_the_toe(lab, robot)
    robot("listener.close()")


def test_the_same_port_at_another_address_is_the_kernels(lab, robot):
    """In any order: each has its own address."""
    listen(robot, OWN)
    with kernel_socket(lab, SECOND, PORT, reuse=True) as other:
        other.listen()
        with connect(lab, SECOND) as peer:
            with other.accept()[0] as s:
                s.sendall(b"kernel")
            assert peer.recv(10) == b"kernel"
        served_by_the_toe(lab, robot)
    robot("listener.close()")


def test_the_kernel_takes_a_port_over_while_connections_last(lab, robot):
    listen(robot)
    with connect(lab) as old:
        robot.accept()
        robot("listener.close()")
        proc.wait_until(lambda: lab.usage("listeners") == 0, "the listener is gone")
        with kernel_socket(lab, OWN, PORT, reuse=True) as listener:
            listener.listen()
            with connect(lab) as new, listener.accept()[0] as s:
                new.sendall(b"new")
                assert s.recv(10) == b"new"
                old.sendall(b"old")
                assert robot("s.recv(10)") == b"old"
        robot("s.close()")


# ---- what the kernel reports


def test_link_local(lab, robot):
    index = link(lab.server, lab.pair.server_if)
    listen(robot, OWN_LOCAL, scope=index)
    served_by_the_toe(lab, robot, OWN_LOCAL)
    robot("listener.close()")


def test_neighbours_are_the_kernels(lab, robot):
    """The peer changes its Ethernet address; the kernel learns it."""
    listen(robot)
    address = lab.client.run(["cat", f"/sys/class/net/{lab.pair.client_if}/address"]).stdout.strip()
    interface = lab.pair.client_if
    with connect(lab) as s:
        robot.accept()
        try:
            lab.client.run(["ip", "link", "set", interface, "address", "02:00:00:00:77:99"])
            lab.client.run(["ping", "-6", "-c2", "-i0.3", "-W5", OWN], check=False)
            robot("s.sendall(b'there')")
            assert s.recv(10) == b"there"
        finally:
            lab.client.run(["ip", "link", "set", interface, "address", address])
            lab.client.run(["ping", "-6", "-c2", "-i0.3", "-W5", OWN], check=False)
        s.sendall(b"back")
        assert robot("s.recv(10)") == b"back"
        robot("s.close()")
    robot("listener.close()")


@contextlib.contextmanager
def far(lab, address: str):
    """The peer has this additional address, reached through its other one."""
    lab.client.run(["ip", "-6", "address", "add", f"{address}/128", "dev", "lo"])
    try:
        yield
    finally:
        lab.client.run(["ip", "-6", "address", "del", f"{address}/128", "dev", "lo"])


@pytest.mark.parametrize("via", [PEER, PEER_LOCAL])
def test_routes_are_the_kernels(lab, robot, peer_listener6, via):
    interface = lab.pair.server_if
    with far(lab, "2001:db8::1"):
        with pytest.raises(OSError, match="Network is unreachable"):
            robot("socket.create_connection(at)", at=("2001:db8::1", PORT))
        route = ["2001:db8::/32", "via", via, "dev", interface]
        lab.server.run(["ip", "-6", "route", "add", *route])
        try:
            before = lab.counter("tcp_rx")
            robot("s = socket.create_connection(at, timeout=20)", at=("2001:db8::1", PORT))
            with peer_listener6.accept()[0] as s:
                robot("s.sendall(b'hello')")
                assert s.recv(10) == b"hello"
                robot("s.close()")
            assert lab.counter("tcp_rx") > before
        finally:
            lab.server.run(["ip", "-6", "route", "del", *route])
        with pytest.raises(OSError, match="Network is unreachable"):
            robot("socket.create_connection(at)", at=("2001:db8::1", PORT))


def test_errors_about_connections_of_the_toe(lab, robot):
    """ICMPv6 errors about packets that the kernel has not sent: the TOE gets them."""
    before = lab.counter("icmp_error_rx")
    lab.client.run(["sysctl", "-qw", "net.ipv6.conf.all.forwarding=1"])
    lab.client.run(["ip", "-6", "route", "add", "unreachable", "2001:db8:1::/48"])
    lab.server.run(["ip", "-6", "route", "add", "2001:db8:1::/48", "via", PEER])
    try:
        robot("s = socket.socket(socket.AF_INET6); s.setblocking(False)")
        assert robot("s.connect_ex(at)", at=("2001:db8:1::1", PORT)) == errno.EINPROGRESS
        proc.wait_until(lambda: lab.counter("icmp_error_rx") > before, "the TOE gets them")
        robot("s.close()")
    finally:
        lab.server.run(["ip", "-6", "route", "del", "2001:db8:1::/48", "via", PEER])
        lab.client.run(["ip", "-6", "route", "del", "unreachable", "2001:db8:1::/48"])


@pytest.mark.sanitize
def test_an_address_comes_and_goes(make_lab):
    """Connections to it end; those to the others do not notice."""
    lab = make(make_lab)
    interface = lab.pair.server_if
    with Robot(lab) as robot:
        listen(robot, "::")
        with connect(lab, OWN) as stays, connect(lab, SECOND) as goes:
            robot.accept("one")
            robot.accept("two")
            change(lab.server, "del", f"{SECOND}/64", interface)
            with pytest.raises(ConnectionResetError):
                goes.recv(1)
            stays.sendall(b"on")
            assert (
                robot("one.recv(10) if one.getsockname()[0] == own else two.recv(10)", own=OWN)
                == b"on"
            )
        change(lab.server, "add", "fd77::4/64", interface, "nodad")

        def answers() -> bool:
            with contextlib.suppress(OSError), connect(lab, "fd77::4", timeout=1):
                return True
            return False

        before = lab.counter("tcp_rx")
        proc.wait_until(lambda: answers() and lab.counter("tcp_rx") > before, "the TOE serves it")


def test_not_before_duplicates_are_looked_for(make_lab):
    """An address that another host has stays unused (RFC 4862 5.4)."""
    lab = make(make_lab)
    change(lab.client, "add", "fd77::5/64", lab.pair.client_if, "nodad")
    change(lab.server, "add", "fd77::5/64", lab.pair.server_if)
    show = ["ip", "-6", "address", "show", "dev", lab.pair.server_if]
    proc.wait_until(lambda: "dadfailed" in lab.server.run(show).stdout, "it is a duplicate")
    with Robot(lab) as robot:
        listen(robot, "::")
        served_by_the_toe(lab, robot)
        with lab.client.socket(socket.AF_INET6) as s, pytest.raises(ConnectionRefusedError):
            s.connect(("fd77::5", PORT))  # the peer's own


def test_a_deprecated_address(make_lab, request):
    """Not for new connections from here, and served all the same (RFC 4862 5.5.4)."""
    lab = make(make_lab)
    change(lab.server, "change", f"{OWN}/64", lab.pair.server_if, "preferred_lft", "0")
    with Robot(lab) as robot, lab.client.socket(socket.AF_INET6) as listener:
        listener.bind(("::", PORT))
        listener.listen()
        listener.settimeout(proc.seconds(20))
        robot("s = socket.create_connection(at)", at=(PEER, PORT))
        peer, who = listener.accept()
        with peer:
            assert who[0] == SECOND
            robot("s.close()")
        listen(robot, OWN, PORT + 1)
        served_by_the_toe(lab, robot, OWN, PORT + 1)


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_nothing_is_left(make_lab, how):
    """However toed ends, the kernel gets all traffic again."""
    lab = make(make_lab)
    with Robot(lab) as robot:
        listen(robot)
        served_by_the_toe(lab, robot)
        assert has_xdp(lab)
        getattr(lab.toed, how)()
    proc.wait_until(lambda: not has_xdp(lab), "the program has left")
    lab.client.run(["ping", "-6", "-c1", "-W10", OWN])
    with kernel_socket(lab, OWN, PORT, reuse=True) as listener:
        listener.listen()
        with connect(lab):
            listener.accept()[0].close()
    lab.toed.start()
    with Robot(lab) as robot:
        listen(robot, port=PORT + 1)
        served_by_the_toe(lab, robot, port=PORT + 1)


def test_another_toed_takes_over(make_lab):
    """Connections survive, and so do listeners at one address and at all of them."""
    lab = make(make_lab)
    with Robot(lab) as robot:
        listen(robot, SECOND, PORT + 1)
        before = resets(lab)
        ends = [
            end
            for port in range(PORT + 2, PORT + 6)
            for end in (
                lab.script("transfer.py", "serve", OWN, port, 40 * MB, labs.SEED, says="ready"),
                lab.peer_script("transfer.py", "client", OWN, port, 40 * MB, labs.SEED),
            )
        ]
        for _ in range(3):
            assert "taken over from pid" in lab.toed.take_over()
            served_by_the_toe(lab, robot, SECOND, PORT + 1)
            # (Not later: the kernel answers duplicates that arrive after the connection has ended.)
            assert resets(lab) == before, "the kernel gets no frames while no toed receives them"
        for end in ends:
            assert end.wait(120) == 0, end.tail()
        with kernel_socket(lab, OWN, PORT + 1, reuse=True) as other:
            other.listen()
            with connect(lab, OWN, PORT + 1):
                other.accept()[0].close()


def test_extension_headers_are_the_kernels(lab, robot):
    """Packets that the XDP program cannot parse: TCP after options goes to the kernel half."""
    listen(robot, "::")
    before = lab.counter("tcp_rx")
    with lab.client.socket(socket.AF_INET6) as s:
        s.settimeout(proc.seconds(20))
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_DSTOPTS, bytes([0, 0, 1, 4, 0, 0, 0, 0]))
        s.connect((OWN, PORT))
        robot.accept()
        s.sendall(b"hello")
        assert robot("s.recv(10)") == b"hello"
        robot("s.close()")
    assert lab.counter("tcp_rx") == before
    robot("listener.close()")
