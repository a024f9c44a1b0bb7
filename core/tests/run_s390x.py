# SPDX-License-Identifier: Apache-2.0
"""The unit tests of core/ on a big-endian machine: built for s390x, run under qemu-user.

usage: run_s390x.py INCLUDE_DIR --test NAME SOURCE... [--test NAME SOURCE...]...
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

COMPILER = "s390x-linux-gnu-gcc"
EMULATOR = "qemu-s390x-static"


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        sys.exit(f"{command[0]} is not installed: run scripts/setup")


def must(command: list[str]) -> None:
    done = run(command)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")


def compile_all(
    sources: list[Path], flags: list[str], out: Path, pool: ThreadPoolExecutor
) -> dict[Path, str]:
    """Compiles each source once; the object of each."""
    objects = {source: str(out / f"{i}.o") for i, source in enumerate(sources)}
    commands = [[COMPILER, *flags, "-c", str(s), "-o", objects[s]] for s in sources]
    list(pool.map(must, commands))
    return objects


def parse(args: list[str]) -> dict[str, list[Path]]:
    """The sources of each test."""
    tests: dict[str, list[Path]] = {}
    words = iter(args)
    for word in words:
        if word == "--test":
            tests[next(words)] = []
        else:
            tests[list(tests)[-1]].append(Path(word).resolve())
    return tests


def link_and_run(name: str, objects: list[str], out: Path) -> subprocess.CompletedProcess[str]:
    program = str(out / name)
    must([COMPILER, "-o", program, *objects, "-lcmocka"])
    return run([EMULATOR, program])


def main() -> int:
    include, parts = sys.argv[1], parse(sys.argv[2:])
    sources = sorted({source for part in parts.values() for source in part})
    core = Path(include).resolve().parent
    folders = [f"-I{folder}" for folder in (include, core / "src", core / "easy" / "include")]
    flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", *folders]
    failed = 0
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(os.cpu_count()) as pool:
        out = Path(directory)
        objects = compile_all(sources, flags, out, pool)
        runs = {
            name: pool.submit(link_and_run, name, [objects[s] for s in part], out)
            for name, part in parts.items()
        }
        for name, pending in runs.items():
            done = pending.result()
            print(f"{name}: {'ok' if done.returncode == 0 else f'exit code {done.returncode}'}")
            if done.returncode != 0:
                failed += 1
                print(done.stdout + done.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
