# SPDX-License-Identifier: Apache-2.0
"""struct msghdr for sendmsg and recvmsg, with its control messages."""

from __future__ import annotations

import ctypes as c
import struct
from typing import TYPE_CHECKING

from tests.packetdrill.errors import Mismatch, ScriptError
from tests.packetdrill.script import ELLIPSIS, Struct
from tests.packetdrill.symbols import evaluate, integer

if TYPE_CHECKING:
    from tests.packetdrill.calls import Calls

CONTROL = 1024
EE = ("ee_errno", "ee_origin", "ee_type", "ee_code", "ee_info", "ee_data")
SCM_TIMESTAMPING = 37


class MsgHdr(c.Structure):
    _fields_ = (
        ("name", c.c_void_p),
        ("namelen", c.c_uint32),
        ("iov", c.c_void_p),
        ("iovlen", c.c_size_t),
        ("control", c.c_void_p),
        ("controllen", c.c_size_t),
        ("flags", c.c_int),
    )


class Message:
    """data: the payload of sendmsg; None for recvmsg."""

    def __init__(self, calls: Calls, e: object, data: bytes | None) -> None:
        if not isinstance(e, Struct) or "msg_iov" not in e.members:
            raise ScriptError("expected {msg_name(...)=..., msg_iov(1)=[...], msg_flags=...}")
        m = e.members
        count, vectors = m["msg_iov"]
        self.array, n, self.buffers = calls.iovec(vectors, data)
        if integer(count) != n:
            raise ScriptError(f"msg_iovlen {count} does not match {n}-element iovec array")
        self.sizes = [integer(v.length) for v in vectors]
        self.flags = integer(m.get("msg_flags", 0))
        self.name = None
        self.controls = m.get("msg_control", [])
        self.head = MsgHdr(iov=c.addressof(self.array), iovlen=n)
        if data is None:
            self.to_receive()
        else:
            self.to_send(calls, m.get("msg_name", ELLIPSIS))
        self.address = c.addressof(self.head)

    def to_receive(self) -> None:
        self.name_room = c.create_string_buffer(128)
        self.head.name, self.head.namelen = c.addressof(self.name_room), 128
        if self.controls:
            self.room = c.create_string_buffer(CONTROL)
            self.head.control, self.head.controllen = c.addressof(self.room), CONTROL

    def to_send(self, calls: Calls, name: object) -> None:
        if name is ELLIPSIS:
            from tests.packetdrill.calls import sockaddr_bytes

            config = calls.run.config
            raw = sockaddr_bytes(config.ip_version, config.remote_ip, config.connect_port)
            self.name = c.create_string_buffer(raw)
            self.head.name, self.head.namelen = c.addressof(self.name), len(raw)
        packed = b"".join(self.pack(item) for item in self.controls)
        if packed:
            self.room = c.create_string_buffer(packed)
            self.head.control, self.head.controllen = c.addressof(self.room), len(packed)

    def pack(self, item: object) -> bytes:
        level, kind, value = self.parts(item)
        data = value if isinstance(value, bytes) else struct.pack("=i", integer(value))
        n = 16 + len(data)
        return struct.pack("=Qii", n, level, kind) + data + bytes(-n % 8)

    def parts(self, item: object) -> tuple[int, int, object]:
        if not isinstance(item, Struct):
            raise ScriptError("expected {cmsg_level=..., cmsg_type=..., cmsg_data=...}")
        m = item.members
        try:
            return integer(m["cmsg_level"]), integer(m["cmsg_type"]), evaluate(m["cmsg_data"])
        except KeyError as e:
            raise ScriptError(f"a control message without {e}") from None

    def data(self) -> bytes:
        pairs = zip(self.buffers, self.sizes, strict=True)
        return b"".join(b.raw[:n] for b, n in pairs)

    # ---- results ----

    def check(self) -> None:
        if self.head.flags != self.flags:
            raise Mismatch(f"Expected msg_flags 0x{self.flags:08X} but got 0x{self.head.flags:08X}")
        got = self.received()
        for i, item in enumerate(self.controls):
            if i >= len(got):
                raise Mismatch(f"received only {len(got)} cmsgs")
            self.check_one(i, self.parts(item), got[i])
        if len(got) > len(self.controls):
            raise Mismatch(f"received more than {len(self.controls)} cmsgs")

    def received(self) -> list[tuple[int, int, bytes]]:
        out, at = [], 0
        raw = self.room.raw[: self.head.controllen] if self.controls else b""
        while at + 16 <= len(raw):
            n, level, kind = struct.unpack_from("=Qii", raw, at)
            if n < 16:
                break
            out.append((level, kind, raw[at + 16 : at + n]))
            at += (n + 7) & ~7
        return out

    def check_one(self, i: int, want: tuple[int, int, object], got: tuple[int, int, bytes]) -> None:
        level, kind, value = want
        if got[0] != level:
            raise Mismatch(f"Bad level in cmsg {i}: expected={level} actual={got[0]}")
        if got[1] != kind:
            raise Mismatch(f"Bad type in cmsg {i}: expected={kind} actual={got[1]}")
        if value is ELLIPSIS:
            return
        if isinstance(value, Struct) and "ee_errno" in value.members:
            self.check_extended(i, value, got[2])
        elif isinstance(value, Struct) or kind == SCM_TIMESTAMPING:
            return  # times of a clock other than the script's
        elif isinstance(value, str):
            if got[2].rstrip(b"\0") != value.encode("latin-1"):
                raise Mismatch(f"Bad data in cmsg {i}: expected={value!r} actual={got[2]!r}")
        elif int.from_bytes(got[2][:4], "little", signed=True) != integer(value):
            raise Mismatch(f"Bad data in cmsg {i}: expected={value} actual={got[2].hex()}")

    def check_extended(self, i: int, value: Struct, raw: bytes) -> None:
        words = struct.unpack("=IBBBxII", raw[:16])
        for name, got in zip(EE, words, strict=True):
            want = integer(value.members.get(name, 0)) & 0xFFFFFFFF
            if got != want:
                raise Mismatch(f"Bad {name} in extended err {i}: expected={want} actual={got}")
