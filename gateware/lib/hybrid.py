# SPDX-License-Identifier: Apache-2.0
"""Builds the hybrid TOE's simulation (gateware/sim/hyb_sim.cpp) and its firmware's images, and runs
them."""

import subprocess
from pathlib import Path

from .live import DEVICE, SIM, host_build, verilate
from .tools import OUT, ROOT, Missing, alone, require

IMAGES = OUT / "firmware"


def program() -> Path:
    """Returns hyb_sim, rebuilt when something changed."""
    require()
    made = OUT / "live" / "hyb_sim" / "hyb_sim"
    made.parent.mkdir(parents=True, exist_ok=True)
    with alone(made.parent):
        flags = ["-std=c++17", "-Wall", "-Wextra", f"-isystem{ROOT / 'device' / 'include'}"]
        links = [*host_build(DEVICE), "-lm"]
        return verilate(made, "hyb_soc", "src/hyb/hyb_soc.f", flags, links, SIM / "hyb_sim.cpp")


def elf(name: str) -> Path:
    return host_build(f"firmware/{name}.elf")[0]


def image(name: str) -> Path:
    """Returns the bytes of instruction memory, from address 0."""
    source = elf(name)
    made = IMAGES / f"{name}.bin"
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
