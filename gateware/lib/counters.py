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
        made = (
            "/* Made by gateware/lib/counters.py from the TOE's packages. */\n"
            f"static const char *const toe_counters[] = {{\n{lines}}};\n"
        )
        if not path.exists() or path.read_text() != made:
            path.write_text(made)
        return FOLDER
