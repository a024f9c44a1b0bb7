# SPDX-License-Identifier: Apache-2.0
"""An address that toed shares with the kernel: each gets its own traffic, whatever the other does.

The kernel's programs here are sockets of this test in the server's namespace.
"""

from __future__ import annotations

import contextlib
import errno
import re
import signal
import socket
import struct
import threading
import time

import pytest

from tests.lab import lab as labs
from tests.lab import nginx, paths, proc, ssh
from tests.lab.robot import PORT, Robot

MB = 1_000_000
CONFIGURATION = 3
KERNEL_PORT = 2222  # a service of the kernel's, as SSH is

pytestmark = pytest.mark.toehold_only


@pytest.fixture(scope="module")
def _shared_lab():
    with labs.Lab(shared=True) as lab:
        yield lab


def kernel_socket(lab, port: int, *, reuse: bool = False, kind=socket.SOCK_STREAM):
    """One of the server's kernel, bound to the shared address."""
    s = lab.server.socket(kind=kind)
    try:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, reuse)
        s.bind((lab.ip, port))
    except BaseException:
        s.close()
        raise
    s.settimeout(proc.seconds(20))
    return s


def echo_stream(listener):
    """Serves one connection to its end."""
    s, _ = listener.accept()
    with s:
        s.settimeout(proc.seconds(60))
        while data := s.recv(65536):
            s.sendall(data)


def echo_datagrams(s):
    with contextlib.suppress(OSError):
        while True:
            data, peer = s.recvfrom(2048)
            s.sendto(data, peer)


def raw_socket(lab):
    with lab.client.entered():
        return socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)


def ping(lab):
    lab.client.ping(lab.ip, count=1)


def exchange(s, text: bytes):
    s.sendall(text)
    assert s.recv(100) == text


# ---- both on one address


@pytest.mark.sanitize
def test_the_kernel_goes_on_under_load(lab, tmp_path):
    """A session like SSH's, ping and UDP stay alive while nginx on the TOE is loaded."""
    with (
        kernel_socket(lab, KERNEL_PORT, reuse=True) as listener,
        kernel_socket(lab, KERNEL_PORT, kind=socket.SOCK_DGRAM) as datagrams,
        lab.client.socket(kind=socket.SOCK_DGRAM) as udp,
    ):
        listener.listen()
        threads = [threading.Thread(target=echo_stream, args=[listener], daemon=True)]
        threads.append(threading.Thread(target=echo_datagrams, args=[datagrams], daemon=True))
        for t in threads:
            t.start()
        udp.settimeout(proc.seconds(20))
        with nginx.start(lab, tmp_path), lab.connect(KERNEL_PORT) as session:
            before = lab.counter("tcp_rx")
            url = f"http://{lab.ip}/hello"
            with lab.client.start(["wrk", "-t1", "-c32", "-d3s", *nginx.PATIENT, url]) as wrk:
                rounds = 0
                while wrk.poll() is None:
                    exchange(session, b"still here")
                    udp.sendto(b"and here", (lab.ip, KERNEL_PORT))
                    assert udp.recv(100) == b"and here"
                    ping(lab)
                    rounds += 1
                said = wrk.text()
            assert rounds > 1
            assert "Socket errors" not in said, said
            assert "Non-2xx" not in said, said
            assert lab.counter("tcp_rx") - before > 100, "the TOE has served it"
        threads[0].join(20)
        with contextlib.suppress(OSError):  # it is not connected, and wakes the thread all the same
            datagrams.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def tracked(lab):
    """The server's kernel keeps track of connections; its entries for a TCP port, and the number of
    its packets that netfilter has seen."""
    hooks = "".join(
        f"add chain ip seen {hook} {{ type filter hook {hook} priority 0; }}; "
        f"add rule ip seen {hook} ct state new; add rule ip seen {hook} tcp {end} 80 counter; "
        for hook, end in (("input", "dport"), ("output", "sport"))
    )
    lab.server.run(["nft", f"add table ip seen; {hooks}"])

    def told(port: int) -> tuple[int, int]:
        known = lab.server.run(["conntrack", "-L", "-p", "tcp", "--dport", port]).stdout
        rules = lab.server.run(["nft", "list", "table", "ip", "seen"]).stdout
        return known.count("tcp"), sum(map(int, re.findall(r"counter packets (\d+)", rules)))

    yield told
    lab.server.run(["nft", "delete table ip seen"])


def test_ssh_and_ping_while_nginx_is_loaded(lab, tmp_path, tracked):
    """sshd is the kernel's, nginx the TOE's, at one address: which netfilter never sees."""
    sshd = lab.server.start(ssh.server(tmp_path, lab.ip), name="sshd")
    with sshd, nginx.start(lab, tmp_path, workers=2):
        proc.wait_port(lab.client, lab.ip, ssh.PORT, proc=sshd)
        before = lab.counter("tcp_rx")
        argv = ssh.client(tmp_path, lab.ip, "sh")
        with ssh.Session(lab.client, argv) as session:
            assert session("echo ${SSH_CONNECTION% *}").split()[0] == lab.peer_ip
            load = ["wrk", "-t1", "-c32", "-d4s", *nginx.PATIENT, f"http://{lab.ip}/hello"]
            wrk = lab.client.start(load)
            # With -c and -w it waits for the last answer too; with -w alone it need not.
            pings = lab.client.start(["ping", "-i0.05", "-c40", "-w60", lab.ip])
            with wrk, pings:
                rounds = 0
                while wrk.poll() is None:
                    assert session(f"echo $(({rounds} * 7))") == str(rounds * 7)
                    rounds += 1
                    if rounds == 2:
                        known_ssh, _ = tracked(ssh.PORT)
                        known_web, packets = tracked(80)
                assert pings.wait(60) == 0, pings.tail()
                said, pinged = wrk.text(), pings.text()
            assert session.end() == 0
    assert rounds > 2
    assert known_ssh >= 1, "the kernel tracks what is its own"
    assert (known_web, packets) == (0, 0)
    assert " 0% packet loss" in pinged, pinged
    assert "Socket errors" not in said, said
    assert "Non-2xx" not in said, said
    assert lab.counter("tcp_rx") - before > 100, "the TOE has served it"


@pytest.mark.parametrize("engines", [1, 2])
def test_100_mb_both_ways(make_lab, engines):
    lab = make_lab(shared=True, engines=engines)
    args = [PORT, 100 * MB, labs.SEED]
    with lab.script("transfer.py", "serve", lab.ip, *args, port=None, says="ready"):
        peer = lab.peer_script("transfer.py", "client", lab.ip, *args)
        assert peer.wait(120) == 0, peer.tail()
    with lab.peer_script("transfer.py", "serve", lab.peer_ip, *args, says="ready"):
        own = lab.script("transfer.py", "client", lab.peer_ip, *args)
        assert own.wait(120) == 0, own.tail()
    assert lab.counter("tcp_rx") > 1000, "the TOE has carried it"


def test_from_this_very_host(lab, robot):
    """A listener on the TOE is reached from local programs too, by its kernel half."""
    robot.listen(lab.ip, PORT)
    with lab.server.connect(lab.ip, PORT) as s:
        robot("s, _ = listener.accept(); s.sendall(b'hello')")
        assert s.recv(5) == b"hello"


def test_to_a_service_of_this_very_host(lab, robot):
    with kernel_socket(lab, KERNEL_PORT, reuse=True) as listener:
        listener.listen()
        robot("s = socket.create_connection(at); s.sendall(b'hello')", at=(lab.ip, KERNEL_PORT))
        s, _ = listener.accept()
        with s:
            assert s.recv(5) == b"hello"


def test_wildcard_listener(lab, robot):
    """Served by both: from the peer by the TOE, from the loopback interface by the kernel."""
    before = lab.counter("tcp_rx")
    robot.listen("0.0.0.0", PORT)
    with lab.connect(PORT) as s:
        robot("s, _ = listener.accept(); s.sendall(b'hello')")
        assert s.recv(5) == b"hello"
    assert lab.counter("tcp_rx") > before
    with lab.server.connect("127.0.0.1", PORT) as s:
        robot("s, _ = listener.accept(); s.sendall(b'hello')")
        assert s.recv(5) == b"hello"


# ---- ports


@pytest.mark.sanitize
def test_a_port_of_the_toe_is_taken_for_the_kernel(lab, robot):
    robot.listen(lab.ip, PORT)
    for reuse in (False, True):
        with pytest.raises(OSError, match="in use"), kernel_socket(lab, PORT, reuse=reuse) as s:
            s.listen()
    robot("listener.close()")
    proc.wait_until(lambda: lab.usage("listeners") == 0, "the listener is gone")
    with kernel_socket(lab, PORT, reuse=True) as s:
        s.listen()
        with lab.connect(PORT) as peer:
            s.accept()[0].close()
            assert peer.recv(1) == b""


def test_close_frees_the_port_at_once(lab, robot):
    """toed keeps the kernel's socket of a listener as long as the listener, no longer."""
    for _ in range(20):
        robot.listen(lab.ip, PORT)
        robot("listener.close()")
        with kernel_socket(lab, PORT, reuse=True) as s:
            s.listen()


def test_a_port_that_nginx_leaves_is_free(lab, tmp_path):
    """Its workers have inherited the listener; at a reload it moves to another port."""
    with nginx.start(lab, tmp_path, workers=2) as server:
        nginx.configuration(tmp_path, f"{lab.ip}:81", workers=2)
        server.send_signal(signal.SIGHUP)
        proc.wait_port(lab.client, lab.ip, 81, proc=server)

        def is_free() -> bool:
            with contextlib.suppress(OSError), kernel_socket(lab, 80, reuse=True) as s:
                s.listen()
                return True
            return False

        proc.wait_until(is_free, "port 80 is free", proc=server)


def test_a_port_of_the_kernel_is_taken_for_the_toe(lab, robot):
    with kernel_socket(lab, PORT, reuse=True) as s:
        s.listen()
        with pytest.raises(OSError, match="in use"):
            robot.listen(lab.ip, PORT)
        with pytest.raises(OSError, match="in use"):
            robot.listen("0.0.0.0", PORT)
        with lab.connect(PORT):
            s.accept()[0].close()


def test_the_port_of_a_connection_is_taken_for_the_kernel(lab, connected):
    port = connected.getpeername()[1]
    for reuse in (False, True):
        with pytest.raises(OSError, match="in use"), kernel_socket(lab, port, reuse=reuse) as s:
            s.listen()


def test_a_port_that_bind_chose(lab, robot, peer_listener):
    """bind() reaches the kernel; the connection leaves from that port, and the TOE keeps it."""
    before = lab.counter("tcp_rx")
    robot("s = socket.socket(); s.bind((own, 0))", own=lab.ip)
    port = robot("s.getsockname()[1]")
    robot("s.connect(at)", at=(lab.peer_ip, PORT))
    peer, address = peer_listener.accept()
    with peer:
        assert address == (lab.ip, port)
        assert lab.counter("tcp_rx") > before
        with pytest.raises(OSError, match="in use"):
            kernel_socket(lab, port)


def test_many_connections_one_after_the_other(lab, robot, peer_listener):
    """Their ports come from the kernel. One in TIME-WAIT is not used for the same peer again until
    a second has passed: then timestamps distinguish old segments from new ones (RFC 6191)."""
    closed: dict[int, float] = {}
    for _ in range(100):
        robot("s = socket.create_connection(at)", at=(lab.peer_ip, PORT))
        peer, (_, port) = peer_listener.accept()
        with peer:
            assert time.monotonic() - closed.get(port, -1) >= 1
            closed[port] = time.monotonic()
            robot("s.close()")
            assert peer.recv(1) == b""


def test_the_kernel_takes_a_port_over_while_connections_last(lab, robot):
    """The listener is closed, one of its connections is not: new ones go to the kernel."""
    robot.listen(lab.ip, PORT)
    with lab.connect(PORT) as old:
        robot.accept()
        robot("listener.close()")
        proc.wait_until(lambda: lab.usage("listeners") == 0, "the listener is gone")
        with kernel_socket(lab, PORT, reuse=True) as listener:
            listener.listen()
            with lab.connect(PORT) as new:
                s, _ = listener.accept()
                with s:
                    s.settimeout(proc.seconds(20))
                    for text in (b"one", b"two"):
                        new.sendall(text)
                        assert s.recv(10) == text
                        old.sendall(text)
                        assert robot("s.recv(10)") == text
                        robot("s.sendall(t)", t=text)
                        assert old.recv(10) == text


def test_connections_of_the_kernel_last_when_the_toe_takes_the_port(lab, robot):
    with kernel_socket(lab, PORT, reuse=True) as listener:
        listener.listen()
        old = lab.connect(PORT)
        kernels, _ = listener.accept()
    with old, kernels:
        kernels.settimeout(proc.seconds(20))
        robot.listen(lab.ip, PORT)
        before = lab.counter("tcp_rx")
        with lab.connect(PORT) as new:
            robot.accept()
            robot("s.sendall(b'new')")
            assert new.recv(10) == b"new"
            assert lab.counter("tcp_rx") > before
            exchange_with = [(old, kernels), (kernels, old)]
            for a, b in exchange_with:
                a.sendall(b"old")
                assert b.recv(10) == b"old"


def bind_when_free(s: socket.socket, address: tuple[str, int]) -> None:
    """The last user of the port may wait for the last ACK still."""

    def bound() -> bool:
        try:
            s.bind(address)
        except OSError as e:
            if e.errno != errno.EADDRINUSE:
                raise
            return False
        return True

    proc.wait_until(bound, f"{address} is free", timeout=20)


def test_a_new_connection_of_a_tuple_that_the_kernel_remembers(lab, robot):
    """The kernel has closed first and is in TIME-WAIT; the peer reconnects from the same port."""
    with kernel_socket(lab, PORT, reuse=True) as listener, lab.client.socket() as old:
        listener.listen()
        old.connect((lab.ip, PORT))
        port = old.getsockname()[1]
        listener.accept()[0].close()
        assert old.recv(1) == b""
    robot.listen(lab.ip, PORT)
    before = lab.counter("tcp_rx")
    with lab.client.socket() as new:
        new.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        new.settimeout(proc.seconds(20))
        bind_when_free(new, (lab.peer_ip, port))
        new.connect((lab.ip, PORT))
        new.sendall(b"hello")
        robot.accept()
        assert robot("s.recv(10)") == b"hello"
        assert lab.counter("tcp_rx") >= before + 3, "the TOE has served it"
        # The rest of it belongs to the TOE too after the listener has closed.
        new.shutdown(socket.SHUT_WR)
        assert robot("s.recv(10)") == b""
        robot("listener.close()")
        robot("s.close()")
        lab.wait_no_flows(timeout=10)


def test_icmp_errors_about_connections_of_the_kernel(lab, robot):
    """... on a port that is the TOE's by now."""

    def counted() -> int:
        text = lab.server.run(["nstat", "-asz", "IcmpInDestUnreachs"]).stdout
        return int(text.split("IcmpInDestUnreachs")[1].split()[0])

    with kernel_socket(lab, PORT, reuse=True) as listener:
        listener.listen()
        old = lab.connect(PORT)
        kernels, _ = listener.accept()
    with old, kernels, raw_socket(lab) as raw:
        robot.listen(lab.ip, PORT)
        before = counted(), lab.counter("icmp_error_rx")
        ends = socket.inet_aton(lab.ip) + socket.inet_aton(lab.peer_ip)
        about = struct.pack(">BBHHHBBH", 0x45, 0, 40, 7, 0, 64, 6, 0) + ends
        about += struct.pack(">HHI", PORT, old.getsockname()[1], 1)
        icmp = struct.pack(">BBHHH", 3, 1, 0, 0, 0) + about
        total = sum(struct.unpack(f">{len(icmp) // 2}H", icmp))
        total = (total & 0xFFFF) + (total >> 16)
        icmp = icmp[:2] + struct.pack(">H", ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF) + icmp[4:]
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(icmp), 8, 0, 64, 1, 0)
        raw.sendto(ip + ends[4:] + ends[:4] + icmp, (lab.ip, 0))
        proc.wait_until(lambda: counted() == before[0] + 1, "the kernel gets it")
        assert lab.counter("icmp_error_rx") == before[1]


# ---- neighbours, routes, addresses


def test_the_peers_ethernet_address_changes(lab, accepted, robot):
    changed = lab.counter("neigh_changed")
    setting = f"net.ipv4.conf.{lab.pair.client_if}.arp_notify=1"
    lab.client.run(["sysctl", "-qw", setting])
    lab.client.run(["ip", "link", "set", lab.pair.client_if, "address", "02:00:00:00:77:99"])
    proc.wait_until(lambda: lab.counter("neigh_changed") > changed, "the TOE knows of it")
    robot("s.sendall(b'hello')")
    assert accepted.recv(10) == b"hello"
    with lab.connect(PORT):
        robot.accept()


@contextlib.contextmanager
def far(lab, address: str):
    """An address of the peer that is on no link; the server has no route to it yet."""
    lab.client.run(["ip", "address", "add", f"{address}/32", "dev", "lo"])
    try:
        yield
    finally:
        lab.client.run(["ip", "address", "del", f"{address}/32", "dev", "lo"])


def test_routes_are_the_kernels(lab, robot, peer_listener):
    """As they are now, not as they were when toed began."""
    with far(lab, "192.0.2.1"), lab.client.socket() as listener:
        listener.bind(("192.0.2.1", PORT))
        listener.listen()
        listener.settimeout(proc.seconds(20))
        with pytest.raises(OSError, match="Network is unreachable"):
            robot("socket.create_connection(at)", at=("192.0.2.1", PORT))
        lab.server.run(["ip", "route", "add", "192.0.2.0/24", "via", lab.peer_ip])
        before = lab.counter("tcp_rx")
        robot("s = socket.create_connection(at)", at=("192.0.2.1", PORT))
        s, _ = listener.accept()
        with s:
            robot("s.sendall(b'hello')")
            assert s.recv(10) == b"hello"
        robot("s.close()")
        assert lab.counter("tcp_rx") > before
        lab.server.run(["ip", "route", "del", "192.0.2.0/24"])
        with pytest.raises(OSError, match="Network is unreachable"):
            robot("socket.create_connection(at)", at=("192.0.2.1", PORT))


def test_icmp_errors_about_connections_of_the_toe(lab, robot):
    """They refer to packets that the kernel has not sent: the TOE gets them."""
    before = lab.counter("icmp_error_rx")
    lab.client.run(["sysctl", "-qw", "net.ipv4.ip_forward=1"])
    lab.client.run(["ip", "route", "add", "unreachable", "198.51.100.0/24"])
    lab.server.run(["ip", "route", "add", "198.51.100.0/24", "via", lab.peer_ip])
    try:
        robot("s = socket.socket(); s.setblocking(False)")
        assert robot("s.connect_ex(at)", at=("198.51.100.1", PORT)) == errno.EINPROGRESS
        proc.wait_until(lambda: lab.counter("icmp_error_rx") > before, "the TOE gets them")
        robot("s.close()")
    finally:
        lab.server.run(["ip", "route", "del", "198.51.100.0/24"])
        lab.client.run(["ip", "route", "del", "unreachable", "198.51.100.0/24"])


def test_absent_neighbour(lab, robot):
    with pytest.raises(OSError, match="No route to host"):
        robot("socket.create_connection(at)", at=("10.77.0.99", PORT))


def refused_quietly(lab) -> bool:
    """The peer's SYN finds no listener."""
    try:
        lab.connect(PORT, timeout=1).close()
    except OSError:
        return True
    return False


@pytest.mark.sanitize
def test_the_address_is_taken_away(make_lab):
    lab = make_lab(shared=True)
    interface = ["dev", lab.pair.server_if]
    with Robot(lab) as robot:
        robot.listen("0.0.0.0", PORT)
        with lab.connect(PORT) as s:
            robot.accept()
            lab.server.run(["ip", "address", "del", f"{lab.ip}/24", *interface])
            with pytest.raises(ConnectionResetError):
                s.recv(1)
            with pytest.raises(OSError, match=r"abort|reset"):
                robot("s.recv(1)")
        proc.wait_until(lambda: "all connections are reset" in lab.toed.proc.text(), "toed says so")
        # Elsewhere it has no effect, and another address of the interface has only its own routes.
        lab.server.run(["ip", "address", "add", f"{lab.ip}/32", "dev", "lo"])
        lab.server.run(["ip", "address", "add", "10.77.0.77/24", *interface])
        proc.wait_until(lambda: refused_quietly(lab), "the TOE does not answer")
        again = f"the kernel has {lab.ip} again"
        assert again not in lab.toed.proc.text()
        lab.server.run(["ip", "address", "del", "10.77.0.77/24", *interface])
        lab.server.run(["ip", "address", "del", f"{lab.ip}/32", "dev", "lo"])
        lab.server.run(["ip", "address", "add", f"{lab.ip}/24", *interface])
        proc.wait_until(lambda: again in lab.toed.proc.text(), "toed says so")
        with lab.connect(PORT) as s:
            robot.accept()
            robot("s.sendall(b'hello')")
            assert s.recv(10) == b"hello"


# ---- beginning and end


def has_xdp(lab) -> bool:
    shown = lab.server.run(["ip", "link", "show", "dev", lab.pair.server_if]).stdout
    return "xdp" in shown


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_nothing_is_left(make_lab, tmp_path, how):
    """However toed ends, the interface is restored: no program on it, and its ports are free."""
    lab = make_lab(shared=True)
    with nginx.start(lab, tmp_path) as server:
        assert has_xdp(lab)
        getattr(lab.toed, how)()
        server.stop()
    proc.wait_until(lambda: not has_xdp(lab), "the program has left")
    ping(lab)
    with kernel_socket(lab, 80, reuse=True) as listener:
        listener.listen()
        with lab.connect(80):
            listener.accept()[0].close()
    lab.toed.start()
    with nginx.start(lab, tmp_path):
        assert nginx.get(lab, "/hello") == b"hello\n"


def refused(pair, *argv: object) -> str:
    done = pair.server.run([paths.built("toed"), "--ip", "shared", *argv], check=False, timeout=20)
    assert done.returncode == CONFIGURATION, done.stderr
    return done.stderr


def test_refusals(lab):
    ip = ["ip", "link"]
    lab.server.run([*ip, "add", "bare0", "type", "veth", "peer", "name", "bare1"])
    try:
        lab.server.run([*ip, "set", "bare0", "up"])
        assert "no IPv4 address" in refused(lab, "--netif", "af_xdp:bare0")
        assert "af_xdp" in refused(lab, "--netif", "tap:toe9")
        assert "loopback" in refused(lab, "--netif", "af_xdp:lo")
        assert "no interface 'none0'" in refused(lab, "--netif", "af_xdp:none0")
    finally:
        lab.server.run([*ip, "del", "bare0"])


def test_fewer_engines_than_receive_queues(make_lab):
    """The kernel would reset connections on a queue without an engine."""
    lab = make_lab(shared=True, engines=2)
    lab.toed.stop()
    said = refused(lab, "--netif", f"af_xdp:{lab.pair.server_if}")
    assert "2 receive queues" in said
    assert "--engines 2" in said


def test_interface_of_the_default_route(make_lab):
    lab = make_lab(shared=True)
    lab.toed.stop()
    lab.server.run(["ip", "route", "add", "default", "via", lab.peer_ip])
    assert "--force" in refused(lab, "--netif", f"af_xdp:{lab.pair.server_if}")
    lab.toed._args.append("--force")
    lab.toed.start()
    assert "warning" in lab.toed.proc.text()
    with far(lab, "192.0.2.1"), Robot(lab) as robot, lab.client.socket() as listener:
        listener.bind(("192.0.2.1", PORT))
        listener.listen()
        listener.settimeout(proc.seconds(20))
        robot("s = socket.create_connection(at)", at=("192.0.2.1", PORT))
        s, _ = listener.accept()
        with s:
            robot("s.sendall(b'hello')")
            assert s.recv(10) == b"hello"
    assert lab.counter("tcp_rx") > 0


def test_another_ethernet_address_ends_toed(make_lab):
    """The interface's own address: frames to the old one stop. toed reports what to do."""
    lab = make_lab(shared=True)
    address = ["address", "02:00:00:00:77:98"]
    lab.server.run(["ip", "link", "set", lab.pair.server_if, *address])
    assert lab.toed.proc.wait(20) == 1
    assert "has changed: restart toed" in lab.toed.proc.text()
    lab.toed.start()
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT):
            robot.accept()


def test_down_and_up_again(make_lab):
    """The kernel loses the routes of the interface, and gets them back with it."""
    lab = make_lab(shared=True)
    link = ["ip", "link", "set", lab.pair.server_if]
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as s:
            robot.accept()
            lab.server.run([*link, "down"])
            lab.server.run([*link, "up"])
            robot("s.sendall(b'hello')")
            assert s.recv(10) == b"hello"
        with lab.connect(PORT):
            robot.accept()


def test_fragments_of_tcp_are_dropped(lab, robot):
    """The kernel would reassemble them and reset the unknown connection."""

    def dropped() -> int:
        return lab.toed.stats()["engines"][0]["netio"]["rx_dropped"]

    robot.listen(lab.ip, PORT)
    before = dropped()
    resets = lab.server.run(["nstat", "-asz", "TcpOutRsts"]).stdout
    tcp = struct.pack(">HHIIBBHHH", 5, PORT, 1, 1, 5 << 4, 16, 1000, 0, 0) + bytes(12)
    ends = socket.inet_aton(lab.peer_ip) + socket.inet_aton(lab.ip)
    with raw_socket(lab) as raw:
        for offset, part in ((0x2000, tcp[:24]), (3, tcp[24:])):
            ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(part), 7, offset, 64, 6, 0)
            raw.sendto(ip + ends + part, (lab.ip, 0))
    proc.wait_until(lambda: dropped() == before + 1, "the first of them is dropped")
    ping(lab)
    assert lab.server.run(["nstat", "-asz", "TcpOutRsts"]).stdout == resets


# ---- routes that the TOE must not use


def errno_of_connect(lab, robot, at) -> str | None:
    """The result of connect() for the robot, and for a kernel socket in the same namespace."""
    said = robot("s = socket.socket(); s.settimeout(5); r = s.connect_ex(at); s.close(); r", at=at)
    with lab.server.socket() as s:
        s.settimeout(proc.seconds(5))
        assert said == s.connect_ex(at)
    return errno.errorcode.get(said)


def no_answer(lab, from_there) -> bool:
    with lab.client.socket() as s:
        s.bind(from_there)
        s.settimeout(1)
        try:
            s.connect((lab.ip, PORT))
        except TimeoutError:
            return True
    return False


@pytest.mark.parametrize(
    ("kind", "said"),
    [("unreachable", "EHOSTUNREACH"), ("prohibit", "EACCES"), ("blackhole", "EINVAL")],
)
def test_routes_that_lead_nowhere(lab, robot, kind, said):
    """For programs, as in the kernel; connections from there get no reply."""
    with far(lab, "192.0.2.1"):
        lab.server.run(["ip", "route", "add", "192.0.2.0/24", "via", lab.peer_ip])
        robot.listen(lab.ip, PORT)
        from_there = ("192.0.2.1", 0)
        try:
            with lab.client.socket() as s:
                s.bind(from_there)
                s.settimeout(proc.seconds(10))
                s.connect((lab.ip, PORT))
                robot.accept()
            robot("s.close()")
            lab.wait_no_flows(timeout=10)
            lab.server.run(["ip", "route", "add", kind, "192.0.2.1/32"])
            assert errno_of_connect(lab, robot, ("192.0.2.1", PORT)) == said
            # toed is notified of a route after the change, like every listener of rtnetlink(7)
            proc.wait_until(lambda: no_answer(lab, from_there), "no answer by that route")
        finally:
            lab.server.run(["ip", "route", "del", "192.0.2.1/32"], check=False)
            lab.server.run(["ip", "route", "del", "192.0.2.0/24"])
            robot("listener.close()")


@contextlib.contextmanager
def second_link(lab):
    """Another interface of the server's to the same peer."""
    lab.server.run(
        ["ip", "link", "add", "srv1", "type", "veth"]
        + ["peer", "name", "cli1", "netns", lab.client.name]
    )
    try:
        lab.server.run(["ip", "link", "set", "srv1", "up"])
        lab.client.run(["ip", "link", "set", "cli1", "up"])
        yield
    finally:
        lab.server.run(["ip", "link", "del", "srv1"])


def test_routes_by_another_interface(lab, robot):
    """From the same address: the kernel connects, for the TOE would send by its own."""
    with (
        second_link(lab),
        far(lab, "192.0.2.1"),
        lab.client.socket() as listener,
    ):
        lab.client.run(["ip", "route", "add", f"{lab.ip}/32", "dev", "cli1", "metric", "5"])
        route = ["192.0.2.1/32", "dev", "srv1", "src", lab.ip]
        lab.server.run(["ip", "route", "add", *route])
        listener.bind(("192.0.2.1", PORT + 3))
        listener.listen()
        listener.settimeout(proc.seconds(20))
        before = lab.counter("tcp_tx")
        robot("s = socket.create_connection(at, timeout=20)", at=("192.0.2.1", PORT + 3))
        s, (source, _) = listener.accept()
        with s:
            assert source == lab.ip
            robot("s.sendall(b'hello')")
            assert s.recv(10) == b"hello"
            robot("s.close()")
        assert lab.counter("tcp_tx") == before
        lab.client.run(["ip", "route", "del", f"{lab.ip}/32", "dev", "cli1"])


def test_gateway_of_ip6(lab, robot):
    """A route of IPv4 by way of IPv6 (RFC 5549) is the kernel's."""
    for ns, name, address in (
        (lab.server, lab.pair.server_if, "fd77::1/64"),
        (lab.client, lab.pair.client_if, "fd77::2/64"),
    ):
        ns.run(["ip", "address", "add", address, "dev", name, "nodad"])
    try:
        # (The first question may be lost: groups are joined in a while.)
        lab.server.run(["ping", "-6", "-c5", "-i0.3", "-W5", "fd77::2"])
        with far(lab, "192.0.2.1"), lab.client.socket() as listener:
            lab.server.run(["ip", "route", "add", "192.0.2.0/24", "via", "inet6", "fd77::2"])
            listener.bind(("192.0.2.1", PORT + 4))
            listener.listen()
            listener.settimeout(proc.seconds(20))
            before = lab.counter("tcp_tx")
            robot("s = socket.create_connection(at, timeout=20)", at=("192.0.2.1", PORT + 4))
            with listener.accept()[0] as s:
                robot("s.sendall(b'hello')")
                assert s.recv(10) == b"hello"
            robot("s.close()")
            assert lab.counter("tcp_tx") == before
            lab.server.run(["ip", "route", "del", "192.0.2.0/24"])
    finally:
        for ns, name in ((lab.server, lab.pair.server_if), (lab.client, lab.pair.client_if)):
            ns.run(["ip", "-6", "address", "flush", "dev", name])


def test_another_prefix(make_lab):
    """The broadcast address follows the network; connections are not affected."""
    lab = make_lab(shared=True)
    interface = ["dev", lab.pair.server_if]
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as s:
            robot.accept()
            lab.server.run(["ip", "address", "add", f"{lab.ip}/30", *interface])
            lab.server.run(["ip", "address", "del", f"{lab.ip}/24", *interface])
            text = f"the prefix of {lab.ip} has 30 bits now"
            proc.wait_until(lambda: text in lab.toed.proc.text(), "toed says so")
            robot("s.sendall(b'hello')")
            assert s.recv(10) == b"hello"
            with lab.connect(PORT):
                robot.accept()


def test_listening_while_the_address_is_away(make_lab):
    """The errno is the kernel's."""
    lab = make_lab(shared=True)
    lab.server.run(["ip", "address", "del", f"{lab.ip}/24", "dev", lab.pair.server_if])
    says = "all connections are reset"
    proc.wait_until(lambda: says in lab.toed.proc.text(), "toed says so")
    with Robot(lab) as robot:
        with pytest.raises(OSError, match="Cannot assign requested address"):
            robot.listen(lab.ip, PORT)
        with pytest.raises(OSError, match="Network is unreachable"):
            robot("socket.create_connection(at)", at=(lab.peer_ip, PORT))
