# SPDX-License-Identifier: Apache-2.0
"""toed and toehold as programs: wrong input, no rights, no daemon."""

from __future__ import annotations

import errno
import json
import re
import signal
import socket
import stat
import struct
import time
from pathlib import Path

import pytest

from tests.lab import lab as labs
from tests.lab import nginx, paths, proc
from tests.lab import toed as toed_module

USAGE, CONFIGURATION = 2, 3
GOOD = ["--netif", "tap:toe9", "--ip", "10.78.0.1/24"]

pytestmark = pytest.mark.toehold_only


def toed(lab, *argv: object, prefix: tuple = ()):
    """Runs toed with these arguments; it must exit by itself."""
    return lab.server.run([*prefix, paths.built("toed"), *argv], check=False, timeout=20)


@pytest.mark.sanitize
@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "--netif"),
        (["--netif", "tap:toe9"], "--ip"),
        ([*GOOD, "--no-such-option"], "no-such-option"),
        ([*GOOD, "stray"], "stray"),
        (["--netif", "tap:toe9", "--ip", "10.78.0.1"], "10.78.0.1"),
        (["--netif", "tap:toe9", "--ip", "10.78.0.256/24"], "10.78.0.256"),
        (
            ["--netif", "tap:toe9", "--ip", "10.78.0.1/33"],
            "10.78.0.1/33: want a prefix length from 1 to 32",
        ),
        (["--netif", "tap:toe9", "--ip", "127.0.0.1/8"], "127.0.0.1"),
        (["--netif", "tap:toe9", "--ip", "224.0.0.1/8"], "224.0.0.1"),
        ([*GOOD, "--gateway", "nowhere"], "nowhere"),
        ([*GOOD, "--mac", "01:00:00:00:00:01"], "01:00:00:00:00:01"),
        ([*GOOD, "--mtu", "575"], "--mtu 575: want a whole number from 576 to 9216"),
        ([*GOOD, "--ttl", "256"], "256"),
        ([*GOOD, "--max-neighbours", "15"], "15"),
        ([*GOOD, "--max-neighbours", "65536"], "65536"),
        ([*GOOD, "--rfc1337=1"], "rfc1337"),
        ([*GOOD, "--engines", "0"], "engines"),
        ([*GOOD, "--engines", "-1"], "-1"),
        ([*GOOD, "--max-flows", "many"], "--max-flows many: want a whole number from 1 to"),
        ([*GOOD, "--seed", "xyz"], "xyz"),
        ([*GOOD, "--user-limits", "qps=4,flows=9"], "flows=9"),
        ([*GOOD, "--user-limits", "slots=0"], "'slots=0': want a whole number from 1 to"),
    ],
)
def test_wrong_usage(lab, argv, said):
    done = toed(lab, *argv)
    assert done.returncode == USAGE, done.stderr
    assert said in done.stderr
    assert done.stdout == ""


@pytest.mark.sanitize
@pytest.mark.parametrize(
    ("netif", "said"),
    [
        ("eth0", "eth0"),
        ("carrier-pigeon:eth0", "carrier-pigeon"),
        ("af_xdp:absent0", "absent0"),
        ("af_xdp:", "af_xdp"),
        ("af_xdp:srv0,queue=99", "99"),
        ("af_xdp:srv0,colour=red", "colour"),
        ("tap:a-name-that-is-too-long", "too"),
        ("impair(loss=101):tap:toe9", "101"),
        ("impair(lose=1):tap:toe9", "lose"),
        ("impair(loss=1:tap:toe9", "impair"),
        ("wire:/absent/folder/wire,side=a", "/absent/folder"),
        ("", "kind"),
    ],
)
def test_wrong_interface(make_lab, netif, said):
    lab = make_lab()
    lab.toed.stop()
    done = toed(lab, "--netif", netif, "--ip", "10.77.0.1/24", "--socket", lab.toed.socket)
    assert done.returncode in (USAGE, CONFIGURATION), done.stderr
    assert said in done.stderr
    assert not lab.toed.socket.exists()


def test_more_than_the_interface_has(make_lab):
    lab = make_lab()
    lab.toed.stop()
    common = ["--netif", lab.toed.netif, "--ip", "10.77.0.1/24", "--socket", lab.toed.socket]
    for option, value in (("--engines", 2), ("--mtu", 9000)):
        done = toed(lab, *common, option, value)
        assert done.returncode == CONFIGURATION
        assert f"{option} {value}" in done.stderr


@pytest.mark.parametrize(
    ("mtu", "more", "said"),
    [
        (500, [], "MTU 500: IPv4 needs at least 576"),
        (1279, ["--ip6", "2001:db8::1/64"], "MTU 1279: IPv6 needs at least 1280"),
        (1500, ["--ip6", "2001:db8::1/64", "--mtu", 1200], "--mtu 1200: IPv6 needs at least 1280"),
    ],
)
def test_mtu_that_is_too_small(lab, tmp_path, mtu, more, said):
    lab.server.run(["ip", "tuntap", "add", "dev", "toe8", "mode", "tap"])
    try:
        lab.server.run(["ip", "link", "set", "toe8", "mtu", mtu])
        argv = ["--netif", "tap:toe8", "--ip", "10.78.0.1/24", "--socket", tmp_path / "s"]
        done = toed(lab, *argv, *more)
        assert done.returncode == CONFIGURATION
        assert said in done.stderr
    finally:
        lab.server.run(["ip", "link", "del", "toe8"])


@pytest.mark.sanitize
def test_address_that_the_host_has(make_lab, tmp_path):
    """toed does not say "ready" with an address that the kernel or another TOE has."""
    lab = make_lab(kernel=True)
    more = ["--socket", tmp_path / "s"]
    done = toed(lab, "--netif", "tap:toe9", "--ip", f"{lab.kernel_ip}/24", *more)
    assert done.returncode == CONFIGURATION
    assert f"--ip {lab.kernel_ip}: the kernel has this address on " in done.stderr
    lab.server.run(["ip", "address", "add", "2001:db8:9::1/64", "dev", "lo"])
    done = toed(lab, "--netif", "tap:toe9", "--ip6", "2001:db8:9::1/64", *more)
    assert done.returncode == CONFIGURATION
    assert "--ip6 2001:db8:9::1: the kernel has this address on lo" in done.stderr
    twice = ["--netif", "tap:toe9", "--ip", f"{lab.ip}/24", *more]
    for _ in range(2):
        done = toed(lab, *twice)
        assert done.returncode == CONFIGURATION
        assert f"--ip {lab.ip}: another TOE of this network namespace" in done.stderr
        lab.toed.take_over()  # the claim goes over
    other_vlan = lab.server.start([paths.built("toed"), *twice, "--vlan", "7"])
    proc.wait_until(lambda: "ready" in other_vlan.text(), "a TOE of a VLAN", proc=other_vlan)
    assert other_vlan.stop(timeout=20) == 0


@pytest.mark.sanitize
@pytest.mark.parametrize(
    ("host", "said"),
    [
        ("10.99.0.1/24", "the TOE's address 10.78.0.1 is outside this subnet"),
        ("10.78.0.2/32", "the TOE's address 10.78.0.1 is outside this subnet"),
        ("10.78.0.1/24", "is the TOE's address"),
        ("10.78.0.255/24", "is the network or broadcast address of its subnet"),
        ("10.78.0.0/24", "is the network or broadcast address of its subnet"),
        ("10.78.0.2/33", "host=10.78.0.2/33 is not an IPv4 address with a prefix length from 0"),
    ],
)
def test_address_of_the_kernels_side_of_a_tap(make_lab, tmp_path, host, said):
    lab = make_lab()
    argv = ["--netif", f"tap:toe9,host={host}", "--ip", "10.78.0.1/24", "--socket", tmp_path / "s"]
    done = toed(lab, *argv)
    assert done.returncode == CONFIGURATION
    assert said in done.stderr


def test_missing_capability_is_named(make_lab, tmp_path):
    lab = make_lab(kernel=True)
    lab.toed.stop()
    shared = ["--netif", f"af_xdp:{lab.pair.server_if}", "--ip", "shared"]
    own = [*shared[:-1], "10.77.0.9/24"]
    for argv, has, missing in (
        (shared, "net_admin,+net_raw,+ipc_lock,+bpf", "CAP_PERFMON"),
        (own, "net_admin,+net_raw,+ipc_lock", "CAP_BPF"),
    ):
        prefix = ("setpriv", f"--bounding-set=-all,+{has}")
        done = toed(lab, *argv, "--socket", tmp_path / "s", prefix=prefix)
        assert done.returncode == CONFIGURATION
        assert f"{missing} is missing" in done.stderr
        assert "Linux 5.9" not in done.stderr


def test_stopped_toed_is_reported_as_stopped(lab):
    pid = lab.toed.proc.pid
    lab.toed.proc.send_signal(signal.SIGSTOP)
    try:
        argv = [paths.built("toehold"), "stats", "--socket", lab.toed.socket]
        done = proc.run(argv, check=False)
        assert done.returncode == 1
        assert f"toed (pid {pid}) is stopped; continue it: kill -CONT {pid}" in done.stderr
        listen = "import socket; socket.create_server(('', 4000))"
        done = lab.server.run(lab.toed.wrapped([labs.PYTHON, "-c", listen]), check=False)
        assert f"the TOE (pid {pid}) is stopped" in done.stderr
    finally:
        lab.toed.proc.send_signal(signal.SIGCONT)


LISTEN = """
import select, socket
s = socket.create_server(("", 4000))
print("serving", flush=True)
while True:
    select.select([s], [], [], 0.02)
"""


def test_new_reason_of_a_repeated_failure_is_logged(make_lab):
    lab = make_lab()
    with lab.toed.app([labs.PYTHON, "-c", LISTEN]) as server:
        proc.wait_until(lambda: "serving" in server.text(), "it serves", proc=server)
        lab.toed.kill()
        proc.wait_until(lambda: "Connection refused" in server.text(), "the reason", proc=server)
        lab.toed.socket.unlink()
        proc.wait_until(lambda: "No such file" in server.text(), "a new reason", proc=server)
        assert server.text().count("Connection refused") == 1


def test_socket_path_that_cannot_be(lab, tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file/toed.sock", "/" + "x" * 200, tmp_path):
        done = toed(lab, *GOOD, "--socket", path)
        assert done.returncode in (1, USAGE, CONFIGURATION), done.stderr
        assert str(path)[:60] in done.stderr
    assert tmp_path.is_dir()


def test_without_rights(make_lab, tmp_path):
    lab = make_lab()
    lab.toed.stop()
    setpriv = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all")
    (tmp_path / "open").mkdir(mode=0o777)
    for netif in (f"af_xdp:{lab.pair.server_if}", "tap:toe9"):
        argv = ["--netif", netif, "--ip", "10.77.0.1/24", "--socket", tmp_path / "open/toed.sock"]
        done = toed(lab, *argv, prefix=setpriv)
        assert done.returncode in (1, CONFIGURATION)
        assert "root" in done.stderr


def test_help_and_version(lab):
    assert "--netif" in toed(lab, "--help").stdout
    assert toed(lab, "--version").stdout.startswith("toed ")


def test_socket_is_for_root_alone(lab):
    mode = lab.toed.socket.stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert mode & 0o007 == 0


NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
SERVER = """
import socket, sys
held = []
for port in (4001, 4002, 4003):
    try:
        held.append(socket.create_server((sys.argv[1], port)))
    except OSError as e:
        print(port, e.strerror, flush=True)
print("serving", flush=True)
sys.stdin.read()
"""


@pytest.mark.sanitize
def test_user_and_what_he_may_have(make_lab):
    """--user may attach; --user-limits bounds that user, not root; released resources are available
    again."""
    lab = make_lab(args=["--user", "nobody", "--user-limits", "qps=1,listeners=2,commands=1000"])
    # Debian's Python: the one that runs this test may be in a folder that user cannot read.
    argv = [*NOBODY, *lab.toed.wrapped(["/usr/bin/python3", "-c", SERVER, lab.ip])]
    for _ in range(2):
        with lab.server.start(["sh", "-c", 'sleep 60 | exec "$@"', "sh", *argv]) as server:
            proc.wait_until(lambda s=server: "serving" in s.text(), "it serves", proc=server)
            assert "4003 No buffer space available" in server.text()
            lab.connect(4002).close()
            second = lab.server.run(argv, check=False)
            assert second.stdout.count("\n") == 4  # no port is had
            assert "user 65534 has 1 and asks for 1 more: --user-limits has qps=1" in second.stderr
            root = lab.run([labs.PYTHON, "-c", SERVER.replace("400", "500"), lab.ip])
            assert root.stdout == "serving\n"
        lab.wait_idle()


PARENT = """
import select, socket, subprocess, sys
held = [socket.create_server(("", port)) for port in (4001, 4002)]
fds = [s.fileno() for s in held]
helper = "import select, sys; print(select.select(eval(sys.argv[1]), [], [], 0))"
subprocess.run([sys.executable, "-c", helper, str(fds)], pass_fds=fds, check=True)
print("serving", flush=True)
for _ in range(2):
    for s in held:
        s.accept()[0].sendall(b"hello")
"""


def test_user_whose_helper_has_no_room_for_its_listeners(make_lab):
    """A program that inherits listeners but may not use them leaves them to its parent."""
    lab = make_lab(kernel=True, args=["--user", "nobody", "--user-limits", "qps=2,listeners=2"])
    argv = [*NOBODY, *lab.toed.wrapped(["/usr/bin/python3", "-c", PARENT])]
    with lab.server.start(argv) as server:
        proc.wait_until(lambda: "serving" in server.text(), "it serves", proc=server)
        for address in (lab.kernel_ip, lab.ip):
            for port in (4001, 4002):
                with lab.client.connect(address, port) as s:
                    assert s.recv(5) == b"hello"


def test_user_must_exist(make_lab, tmp_path):
    lab = make_lab()
    lab.toed.stop()
    argv = ["--netif", f"af_xdp:{lab.pair.server_if}", "--ip", "10.77.0.1/24"]
    done = toed(lab, *argv, "--socket", tmp_path / "s", "--user", "no-such-user")
    assert done.returncode == CONFIGURATION
    assert "no-such-user" in done.stderr


FLOOD = """
import selectors, socket, sys, time
held = selectors.DefaultSelector()
def add():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1])
    held.register(s, selectors.EVENT_READ)
for _ in range(300):
    add()
print("flooding", flush=True)
while True:
    for key, _ in held.select():
        held.unregister(key.fileobj)
        key.fileobj.close()
        add()
    time.sleep(0.01)
"""


@pytest.mark.sanitize
def test_silent_connections_of_a_user_starve_nobody_else(make_lab, tmp_path):
    """300 connections that send nothing, each replaced when toed closes it: root attaches, asks and
    reloads a server during it."""
    lab = make_lab(args=["--user", "nobody"])
    with nginx.start(lab, tmp_path) as server:
        flood = [*NOBODY, labs.PYTHON, "-c", FLOOD, lab.toed.socket]
        with lab.server.start(flood) as f:
            proc.wait_until(lambda: "flooding" in f.text(), "the flood", proc=f)
            for _ in range(10):
                assert lab.toed.stats()["version"]
            assert lab.toed.stats()["control"]["evicted"] > 0
            for i in range(6):
                code = f"import socket; socket.create_server(('{lab.ip}', {5000 + i}))"
                lab.run([labs.PYTHON, "-c", code])
            old = nginx.get(lab, "/pid")
            server.send_signal(signal.SIGHUP)
            proc.wait_until(lambda: nginx.get(lab, "/pid") != old, "a new worker serves")
            assert f.text() == "flooding\n"


def test_statistics_as_text_and_as_json_have_the_same_figures(lab):
    """All figures have a description; `--all` prints each name of the JSON, and no other."""
    with lab.app([labs.PYTHON, "-c", LISTEN]) as server:
        proc.wait_until(lambda: "serving" in server.text(), "it serves", proc=server)
        said = lab.toed.stats()
        argv = [paths.built("toehold"), "stats", "--socket", lab.toed.socket]
        text = proc.run([*argv, "--all"]).stdout
        short = proc.run(argv).stdout
    engine = said["engines"][0]
    for group in ("netio", "usage", "counters"):
        assert set(engine[group]) == set(said["help"][group]), group
    assert set(said["control"]) == set(said["help"]["control"])
    assert all(h["help"] for group in said["help"].values() for h in group.values())
    names = {n for n, v in said.items() if not isinstance(v, dict | list)}
    names |= {n for group in said["help"].values() for n in group}
    names |= {o["name"] for o in engine["offload"]} | {o["word"] for o in engine["offload"]}
    names |= {a.split()[0] for a in engine["ip6"]}
    columns = set(engine["queue_pairs"][0])
    for name in names:
        assert re.search(rf"(^| ) *{re.escape(name)}( |$)", text, re.M), name
    head = re.search(r"queue pairs\n(.*)\n(.*)\n", text)
    assert set(re.split(r"[ /]+", head[1].strip())) == columns
    printed = {line.split()[0] for line in text.splitlines() if line.startswith("  ")}
    assert {p for p in printed if not p.isdigit()} - {"id"} <= names
    assert len(short.splitlines()) < 80 < len(text.splitlines())
    assert not re.search(r"^  \w+ +0 ", short, re.M)


@pytest.mark.sanitize
def test_rubbish_on_the_control_socket(lab, tmp_path):
    """Whatever a program writes there, toed answers or hangs up, and keeps running."""
    socket = labs.netns.socket
    for message in (
        b"",
        b"x",
        bytes(200),
        b"\xff" * 4000,
        b"TOE1",
        struct.pack("<III", 0x31454F54, 1, 1) + b"\xff" * 200,
        struct.pack("<III", 0x31454F54, 99, 1) + bytes(200),
        struct.pack("<III", 0x31454F54, 1, 77) + bytes(200),
    ):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.settimeout(proc.seconds(10))
            s.connect(str(lab.toed.socket))
            s.send(message)
            while s.recv(1 << 16):
                pass
    # Silent clients do not block others.
    silent = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(50)]
    for s in silent:
        s.connect(str(lab.toed.socket))
    with nginx.start(lab, tmp_path):
        assert nginx.get(lab, "/hello") == b"hello\n"
    for s in silent:
        s.close()


def test_programs_run_on_the_kernel_without_a_daemon(lab, tmp_path):
    """Reported once on stderr, and nginx serves by Linux TCP; under --require it does not start."""
    argv = nginx.configuration(tmp_path, f"{lab.kernel_ip}:80")
    run = [paths.built("toehold"), "run", "--socket", tmp_path / "nobody"]
    done = lab.server.run([*run, "--require", "--", *argv], check=False)
    assert done.returncode == 4
    assert str(tmp_path / "nobody") in done.stderr
    with lab.server.start([*run, "--", *argv], name="nginx-without-toed") as server:
        proc.wait_port(lab.client, lab.kernel_ip, 80, proc=server)
        with lab.client.connect(lab.kernel_ip, 80) as s:
            s.sendall(b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
            assert s.recv(4096).startswith(b"HTTP/1.1 200")
        assert server.text().count(str(tmp_path / "nobody")) == 1


def test_what_the_toe_cannot_carry_is_refused_under_require(lab):
    """An address of the kernel: without --require the kernel serves it, with a message; loopback
    always passes."""
    code = "import socket, sys; socket.create_server((sys.argv[1], 0)); print('listening')"
    listen = [labs.PYTHON, "-c", code]
    assert "listening" in lab.run([*listen, "127.0.0.1"]).stdout
    done = lab.run([*listen, lab.kernel_ip], require=False)
    assert "listening" in done.stdout
    assert done.stderr.count("kernel") >= 1
    done = lab.run([*listen, lab.kernel_ip], check=False)
    assert done.returncode == 1
    assert "listening" not in done.stdout


@pytest.mark.shows("bind of UDP at the TOE's address", verdict="refused")
def test_udp_at_the_toes_address_is_said(lab):
    """The error is the kernel's; the message has the reason and the cure, once."""
    code = "import socket, sys\nfor _ in 1, 2:\n    s = socket.socket(type=socket.SOCK_DGRAM)\n"
    code += "    try:\n        s.bind((sys.argv[1], 0))\n"
    code += "    except OSError as e:\n        print(e.errno)"
    done = lab.run([labs.PYTHON, "-c", code, lab.ip])
    assert done.stdout.split() == [str(errno.EADDRNOTAVAIL)] * 2
    assert done.stderr.count("only TCP is carried") == 1
    assert "--ip shared" in done.stderr
    assert lab.run([labs.PYTHON, "-c", code, lab.kernel_ip]).stderr == ""


@pytest.mark.parametrize("allowed", [False, True])
@pytest.mark.parametrize("require", [False, True])
@pytest.mark.shows(
    "io_uring_setup",
    "io_uring_queue_init",
    "io_uring_queue_init_params",
    "io_uring_queue_init_mem",
    verdict="refused",
)
def test_io_uring_is_refused(lab, require, allowed):
    """The kernel cannot watch sockets of the TOE. Allowed on request, not under --require."""
    run = [paths.built("toehold"), "run", "--socket", lab.toed.socket]
    argv = [*run, *["--require"] * require, "--", paths.built("ringuser")]
    done = lab.server.run(argv, env={"TOEHOLD_IO_URING": str(int(allowed))})
    assert done.stderr.count("toehold: io_uring: ") == 1
    passes = allowed and not require
    assert ("refused" in done.stderr) == (not passes)
    kernel = lab.server.run([paths.built("ringuser")])
    assert kernel.stderr == ""
    if passes:
        assert "bypasses the TOE" in done.stderr
        assert done.stdout == kernel.stdout
    else:
        refused = "liburing: Function not implemented\nsyscall: Function not implemented\n"
        assert done.stdout == refused + "pid: 1\nsplice: -1 1\n"


def test_io_uring_without_a_toe_is_the_kernels(lab, tmp_path):
    """No toed answers, so no socket is the TOE's."""
    run = [paths.built("toehold"), "run", "--socket", tmp_path / "none", "--"]
    done = lab.server.run([*run, paths.built("ringuser")])
    assert done.stdout == lab.server.run([paths.built("ringuser")]).stdout
    assert "refused" not in done.stderr


def test_report_says_what_is_not_carried_and_why(lab):
    code = "import socket; [socket.create_server(('127.0.0.1', 0)) for _ in range(5)]"
    run = [paths.built("toehold"), "run", "--report", "--socket", lab.toed.socket, "--"]
    done = lab.server.run([*run, labs.PYTHON, "-c", code])
    said = [line for line in done.stderr.splitlines() if "toehold" in line]
    assert len(said) == 1, done.stderr
    assert "loopback" in said[0] or "127.0.0.1" in said[0]


INETD = """
import os, socket, sys
l = socket.create_server((sys.argv[1], 4004))
print("serving", flush=True)
c, _ = l.accept()
if os.fork() == 0:
    for fd in (0, 1, 2):
        os.dup2(c.fileno(), fd)
    c.close()
    os.write(1, b"220 ready\\r\\n")
    socket.create_server(("127.0.0.1", 0)).close()  # reported: loopback stays with the kernel
    os.write(1, b"227 done\\r\\n")
    os._exit(0)
c.close()
os.wait()
socket.create_server(("127.0.0.1", 0)).close()
"""


@pytest.mark.sanitize
def test_no_message_goes_into_a_connection(lab):
    """Standard error of a program started as by inetd is the client's connection."""
    run = [paths.built("toehold"), "run", "--report", "--socket", lab.toed.socket, "--"]
    with lab.server.start([*run, labs.PYTHON, "-c", INETD, lab.ip], name="inetd") as p:
        proc.wait_until(lambda: "serving" in p.text(), "the server", proc=p)
        with lab.connect(4004) as peer:
            peer.settimeout(proc.seconds(20))
            got = b""
            while more := peer.recv(4096):
                got += more
        assert got == b"220 ready\r\n227 done\r\n"
        assert p.wait(timeout=20) == 0
        assert "toehold: a socket stays with the kernel" in p.text()  # of the parent


def test_address_of_another_host(make_lab):
    """--check-ip (RFC 5227): an address in use is rejected, an unused one is taken."""
    lab = make_lab()
    netif = f"af_xdp:{lab.pair.server_if}"
    lab.toed.stop()
    done = toed(lab, "--netif", netif, "--ip", f"{lab.peer_ip}/24", "--check-ip")
    assert done.returncode == CONFIGURATION
    mac = lab.client.run(["cat", f"/sys/class/net/{lab.pair.client_if}/address"]).stdout.strip()
    assert f"another host has this address: {mac}" in done.stderr
    assert "ready" not in done.stderr
    begin = time.monotonic()
    with toed_module.Toed(lab.pair, args=["--check-ip"], engines=1) as checked:
        assert time.monotonic() - begin > 4  # three probes and two announcements (RFC 5227 1.1)
        lab.client.ping(lab.ip, count=1)
        # a host that takes it later is named
        station = bytes.fromhex(mac.replace(":", ""))
        claim = struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + station + socket.inet_aton(lab.ip)
        claim += bytes(6) + socket.inet_aton(lab.ip)
        with lab.client.entered():
            raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        with raw:
            raw.bind((lab.pair.client_if, 0))
            raw.send(b"\xff" * 6 + station + b"\x08\x06" + claim)
        proc.wait_until(lambda: f"our address of IPv4: {mac}" in checked.proc.text(), "it says so")
    lab.toed.start()


def blocked(pid: int, name: str) -> int:
    """The number of sleeps in the kernel of the process's thread with that name."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        text = (task / "status").read_text()
        if f"Name:\t{name}\n" in text:
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M)[1])
    raise AssertionError(f"no thread {name}")


def test_sleeps_on_a_kernel_without_epoll_pwait2(lab, tmp_path):
    """Before Linux 5.11, and in sandboxes: in milliseconds then, not in a circle."""
    epoll_pwait2 = 441
    hidden = [labs.PYTHON, labs.PROGRAMS / "without_call.py", epoll_pwait2]
    argv = [*hidden, paths.built("toed"), "--netif", f"pcap:out={tmp_path}/out"]
    argv += ["--ip", "10.78.0.1/24", "--socket", tmp_path / "s"]
    stats = [paths.built("toehold"), "stats", "--json", "--socket", tmp_path / "s"]

    def sleeps() -> int:
        said = json.loads(proc.run(stats).stdout)
        return said["engines"][0]["counters"]["sleeps"]

    with lab.server.start(argv, name="toed-old") as daemon:
        proc.wait_until((tmp_path / "s").exists, "toed", proc=daemon)
        # The interface sends no wake-ups: its engine polls it, sleeping in between.
        # The kernel's count is read outside of the engine's: time between two reads adds to it.
        switched = blocked(daemon.pid, "toed-engine0")
        before = sleeps()
        proc.wait_until(lambda: sleeps() > before + 50, "sleeps", proc=daemon)
        slept = sleeps() - before
        switched = blocked(daemon.pid, "toed-engine0") - switched
        assert switched > slept / 2
        assert daemon.stop() == 0
