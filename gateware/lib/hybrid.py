# SPDX-License-Identifier: Apache-2.0
"""Builds the hybrid TOE's simulations (gateware/sim/hyb_sim.cpp, hyb_bench.cpp, hyb_loop.cpp) and
its firmware's images, and runs them."""

import argparse
import json
import re
import subprocess
from bisect import bisect
from collections import Counter
from pathlib import Path

from .live import DEVICE, SIM, host_build, verilate
from .tools import OUT, ROOT, Missing, alone, require

IMAGES = OUT / "firmware"


def program(name: str = "hyb_sim", design: str = "src/hyb/hyb_soc.f", top: str = "hyb_soc") -> Path:
    """Returns hyb_sim, or the program of this name, rebuilt when something changed."""
    require()
    made = OUT / "live" / name / name
    made.parent.mkdir(parents=True, exist_ok=True)
    with alone(made.parent):
        flags = ["-std=c++17", "-Wall", "-Wextra", f"-isystem{ROOT / 'device' / 'include'}"]
        links = [*host_build(DEVICE), "-lm"]
        return verilate(made, top, design, flags, links, SIM / f"{name}.cpp")


def bench() -> Path:
    """Returns hyb_bench: the processor with host memory, a link and the module that reports a
    send."""
    return program("hyb_bench", "sim/hyb_bench.f")


def loop() -> Path:
    """Returns hyb_loop: the complete hybrid TOE with host memory, its link looped back, and the
    module that reports instructions."""
    return program("hyb_loop", "sim/hyb_loop.f", "hyb_loop")


def elf(name: str) -> Path:
    return host_build(f"firmware/{name}.elf")[0]


def image(name: str) -> Path:
    """Returns the bytes of instruction memory, from address 0."""
    return binary(f"firmware/{name}.elf")


def binary(target: str) -> Path:
    """Returns what image() does, of an ELF file of the host build."""
    source = host_build(target)[0]
    made = IMAGES / f"{source.stem}.bin"
    made.parent.mkdir(parents=True, exist_ok=True)
    command = ["riscv64-unknown-elf-objcopy", "-O", "binary", source, made]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"{source.name} gives no image: {done.stderr.strip()}")
    return made


def simulate(name: str, most_cycles: int) -> tuple[int, str]:
    """Returns the exit code of the firmware and what it printed."""
    command = [str(program()), str(image(name)), str(most_cycles)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=540)
    return done.returncode, done.stdout + done.stderr


# ---- the cycles of a send ----

CONFIGURATIONS = ("software", "prototype", "complete")
# As enum tx_step of firmware/tx.h has them.
STEPS = ("outside", "command", "poll", "slot", "fetch", "headers", "wait", "leave", "after")
SEND_CYCLES = 30_000_000  # more than a run of firmware/send.c takes
TITLE = re.compile(r"/\* -{8,} (\S+\.[ch]) \*/")


def source_of(line: int, titles: list[tuple[int, str]]) -> str:
    """Returns the source of core/ that a line of its one-file form comes from."""
    at = bisect(titles, (line, "~")) - 1
    return titles[at][1] if at >= 0 else "toe_core.c"


def sources(image_elf: Path, pcs: list[int]) -> dict[int, str]:
    """Returns for each instruction the file that it was written in; one of core/ has its own name,
    not that of the one-file form. An inlined function counts as where it was written."""
    core = host_build("core/toe_core.c")[0]
    lines = enumerate(core.read_text().splitlines(), 1)
    titles = [(n, m[1]) for n, text in lines if (m := TITLE.fullmatch(text))]
    command = ["riscv64-unknown-elf-addr2line", "-e", str(image_elf)]
    done = subprocess.run(
        command, input="\n".join(map(hex, pcs)), capture_output=True, text=True, check=True
    )
    found = {}
    for pc, place in zip(pcs, done.stdout.splitlines(), strict=True):
        path, _, line = place.split(" ")[0].rpartition(":")
        name = Path(path).name
        if name == core.name and line.isdigit():
            name = source_of(int(line), titles)
        found[pc] = name
    return found


def send(configuration: str, delay: int) -> dict:
    """Runs firmware/send.c; host memory answers after `delay` cycles. Returns the cycles of each
    measured send, and of the last one its edges and its cycles by step and source."""
    name = f"send_{configuration}"
    command = [str(bench()), str(image(name)), str(SEND_CYCLES), str(delay)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=540)
    if done.returncode:
        raise Missing(f"{name} fails ({done.returncode}): {done.stderr.strip()}")
    found = json.loads(done.stdout)
    where = sources(elf(name), sorted({pc for _, pc, _ in found["instructions"]}))
    steps: dict[str, Counter[str]] = {}
    for step, pc, cycles in found.pop("instructions"):
        steps.setdefault(STEPS[step], Counter())[where[pc]] += cycles
    return {"configuration": configuration, **found, "steps": steps}


# ---- the cycles of receiving ----

RECEIVERS = ("prototype", "complete")
# As firmware/receive.c has them.
RECEIVED = {"1": "data", "2": "ack", "3": "poll", "4": "burst", "5": "leaving", "6": "merged"}


def receive(configuration: str) -> dict:
    """Runs firmware/receive.c; the prototype's image leaves what hyb_look has read.

    Returns the cycles of each segment of 1024 bytes ("data"), of each pure ACK, of each poll after
    data, which sends every second time, of each burst of ten segments, and until it has left, and
    of each segment, or merged one, of ten that wait; of the last of each its cycles by source; of
    the last burst the beats on the link, and the cycles of the first and the last; the bytes that
    host memory received."""
    name = f"receive_{configuration}"
    command = [str(loop()), str(image(name)), str(SEND_CYCLES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=540)
    if done.returncode:
        raise Missing(f"{name} fails ({done.returncode}): {done.stderr.strip()}")
    found = json.loads(done.stdout)
    where = sources(elf(name), sorted({pc for _, pc, _ in found["instructions"]}))
    by_source: dict[str, Counter[str]] = {}
    for what, pc, cycles in found["instructions"]:
        by_source.setdefault(RECEIVED[str(what)], Counter())[where[pc]] += cycles
    taken = {RECEIVED[what]: cycles for what, cycles in found["taken"].items()}
    return {
        "configuration": configuration,
        "placed": found["placed"],
        "beats": found["beats"],
        "taken": taken,
        "sources": by_source,
    }


def main(argv: list[str]) -> int:
    """scripts/gateware hybrid [--delay CYCLES | --receive] software|prototype|complete: one send
    of 1024 bytes, or what receiving takes, as JSON; bench/hybrid.py makes tables of it."""
    parser = argparse.ArgumentParser(prog="scripts/gateware hybrid", description=main.__doc__)
    parser.add_argument("configuration", choices=CONFIGURATIONS)
    parser.add_argument("--delay", type=int, default=1, help="of host memory, in cycles (1)")
    parser.add_argument("--receive", action="store_true", help="not of software")
    options = parser.parse_args(argv)
    if options.receive:
        if options.configuration not in RECEIVERS:
            parser.error("--receive is of prototype and complete")
        print(json.dumps(receive(options.configuration)))
        return 0
    print(json.dumps(send(options.configuration, options.delay)))
    return 0
