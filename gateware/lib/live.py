# SPDX-License-Identifier: Apache-2.0
"""Builds the modules as processes (gateware/sim): Verilator, g++, and netio of the host build."""

import os
import shlex
import subprocess
from pathlib import Path

from .filelist import read
from .tools import GATEWARE, OUT, ROOT, VERILATOR_ROOT, Missing, alone, require, run

SIM = GATEWARE / "sim"
NETIO = "netio/libnetio.a"


def netio_library() -> tuple[Path, list[str]]:
    """The static library of the host build, and what it needs at linking."""
    build = ROOT / "build"
    if not (build / "build.ninja").exists():
        raise Missing("there is no build/: run make build (netio's back ends come from there)")
    done = subprocess.run(["ninja", "-C", build, NETIO], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"netio does not build:\n{done.stdout[-2000:]}")
    words = ["libpcap"]
    if (build / f"{NETIO}.p" / "src_af_xdp.c.o").exists():
        words += ["libxdp", "libbpf"]
    done = subprocess.run(
        ["pkg-config", "--libs", *words], check=True, capture_output=True, text=True
    )
    return build / NETIO, [*shlex.split(done.stdout), "-lm", "-lpthread", "-ldl"]


def build(trace: bool = False) -> Path:
    """rtt_sim, made anew when something changed."""
    require()
    folder = OUT / ("live-trace" if trace else "live")
    with alone(folder):
        return build_alone(folder, trace)


def build_alone(folder: Path, trace: bool) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    library, links = netio_library()
    includes = [ROOT / "netio" / "include", ROOT / "device" / "include"]
    cflags = ["-std=c++17", "-O2", "-Wall", "-Wextra", *(f"-isystem{i}" for i in includes)]
    program = folder / "rtt_sim"
    command = [VERILATOR_ROOT / "bin" / "verilator", "--cc", "--exe", "--build", "--quiet"]
    command += ["-j", str(os.cpu_count()), "-O3", "--x-assign", "fast", "--x-initial", "fast"]
    command += ["--noassert", "-Wno-fatal", "-Wno-WIDTH", "--top-module", "rtt", "--Mdir", folder]
    command += ["--trace-fst", "--trace-structs"] if trace else []
    command += ["-CFLAGS", " ".join([*cflags, f"-DVM_TRACE_FST={int(trace)}"])]
    command += ["-LDFLAGS", " ".join([str(library), *links]), "-o", program]
    command += [SIM / "public.vlt", GATEWARE / "lint.vlt", *read("src/rtt/rtt.f")]
    command += [SIM / f"{n}.cpp" for n in ("rtt_sim", "port", "regs", "pci")]
    log = folder / "build.log"
    with log.open("w") as f:
        if run(command, stdout=f, stderr=subprocess.STDOUT).returncode:
            tail = "\n".join(log.read_text().splitlines()[-30:])
            raise Missing(f"rtt_sim does not build:\n{tail}")
    return program


def main(argv: list[str]) -> int:
    """scripts/gateware sim [--trace] [OPTION...]: builds; with options, runs it in our place."""
    trace = "--trace" in argv
    program = build(trace)
    options = [a for a in argv if a != "--trace"]
    if options:
        os.execv(program, [str(program), *options])
    print(program.relative_to(ROOT))
    return 0
