#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The deepest stack that a firmware image can reach, from its machine code.

    firmware/stack.py IMAGE.elf

Adds what functions subtract from sp along the deepest chain of calls, from _start and from the
entry of interrupts. An indirect call reaches what CALLS says. The bound holds for all inputs:
recursion, a stack of variable size and an indirect call of an unknown kind are errors.
Exit code: 0 the stack of link.ld has room for it; 1 not, or there is no bound; 2 usage.
"""

import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

TOOLS = "riscv64-unknown-elf-"

# Which pointers an indirect call reaches, by the function that has it; all others of core/ call
# functions of a congestion control. Data objects by pattern; "&NAME": functions whose address a
# caller of NAME loads.
CALLS = {
    "toec_set_option": "options",  # core/src/tcp/tcp_options.c, a function for each option
    "run": "&toec_wheel_run",  # core/src/base/timer.c: what expires
    "soc_interrupt": "&soc_interrupts",  # firmware/soc.c
    # Hooks of struct toec_config that the firmware leaves 0: routes of a host, TCP-AO.
    "ask": "",
    "toec_ip4_path": "",
    "toec_ip6_path": "",
    "toec_ao_sign": "",
    "mac_ok": "",
}
OTHERS = "toec_cc_.*"
CORE = "toe_core.c"
STARTS = ("_start", "trapped")


class Unbounded(Exception):
    """There is no bound, or the tool does not see it."""


@dataclass
class Function:
    """What one function does to the stack and which others it enters."""

    frame: int = 0
    calls: set[str] = field(default_factory=set)
    taken: set[str] = field(default_factory=set)  # functions whose address it loads
    indirect: bool = False
    jumps: bool = False  # jr of another register than ra: a switch, or an indirect tail call
    start: int = 0
    end: int = 0


def base(name: str) -> str:
    """Returns the name in the source: compilers append .part.0 and the like."""
    return name.split(".")[0]


def enter(f: Function, name: str, op: str, args: str, entries: dict[int, str]) -> None:
    """Adds one instruction."""
    at = re.search(r"\b([0-9a-f]+) <", args)
    target = entries.get(int(at[1], 16)) if at else None
    first = args.split(",")[0]
    if first == "sp" and op in ("add", "addi", "sub", "mv", "neg", "andi", "auipc", "lui"):
        if base(name) in STARTS:
            return  # sets sp
        if not (by := re.fullmatch(r"sp,sp,(-?\d+)", args)) or op not in ("add", "addi"):
            raise Unbounded(f"{name} changes its stack by a variable: {op} {args}")
        f.frame += max(0, -int(by[1]))
    elif op == "jalr" and not at:
        f.indirect = True
    elif op == "jr" and not at:
        f.jumps = True
    elif target and op[0] in "jb":
        if target != name or op.startswith("jal"):  # a loop to the start is no recursion
            f.calls.add(target)
    elif target:
        f.taken.add(target)
    elif low := re.fullmatch(r"\w+,(0x[0-9a-f]+|\d+)", args) if op in ("li", "lui") else None:
        value = int(low[1], 0) << (12 if op == "lui" else 0)
        f.taken |= {entries[value]} if value and value in entries else set()


def functions(listing: str) -> dict[str, Function]:
    """Reads what objdump -d prints. Of functions of one name, others have their address, too."""
    found: dict[str, Function] = {}
    entries: dict[int, str] = {}
    for m in re.finditer(r"^([0-9a-f]+) <(.+)>:$", listing, re.M):
        name = f"{m[2]}.{m[1]}" if m[2] in found else m[2]
        entries[int(m[1], 16)] = name
        found[name] = Function(start=int(m[1], 16))
    name = ""
    for line in listing.splitlines():
        if m := re.match(r"([0-9a-f]+) <.+>:$", line):
            name = entries[int(m[1], 16)]
        elif name and (m := re.match(r"\s+([0-9a-f]+):\s+(\S+)\s*(.*)$", line)):
            found[name].end = int(m[1], 16)
            enter(found[name], name, m[2], m[3], entries)
    return found


def pointers(words: dict[int, int], symbols: str) -> dict[str, set[int]]:
    """Returns for each data object the words that it has (words: those of the image)."""
    objects: dict[str, set[int]] = {}
    for line in symbols.splitlines():
        parts = line.split()
        if len(parts) == 4 and parts[2] in "rRdD":
            at, size = int(parts[0], 16), int(parts[1], 16)
            objects[parts[3]] = {words[a] for a in range(at, at + size, 4) if a in words}
    return objects


def targets(name: str, all: dict[str, Function], objects: dict[str, set[int]]) -> set[str]:
    """Returns what the indirect calls of a function reach."""
    kind = CALLS.get(base(name), OTHERS)
    if kind.startswith("&"):
        callers = [f for f in all.values() if kind[1:] in map(base, f.calls)]
        reached = {t for f in callers for t in f.taken}
        if callers and not reached:
            raise Unbounded(f"{name} calls what callers of {kind[1:]} pass: none loads an address")
        return reached
    at = {f.start: n for n, f in all.items()}
    values = {v for o, vs in objects.items() if kind and re.fullmatch(kind, o) for v in vs}
    return {at[v] for v in values if v in at and v}


def indirect(all: dict[str, Function], words: dict[int, int]) -> list[str]:
    """Returns the functions that have indirect calls. A `jr` is that of a switch when words of the
    image point into the function."""
    return [
        name
        for name, f in all.items()
        if f.indirect or (f.jumps and not any(f.start < w <= f.end for w in words.values()))
    ]


def check_kinds(names: list[str], places: list[str]) -> None:
    """Refuses indirect calls of which nothing is known. places: FILE:LINE of each function."""
    for name, place in zip(names, places, strict=True):
        if base(name) not in CALLS and place.split(":")[0].rpartition("/")[2] != CORE:
            raise Unbounded(f"{name} ({place}) has an indirect call: CALLS needs what it reaches")


def resolve(all: dict[str, Function], words: dict[int, int], objects: dict[str, set[int]]) -> None:
    """Adds the targets of indirect calls."""
    for name in indirect(all, words):
        all[name].calls |= targets(name, all, objects)


def deepest(all: dict[str, Function], root: str) -> list[str]:
    """Returns the chain of calls with the deepest stack."""
    known: dict[str, tuple[int, list[str]]] = {}

    def visit(name: str, above: list[str]) -> tuple[int, list[str]]:
        if name in above:
            raise Unbounded("recursion: " + " > ".join([*above[above.index(name) :], name]))
        if name not in known:
            below = [visit(n, [*above, name]) for n in sorted(all[name].calls)]
            depth, chain = max(below, default=(0, []))
            known[name] = (all[name].frame + depth, [name, *chain])
        return known[name]

    return visit(root, [])[1]


def depth(all: dict[str, Function], chain: Iterable[str]) -> int:
    return sum(all[n].frame for n in chain)


def tool(name: str, *words: str) -> str:
    done = subprocess.run([TOOLS + name, *words], capture_output=True, text=True)
    if done.returncode:
        raise Unbounded(done.stderr.strip())
    return done.stdout


def image_words(elf: str) -> dict[int, int]:
    """Returns the words of constants and initialized data, by address."""
    found = {}
    for section in (".rodata", ".data"):
        dump = tool("objdump", "-s", "-j", section, elf)
        for m in re.finditer(r"^ ([0-9a-f]+) ((?:[0-9a-f]{8} )+)", dump, re.M):
            for i, word in enumerate(m[2].split()):
                found[int(m[1], 16) + 4 * i] = int.from_bytes(bytes.fromhex(word), "little")
    return found


def room(symbols: str) -> tuple[int, int]:
    """Returns the bytes that the image leaves for a stack, and those that link.ld keeps for it."""
    at = {p[-1]: int(p[0], 16) for line in symbols.splitlines() if (p := line.split())}
    return at["stack_top"] - at["noinit_end"], at["stack_size"]


def main(argv: list[str]) -> int:
    if len(argv) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        all = functions(tool("objdump", "-d", "--no-show-raw-insn", argv[0]))
        symbols = tool("nm", "-S", argv[0])
        words = image_words(argv[0])
        names = indirect(all, words)
        at = [hex(all[n].start) for n in names]
        check_kinds(names, tool("addr2line", "-e", argv[0], *at).splitlines() if names else [])
        resolve(all, words, pointers(words, symbols))
        chains = [deepest(all, "_start"), deepest(all, "interrupted")]
    except Unbounded as e:
        print(f"{argv[0]}: {e}", file=sys.stderr)
        return 1
    most = sum(depth(all, c) for c in chains)
    there, kept = room(symbols)
    for chain in chains:
        print(*(f"{all[n].frame:6} {n}" for n in chain), sep="\n", end="\n\n")
    print(f"{most} bytes at most; link.ld keeps {kept} and the image leaves {there}")
    return int(most > kept)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
