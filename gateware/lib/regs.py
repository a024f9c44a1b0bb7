# SPDX-License-Identifier: Apache-2.0
"""Register blocks (AXI4-Lite) and register chapters, from device/*.rdl by PeakRDL."""

import shutil
from pathlib import Path

from .tools import BIN, OUT, ROOT, alone, run

REGS = OUT / "regs"

# Blocks that gateware has: the description, and the module made of it.
BLOCKS = {"rtt": "rtt_regs"}


def generate(block: str) -> Path:
    """The folder with <module>_pkg.sv and <module>.sv; made anew when the description is newer."""
    out = REGS / block
    with alone(out):
        return generate_alone(block, out)


def generate_alone(block: str, out: Path) -> Path:
    rdl = ROOT / "device" / f"{block}.rdl"
    stamp = out / "source"
    source = rdl.read_bytes() + (ROOT / "device" / "block.rdl").read_bytes()
    if stamp.exists() and stamp.read_bytes() == source:
        return out
    part = out.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    peakrdl = BIN / "peakrdl"
    options = ["--cpuif", "axi4-lite-flat", "--type-style", "hier", "--err-if-bad-addr"]
    options += ["--rt-read-fanin", "--rt-read-response"]
    run([peakrdl, "regblock", rdl, "-o", part, *options], check=True)
    run([peakrdl, "markdown", rdl, "-o", part / f"{block}.md"], check=True)
    (part / "source").write_bytes(source)
    shutil.rmtree(out, ignore_errors=True)
    part.rename(out)
    return out


def generate_all() -> None:
    for block in BLOCKS:
        generate(block)


def main(argv: list[str]) -> int:
    if argv:
        raise SystemExit("usage: scripts/gateware regs")
    generate_all()
    print(f"{REGS.relative_to(ROOT)}: {', '.join(BLOCKS)}")
    return 0
