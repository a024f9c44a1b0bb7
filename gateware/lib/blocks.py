# SPDX-License-Identifier: Apache-2.0
"""Synthesizes a large design part by part, each out of context, then joins the parts, so that
counts and logic depth are those of the whole. A part with eight instances is synthesized once. Its
result is cached under a digest of the front end's output, which does not depend on comments or on
other parts."""

import hashlib
import json
import re
import shutil
from functools import cache
from pathlib import Path

from . import paths, synth
from .depth import Netlist
from .filelist import read
from .synth import Design
from .tools import alone

# The parameter that numbers the instances of a module; it only changes constants.
WHICH = "Fpc"

# Modules that only connect others: each module that they instantiate is a part.
GLUE = ("toe_box", "toe_core")

# Parts of a part: modules that depend on the number of flows. The rest is the same for any number.
INSIDE = {
    "toe_fpc": ("fpc_queues", "fpc_tcbs", "fpc_wait"),
    "fpc_queues": ("fpc_tell", "toe_fifo"),
    "toe_conn": ("conn_listeners", "conn_slots", "conn_tw", "conn_waits"),
    "toe_csr": ("toe_regs",),
}

# Logic in FILES outside of the parts becomes a module LOGIC. The connections between the parts and
# LOGIC are written to SHELL.
APART = """read_slang -j 1 FILES
setattr -unset src =*/*; setattr -mod -unset src =*; opt_clean
select -set logic TOP/c:*PARTS; submod -name LOGIC @logic; opt_clean
write_json SHELL; hierarchy -purge_lib -top LOGIC; write_rtlil READ"""
# Memories are zero by default; explicit initial bits for 64 K flows would take more than 4 GiB.
WHOLE = """read_slang -j 1 --ignore-initial FILES
setattr -unset src =*/*; setattr -mod -unset src =*; write_rtlil READ"""

RECIPE = [GLUE, INSIDE, WHICH, APART, WHOLE]


def declared(name: str) -> dict[str, str]:
    """Returns the modules of a file list by name, without comments."""
    found = {}
    for file in read(name):
        text = synth.code(file)
        for module in re.findall(r"^\s*module\s+(\w+)", text, re.M):
            found[module] = text
    return found


def needed(name: str, top: str) -> list[Path]:
    """Returns the files of a list that a module depends on, including its own."""
    files = {file: synth.code(file) for file in read(name)}
    where = {
        word: file
        for file, text in files.items()
        for word in re.findall(r"^\s*(?:module|package)\s+(\w+)", text, re.M)
    }
    found, new = set(), {where[top]}
    while new:
        found |= new
        words = {word for file in new for word in re.findall(r"\w+", files[file])}
        new = {where[word] for word in words & set(where)} - found
    return [file for file in files if file in found]


def parts_of(top: str, modules: dict[str, str]) -> list[str]:
    if top not in GLUE:
        return [name for name in INSIDE.get(top, ()) if name in modules]
    words = {w for name in GLUE for w in re.findall(r"\w+", modules[name])}
    return sorted(words & set(modules) - set(GLUE))


def parameters_of(text: str) -> set[str]:
    """Returns the parameters that may be overridden; yosys lists local ones too."""
    header = re.search(r"#\s*\((.*?)\)\s*\(", text, re.S)
    return set(re.findall(r"\bparameter\b[^=,]*?(\w+)\s*=", header[1])) if header else set()


def mapped(name: str, text: Path) -> str:
    """Synthesizes the design in a file into a netlist; returns the digest of the cache entry."""
    h = hashlib.sha256(json.dumps([name, synth.MODULE]).encode())
    h.update(synth.tools())
    h.update(text.read_bytes())
    digest = h.hexdigest()[:12]
    place = synth.KEPT / digest
    with alone(place):
        if not (place / "netlist.json").exists():
            place.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(text, place / "read.il")
            script = synth.MODULE.replace("READ", str(place / "read.il"))
            raw = synth.yosys(place, "mapped", script.replace("TOP", name))
            new = place / "netlist.new"
            new.write_text(json.dumps(lean(json.loads(raw.read_text())["modules"][name])))
            new.rename(place / "netlist.json")
            raw.unlink()
    return digest


def loaded(digest: str) -> dict:
    """Loads the netlist that mapped() has cached."""
    return json.loads((synth.KEPT / digest / "netlist.json").read_text())


@cache
def measured(name: str, digest: str) -> paths.Graph:
    netlist = Netlist(loaded(digest))
    counted = ((n, *synth.counted(c["type"])) for n, c in netlist.cells.items())
    return paths.reduced(paths.of_netlist(netlist, counted), name)


def lean(module: dict) -> dict:
    """Keeps the needed hundredth of yosys's description."""
    kept = ("type", "connections", "port_directions")
    cells = {name: {key: cell[key] for key in kept} for name, cell in module["cells"].items()}
    names = {n: net for n, net in module["netnames"].items() if not net["hide_name"]}
    for net in names.values():
        net.pop("attributes", None)
    return {"ports": module["ports"], "cells": cells, "netnames": names}


@cache
def part(
    name: str, top: str, values: tuple[tuple[str, int], ...]
) -> tuple[paths.Graph, frozenset[str]]:
    """Returns the graph of a module of a file list with these parameters, and the digests of the
    netlists that it consists of."""
    modules = declared(name)
    hidden = parts_of(top, modules)
    folder = synth.KEPT / "read" / "-".join([top, *(f"{k}{v}" for k, v in values)])
    made = logic(top) if hidden else top
    with alone(folder):
        shell = elaborated(Design(top, name, dict(values)), hidden, folder)
        digest = mapped(made, folder / "read.il")
    graph = measured(made, digest)
    if not hidden:
        return graph, frozenset([digest])
    digests = {digest}
    inside = {logic(top): graph}
    for instance, cell in shell["cells"].items():
        kind = cell["type"]
        if kind in hidden:
            wanted = parameters_of(modules[kind]) - {WHICH}
            given = {k: int(v, 2) for k, v in cell["parameters"].items() if k in wanted}
            inside[instance], more = part(name, kind, tuple(sorted(given.items())))
            digests |= more
    return paths.reduced(paths.joined(shell, inside, logic(top)), top), frozenset(digests)


def logic(top: str) -> str:
    return f"{top}_logic"


def elaborated(design: Design, hidden: list[str], folder: Path) -> dict:
    """Writes the logic to be mapped into read.il, and returns its connections with the parts."""
    folder.mkdir(parents=True, exist_ok=True)
    options = [f"--blackboxed-module {part}" for part in hidden]
    if design.top not in GLUE:
        options.append("--keep-hierarchy")  # flattened after mapping
    words = {
        "FILES": " ".join([*options, synth.files(design, folder)]),
        "PARTS": "".join(f" {design.top}/t:{part} %d" for part in hidden),
        "LOGIC": logic(design.top),
        "TOP": design.top,
        "SHELL": str(folder / "shell.json"),
        "READ": str(folder / "read.il"),
    }
    script = APART if hidden else WHOLE
    for word, text in words.items():
        script = script.replace(word, text)
    synth.yosys(folder, "read", script)
    return json.loads((folder / "shell.json").read_text())["modules"][design.top] if hidden else {}
