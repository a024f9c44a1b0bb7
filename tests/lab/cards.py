# SPDX-License-Identifier: Apache-2.0
"""A laboratory of network cards without a card: a guest of QEMU, whose emulated cards are plugged
in and out while it runs, and a Linux peer in a network namespace of this machine.

      namespace PREFIX-N-client               guest: Debian's kernel, toed, nginx
    +---------------------------+            +-------------------------------+
    | 10.77.0.2/24         tap0 |---- QEMU --| a card's driver     10.77.0.1 |
    +---------------------------+            +-------------------------------+
"""

from __future__ import annotations

import fcntl
import http.client
import itertools
import json
import os
import random
import shutil
import socket
import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.lab import guest as guests
from tests.lab import netns, nginx, paths, patience, proc

IP, PEER_IP = "10.77.0.1", "10.77.0.2"
MAC = "52:54:00:ca:4d:01"
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI, IFF_VNET_HDR, IFF_MULTI_QUEUE = 0x0002, 0x1000, 0x4000, 0x0100
SOCKET = "/run/toed.sock"
PMDS = sorted(Path("/usr/lib/x86_64-linux-gnu/dpdk").glob("pmds-*"))
# Parts of DPDK that a card needs, beside its driver.
PARTS = ("bus_pci", "bus_vdev", "mempool_ring")
_serial = itertools.count(1)


@dataclass(frozen=True)
class Card:
    name: str
    device: str  # for QEMU
    modules: tuple[str, ...]
    dpdk: str  # DPDK's driver
    queues: int = 1
    sees_link: bool = True  # QEMU 7.2's e1000e does not notify its driver of set_link


_VIRTIO = ("virtio_ring", "virtio", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci")
CARDS = {
    card.name: card
    for card in (
        Card("e1000", "e1000", ("e1000",), "net_e1000"),
        Card("e1000e", "e1000e", ("e1000e",), "net_e1000", sees_link=False),
        Card("vmxnet3", "vmxnet3", ("vmxnet3",), "net_vmxnet3"),
        Card(
            "virtio-net",
            "virtio-net-pci",
            (*_VIRTIO, "failover", "net_failover", "virtio_net"),
            "net_virtio",
            queues=2,
        ),
    )
}
_OTHER_MODULES = ("llc", "stp", "bridge", "tun")
_VFIO = ("irqbypass", "vfio", "vfio_virqfd", "vfio_iommu_type1", "vfio-pci-core", "vfio-pci")


def missing() -> str:
    """The reason why this machine has no such laboratory; "" if it has."""
    why = guests.missing()
    if not why and not list(guests.STORE.glob("lib/modules/*/kernel/drivers/net/virtio_net.ko")):
        why = f"{guests.STORE} has no drivers of cards: remove it, and run scripts/setup test"
    return why


def has_dpdk() -> bool:
    """Whether the build has DPDK, and this machine its drivers."""
    return bool(PMDS) and (paths.build_dir("toed") / "netio/libtoe_dpdk.so").exists()


def _tap(name: str, queues: int) -> list[int]:
    """Opens the queues of a TAP interface of this thread's namespace.

    Only virtio-net gets the virtio header, which it needs for its offloads: the peer's kernel
    trusts checksums that the header leaves to it. Without it QEMU's cards compute checksums, and
    the peer checks them.
    """
    flags = IFF_TAP | IFF_NO_PI | (IFF_MULTI_QUEUE | IFF_VNET_HDR if queues > 1 else 0)
    fds = []
    for _ in range(queues):
        fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), flags))
        fds.append(fd)
    return fds


class Qmp:
    """QEMU's control connection."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.file = sock.makefile("rwb")
        self.events: list[dict] = []

    def start(self) -> None:
        assert "QMP" in json.loads(self.file.readline())
        self("qmp_capabilities")

    def _read(self) -> dict:
        self.sock.settimeout(patience.seconds(30))
        line = self.file.readline()
        if not line:
            raise AssertionError("QEMU has ended")
        return json.loads(line)

    def __call__(self, command: str, **arguments: object) -> object:
        said = json.dumps({"execute": command, "arguments": arguments})
        self.file.write(said.encode() + b"\n")
        self.file.flush()
        while True:
            answer = self._read()
            if "event" in answer:
                self.events.append(answer)
            elif "error" in answer:
                raise AssertionError((command, arguments, answer["error"]["desc"]))
            else:
                return answer["return"]

    def wait_event(self, name: str, **data: str) -> None:
        """Waits for an event whose data has these values."""

        def wanted(e: dict) -> bool:
            return e["event"] == name and data.items() <= e.get("data", {}).items()

        while not any(wanted(e) for e in self.events):
            answer = self._read()
            if "event" in answer:
                self.events.append(answer)
        self.events = [e for e in self.events if not wanted(e)]


class Rack:
    """The guest, its peer, and slots for cards.

    with Rack() as rack:
        interface = rack.plug(CARDS["e1000"])
        ...
        rack.pull()
    """

    def __init__(self, cards: tuple[str, ...] = tuple(CARDS), *, dpdk: bool = False) -> None:
        self.peer = netns.Namespace.create(f"{netns.PREFIX}-{os.getpid()}-{next(_serial)}-card")
        self.folder = Path(tempfile.mkdtemp(prefix="cards-"))
        self.taps = {1: "tap1", 2: "tap2"}
        self.names = cards  # of the cards whose drivers the guest has
        self.card: Card | None = None
        self.plugged = 0
        fds: list[int] = []
        mine, theirs = socket.socketpair()
        self.qmp = Qmp(mine)
        try:
            with self.peer.entered():
                opened = {n: _tap(name, n) for n, name in self.taps.items()}
            fds = [fd for some in opened.values() for fd in some]
            for name in self.taps.values():
                self.peer.run(["ip", "link", "set", name, "addrgenmode", "none"])
            self.argv = nginx.configuration(self.folder, f"{IP}:80")
            self.guest = guests.Guest(
                [],
                self._modules(cards, dpdk=dpdk),
                _machine(opened, theirs),
                files=self._files(cards, dpdk=dpdk),
                keep=fds,
                memory=640 if dpdk else 384,
                cpu="Nehalem",
                append="iommu=pt",
            )
            self.qmp.start()
            self.run = self.guest.run
            self.run("ip link set lo up; mkdir -p /dev/shm /var; mount -t tmpfs none /dev/shm")
            # DPDK loads no driver from a folder that others can write to.
            self.run("ln -s /run /var/run; chmod 755 /")
        except BaseException:
            self.peer.delete()
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        finally:
            theirs.close()
            for fd in fds:
                os.close(fd)

    def _modules(self, cards: tuple[str, ...], *, dpdk: bool) -> list[str]:
        drivers = [m for name in cards for m in CARDS[name].modules]
        return [*dict.fromkeys([*drivers, *_OTHER_MODULES, *(_VFIO if dpdk else ())])]

    def _files(self, cards: tuple[str, ...], *, dpdk: bool) -> dict[str, Path | bytes | str]:
        at = str(self.folder).lstrip("/")
        files: dict[str, Path | bytes | str] = {
            "b/engine/toed": paths.built("toed"),
            "b/cli/toehold": paths.built("toehold"),
            "b/manager/libtoe_preload.so": paths.built("libtoe_preload.so"),
            "b/tests/libwrongsum.so": paths.built("libwrongsum.so"),
            f"{at}/nginx.conf": (self.folder / "nginx.conf").read_bytes(),
            f"{at}/files/empty": b"",
            "etc/passwd": b"root:x:0:0::/:/bin/sh\n",
            "etc/group": b"root:x:0:\n",
        }
        for inline in sorted(paths.build_dir("toed").glob("engine/libtoe_inline.so*")):
            if inline.is_file():
                files[f"b/engine/{inline.name}"] = inline
        for name in ("nginx", "ethtool"):
            files[f"usr/sbin/{name}"] = Path(shutil.which(name))
        files["bin/ip"] = Path(shutil.which("ip")).resolve()  # busybox makes no bridges
        if dpdk:
            files["b/netio/libtoe_dpdk.so"] = paths.build_dir("toed") / "netio/libtoe_dpdk.so"
            for part in dict.fromkeys([*PARTS, *(CARDS[name].dpdk for name in cards)]):
                # DPDK loads it by the link, and others by its name: that must be one file.
                lib = next(PMDS[-1].glob(f"librte_{part}.so.*.0"))
                name = f"lib/x86_64-linux-gnu/{lib.name.removesuffix('.0')}"
                files[name] = lib
                files[str(PMDS[-1] / f"librte_{part}.so").lstrip("/")] = f"/{name}"
        return files

    def __enter__(self) -> Rack:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        self.guest.close()
        self.qmp.sock.close()
        self.peer.delete()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- cards

    def plug(self, card: Card) -> str:
        """Adds the card. Returns the name of the interface that its driver makes."""
        self.card, self.plugged = card, self.plugged + 1
        options = {"driver": card.device, "id": "card", "netdev": f"net{card.queues}", "mac": MAC}
        if card.queues > 1:
            options |= {"mq": True, "vectors": 2 * card.queues + 2, "iommu_platform": True}
        self.qmp("device_add", bus="slot0", **options)
        self.until("ls /sys/class/net | grep -qv '^lo$'", "the interface of the card")
        self.interface = self.run("ls /sys/class/net | grep -v '^lo$'").stdout.split()[0]
        tap = self.taps[card.queues]
        for name in self.taps.values():
            self.peer.run(["ip", "address", "flush", "dev", name])
        self.peer.run(["ip", "address", "add", f"{PEER_IP}/24", "dev", tap])
        self.peer.run(["ip", "link", "set", tap, "up"])
        self.run(f"ip link set {self.interface} up")
        self.until(f"grep -q 1 /sys/class/net/{self.interface}/carrier", "the card's link")
        return self.interface

    def pull(self) -> None:
        """Removes the card, as a hand would: the guest's kernel is notified by its slot."""
        self.qmp("device_del", id="card")
        self.qmp.wait_event("DEVICE_DELETED", device="card")
        self.card = None

    def set_link(self, *, up: bool) -> None:
        self.qmp("set_link", name="card", up=up)

    # ---- what serves

    def netif(self, back_end: str, mtu: int = 1500) -> str:
        """The specification of a back end on the plugged card, prepared for toed."""
        self.peer.run(["ip", "link", "set", self.taps[self.card.queues], "mtu", mtu])
        if back_end == "dpdk":
            return f"dpdk:{self._to_vfio()}" + (f",mtu={mtu}" if mtu != 1500 else "")
        self.run(f"ip link set {self.interface} mtu {mtu}")
        if back_end == "tap":
            if mtu != 1500:
                self.run("/bin/ip tuntap add dev toe0 mode tap vnet_hdr")  # not busybox's
                self.run(f"ip link set toe0 mtu {mtu}")
            return "tap:toe0"
        mode = "generic" if back_end == "inline" else back_end.removeprefix("af_xdp-")
        return f"af_xdp:{self.interface},mode={mode}"

    def bridge(self) -> None:
        """Joins the running toed's TAP interface to the card."""
        for command in (
            "ip link add br0 type bridge",
            f"ip link set {self.interface} master br0",
            "ip link set toe0 master br0 up",
            "ip link set br0 up",
        ):
            self.run(command)
        self.until("grep -q 3 /sys/class/net/toe0/brport/state", "br0")

    def set_mtu(self, mtu: int) -> None:
        """Of the link: the peer's end, and the guest's interfaces, which toed follows."""
        self.peer.run(["ip", "link", "set", self.taps[self.card.queues], "mtu", mtu])
        for name in (self.interface, "toe0", "br0"):
            self.run(f"[ ! -e /sys/class/net/{name} ] || ip link set {name} mtu {mtu}")
        self.until(f"grep -q 'MTU of the interface is now {mtu}' /tmp/toed.log", "the MTU")

    def carrier(self, *, up: bool) -> None:
        """Waits until the card's driver has noticed, if it does."""
        if not self.card.sees_link or not self.interface:
            return
        state = f"$(cat /sys/class/net/{self.interface}/carrier)"
        self.until(f"[ {state} = {int(up)} ]", f"carrier {up}")

    def _to_vfio(self) -> str:
        """Gives the card to vfio-pci. Returns its PCI address."""
        link = self.run(f"readlink -f /sys/class/net/{self.interface}/device").stdout.strip()
        if self.card.dpdk == "net_virtio":
            link = os.path.dirname(link)  # of the virtio device: the function above it
        sys = f"/sys/bus/pci/devices/{os.path.basename(link)}"
        self.run(f"echo vfio-pci > {sys}/driver_override")
        self.run(f"echo {os.path.basename(link)} > {sys}/driver/unbind")
        self.run(f"echo {os.path.basename(link)} > /sys/bus/pci/drivers_probe")
        self.interface = ""
        return os.path.basename(link)

    def start_toed(self, netif: str, *options: str, env: str = "") -> bool:
        """Starts toed. Returns true once it serves, and false if it has ended."""
        toed = f"{env} /b/engine/toed --netif {netif} --ip {IP}/24 --socket {SOCKET}"
        self.start("toed", toed, *options)
        self.until(
            f"test -S {SOCKET} || ! kill -0 $(cat /tmp/toed.pid) 2>/dev/null", "toed's socket"
        )
        return self.runs("toed")

    def start_nginx(self, *engine: str) -> None:
        """Starts nginx on toed, or with the engine of these options in it."""
        where = " ".join(engine or (f"--socket {SOCKET}",))
        self.start("nginx", f"/b/cli/toehold run --require {where} -- {' '.join(self.argv)}")
        proc.wait_until(
            lambda: self._get("/hello") == b"hello\n" or not self.runs("nginx"),
            "nginx answers",
            timeout=60,
        )
        assert self.runs("nginx"), self.log("nginx")

    def start(self, name: str, *command: str) -> None:
        """Starts a program of the guest in the background: its output goes to /tmp/NAME.log."""
        self.run(f"{' '.join(command)} >/tmp/{name}.log 2>&1 & echo $! >/tmp/{name}.pid")

    def runs(self, name: str) -> bool:
        return self.run(f"kill -0 $(cat /tmp/{name}.pid)", None).returncode == 0

    def log(self, name: str) -> str:
        return self.run(f"cat /tmp/{name}.log").stdout

    def stop(self, name: str, signal: str = "TERM") -> None:
        self.run(f"kill -{signal} $(cat /tmp/{name}.pid)", None)
        self.until(f"! kill -0 $(cat /tmp/{name}.pid) 2>/dev/null", f"{name} ends")

    def toehold(self, verb: str, *words: str, code: int | None = 0) -> tuple[str, str]:
        done = self.run(f"/b/cli/toehold {verb} --socket {SOCKET} {' '.join(words)}", code)
        return done.stdout, done.stderr

    # ---- the peer

    def connect(self) -> socket.socket:
        return self.peer.connect(IP, 80, timeout=20)

    def _get(self, path: str) -> bytes | None:
        """The body of a GET; None if there was no answer."""
        try:
            return self.get(path)
        except (OSError, http.client.HTTPException):
            return None

    def request(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """The body of the answer of one request over its own connection."""
        connection = http.client.HTTPConnection(IP, 80)
        with self.connect() as connection.sock:
            connection.sock.settimeout(patience.seconds(60))
            connection.request(method, path, body, {"Connection": "close"})
            answer = connection.getresponse()
            data = answer.read()
        assert answer.status in (200, 201, 204), (answer.status, data)
        return data

    def get(self, path: str) -> bytes:
        return self.request("GET", path)

    def transfer(self, size: int) -> None:
        """Sends so many bytes to nginx and fetches them: they must be the same, and no checksum
        wrong at the peer."""
        bad = self.bad_checksums()
        sent = random.Random(size).randbytes(size)
        self.request("PUT", f"/file-{size}", sent)
        assert self.get(f"/file-{size}") == sent, "the bytes that came back are not those sent"
        assert self.bad_checksums() == bad, "the card sent segments with a wrong checksum"

    def bad_checksums(self) -> int:
        """How many received TCP segments the peer's kernel has dropped for their checksum."""
        with self.peer.entered():
            lines = Path("/proc/thread-self/net/snmp").read_text().splitlines()
        names, values = (line.split() for line in lines if line.startswith("Tcp:"))
        return int(dict(zip(names, values, strict=True))["InCsumErrors"])

    # ---- waiting

    def until(self, condition: str, what: str, *, seconds: float = 30) -> None:
        """Waits until a command in the guest succeeds."""
        proc.wait_until(lambda: self.run(condition, None).returncode == 0, what, timeout=seconds)


def _machine(taps: dict[int, list[int]], control: socket.socket) -> list[str]:
    words = ["-device", "intel-iommu"]
    words += ["-device", "pcie-root-port,id=slot0,chassis=1,slot=1"]
    for queues, fds in taps.items():
        which = f"fd={fds[0]}" if queues == 1 else f"fds={':'.join(map(str, fds))}"
        words += ["-netdev", f"tap,id=net{queues},{which},vhost=off"]
    return [
        *words,
        "-chardev",
        "socket,id=control,fd=",
        control,
        "-mon",
        "chardev=control,mode=control",
    ]
