# SPDX-License-Identifier: Apache-2.0
"""For tests: builds a design with Verilator and runs a module of cocotb tests on it."""

import contextlib
import hashlib
import os
import random
from pathlib import Path

from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotb_tools.runner import get_results, get_runner

from .filelist import read
from .tools import GATEWARE, OUT, alone, environment


def seeded() -> random.Random:
    """What is random in a test, from TOE_TEST_SEED (1); the log has the seed."""
    seed = int(os.environ.get("TOE_TEST_SEED", "1"))
    print(f"TOE_TEST_SEED={seed}")
    return random.Random(seed)


def packed(*fields: tuple[int, int]) -> int:
    """Values and their widths, the first one highest, as in a packed struct."""
    whole = 0
    for value, width in fields:
        assert 0 <= value < 1 << width, (value, width)
        whole = whole << width | value
    return whole


async def begin(dut) -> None:
    """All inputs at zero, the clock runs, and reset is over."""
    for handle in dut:
        if handle._name.endswith("_i"):
            handle.value = 0
    Clock(dut.clk_i, 4, unit="ns").start()
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
) -> None:
    """lists: file lists of the design; module: the Python module whose cocotb tests run on top.
    Fails when one fails or none ran. TOEHOLD_FST=1 writes dump.fst beside the results."""
    sources = list(dict.fromkeys([f for name in lists for f in read(name)] + (extra or [])))
    os.environ.update(environment())
    trace = bool(os.environ.get("TOEHOLD_FST"))
    key = repr((sorted((parameters or {}).items()), trace)).encode()
    folder = OUT / "sim" / f"{top}-{hashlib.sha256(key).hexdigest()[:8]}"
    folder.mkdir(parents=True, exist_ok=True)
    runner = get_runner("verilator")
    with alone(folder):
        runner.build(
            sources=[GATEWARE / "lint.vlt", *sources],
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
    with contextlib.suppress(SystemExit):  # of which the results tell
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
    ran, failed = get_results(results) if results.exists() else (0, 0)
    if failed or not ran:
        print("\n".join(log.read_text().splitlines()[-40:]))
    assert ran, f"{module}: no test ran"
    assert not failed, f"{module}: {failed} of {ran} failed"
