# SPDX-License-Identifier: Apache-2.0
"""The runner's state of each socket, and the mapping of the script's numbers to the live ones
(addresses, ports, sequence numbers, timestamps)."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.packetdrill.packet import Packet

M32 = 0xFFFFFFFF

# States, as in packetdrill's socket.h.
NEW, LISTENING, PASSIVE, SYNACK_SENT, SYNACK_ACKED, CONNECTING, SYN_SENT, SYN_ACKED = range(8)


@dataclass
class Sock:
    state: int = NEW
    protocol: int = 6
    script_fd: int = -1
    live_fd: int = -1
    script_ports: tuple[int, int] | None = None  # remote and local, when the script writes them
    remote_port: int = 0
    local_port: int = 0
    script_local_isn: int = 0
    live_local_isn: int = 0
    script_remote_isn: int = 0
    live_remote_isn: int = 0
    ts_map: dict[int, int] = field(default_factory=dict)  # script's TS val: live
    first_ts: tuple[int, int] | None = None  # script's and live
    flow_label: tuple[int, int] | None = None  # script's and live
    written: int | None = 0  # bytes passed to the stack; None: not by the runner
    read: int | None = 0
    last_in: Packet | None = None  # for the RST at the end
    last_out: Packet | None = None

    # As in packetdrill's socket.h and in tcpdump: numbers of packets with SYN are absolute, those
    # of all others are relative to the first SYN of their side.

    def local_to_live(self, syn: bool) -> int:
        return (self.live_local_isn - (self.script_local_isn if syn else 0)) & M32

    def remote_to_live(self, syn: bool) -> int:
        return (self.live_remote_isn - (self.script_remote_isn if syn else 0)) & M32

    @staticmethod
    def offset(isn: int, seq: int, syn: bool) -> int:
        """Returns the offset in the stream of a packet's first byte, from the script's numbers."""
        return (seq - isn if syn else seq - 1) & M32
