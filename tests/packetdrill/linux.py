# SPDX-License-Identifier: Apache-2.0
"""The back end for Linux's own TCP, the reference: a network namespace with a tun device, real
time.

A packet socket with the kernel's timestamps captures outgoing packets; incoming ones are written to
the device. Each script has its own namespace. Needs root."""

from __future__ import annotations

import contextlib
import ctypes as c
import fcntl
import os
import re
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

from tests.packetdrill.config import Config
from tests.packetdrill.cookie import KEY
from tests.packetdrill.errors import NotSupported, ScriptError
from tests.packetdrill.shell import DEFAULTS

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 1, 0x1000
SO_TIMESTAMPNS = 35
PACKET_OUTGOING = 4
ETH_P_ALL = 3
DEVICE = "tun0"
# A namespace inherits the machine's algorithm, which may be any. Uses the first of these that this
# machine allows in a namespace; scripts that depend on the algorithm set it.
ALGORITHMS = ("cubic", "reno")
# Reports that a script could not be judged here: this kernel lacks the algorithm, or does not allow
# it in a namespace.
LACKS = "this machine lacks an algorithm"
SPIN_NS = 200_000

# As in Linux's selftests: the kernel saves no metrics from one connection for the next, Fast Open's
# cookies are known, and a receive buffer grows to what gives window scale 8.
SYSCTLS = {
    "net.ipv4.tcp_fastopen_key": KEY,
    "net.ipv4.tcp_rmem": "4096 131072 15728640",
    "net.ipv4.tcp_no_metrics_save": "1",
    "net.ipv6.conf.all.accept_dad": "0",
    "net.ipv6.conf.default.accept_dad": "0",
    "net.ipv6.conf.default.router_solicitations": "0",
}


class Linux:
    name = "linux"
    tolerance_percent = 12.5
    virtual = False

    def __init__(self) -> None:
        if os.geteuid() != 0:
            raise ScriptError("the linux back end makes a network namespace: run it as root")
        self.libc = c.CDLL(None, use_errno=True)
        self.tun = -1
        self.sniffer: socket.socket | None = None
        self.thread: threading.Thread | None = None
        self.done: tuple[int, int, int] | None = None
        self.calls: dict[str, object] = {}

    # ---- life ----

    def start(self, config: Config) -> None:
        if self.libc.unshare(CLONE_NEWNET) != 0:
            raise ScriptError(f"unshare: {os.strerror(c.get_errno())}")
        with contextlib.suppress(OSError):  # other load must not distort the times
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        for name, value in SYSCTLS.items():
            self.sysctl(name, value)
        for algorithm in ALGORITHMS:
            with contextlib.suppress(ScriptError, NotSupported):
                self.sysctl("net.ipv4.tcp_congestion_control", algorithm)
                break
        self.tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(
            self.tun, TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), IFF_TUN | IFF_NO_PI)
        )
        self.addresses(config)
        self.sniff()
        self.origin = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.apart = time.time_ns() - self.origin

    def addresses(self, config: Config) -> None:
        family, default = ("-4", "default") if config.version == 4 else ("-6", "default")
        lines = [
            "link set lo up",
            f"link set {DEVICE} mtu {config.mtu} up",
            f"addr add {config.local_ip}/{config.prefix} dev {DEVICE}",
        ]
        if config.version == 6:
            lines[-1] += " nodad"
        lines.append(f"route add {default} via {config.gateway_ip} dev {DEVICE}")
        done = subprocess.run(
            ["ip", family, "-batch", "-"],
            input="\n".join(lines) + "\n",
            text=True,
            capture_output=True,
        )
        if done.returncode:
            raise ScriptError(f"ip: {done.stderr.strip()}")

    def sniff(self) -> None:
        s = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
        s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        s.bind((DEVICE, ETH_P_ALL))
        self.sniffer = s

    def stop(self) -> None:
        if self.sniffer:
            self.sniffer.close()
        if self.tun >= 0:
            os.close(self.tun)
        self.sniffer, self.tun = None, -1

    # ---- time and packets ----

    def now(self) -> int:
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC) - self.origin

    def sleep_until(self, when: int) -> None:
        while (left := when - self.now()) > 0:
            if left > SPIN_NS:
                time.sleep((left - SPIN_NS) / 1e9)

    def send(self, packet: bytes) -> None:
        os.write(self.tun, packet)

    def receive(self, until: int) -> tuple[bytes, int] | None:
        while True:
            left = (until - self.now()) / 1e9
            self.sniffer.settimeout(max(left, 0.000001))
            try:
                raw, control, _, source = self.sniffer.recvmsg(65536, 256)
            except (TimeoutError, BlockingIOError):
                return None
            self.drain()
            if source[2] == PACKET_OUTGOING and raw:
                return raw, self.stamp(control)

    def stamp(self, control: list[tuple[int, int, bytes]]) -> int:
        for level, kind, data in control:
            if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
                seconds, nanoseconds = struct.unpack("=qq", data[:16])
                return seconds * 10**9 + nanoseconds - self.apart - self.origin
        return self.now()

    def drain(self) -> None:
        """Empties the device's queue: the packet socket has captured its packets already."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self.tun, 65536):
                pass

    # ---- calls ----

    def find(self, name: str):
        if name not in self.calls:
            fn = getattr(self.libc, name, None)
            if fn is None:
                raise NotSupported(f"{name}() is not of this back end")
            fn.restype = c.c_long if name in ("read", "write") else c.c_int
            self.calls[name] = fn
        return self.calls[name]

    def call(self, name: str, args: list[int]) -> tuple[int, int]:
        fn = self.find(name)
        c.set_errno(0)
        result = fn(*(c.c_long(a) for a in args))
        return int(result), c.get_errno()

    def begin(self, name: str, args: list[int]) -> None:
        self.find(name)
        self.done = None

        def work() -> None:
            result, error = self.call(name, args)
            self.done = result, error, self.now()

        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()
        time.sleep(0.0005)  # lets the thread enter the call

    def ended(self) -> tuple[int, int, int] | None:
        done = self.done
        if done is None:
            return None
        self.done = None
        if self.thread:
            self.thread.join()
        self.thread = None
        return done

    def cancel(self) -> None:
        """The call ends with its connection, or with the process: its thread is a daemon."""
        self.thread = self.done = None

    # ---- settings ----

    def sysctl(self, name: str, value: str) -> None:
        path = Path("/proc/sys") / name.replace(".", "/")
        try:
            path.write_text(value)
        except OSError as e:
            raise NotSupported(f"sysctl {name}={value}: {e.strerror}") from None

    def command(self, line: str) -> bool:
        return False

    def shell(self, text: str) -> None:
        lines = [line for line in text.split("\n") if not DEFAULTS.match(line.strip())]
        script = "\n".join(lines)
        script = re.sub(r"\S*set_sysctls\.py\s+(.*)", self.set_sysctls, script)
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
        if done.returncode and "tcp_congestion_control" in text:
            raise NotSupported(f"{LACKS}: {done.stderr.strip()}")
        if done.returncode:
            raise ScriptError(f"`{text}` ended with {done.returncode}: {done.stderr.strip()}")

    def set_sysctls(self, m: re.Match[str]) -> str:
        """Sets sysctls, which Linux's selftests pass to their own script as PATH=VALUE."""
        pairs = re.findall(r"(/proc/sys/\S+?)=(\"[^\"]*\"|\S+)", m[1])
        return "; ".join(f"echo {value} > {path}" for path, value in pairs) or ":"

    def counter(self, name: str) -> int:
        raise NotSupported("counters are core's")
