# SPDX-License-Identifier: Apache-2.0
"""Lints the SystemVerilog: Verilator with all warnings, Verible's rules and format, and the slang
front end of yosys."""

from collections.abc import Iterator

from .filelist import all_lists, read
from .live import PROGRAMS
from .regs import stale_chapters
from .synth import designs
from .tools import BIN, GATEWARE, OUT, SHIM, VERILATOR_ROOT, WAIVERS, run

# Verible's rules that differ from the style here (gateware/README.md).
RULES = ",".join(
    [
        "line-length=length:100",
        "-module-filename",
        "-no-trailing-spaces",
        "-explicit-parameter-storage-type",
        "-always-comb-blocking",
        "-parameter-name-style",
        "-package-filename",
    ]
)


def hybrids() -> Iterator[tuple[str, str, list[str]]]:
    """Yields list, top, parameters of the hybrid TOE's configurations; the report has no rows of
    them."""
    for program in PROGRAMS.values():
        if program.hybrid and program.parameters:
            yield program.design, program.top, list(program.parameters)


def configurations() -> Iterator[tuple[str, str, list[str]]]:
    """Yields list, top, parameters: each list with defaults, the hybrid TOE's configurations, then
    those of the report's rows."""
    for name in all_lists():
        yield name, name.rpartition("/")[2].removesuffix(".f"), []
    for name, top, parameters in hybrids():
        yield name, top, [f"-G{p}" for p in parameters]
    for row in designs():
        if row.parameters:
            yield row.list, row.top, [f"-G{k}={v}" for k, v in row.parameters.items()]


def verilator() -> bool:
    good = True
    for name, top, parameters in configurations():
        options = [
            "--lint-only",
            "--quiet",
            "-Wall",
            "--timing",
            "--assert",
            "--top-module",
            top,
            *parameters,
            *WAIVERS,
        ]
        command = [VERILATOR_ROOT / "bin" / "verilator", *options, *read(name)]
        good = run(command).returncode == 0 and good
    return good


def verible() -> bool:
    files = sorted(GATEWARE.glob("src/**/*.sv"))
    lint = [BIN / "verible-verilog-lint", f"--rules={RULES}", *files]
    return run(lint).returncode == 0


def slang() -> bool:
    """Only reads the sources; synth.py also checks the netlists of the report's rows."""
    good = True
    lists = [(name, name.rpartition("/")[2].removesuffix(".f"), []) for name in all_lists()]
    for name, top, parameters in [*lists, *hybrids()]:
        files = " ".join(str(f) for f in read(name))
        values = "".join(f"-G {p} " for p in parameters)
        script = f"read_slang -j 1 --top {top} {values}{files}"
        log = OUT / f"slang-{'-'.join([top, *parameters])}.log"
        done = run([SHIM / "yosys", "-q", "-p", script], capture_output=True, text=True)
        log.write_text(done.stdout + done.stderr)
        if done.returncode:
            print("\n".join((done.stdout + done.stderr).splitlines()[-20:]))
            good = False
    return good


def chapters() -> bool:
    stale = stale_chapters()
    for page in stale:
        print(f"{page} is not what its description gives: run scripts/gateware regs")
    return not stale


def main(argv: list[str]) -> int:
    if argv:
        raise SystemExit("usage: scripts/gateware lint")
    OUT.mkdir(parents=True, exist_ok=True)
    results = [check() for check in (verilator, verible, slang, chapters)]
    return 0 if all(results) else 1
