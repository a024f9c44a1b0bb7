# SPDX-License-Identifier: Apache-2.0
"""Checks the built toe_core.c, toe_core.h, toe_easy.c and toe_easy.h: generating them again gives
the same text, they compile alone as core/ does, need only the functions of port.h, and export only
what the public headers declare; C++ links with them, and on 32 bits no size wraps.

usage: check_amalgamation.py FOLDER AMALGAMATE INCLUDE_DIR SOURCE...
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from check_portable import FLAGS, FROM_COMPILER, GCC_RV32, TARGETS, port_functions, run, undefined

CASES = [("m32-gcc", "-O1"), ("m32-clang", "-O0"), ("rv32-gcc", "-Os")]


def declared(header: Path) -> set[str]:
    """The functions that toe_core.h declares and core/ has to define."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    text = re.sub(r"^#(?:\\\n|[^\n])*", "", text, flags=re.M)
    return set(re.findall(r"\b(toec_\w+)\s*\(", text)) - port_functions_of(text)


def port_functions_of(text: str) -> set[str]:
    return set(re.findall(r"\btoec_port_\w+", text))


def same(folder: Path, amalgamate: str, include: str, sources: list[str]) -> list[str]:
    """Made again, elsewhere, from relative paths: not a byte differs."""
    with tempfile.TemporaryDirectory() as again:
        base = Path(include).resolve().parent
        relative = [str(Path(s).resolve().relative_to(base)) for s in sources]
        folders = ["--out", again, "--include", "include", "--easy", "easy"]
        run([amalgamate, *folders, *relative], str(base))
        names = ["toe_core.c", "toe_core.h", "toe_easy.c", "toe_easy.h"]
        return [
            f"{name} is another one when made again"
            for name in names
            if (Path(again) / name).read_bytes() != (folder / name).read_bytes()
        ]


def check(folder: Path, target: str, level: str, port: set[str]) -> list[str]:
    compiler, _ = TARGETS[target]
    with tempfile.TemporaryDirectory() as cwd:
        flags = [*FLAGS, "-pedantic", level]
        run([*compiler, *flags, "-c", str(folder / "toe_core.c"), "-o", "one.o"], cwd)
        run([*compiler, *flags, "-c", str(folder / "toe_easy.c"), "-o", "easy.o"], cwd)
        beyond = undefined("easy.o", cwd) - FROM_COMPILER - declared(folder / "toe_core.h")
        needed = undefined("one.o", cwd)
        symbols = run(
            ["llvm-nm", "--defined-only", "--extern-only", "--just-symbol-name", "one.o"], cwd
        )
    found = {s for s in symbols.split() if not s.startswith("__x86.")}  # made by the compiler
    wanted = declared(folder / "toe_core.h")
    wrong = [f"needs {name}" for name in needed - port - FROM_COMPILER]
    wrong += [f"toe_easy.c needs {name}" for name in beyond]
    wrong += [f"never calls {name}" for name in port - needed]
    wrong += [f"exports {name}, which no header declares" for name in found - wanted]
    wrong += [f"does not define {name}" for name in wanted - found]
    return [f"{target} {level}: {what}" for what in sorted(wrong)]


EMBEDDER = """
#include "{easy}"
#include "{core}"
static int send_frame(void *, const toec_u8 *, toec_u32) {{ return 0; }}
static void on_event(void *, toec_conn *, unsigned) {{}}
int main()
{{
    toec_easy_config c{{}};
    c.send = send_frame, c.event = on_event;
    return toec_easy_size(&c) != 0 || toec_size(&c.core) != 0 || toec_sum("", 0) != 0;
}}
"""


def cpp(folder: Path, include: Path) -> list[str]:
    """The headers compile as C++ and may be included twice, and the linker finds all declared
    functions: for the two files and for their sources."""
    apart = [include, include.parent / "easy/include"]
    cases = [([folder], "toe_{}.h"), (apart, "toe/{}.h")]
    with tempfile.TemporaryDirectory() as cwd:
        run(["cc", "-c", str(folder / "toe_core.c"), str(folder / "toe_easy.c")], cwd)
        for i, (folders, name) in enumerate(cases):
            text = EMBEDDER.format(easy=name.format("easy"), core=name.format("core"))
            (Path(cwd) / f"{i}.cc").write_text(text)
            flags = ["-std=c++11", "-Wall", "-Wextra", "-pedantic", "-Werror"]
            search = [f"-I{f}" for f in folders]
            run(["c++", *flags, *search, f"{i}.cc", "toe_core.o", "toe_easy.o", "-o", "it"], cwd)
            if subprocess.run([f"{cwd}/it"], check=False).returncode:
                return [f"as C++, {name}: an empty configuration is taken"]
    return []


def sizes(folder: Path) -> list[str]:
    """On 32 bits (sizes32.c)."""
    program = Path(__file__).with_name("sizes32.c")
    with tempfile.TemporaryDirectory() as cwd:
        sources = [str(program), str(folder / "toe_core.c"), str(folder / "toe_easy.c")]
        link = ["-static", "-Wl,--no-relax", "-o", "sizes", *sources]
        run(
            [*GCC_RV32, *FLAGS, "-O1", "-fno-tree-loop-distribute-patterns", f"-I{folder}", *link],
            cwd,
        )
        emulator = ["qemu-riscv32-static", f"{cwd}/sizes"]
        line = subprocess.run(emulator, check=False).returncode
    return [f"{program.name}, line {line}: not so"] if line else []


def main() -> int:
    folder, amalgamate, include, *sources = sys.argv[1:]
    at = Path(folder).resolve()
    port = port_functions(Path(include))
    wrong = same(at, str(Path(amalgamate).resolve()), include, sources)
    wrong += cpp(at, Path(include).resolve()) + sizes(at)
    for target, level in CASES:
        wrong += check(at, target, level, port)
    text = (at / "toe_core.c").read_text()
    if "#line" in text or '#include "toe_core.h"' not in text or text.count("#include") != 1:
        wrong.append("toe_core.c includes more than toe_core.h, or has #line")
    print("\n".join(wrong) if wrong else f"{len(sources)} files in one: {len(CASES)} targets")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
