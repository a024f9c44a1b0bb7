# SPDX-License-Identifier: Apache-2.0
"""`toehold doctor`: each broken set-up gives its finding and no other, and the printed command
cures it.

A set-up is a shell in namespaces of its own. Files of /proc and /sys that belong to the whole
machine are replaced in its mount namespace alone.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.lab import netns, paths, proc

ERROR, USAGE, WARNING = 1, 2, 9
CODES = {"warning": WARNING, "error": ERROR}
NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups"

pytestmark = pytest.mark.toehold_only


class Shell:
    """A shell in the mount namespace of this test; $T is a folder, $S the path of toed's socket."""

    def __init__(self, prefix: Sequence[object] = (), run: str = "."):
        self.folder = Path(tempfile.mkdtemp(prefix="toehold-"))
        self.folder.chmod(0o755)
        (self.folder / "run").mkdir()
        self.socket = self.folder / run / "toed.sock"
        self._out, self._err = self.folder / "out", self.folder / "err"
        env = {k: v for k, v in os.environ.items() if not k.startswith("TOEHOLD_")}
        self._p = subprocess.Popen(
            [*map(str, prefix), "unshare", "--mount", "/bin/sh"],
            env={**env, "T": str(self.folder), "S": str(self.socket)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def run(self, command: str, *, code: int | None = 0) -> str:
        """Runs a command in the shell itself. Returns what it prints on standard output."""
        line = f"{{ {command}\n}} >{self._out} 2>{self._err} </dev/null; echo $?\n"
        self._p.stdin.write(line)
        self._p.stdin.flush()
        got = int(self._p.stdout.readline())
        if code is not None:
            assert got == code, (command, got, self._out.read_text(), self._err.read_text())
        self.code = got
        return self._out.read_text()

    def errors(self) -> str:
        return self._err.read_text()

    def read(self, name: str) -> str:
        """The text of a file in $T."""
        return (self.folder / name).read_text()

    def is_alive(self, name: str) -> bool:
        """Whether the process runs whose pid is in this file of $T."""
        self.run(f"kill -0 $(cat $T/{name})", code=None)
        return self.code == 0

    def doctor(self, words: str = "", prefix: str = "") -> list[dict]:
        """The findings of `toehold doctor` that are worse than a note."""
        program = shlex.quote(str(paths.built("toehold")))
        text = self.run(f"{prefix} {program} doctor --json --socket $S {words}", code=None)
        answer = json.loads(text)
        assert self.code == CODES.get(answer["worst"], 0), answer
        self.findings = [f for f in answer["findings"] if f["found"] not in ordinary()]
        return [f for f in self.findings if f["severity"] in CODES]

    def close(self) -> None:
        self._p.stdin.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._p.pid, 9)
        self._p.wait()
        self._p.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


@functools.cache
def ordinary() -> set[str]:
    """What is wrong with this machine before any test."""
    done = proc.run(
        [paths.built("toehold"), "doctor", "--json", "--socket", "/nowhere"], check=False
    )
    return {f["found"] for f in json.loads(done.stdout)["findings"] if f["severity"] in CODES}


class Case(NamedTuple):
    """A set-up: `given` makes it whole, `broken` breaks it; `found` is the finding's id."""

    found: str
    severity: str
    broken: str
    given: str = ":"
    says: str = ""
    words: str = ""  # more arguments of the doctor
    as_user: str = ""  # a prefix of the doctor
    prefix: Sequence[object] = ()  # of the shell
    run: str = "."  # the socket's folder, within $T


def check(shell: Shell, case: Case) -> str:
    """Breaks, examines, cures. Returns the cure."""
    shell.run(case.given)
    before = shell.doctor(case.words, case.as_user)
    assert case.found not in [f["id"] for f in before], before
    shell.run(case.broken)
    broken = shell.doctor(case.words, case.as_user)
    [finding] = [f for f in broken if f not in before]
    assert [f for f in broken if f in before] == before, "other findings have changed"
    assert (finding["id"], finding["severity"]) == (case.found, case.severity)
    assert case.says in finding["found"]
    shell.run(finding["cure"])
    return finding["cure"]


def is_cured(shell: Shell, case: Case) -> bool:
    return case.found not in [f["id"] for f in shell.doctor(case.words, case.as_user)]


def over(path: str, text: str, name: str) -> str:
    """A command that puts a file with this text in the place of a file of the kernel."""
    return f"echo '{text}' >$T/{name} && mount --bind $T/{name} {path}"


JIT = "/proc/sys/net/core/bpf_jit_enable"
HUGE = "/proc/sys/vm/nr_hugepages"
CARD = "/sys/bus/pci/devices/0000:03:00.0"
NO_IOMMU = "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"
# A /sys of this namespace alone, with one network card.
SYS = (
    f"mount -t tmpfs tmpfs /sys && mkdir -p {CARD} /sys/kernel/iommu_groups"
    f" {Path(NO_IOMMU).parent} && echo 0x020000 >{CARD}/class && echo N >{NO_IOMMU} && "
)
MEMINFO = "CommitLimit: 900000 kB\nCommitted_AS: 800000 kB"

MACHINE = [
    Case(
        "kernel.bpf_jit",
        "warning",
        f"echo 0 >{JIT}",
        given=over(JIT, "1", "jit"),
        says="net.core.bpf_jit_enable is 0",
    ),
    Case("kernel.tun", "warning", "mount -t tmpfs tmpfs /dev/net", says="/dev/net/tun"),
    Case(
        "rights.memlock",
        "warning",
        "prlimit --pid $$ --memlock=65536:",
        says="memlock is 65536",
        prefix=["setpriv", "--bounding-set=-ipc_lock,-sys_resource"],
    ),
    Case("rights.file_size", "warning", "prlimit --pid $$ --fsize=1048576:", says="1048576"),
    Case("rights.address_space", "warning", "prlimit --pid $$ --as=536870912:", says="536870912"),
    Case(
        "memory.control_group",
        "warning",
        "echo 67108864 >/sys/fs/cgroup/memory.max",
        given=f"{SYS} mkdir /sys/fs /sys/fs/cgroup && {over('/proc/self/cgroup', '0::/', 'group')}"
        " && echo max >/sys/fs/cgroup/memory.max",
        says="64 MiB",
    ),
    Case(
        "memory.transparent",
        "warning",
        over("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]", "thp"),
    ),
    Case(
        "memory.overcommit",
        "warning",
        over("/proc/sys/vm/overcommit_memory", "2", "mode"),
        given=over("/proc/meminfo", MEMINFO, "meminfo"),
        says="97 MiB can still be committed",
    ),
    Case(
        "files.read_only", "error", "mount -t tmpfs -o ro tmpfs $T/run", says="/run is", run="run"
    ),
    Case(
        "files.space",
        "error",
        "mount -t tmpfs -o size=64k tmpfs $T/run && head -c 65536 /dev/zero >$T/run/fill",
        says="has 0 bytes left",
        run="run",
    ),
    Case(
        "files.space",
        "error",
        "mount -t tmpfs -o nr_inodes=2 tmpfs $T/run && touch $T/run/a",
        says="room for 0 more files",
        run="run/new",
    ),
    Case(
        "files.preload",
        "error",
        "export TOEHOLD_PRELOAD=/nowhere.so",
        says="TOEHOLD_PRELOAD=/nowhere.so: No such file",
    ),
    Case("toed.state", "error", "touch $S", says="is no socket"),
    Case("toed.left_behind", "warning", "mkdir $T/.toed.sock.999999999.0", says=".999999999.0"),
    Case(
        "cards.huge_pages",
        "warning",
        f"echo 0 >{HUGE}",
        given=f"{SYS} ln -s ../drivers/uio_pci_generic {CARD}/driver && {over(HUGE, '64', 'huge')}",
    ),
    Case(
        "cards.iommu",
        "error",
        f"ln -s ../drivers/vfio-pci {CARD}/driver",
        given=f"{SYS} {over(HUGE, '64', 'huge')}",
        says="no IOMMU",
    ),
]


@pytest.mark.parametrize("case", MACHINE, ids=lambda c: c.found)
def test_machine(case):
    with contextlib.closing(Shell(case.prefix, run=case.run)) as shell:
        check(shell, case)
        assert is_cured(shell, case), shell.findings


@pytest.fixture(scope="module")
def pair() -> Iterator[netns.Pair]:
    with netns.Pair(kernel_ip="10.77.0.1/24", queues=2) as made:
        yield made


def inside(ns: netns.Namespace) -> list[object]:
    return ["ip", "netns", "exec", ns.name]


XDP = "obj $X sec xdp"  # $X: an XDP program
NETWORK = [
    Case("interface.down", "error", "ip link set srv0 down", words="--interface srv0"),
    Case(
        "interface.mtu",
        "error",
        "ip link set srv0 mtu 500",
        says="500",
        words="--interface srv0",
    ),
    Case(
        "interface.xdp",
        "error",
        f"ip link set srv0 xdpdrv {XDP}",
        says="srv0 has an XDP program",
        words="--interface srv0",
    ),
    Case("interface.xdp", "error", f"ip link set srv0 xdpgeneric {XDP}", words="--interface srv0"),
    Case(
        "ports.range",
        "warning",
        "sysctl -qw net.ipv4.ip_local_port_range='40000 40001'",
        says="leaves 2 ports to connect from",
    ),
]


@pytest.mark.parametrize("case", NETWORK, ids=lambda c: c.found)
def test_network(pair, case):
    with contextlib.closing(Shell(inside(pair.server))) as shell:
        shell.run(f"X={paths.built('steer.bpf.o')}")
        check(shell, case)
        assert is_cured(shell, case), shell.findings


def test_carrier_and_missing_interface(pair):
    with contextlib.closing(Shell(inside(pair.server))) as shell:
        pair.client.run(["ip", "link", "set", pair.client_if, "down"])
        [found] = shell.doctor("--interface srv0")
        assert (found["id"], found["severity"]) == ("interface.carrier", "warning")
        pair.client.run(["ip", "link", "set", pair.client_if, "up"])
        assert shell.doctor("--interface srv0") == []
        [found] = shell.doctor("--interface nosuch0")
        assert (found["id"], found["severity"]) == ("interface.missing", "error")
        assert "nosuch0" in found["found"]


def test_modes_of_af_xdp(pair):
    """What the driver reports is listed: veth has native XDP, and no zero copy."""
    with contextlib.closing(Shell(inside(pair.server))) as shell:
        shell.doctor("--interface srv0")
        [line] = [f["found"] for f in shell.findings if f["id"] == "interface.driver"]
        assert line.startswith("srv0: veth, MTU 1500, 2 queues, AF_XDP generic")
        assert "zero copy" not in line


def test_sockets_left_by_processes():
    """A socket that no process listens on, in toed's place and beside it."""
    with contextlib.closing(Shell()) as shell:
        for name, found in (("toed.sock", "toed.state"), ("inline-7.sock", "toed.left_behind")):
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
                s.bind(str(shell.folder / name))
                s.listen(1)
            [finding] = shell.doctor()
            assert (finding["id"], finding["severity"]) == (found, "warning")
            shell.run(finding["cure"])
            assert shell.doctor() == []
            assert not (shell.folder / name).exists()


def test_few_descriptors():
    """A hard limit, which only a privileged process raises."""
    with contextlib.closing(Shell()) as shell:
        shell.run("prlimit --pid $$ --nofile=64:64")
        [finding] = shell.doctor()
        assert (finding["id"], finding["severity"]) == ("rights.files", "warning")
        assert "nofile is 64" in finding["found"]
        shell.run(finding["cure"], code=None)
        if shell.code == 0:
            assert shell.doctor() == []
        else:
            assert "Operation not permitted" in shell.errors()


def test_missing_capability():
    for caps, missing in (("-perfmon,-sys_admin", "CAP_PERFMON"), ("-net_raw", "CAP_NET_RAW")):
        with contextlib.closing(Shell()) as shell:
            [finding] = shell.doctor(prefix=f"setpriv --bounding-set={caps}")
            assert (finding["id"], finding["severity"]) == ("rights.capabilities", "warning")
            assert finding["found"].startswith(f"{missing} missing: toed needs ")


def test_old_kernel_and_one_cpu():
    with contextlib.closing(Shell()) as shell:
        [finding] = shell.doctor(prefix="setarch --uname-2.6 taskset --cpu-list 0")
        assert (finding["id"], finding["severity"]) == ("kernel.version", "warning")
        assert "kernel.cpus" in [f["id"] for f in shell.findings if f["severity"] == "note"]


# ---- with a toed


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
    assert check(rig.shell, case) == f"kill -CONT {pid}"
    assert is_cured(rig.shell, case), rig.shell.findings


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
        shell.run(f"{cure} --json --socket {rig.shell.socket}")
        found = {f["id"] for f in json.loads(shell.read("out"))["findings"]}
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
if "--take-over" in sys.argv:
    version = os.environ["VERSION"]
    os.unlink(path)
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
    s.bind(path)
    s.listen(8)
    while True:
        peer, _ = s.accept()
        if peer.recv(4096):
            answer = {"version": version, "address": "192.0.2.1/24", "engines": []}
            peer.send(json.dumps(answer).encode()) if version != "none" else peer.recv(1)
        peer.close()
"""


@pytest.mark.parametrize(
    ("found", "given", "says"),
    [
        (
            "security.selinux",
            "mkdir -p /sys/fs/selinux && echo 1 >/sys/fs/selinux/enforce",
            "enforc",
        ),
        (
            "security.yama",
            "mount -t tmpfs tmpfs /proc/sys/kernel && mkdir /proc/sys/kernel/yama"
            " && echo 3 >/proc/sys/kernel/yama/ptrace_scope",
            "ptrace_scope is 3",
        ),
        ("cards.driver", ":", "0000:03:00.0 has no driver"),
    ],
)
def test_notes(found, given, says):
    with contextlib.closing(Shell()) as shell:
        shell.run(f"{SYS} {given}")
        assert shell.doctor() == []
        [note] = [f for f in shell.findings if (f["id"], f["severity"]) == (found, "note")]
        assert says in note["found"]


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


# ---- the command line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--interface", "--interface needs a value"),
        ("--interface ''", "want a name of 1 to 15 characters"),
        ("--interface a-name-that-is-too-long", "want a name of 1 to 15 characters"),
        ("--interfac srv0", "write --interface in full"),
        ("--json --quiet", "give only one of --json and --quiet"),
        ("stray", "unexpected argument stray"),
    ],
)
def test_wrong_usage(words, said):
    with contextlib.closing(Shell()) as shell:
        assert shell.run(f"{paths.built('toehold')} doctor {words}", code=USAGE) == ""
        assert said in shell.errors()


def test_text():
    """The text has all findings of the JSON; --quiet only those worse than a note."""
    with contextlib.closing(Shell()) as shell:
        shell.run("touch $S")
        shell.doctor()
        text = shell.run(f"{paths.built('toehold')} doctor --socket $S", code=ERROR)
        for finding in shell.findings:
            assert f"{finding['id']:22} {finding['found']}" in text
            assert "cure" not in finding or f"cure: {finding['cure']}\n" in text
        quiet = shell.run(f"{paths.built('toehold')} doctor --quiet --socket $S", code=ERROR)
        assert quiet.splitlines() == [
            f"error    {'toed.state':22} {shell.socket} is no socket: toed does not start there",
            f"         cure: rm -r {shell.socket}",
        ]


def test_full_output_is_an_error():
    with contextlib.closing(Shell()) as shell:
        shell.run(f"{paths.built('toehold')} doctor --socket $S >/dev/full", code=ERROR)
        assert "cannot write" in shell.errors()
