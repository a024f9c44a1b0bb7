# SPDX-License-Identifier: Apache-2.0
"""The back end of core/ with libtoe's sockets, in virtual time: libtoe_packetdrill.so."""

from __future__ import annotations

import ctypes as c
import os
from pathlib import Path

from tests.packetdrill.config import Config
from tests.packetdrill.errors import NotSupported, ScriptError

MEMBERS = [
    "userdata",
    "free",
    "socket",
    "bind",
    "listen",
    "accept",
    "connect",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "recvmsg",
    "write",
    "writev",
    "send",
    "sendto",
    "sendmsg",
    "fcntl",
    "ioctl",
    "close",
    "shutdown",
    "getsockopt",
    "setsockopt",
    "poll",
    "netdev_send",
    "netdev_receive",
    "usleep",
    "gettimeofday",
    "epoll_create",
    "epoll_ctl",
    "epoll_wait",
    "pipe",
    "splice",
]
# Calls that packetdrill's table lacks, and their functions (toe/virtual.h).
BESIDE = {"sendfile": "toevt_sendfile"}
NEVER = (1 << 64) - 1
CALL = c.CFUNCTYPE(c.c_int, c.c_void_p, *[c.c_long] * 6, use_errno=True)

# Knobs of the object that scripts set as sysctls (without net.ipv4.), and sysctls that are fixed
# here: only the listed value is accepted; None accepts any.
FIXED = {
    "net.core.default_qdisc": None,
    "net.ipv4.tcp_no_metrics_save": None,
    "net.ipv4.tcp_syncookies": ["1"],
    "net.ipv4.tcp_early_retrans": ["3", "4"],
    "net.ipv4.tcp_tso_win_divisor": None,
    "net.ipv4.tcp_min_tso_segs": None,
    "net.ipv4.tcp_syn_linear_timeouts": ["0"],
    "net.ipv4.tcp_fastopen_blackhole_timeout_sec": ["0"],
    "net.ipv4.tcp_ecn_fallback": ["1"],
}

# Linux's sizes of buffers: the knob, and which of the three numbers (least, default, most) it is.
# Ours do not grow: a receive buffer has from the beginning what Linux's may grow to, which decides
# the window scale; a send buffer has what Linux's has at the beginning.
SIZES = {"net.ipv4.tcp_rmem": ("rcvbuf", 2), "net.ipv4.tcp_wmem": ("sndbuf", 1)}
SIZE_MIN, SIZE_MAX = 4096, 16 << 20


def size_knob(name: str, value: str) -> tuple[str, str]:
    """Returns the knob for a sysctl of SIZES: a power of two that gives the same window scale."""
    knob, which = SIZES[name]
    try:
        size = [int(word) for word in value.split()][which]
    except (ValueError, IndexError):
        raise NotSupported(f"sysctl {name}={value}: want three numbers") from None
    size = min(max(size, SIZE_MIN), SIZE_MAX)
    return knob, str(1 << (size.bit_length() - 1))


def library() -> Path:
    root = Path(__file__).resolve().parents[2]
    build = os.environ.get("TOEHOLD_BUILD", "build")
    return root / build / "tests" / "virtual" / "libtoe_packetdrill.so"


class Core:
    """One stack at a time: libtoe has one context per process."""

    name = "core"
    tolerance_percent = 0.0
    virtual = True
    own_flags = ""  # before those of the script
    _lib: c.CDLL | None = None

    def __init__(self, path: Path | None = None, lib: c.CDLL | None = None) -> None:
        if lib is None and (Core._lib is None or path):
            Core._lib = self.load(path or library())
        self.lib = lib or Core._lib
        self.table = (c.c_void_p * len(MEMBERS))()
        self.calls = {}
        self.buffer = c.create_string_buffer(65536)
        self.busy = False

    @staticmethod
    def load(path: Path, how: str = "scripts/build build") -> c.CDLL:
        if not path.exists():
            raise ScriptError(f"{path} not found: {how}")
        for name in [n for n in os.environ if n.startswith("TOEHOLD_")]:
            if name not in ("TOEHOLD_BUILD", "TOEHOLD_SEED"):
                os.unsetenv(name)  # libtoe's own settings would change the stack under test
        lib = c.CDLL(str(path), use_errno=True)
        u64, size, pointer = c.c_uint64, c.c_size_t, c.c_void_p
        for name, result, args in [
            ("toevt_init", c.c_int, [c.c_char_p, pointer, c.c_char_p, size]),
            ("toevt_set", c.c_int, [c.c_char_p, c.c_char_p, size]),
            ("toevt_get", c.c_char_p, [c.c_char_p]),
            ("toevt_knob", c.c_char_p, [c.c_uint, pointer]),
            ("toevt_now", u64, []),
            ("toevt_next", u64, []),
            ("toevt_run", None, [u64]),
            ("toevt_receive", size, [pointer, size, u64, pointer]),
            ("toevt_send", c.c_int, [c.c_char_p, size]),
            ("toevt_counter", c.c_int64, [c.c_char_p]),
            ("toevt_trace", u64, []),
            ("toevt_usage", None, [pointer]),
            ("toevt_begin", c.c_int, [pointer, pointer]),
            ("toevt_ended", c.c_int, [pointer, pointer, pointer]),
        ]:
            getattr(lib, name).restype = result
            getattr(lib, name).argtypes = args
        return lib

    # ---- life ----

    def start(self, config: Config) -> None:
        six = "6" if config.version == 6 else ""
        flags = f"local_ip{six}={config.local_ip},prefix{six}={config.prefix}"
        flags += f",gateway{six}={config.gateway_ip},mtu={config.mtu}"
        err = c.create_string_buffer(256)
        flags = ",".join(filter(None, [self.own_flags, flags, config.so_flags]))
        if self.lib.toevt_init(flags.encode(), self.table, err, len(err)) != 0:
            raise ScriptError(f"--so_flags: {err.value.decode()}")
        self.calls = {
            name: CALL(self.pointer(name)) for name in [*MEMBERS, *BESIDE] if name != "userdata"
        }
        self.origin = self.lib.toevt_now()

    def stop(self) -> None:
        if self.calls:
            self.calls["free"](self.table[0], 0, 0, 0, 0, 0, 0)

    # ---- time and packets ----

    def now(self) -> int:
        return self.lib.toevt_now() - self.origin

    def sleep_until(self, when: int) -> None:
        if when > self.now():
            self.lib.toevt_run(self.origin + when)

    def send(self, packet: bytes) -> None:
        if self.lib.toevt_send(packet, len(packet)) != 0:
            raise ScriptError("the stack cannot be given this packet")

    def receive(self, until: int) -> tuple[bytes, int] | None:
        at = c.c_uint64()
        n = self.lib.toevt_receive(self.buffer, len(self.buffer), self.origin + until, c.byref(at))
        return (self.buffer.raw[:n], at.value - self.origin) if n else None

    # ---- calls ----

    def pointer(self, name: str) -> int | None:
        if name in BESIDE:
            return c.cast(getattr(self.lib, BESIDE[name]), c.c_void_p).value
        return self.table[MEMBERS.index(name)]

    def find(self, name: str):
        if name not in self.calls:
            raise NotSupported(f"{name}() is not of this back end")
        return self.calls[name]

    def call(self, name: str, args: list[int]) -> tuple[int, int]:
        fn = self.find(name)
        c.set_errno(0)
        result = fn(self.table[0], *(args + [0] * (6 - len(args))))
        return result, c.get_errno()

    def begin(self, name: str, args: list[int]) -> None:
        self.find(name)
        words = (c.c_long * 6)(*(args + [0] * (6 - len(args))))
        if self.lib.toevt_begin(self.pointer(name), words) < 0:
            raise ScriptError(f"{name}(): another call is still blocked")
        self.busy = True

    def ended(self) -> tuple[int, int, int] | None:
        """Returns result, errno and time of the call in progress, once it has ended."""
        result, error, at = c.c_long(), c.c_int(), c.c_uint64()
        if not self.lib.toevt_ended(c.byref(result), c.byref(error), c.byref(at)):
            return None
        self.busy = False
        return result.value, error.value, at.value - self.origin

    def cancel(self) -> None:
        """Ends a call that still sleeps at the end of the script."""
        if self.busy:
            self.lib.toevt_cancel()
            self.ended()

    # ---- settings ----

    def sysctl(self, name: str, value: str) -> None:
        if name in FIXED:
            allowed = FIXED[name]
            if allowed is not None and value not in allowed:
                raise NotSupported(f"sysctl {name}={value}: here it is always {allowed[0]}")
            return
        if name in SIZES:
            name, value = size_knob(name, value)
        for prefix in ("net.ipv4.", "net.ipv6.", "net.core."):
            name = name.removeprefix(prefix)
        err = c.create_string_buffer(256)
        if self.lib.toevt_set(f"{name}={value}".encode(), err, len(err)) != 0:
            raise NotSupported(f"sysctl {name}={value}: {err.value.decode()}")

    def command(self, line: str) -> bool:
        """Returns whether only Linux can execute this line, which may be ignored here."""
        return line.startswith(("tc qdisc", "ethtool", "ip link"))

    def knobs(self) -> list[tuple[str, str, str]]:
        """Returns names, defaults and descriptions."""
        err, out = c.create_string_buffer(256), []
        self.lib.toevt_init(b"", self.table, err, len(err))
        text = c.c_char_p()
        while name := self.lib.toevt_knob(len(out), c.byref(text)):
            out.append((name.decode(), self.lib.toevt_get(name).decode(), text.value.decode()))
        return out

    def counter(self, name: str) -> int:
        return int(self.lib.toevt_counter(name.encode()))


class Gateware(Core):
    """The gateware's TOE instead of core/, simulated, in the same virtual time
    (gateware/sim/toe_virtual.cpp)."""

    name = "gateware"
    own_flags = "rcvbuf=65536"  # its buffers have at most a MiB
    _lib: c.CDLL | None = None

    def __init__(self) -> None:
        if Gateware._lib is None:
            root = Path(__file__).resolve().parents[2]
            path = root / "out/gateware/live/toe_virtual/libtoe_gateware.so"
            Gateware._lib = self.load(path, "scripts/gateware sim toe_virtual")
        super().__init__(lib=Gateware._lib)
