# SPDX-License-Identifier: Apache-2.0
"""File lists: src/<block>/<name>.f names a design's files in the order of compilation, one a line,
relative to gateware/. `-f LIST` includes another list, `regs NAME` the register block NAME,
`commands` the package of the device contract's commands, `ibex` the RISC-V
core of the package pythondata-cpu-ibex."""

from pathlib import Path

from . import commands, ibex, regs
from .tools import GATEWARE


def read(name: str) -> list[Path]:
    """Returns the files of a list such as "src/rtt/rtt.f", each once, at its first place."""
    found: dict[Path, None] = {}
    for line in (GATEWARE / name).read_text().splitlines():
        words = line.partition("#")[0].split()
        match words:
            case []:
                continue
            case ["-f", other]:
                more = read(other)
            case ["regs", block]:
                folder = regs.generate(block)
                module = regs.BLOCKS[block]
                more = [folder / f"{module}_pkg.sv", folder / f"{module}.sv"]
            case ["commands"]:
                more = [commands.generate()]
            case ["ibex"]:
                more = [ibex.generate()]
            case [file]:
                more = [GATEWARE / file]
            case _:
                raise ValueError(f"{name}: cannot read '{line}'")
        found.update(dict.fromkeys(more))
    return list(found)


def all_lists() -> list[str]:
    return sorted(str(p.relative_to(GATEWARE)) for p in GATEWARE.glob("src/*/*.f"))
