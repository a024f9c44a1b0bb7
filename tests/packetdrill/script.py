# SPDX-License-Identifier: Apache-2.0
"""The parts of a script: the output of the parser."""

from __future__ import annotations

from dataclasses import dataclass, field

# Times are microseconds, as packetdrill's.
ABSOLUTE, RELATIVE, ANY, ABSOLUTE_RANGE, RELATIVE_RANGE = range(5)


# ---- expressions ----


@dataclass(frozen=True)
class Ellipsis_:  # noqa: N801 - Ellipsis is Python's
    pass


ELLIPSIS = Ellipsis_()


@dataclass(frozen=True)
class Word:
    name: str


@dataclass(frozen=True)
class Binary:
    op: str  # "|" or "="
    left: object
    right: object


@dataclass(frozen=True)
class Address:
    """inet_addr("...") or inet6_addr("...")."""

    text: str


@dataclass(frozen=True)
class SockAddr:
    family: str
    port: int
    address: str


@dataclass(frozen=True)
class Struct:
    """{...}: named members, in their order."""

    members: dict[str, object] = field(default_factory=dict)

    def __hash__(self) -> int:
        return id(self)


@dataclass(frozen=True)
class IoVec:
    length: object


# ---- packets ----


@dataclass
class IpInfo:
    ecn: str | None = None  # noecn ect0 ect1 ect01 ce
    tos: int | None = None
    flow_label: int | None = None
    ttl: int | None = None


@dataclass
class TcpOption:
    kind: str  # as the script names it
    data: object = None


@dataclass
class PacketSpec:
    outbound: bool
    protocol: str  # tcp udp icmp
    ip: IpInfo = field(default_factory=IpInfo)
    ports: tuple[int, int] | None = None
    flags: str = ""
    seq: int = 0
    length: int = 0
    ack: int = 0
    window: int | None = None
    urgent: int = 0
    options: list[TcpOption] | None = field(default_factory=list)  # None: not compared
    icmp_type: str = ""
    icmp_code: str | None = None
    mtu: int | None = None
    echo_id: int = 0
    echoed: tuple[str, int, int] | None = None  # protocol, sequence number, payload


# ---- events ----


@dataclass
class Call:
    name: str
    args: list[object]
    result: object
    error: str | None
    end: int | None  # when a call that blocks returns


@dataclass
class Command:
    line: str


@dataclass
class Code:
    text: str


@dataclass
class Event:
    line: int
    time_type: int
    time: int
    time_end: int
    action: PacketSpec | Call | Command | Code
    offset: int = 0


@dataclass
class Script:
    path: str
    options: list[tuple[str, str | None]] = field(default_factory=list)
    init: Command | None = None
    init_line: int = 0
    events: list[Event] = field(default_factory=list)
    cleanup: Command | None = None
    cleanup_line: int = 0
