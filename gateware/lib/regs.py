# SPDX-License-Identifier: Apache-2.0
"""Generates register blocks and register chapters from device/*.rdl with PeakRDL."""

import re
import shutil
from pathlib import Path

from .tools import BIN, OUT, ROOT, alone, run

REGS = OUT / "regs"

# The register blocks: the description, and the generated module.
BLOCKS = {
    "rtt": "rtt_regs",
    "toe": "toe_regs",
    "hyb": "hyb_regs",
    "hyb_host": "hyb_host_regs",
    "chip": "chip_regs",
}

# PeakRDL's AXI4-Lite front end selects an access, decodes its address and answers it in one cycle.
# With this bare interface, src/axil/rtl/axil_front.sv takes a cycle for each step.
CPUIF = "passthrough"

# Generated chapters of docs/; `scripts/gateware lint` reports stale ones.
CHAPTERS = {
    "rtt": "the measuring module ([GATEWARE.md](../GATEWARE.md)), from where its block begins",
}
DOCS = ROOT / "docs" / "registers"


def generate(block: str) -> Path:
    """Returns the folder with <module>_pkg.sv and <module>.sv, rebuilt when its sources change."""
    out = REGS / block
    with alone(out):
        return generate_alone(block, out)


def generate_alone(block: str, out: Path) -> Path:
    rdl = ROOT / "device" / f"{block}.rdl"
    stamp = out / "source"
    options = ["--cpuif", CPUIF, "--type-style", "hier", "--err-if-bad-addr"]
    options += ["--rt-read-fanin", "--rt-read-response"]
    source = rdl.read_bytes() + (ROOT / "device" / "block.rdl").read_bytes()
    source += " ".join(options).encode()
    if stamp.exists() and stamp.read_bytes() == source:
        return out
    part = out.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    peakrdl = BIN / "peakrdl"
    run([peakrdl, "regblock", rdl, "-o", part, *options], check=True)
    run([peakrdl, "markdown", rdl, "-o", part / f"{block}.md"], check=True)
    (part / "source").write_bytes(source)
    shutil.rmtree(out, ignore_errors=True)
    part.rename(out)
    return out


def chapter(block: str) -> str:
    """Returns the page, without machine-dependent content."""
    rdl = ROOT / "device" / f"{block}.rdl"
    made = OUT / "chapters" / f"{block}.md"
    with alone(made):
        run([BIN / "peakrdl", "markdown", rdl, "-o", made], check=True)
        text = made.read_text()
    body = re.sub(r"^<!---.*?-->\n+", "", text, flags=re.S)
    body = "\n".join(line.rstrip() for line in body.splitlines())
    title = CHAPTERS[block][0].upper() + CHAPTERS[block][1:]
    head = f"Made from device/{block}.rdl by `scripts/gateware regs`; change that, not this page."
    return f"# Registers: {block}\n\n{title}. {head}\n\n{body.strip()}\n"


def stale_chapters() -> list[str]:
    """Returns the chapters that differ from the current output."""
    stale = []
    for block in CHAPTERS:
        page = DOCS / f"{block}.md"
        if not page.exists() or page.read_text() != chapter(block):
            stale.append(str(page.relative_to(ROOT)))
    return stale


def generate_all() -> None:
    for block in BLOCKS:
        generate(block)
    DOCS.mkdir(exist_ok=True)
    for block in CHAPTERS:
        (DOCS / f"{block}.md").write_text(chapter(block))


def main(argv: list[str]) -> int:
    if argv:
        raise SystemExit("usage: scripts/gateware regs")
    generate_all()
    print(f"{REGS.relative_to(ROOT)}: {', '.join(BLOCKS)}")
    print(f"{DOCS.relative_to(ROOT)}: {', '.join(CHAPTERS)}")
    return 0
