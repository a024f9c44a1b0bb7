# SPDX-License-Identifier: Apache-2.0
"""%{ code }%: Python that can use the members of struct tcp_info, read when the code runs."""

from __future__ import annotations

import ctypes as c
import struct
import traceback
from typing import TYPE_CHECKING

from tests.packetdrill.errors import Mismatch
from tests.packetdrill.symbols import CODE, EXTRA

if TYPE_CHECKING:
    from tests.packetdrill.run import Run

# Members of struct tcp_info (linux/tcp.h) in order, one list for each format letter of `struct`.
BYTES = "state ca_state retransmits probes backoff options"
WORDS = (
    "rto ato snd_mss rcv_mss unacked sacked lost retrans fackets last_data_sent last_ack_sent "
    "last_data_recv last_ack_recv pmtu rcv_ssthresh rtt rttvar snd_ssthresh snd_cwnd advmss "
    "reordering rcv_rtt rcv_space total_retrans"
)
REST = [
    ("Q", "pacing_rate max_pacing_rate bytes_acked bytes_received"),
    ("I", "segs_out segs_in notsent_bytes min_rtt data_segs_in data_segs_out"),
    ("Q", "delivery_rate busy_time rwnd_limited sndbuf_limited"),
    ("I", "delivered delivered_ce"),
    ("Q", "bytes_sent bytes_retrans"),
    ("I", "dsack_dups reord_seen rcv_ooopack snd_wnd rcv_wnd rehash"),
    ("H", "total_rto total_rto_recoveries"),
    ("I", "total_rto_time"),
]


def tcp_info(raw: bytes) -> dict[str, int]:
    out: dict[str, int] = dict.fromkeys((), 0)
    names = [f"tcpi_{n}" for n in BYTES.split()]
    out.update(zip(names, raw[:6], strict=True))
    out["tcpi_snd_wscale"], out["tcpi_rcv_wscale"] = raw[6] & 15, raw[6] >> 4
    out["tcpi_delivery_rate_app_limited"] = raw[7] & 1
    out["tcpi_fastopen_client_fail"] = raw[7] >> 1 & 3
    at = 8
    for letter, group in [("I", WORDS), *REST]:
        size = struct.calcsize(f"={letter}")
        for name in group.split():
            value = int.from_bytes(raw[at : at + size], "little") if at + size <= len(raw) else 0
            out[f"tcpi_{name}"] = value
            at += size
    return out


def collect(run: Run) -> dict[str, int]:
    sock = run.under_test
    if sock is None or sock.live_fd < 0:
        return {}
    raw, n = c.create_string_buffer(512), c.c_uint32(512)
    args = [sock.live_fd, EXTRA["SOL_TCP"], EXTRA["TCP_INFO"], c.addressof(raw), c.addressof(n)]
    result, _ = run.backend.call("getsockopt", args)
    return tcp_info(raw.raw[: n.value]) if result == 0 else {}


def execute(run: Run, text: str, line: int) -> None:
    """Executes a snippet. Names that it defines remain for later snippets."""
    space = run.code_space
    space.update(CODE)
    space.update(collect(run))
    space["counter"] = run.backend.counter  # beyond packetdrill: counter("tcp_paws")
    try:
        exec(compile(text, f"{run.script.path}:{line}", "exec"), space)
    except AssertionError as e:
        values = [n for n in space if n.startswith("tcpi_") and n in text]
        shown = ", ".join(f"{n} = {space[n]}" for n in values)
        said = f": {e}" if str(e) else ""
        raise Mismatch(f"assertion failed: {text.strip()}{said}; {shown}") from None
    except Exception:
        last = traceback.format_exc().splitlines()[-1]
        raise Mismatch(f"error in Python code: {text.strip()}: {last}") from None
