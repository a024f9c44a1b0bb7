# SPDX-License-Identifier: Apache-2.0
"""Gathers the RTL of Ibex, a RISC-V core, from the package pythondata-cpu-ibex into one file.

No source of Ibex is kept in this repository: the file is made at build time from the package that
requirements.txt pins. Ibex includes macros by name; here each include is replaced by its text, so
that no tool needs an include path. SYNTHESIS is defined for this file only: it leaves out Ibex's
assertions and simulation-only messages. src/hyb/rtl/prim_*.sv are the primitives that it uses."""

import re
import sys
from pathlib import Path

from .tools import OUT, VENV, Missing, alone

PACKAGE = "pythondata_cpu_ibex"
PRIM = "vendor/lowrisc_ip/ip/prim/rtl"
# Where included files are, relative to the package's system_verilog.
INCLUDES = ("rtl", PRIM, "vendor/lowrisc_ip/dv/sv/dv_utils")
# In the order of compilation. Instances that the chosen parameters leave out (lockstep, PMP,
# instruction cache) need no module here, but their packages.
SOURCES = (
    f"{PRIM}/prim_secded_pkg.sv",
    "rtl/ibex_pkg.sv",
    *(
        f"rtl/ibex_{name}.sv"
        for name in (
            "alu",
            "branch_predict",
            "compressed_decoder",
            "controller",
            "counter",
            "csr",
            "cs_registers",
            "decoder",
            "ex_block",
            "fetch_fifo",
            "id_stage",
            "prefetch_buffer",
            "if_stage",
            "load_store_unit",
            "multdiv_fast",
            "multdiv_slow",
            "register_file_fpga",
            "wb_stage",
            "core",
            "top",
        )
    ),
)

# A variable whose initial value reads nets: simulators take it, synthesis does not. As a net it is
# driven, which is what is meant.
PATCHES = {"logic unused_scramble_inputs =": "wire unused_scramble_inputs ="}


def package() -> Path:
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    folder = VENV / "lib" / version / "site-packages" / PACKAGE / "system_verilog"
    if not folder.is_dir():
        raise Missing(f"{PACKAGE} is not in {VENV.name}: run scripts/setup gateware")
    return folder


def expand(folder: Path, source: Path) -> str:
    """Returns the text of source with the included files of INCLUDES in place."""

    def text_of(found: re.Match[str]) -> str:
        for place in INCLUDES:
            if (folder / place / found[1]).exists():
                return expand(folder, folder / place / found[1])
        return found[0]  # of a branch that is not compiled

    return re.sub(r'^[ \t]*`include "([^"]+)".*$', text_of, source.read_text(), flags=re.M)


def generate() -> Path:
    """Returns the file, rewritten when its sources changed."""
    folder = package()
    made = OUT / "ibex" / "ibex.sv"
    parts = [expand(folder, folder / name) for name in SOURCES]
    text = "\n".join(["`define SYNTHESIS", *parts, "`undef SYNTHESIS", "`resetall", ""])
    for old, new in PATCHES.items():
        if text.count(old) != 1:
            raise Missing(f"{PACKAGE}: '{old}' is not there once: another version?")
        text = text.replace(old, new)
    with alone(made.parent):
        made.parent.mkdir(parents=True, exist_ok=True)
        if not made.exists() or made.read_text() != text:
            part = made.with_suffix(".part")
            part.write_text(text)
            part.rename(made)
    return made
