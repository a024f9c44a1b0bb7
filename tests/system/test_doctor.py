# SPDX-License-Identifier: Apache-2.0
"""`toehold doctor`: each broken set-up gives its finding and no other, and the printed command
cures it."""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import netns, paths
from tests.lab.doctor import Case, Shell, check, inside, is_cured

ERROR, USAGE = 1, 2

pytestmark = pytest.mark.toehold_only


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
        one = min(os.sched_getaffinity(0))
        [finding] = shell.doctor(prefix=f"setarch --uname-2.6 taskset --cpu-list {one}")
        assert (finding["id"], finding["severity"]) == ("kernel.version", "warning")
        assert "kernel.cpus" in [f["id"] for f in shell.findings if f["severity"] == "note"]


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


# ---- the command line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--interface", "--interface needs a value"),
        ("--interface ''", "want a name of 1 to 15 characters"),
        ("--socket ''", "--socket needs a path"),
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
            f"         cure: mv -n {shell.socket} {shell.socket}.old",
        ]


@pytest.mark.parametrize("path", ["/dev/null", "/", "/etc"])
def test_path_of_something_else(path):
    """No cure removes what is no socket."""
    with contextlib.closing(Shell()) as shell:
        text = shell.run(f"{paths.built('toehold')} doctor --quiet --socket {path}", code=ERROR)
        assert f"{path} is no socket" in text
        assert "cure" not in text
        assert "name another path by --socket" in text


def test_names_of_interfaces_are_words_of_the_shell():
    names = ["a;b", "x$y", "q'r"]
    with contextlib.closing(Shell(["unshare", "--net"])) as shell:
        for name in names:
            word = shlex.quote(name)
            shell.run(f"ip link add {word} type veth peer name peer0")
            shell.run("ip link set peer0 up")
            [finding] = shell.doctor(f"--interface {word}")
            assert finding["id"] == "interface.down"
            shell.run(finding["cure"])
            assert shell.doctor(f"--interface {word}") == []
            shell.run(f"ip link del {word}")


def test_full_output_is_an_error():
    with contextlib.closing(Shell()) as shell:
        shell.run(f"{paths.built('toehold')} doctor --socket $S >/dev/full", code=ERROR)
        assert "cannot write" in shell.errors()
