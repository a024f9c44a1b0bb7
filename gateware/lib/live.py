# SPDX-License-Identifier: Apache-2.0
"""Builds the modules as processes (gateware/sim): Verilator, g++, and netio of the host build."""

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import counters
from .filelist import read
from .tools import GATEWARE, OUT, ROOT, VERILATOR_ROOT, WAIVERS, Missing, alone, require, run

SIM = GATEWARE / "sim"
NETIO = "netio/libnetio.a"
DEVICE = "device/libtoedevice.a"


def host_build(*targets: str) -> list[Path]:
    """Returns files of the host build, rebuilt when something changed."""
    build = ROOT / "build"
    if not (build / "build.ninja").exists():
        raise Missing("there is no build/: run make build (libraries come from there)")
    with alone(OUT / "host"):  # one ninja per folder at a time
        done = subprocess.run(
            ["ninja", "-C", build, *targets], cwd=ROOT, capture_output=True, text=True
        )
    if done.returncode:
        raise Missing(f"{' '.join(targets)} do not build:\n{done.stdout[-2000:]}")
    return [build / t for t in targets]


def host_libraries() -> tuple[list[Path], list[str]]:
    """Returns the static libraries of the host build to link, and the flags that they need."""
    netio, device = host_build(NETIO, DEVICE)
    words = ["libpcap"]
    if (netio.with_suffix(".a.p") / "src_af_xdp.c.o").exists():
        words += ["libxdp", "libbpf"]
    done = subprocess.run(
        ["pkg-config", "--libs", *words], check=True, capture_output=True, text=True
    )
    return [netio, device], [*shlex.split(done.stdout), "-lm", "-lpthread", "-ldl"]


@dataclass(frozen=True)
class Program:
    """A program of gateware/sim: its design, and its sources in addition to port.cpp."""

    top: str
    design: str
    sources: tuple[str, ...]
    standard: str = "c++17"
    parameters: tuple[str, ...] = ()
    counters: bool = False  # uses the names of the TOE's counters
    firmware: str = ""  # the image of its processor, kept beside the program as toe.bin
    images: bool = False  # of both processors of the chip, kept beside the program
    hybrid: int = 0  # the hybrid TOE: 1 software-only, 2 prototype, 3 complete


def bench(fpc_bits: int, hot_bits: int = 10) -> Program:
    """toe_bench over 2^fpc_bits FPCs, each with 2^hot_bits TCBs on chip."""
    return Program(
        "toe_box",
        "sim/toe_bench.f",
        ("toe_bench", "card", "driver", "peer"),
        standard="c++20",
        parameters=("FlowBits=8", f"FpcBits={fpc_bits}", f"HotBits={hot_bits}"),
        counters=True,
    )


def hybrid_toe(firmware: str, hybrid: int, *parameters: str) -> Program:
    return Program(
        "hyb_box",
        "src/hyb/hyb_box.f",
        ("toe_sim", "toe_options", "capture", "card", "driver", "hosts", "regs"),
        standard="c++20",
        parameters=parameters,
        counters=True,
        firmware=firmware,
        hybrid=hybrid,
    )


PROGRAMS = {
    "rtt_sim": Program("rtt", "src/rtt/rtt.f", ("rtt_sim", "regs", "pci")),
    "toe_sim": Program(
        "toe_box",
        "sim/toe_sim.f",
        ("toe_sim", "toe_options", "capture", "card", "driver", "hosts", "regs", "verdict"),
        standard="c++20",
        # fewer TCBs on chip than tests have connections: the others are in TCB memory
        parameters=("FlowBits=10", "HotBits=6"),
        counters=True,
    ),
    "toe_sim_4fpcs": Program(
        "toe_box",
        "sim/toe_sim.f",
        ("toe_sim", "toe_options", "capture", "card", "driver", "hosts", "regs", "verdict"),
        standard="c++20",
        parameters=("FlowBits=10", "FpcBits=2", "HotBits=5"),
        counters=True,
    ),
    "hyb_toe_sim": hybrid_toe("toe", 1),
    "hyb_toe_sim_prototype": hybrid_toe("toe_prototype", 2, "Units=1"),
    "hyb_toe_sim_complete": hybrid_toe("toe_complete", 3, "Units=1", "Headers=1"),
    "chip_sim": Program("chip", "src/chip/chip.f", ("chip_sim", "gmii"), images=True),
    "toe_bench": bench(0),
    "toe_bench_2": bench(1),
    "toe_bench_4": bench(2),
    "toe_bench_32": bench(0, hot_bits=5),  # 32 TCBs on chip: fewer than flows
}


def build_id() -> str:
    """Returns BUILD_ID: the first eight bytes of the version's text (device/toe.rdl)."""
    version = re.search(r"^  version: '([^']+)'", (ROOT / "meson.build").read_text(), re.M)[1]
    return f"BuildId=64'd{int.from_bytes(version.encode()[:8], 'little')}"


def build(name: str = "rtt_sim", trace: bool = False) -> Path:
    """Returns the program, rebuilt when something changed."""
    require()
    folder = OUT / ("live-trace" if trace else "live") / name
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder):
        return build_alone(name, folder, trace)


def forget_stale(folder: Path, cflags: list[str], sources: list[object]) -> None:
    """Removes objects of our own sources that are older than a header: the dependencies of an
    object leave out the headers of -isystem folders.
    """
    folders = [Path(f.removeprefix("-isystem")) for f in cflags if f.startswith("-isystem")]
    newest = max((h.stat().st_mtime for f in folders for h in f.rglob("*.h")), default=0)
    for source in sources:
        made = folder / f"{Path(str(source)).stem}.o"
        if str(source).endswith(".cpp") and made.exists() and made.stat().st_mtime < newest:
            made.unlink()


def verilate(
    program: Path, top: str, design: str, cflags: list[str], ldflags: list[object], *more: object
) -> Path:
    """Builds the program of a design; intermediate files go into the same folder."""
    folder = program.parent
    command = [VERILATOR_ROOT / "bin" / "verilator", "--cc", "--exe", "--build", "--quiet"]
    command += ["-j", str(os.cpu_count()), "-O3", "--x-assign", "fast", "--x-initial", "fast"]
    command += ["-Wno-fatal", "-Wno-WIDTH", "--top-module", top, "--Mdir", folder]
    command += ["-CFLAGS", " ".join(cflags), "-LDFLAGS", " ".join(map(str, ldflags))]
    # What runs once (Verilator's "slow" files: reset, initial values) is not worth minutes of g++.
    command += ["-MAKEFLAGS", "OPT_FAST=-O2 OPT_GLOBAL=-O2 OPT_SLOW=-O0"]
    command += ["-o", program, *more, *WAIVERS, *read(design)]
    linked = [Path(f) for f in ldflags if Path(f).is_file()]
    # Verilator's makefile has no dependencies on the linked libraries.
    if program.exists() and any(f.stat().st_mtime > program.stat().st_mtime for f in linked):
        program.unlink()
    forget_stale(folder, cflags, list(more))
    log = folder / "build.log"
    with log.open("w") as f:
        if run(command, stdout=f, stderr=subprocess.STDOUT).returncode:
            tail = "\n".join(log.read_text().splitlines()[-30:])
            raise Missing(f"{program.name} does not build:\n{tail}")
    return program


def build_alone(name: str, folder: Path, trace: bool) -> Path:
    what = PROGRAMS[name]
    libraries, links = host_libraries()
    includes = [ROOT / "netio" / "include", ROOT / "device" / "include"]
    cflags = [f"-std={what.standard}", *(f"-isystem{i}" for i in includes)]
    # Verilator's own headers cause g++ warnings in C++20 templates.
    cflags += ["-Wall", "-Wextra", "-Wno-sign-compare"]
    if what.counters:
        cflags.append(f"-I{counters.generate()}")
    cflags += [f"-DVM_TRACE_FST={int(trace)}", f"-DTOE_HYBRID={what.hybrid}"]
    more = ["--noassert", *(["--trace-fst", "--trace-structs"] if trace else [])]
    more += [f"-G{p}" for p in what.parameters]
    more += [f"-G{build_id()}"] if what.counters else []
    if what.images:
        from .chip import images

        more += [f"-G{name}={json.dumps(str(file))}" for name, file in images(folder).items()]
    more += [SIM / "public.vlt"] if name == "rtt_sim" else []
    more += [SIM / f"{n}.cpp" for n in (*what.sources, "port")]
    ldflags = [*libraries, *links]
    if what.firmware:
        from .hybrid import image

        shutil.copyfile(image(what.firmware), folder / "toe.bin")
    return verilate(folder / name, what.top, what.design, cflags, ldflags, *more)


def main(argv: list[str]) -> int:
    """scripts/gateware sim [NAME] [--trace] [OPTION...]: builds rtt_sim, or NAME. With options
    it runs in our place. toe_virtual is what packetdrill's back end gateware loads."""
    if argv == ["toe_virtual"]:
        from .virtual import library

        print(library().relative_to(ROOT))
        return 0
    name = argv.pop(0) if argv and argv[0] in PROGRAMS else "rtt_sim"
    trace = "--trace" in argv
    program = build(name, trace)
    options = [a for a in argv if a != "--trace"]
    if options:
        os.execv(program, [str(program), *options])
    print(program.relative_to(ROOT))
    return 0
