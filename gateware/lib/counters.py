# SPDX-License-Identifier: Apache-2.0
"""Generates a C++ header for gateware/sim with the names of the TOE's counters, COUNTERS[0] first,
from the structures of its packages."""

import re
from pathlib import Path

from .tools import GATEWARE, OUT, alone

FOLDER = OUT / "counters"

# In the order of toe_csr, the lowest bit first.
STRUCTURES = [
    ("toe_pkg.sv", "box_counts_t"),
    ("toe_pkg.sv", "conn_counts_t"),
    ("toe_pkg.sv", "rx_counts_t"),
    ("fpc_pkg.sv", "fpc_counts_t"),
]


# Of each counter: its meaning, as `toehold stats` prints it.
HELP = {
    "packet_in": "frames received",
    "packet_out": "frames sent",
    "tcb_write_error": "errors on writes to the memory of TCBs",
    "tcb_read_error": "errors on reads from the memory of TCBs",
    "host_write_error": "bus errors on writes to the host, in bursts",
    "host_read_error": "bus errors on reads from the host, in beats",
    "msix": "MSI-X messages requested",
    "qp_halted": "queue pairs halted: the host broke a ring",
    "tw_limited": "segments in TIME-WAIT not answered: rate limit",
    "tw_recycled": "connections that left TIME-WAIT early for others",
    "table_full": "SYNs or CONNECTs refused: the flow table is full",
    "listen_full": "SYNs dropped: backlog or slots full, or only WEAK listeners",
    "conn_rst_sent": "RSTs sent for segments of no flow",
    "conn_no_flow": "RSTs of no flow, dropped",
    "bad_tcp_sum": "segments dropped: TCP checksum wrong",
    "bad_ip_sum": "packets dropped: IPv4 header checksum wrong",
    "bad_header": "packets dropped: a fragment, or invalid lengths, version, options or source",
    "not_ours": "packets dropped: another MAC address, protocol or destination",
    "too_long": "packets dropped: longer than a packet buffer",
    "no_buffer": "packets dropped: no packet buffer is free, or the TOE is behind",
    "fetched": "TCBs read from the memory of TCBs",
    "evicted": "TCBs written to the memory of TCBs",
    "given_up": "connections ended: the peer did not acknowledge",
    "established": "connections established",
    "bad_command": "commands refused: invalid",
    "stale_command": "commands dropped: their flow had ended",
    "gap_dropped": "segments dropped: too many gaps before them",
    "probe": "window and keep-alive probes sent",
    "timeout": "retransmission timeouts (RFC 6298)",
    "fast_recovery": "fast recoveries begun",
    "resent": "segments retransmitted",
    "segment_sent": "segments sent",
    "challenge_limited": "challenge ACKs not sent: rate limit (RFC 5961)",
    "challenge": "challenge ACKs sent (RFC 5961)",
    "rst_sent": "RSTs sent by connections",
    "rst_received": "RSTs received",
    "no_ack_bit": "segments dropped: no ACK bit",
    "bad_ack": "segments dropped: they acknowledge what was never sent",
    "out_of_window": "segments dropped: outside the window",
    "paws": "segments dropped: an old timestamp (RFC 7323 PAWS)",
    "no_timestamp": "segments dropped: without the negotiated timestamp (RFC 7323)",
    "no_flow": "events of flows that had ended",
}


def names() -> list[str]:
    found = []
    for file, structure in STRUCTURES:
        text = (GATEWARE / "src" / "toe" / "rtl" / file).read_text()
        body = re.search(r"typedef struct packed \{([^}]*)\} " + structure + ";", text)[1]
        fields = re.findall(r"^\s*logic\s+(\w+);", body, re.M)
        found += [(structure.partition("_")[0], field) for field in reversed(fields)]
    # If two structures share a field name, the FPCs' counter has it without a prefix.
    plain = [field for _, field in found]
    return [
        f"{owner}_{field}" if plain.count(field) > 1 and owner != "fpc" else field
        for owner, field in found
    ]


def generate() -> Path:
    """Returns the folder of toe_counters.h, rebuilt when the structures change."""
    with alone(FOLDER):
        FOLDER.mkdir(parents=True, exist_ok=True)
        path = FOLDER / "toe_counters.h"
        lines = "".join(f'    "{name}",\n' for name in names())
        helps = "".join(f'    "{HELP[name]}",\n' for name in names())
        made = (
            "/* Made by gateware/lib/counters.py from the TOE's packages. */\n"
            f"static const char *const toe_counters[] = {{\n{lines}}};\n"
            "/* What they count. */\n"
            "[[maybe_unused]] static const char *const toe_counter_help[] = "
            f"{{\n{helps}}};\n"
        )
        if not path.exists() or path.read_text() != made:
            path.write_text(made)
        return FOLDER
