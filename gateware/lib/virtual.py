# SPDX-License-Identifier: Apache-2.0
"""Builds the TOE for virtual time (gateware/sim/toe_device.h): a shared object that the runner of
packetdrill's scripts loads instead of that of tests/virtual/."""

import subprocess
from pathlib import Path

from .live import DEVICE, SIM, host_build, verilate
from .tools import OUT, ROOT, alone, require

VIRTUAL = "tests/virtual/libtoe_virtual.a"
CORE = "core/libtoec.a"
PROP = "core/tests/prop/prop"
# Built in sequence: all three use one design, so ccache has its C++ after the first.
MODEL = OUT / "live" / "toe_top"
# Few flows: a scan of all of them is short.
SMALL = ["-GFlowBits=6"]
INCLUDES = ("core/include", "device/include", "manager/include", "netio/include")


def cflags(*folders: str) -> list[str]:
    paths = [ROOT / f for f in (*INCLUDES, *folders)]
    # Verilator's own headers cause g++ warnings in C++20 templates.
    warnings = ["-Wall", "-Wextra", "-Wno-sign-compare"]
    return ["-std=c++20", "-fPIC", *warnings, *(f"-isystem{p}" for p in paths)]


def library() -> Path:
    """Builds libtoe over the gateware as a shared object."""
    require()
    program = OUT / "live" / "toe_virtual" / "libtoe_gateware.so"
    program.parent.mkdir(parents=True, exist_ok=True)
    with alone(program.parent), alone(MODEL):
        world, device = host_build(VIRTUAL, DEVICE)
        names = ROOT / "tests" / "virtual" / "src" / "virtual.map"
        ldflags = ["-shared", "-Wl,--whole-archive", world, "-Wl,--no-whole-archive", device]
        ldflags += [f"-Wl,--version-script={names}", "-Wl,-Bsymbolic", "-Wl,--no-undefined"]
        ldflags += ["-pthread", "-ldl"]
        flags = cflags("tests/virtual/include", "tests/virtual/src")
        sources = [SIM / "toe_device.cpp", SIM / "toe_virtual.cpp"]
        return verilate(program, "toe_top", "sim/toe_virtual.f", flags, ldflags, *SMALL, *sources)


def prop() -> Path:
    """Builds the property tests of core/ (core/tests/prop) over the gateware."""
    require()
    program = OUT / "live" / "toe_prop" / "toe_prop"
    program.parent.mkdir(parents=True, exist_ok=True)
    with alone(program.parent), alone(MODEL):
        core, device, _ = host_build(CORE, DEVICE, PROP)
        objects = sorted((ROOT / "build" / f"{PROP}.p").glob("*.o"))
        ldflags = [*(o for o in objects if o.name != "fit.c.o"), core, device]
        flags = cflags("core/tests/prop")
        sources = [SIM / "toe_device.cpp", SIM / "toe_prop.cpp"]
        return verilate(program, "toe_top", "sim/toe_virtual.f", flags, ldflags, *SMALL, *sources)


def golden(folder: Path, core: Path) -> Path:
    """Makes core/ with prefixed names. Its ISN and timestamp offset functions become weak symbols,
    which toe_twin.cpp replaces."""
    whole, copy, table = (folder / n for n in ("core.o", "golden.o", "golden.names"))
    subprocess.run(["ld", "-r", "-o", whole, "--whole-archive", core], check=True)
    said = subprocess.run(["nm", whole], check=True, capture_output=True, text=True).stdout
    names = sorted({w for w in said.split() if w.startswith("toec_")})
    table.write_text("".join(f"{n} golden_{n}\n" for n in names))
    command = ["objcopy", f"--redefine-syms={table}", "--weaken-symbol=golden_toec_isn"]
    command += ["--weaken-symbol=golden_toec_ts_offset", whole, copy]
    subprocess.run(command, check=True)
    return copy


def twin() -> Path:
    """Builds the property tests over the gateware and core/, which must behave the same."""
    require()
    program = OUT / "live" / "toe_twin" / "toe_twin"
    program.parent.mkdir(parents=True, exist_ok=True)
    with alone(program.parent), alone(MODEL):
        core, device, _ = host_build(CORE, DEVICE, PROP)
        objects = sorted((ROOT / "build" / f"{PROP}.p").glob("*.o"))
        ldflags = [*(o for o in objects if o.name != "fit.c.o")]
        ldflags += [golden(program.parent, core), core, device]
        flags = [*cflags("core/tests/prop"), f"-I{SIM}"]
        sources = [SIM / "toe_device.cpp", SIM / "toe_twin.cpp"]
        return verilate(program, "toe_top", "sim/toe_virtual.f", flags, ldflags, *SMALL, *sources)
