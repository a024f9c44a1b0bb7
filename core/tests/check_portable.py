# SPDX-License-Identifier: Apache-2.0
"""core/ is freestanding C89 (SEEDS S4.1): compiles without any header or library, and the linked
object needs the functions of port.h, memcpy and memset, and nothing else - no compiler support
routine (64-bit division and shifts), no C library.

usage: check_portable.py TARGET LEVEL,... INCLUDE_DIR SOURCE...
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

# How the sources are to be compiled, everywhere.
FLAGS = ["-std=c89", "-nostdlib", "-nostdinc", "-Wall", "-Wextra", "-Werror"]

# Target: compiler, and the command that links objects into one.
RV32 = ["-march=rv32imc", "-mabi=ilp32"]
CLANG_RV32 = ["clang", "--target=riscv32-unknown-elf", *RV32]
GCC_RV32 = ["riscv64-unknown-elf-gcc", *RV32]
LLD = ["ld.lld", "-r"]
TARGETS = {
    "m32-gcc": (["gcc", "-m32"], ["gcc", "-m32", "-r", "-nostdlib"]),
    "m32-clang": (["clang", "-m32"], LLD),
    "rv32-gcc": (GCC_RV32, [*GCC_RV32, "-r", "-nostdlib"]),
    "rv32-clang": (CLANG_RV32, LLD),
    "s390x-gcc": (["s390x-linux-gnu-gcc"], ["s390x-linux-gnu-gcc", "-r", "-nostdlib"]),
}

# Made by the linker for position-independent code, which Debian's compilers emit by default.
LINKER_MADE = {"_GLOBAL_OFFSET_TABLE_"}
# Functions to which compilers emit calls themselves.
FROM_COMPILER = {"memcpy", "memset"}


def run(command: list[str], cwd: str) -> str:
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit(f"{command[0]} is not installed: run scripts/setup")
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def port_functions(include_dir: Path) -> set[str]:
    """The functions that port.h declares."""
    text = (include_dir / "toe" / "port.h").read_text()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return set(re.findall(r"\b(toec_port_\w+)\s*\(", text))


def undefined(obj: str, cwd: str) -> set[str]:
    lines = run(["llvm-nm", "--undefined-only", "--format=just-symbols", obj], cwd).split()
    return set(lines) - LINKER_MADE


def check(target: str, level: str, include_dir: Path, sources: list[str]) -> list[str]:
    """Compiles and links at one optimisation level; returns the errors."""
    compiler, linker = TARGETS[target]
    with tempfile.TemporaryDirectory() as cwd:
        run([*compiler, *FLAGS, level, f"-I{include_dir}", "-c", *sources], cwd)
        objects = [Path(source).stem + ".o" for source in sources]
        run([*linker, "-o", "core", *objects], cwd)
        needed = undefined("core", cwd)
    documented = port_functions(include_dir) | FROM_COMPILER
    wrong = [f"needs {name}, which port.h does not declare" for name in needed - documented]
    wrong += [f"never calls {name} of port.h" for name in documented - needed - FROM_COMPILER]
    return [f"{target} {level}: {what}" for what in sorted(wrong)]


def main() -> int:
    target, levels = sys.argv[1], sys.argv[2].split(",")
    include_dir, sources = Path(sys.argv[3]).resolve(), sys.argv[4:]
    sources = [str(Path(source).resolve()) for source in sources]
    wrong = [line for level in levels for line in check(target, level, include_dir, sources)]
    print("\n".join(wrong) if wrong else f"{target}: {len(sources)} files at {' '.join(levels)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
