# SPDX-License-Identifier: Apache-2.0
"""Builds a design with Verilator and runs a module of cocotb tests on it."""

import hashlib
import os
import random
from pathlib import Path

import pytest
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotb_tools.runner import get_results, get_runner

from .filelist import read
from .formal import mutated
from .tools import GATEWARE, OUT, WAIVERS, alone, environment


def seeded() -> random.Random:
    """Returns a test's random generator, seeded from TOE_TEST_SEED (default 1); logs the seed."""
    seed = int(os.environ.get("TOE_TEST_SEED", "1"))
    print(f"TOE_TEST_SEED={seed}")
    return random.Random(seed)


def packed(*fields: tuple[int, int]) -> int:
    """Packs (value, width) pairs, the first one in the highest bits, as a packed struct does."""
    whole = 0
    for value, width in fields:
        assert 0 <= value < 1 << width, (value, width)
        whole = whole << width | value
    return whole


class Offers:
    """An output stream of the design. Checks that an offer stays unchanged until accepted."""

    def __init__(self, dut, name: str, *more: str, ready: str | None = None) -> None:
        """name: as in `<name>_valid_o`, `<name>_ready_i`, `<name>_o`; more: its other outputs.
        ready "": the stream has no ready."""
        self.name = name
        self.valid = getattr(dut, f"{name}_valid_o")
        self.ready = None if ready == "" else getattr(dut, ready or f"{name}_ready_i")
        own = getattr(dut, f"{name}_o", None)
        self.values = ([own] if own is not None else []) + [getattr(dut, m) for m in more]
        self.takes = ready == ""
        self.held: tuple[int, ...] | None = None

    def take(self, yes: bool) -> None:
        """Sets ready for this cycle."""
        self.takes = yes
        self.ready.value = yes

    def forget(self) -> None:
        """Forgets the pending offer: a reset withdraws it."""
        self.held = None

    def sees(self) -> tuple[int, ...] | None:
        """Call before the clock edge. Returns the word that the edge accepts."""
        if not self.valid.value:
            assert self.held is None, f"{self.name}: an offer that was not taken is withdrawn"
            return None
        said = tuple(int(v.value) for v in self.values)
        assert self.held in (None, said), f"{self.name}: an offer that was not taken has changed"
        self.held = None if self.takes else said
        return said if self.takes else None


async def begin(dut) -> None:
    """Sets all inputs to zero, starts the clock and applies a reset."""
    for handle in dut:
        if handle._name.endswith("_i"):
            handle.value = 0
    Clock(dut.clk_i, 4, unit="ns").start()
    await reset(dut)


async def reset(dut) -> None:
    dut.rst_ni.value = 0
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1


def simulate(
    lists: list[str],
    top: str,
    module: str,
    *,
    parameters: dict[str, object] | None = None,
    extra: list[Path] | None = None,
    testcase: str | None = None,
    env: dict[str, str] | None = None,
    fault: tuple[str, str, str] | None = None,
) -> None:
    """Runs cocotb tests. lists: file lists of the design; module: the Python module of the tests.
    Fails when one fails or none ran. TOEHOLD_FST=1 writes dump.fst beside the results.
    fault: a file of the design, text that occurs in it once, and its replacement."""
    sources = list(dict.fromkeys([f for name in lists for f in read(name)] + (extra or [])))
    os.environ.update(environment())
    trace = bool(os.environ.get("TOEHOLD_FST"))
    key = repr((sorted((parameters or {}).items()), trace, *([fault] if fault else []))).encode()
    folder = OUT / "sim" / f"{top}-{hashlib.sha256(key).hexdigest()[:8]}"
    folder.mkdir(parents=True, exist_ok=True)
    if fault:
        file, old, new = fault
        at = sources.index(GATEWARE / file)
        sources[at] = folder / Path(file).name
        sources[at].write_text(mutated({"file": file, "old": old, "new": new}))
    runner = get_runner("verilator")
    with alone(folder):
        runner.build(
            sources=[*WAIVERS, *sources],
            hdl_toplevel=top,
            parameters=parameters or {},
            build_dir=folder,
            build_args=["--timing", "--assert", "-Wno-WIDTH", "-Wno-fatal"]
            + (["--trace-fst", "--trace-structs"] if trace else []),
            always=True,
            log_file=folder / "build.log",
        )
    run_dir = folder / module.replace(".", "-") / (testcase or "all")
    run_dir.mkdir(parents=True, exist_ok=True)
    log = run_dir / "log"
    results = run_dir / "results.xml"
    results.unlink(missing_ok=True)
    ended: BaseException | None = None
    try:
        runner.test(
            hdl_toplevel=top,
            test_module=module,
            test_dir=run_dir,
            build_dir=folder,
            results_xml=str(results),
            testcase=testcase,
            extra_env={**(env or {}), "PYTHONPATH": str(GATEWARE.parent)},
            waves=trace,
            log_file=log,
        )
    except (SystemExit, RuntimeError) as e:  # a failed test, a failed assertion of the design
        ended = e
    ran, failed = get_results(results) if results.exists() else (0, 0)
    if failed or not ran:
        print("\n".join(log.read_text().splitlines()[-40:]))
    assert ran, f"{module}: no test ran"
    assert not failed, f"{module}: {failed} of {ran} failed"
    assert ended is None, f"{module}: all passed, and the simulator ended with {ended!r}"


def finds(fault: tuple[str, str, str], lists: list[str], top: str, module: str, **more) -> None:
    """Checks that the tests fail on a design with this fault."""
    with pytest.raises(AssertionError, match=r"\d+ of \d+ failed"):
        simulate(lists, top, module, fault=fault, **more)
