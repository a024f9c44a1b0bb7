# SPDX-License-Identifier: Apache-2.0
"""The complete module with its registers, compared with model.py. The cases are in cases.py."""

import re
from pathlib import Path

import pytest

from gateware.lib.bench import simulate

CASES = re.findall(
    r"^async def (\w+)\(dut\)", Path(__file__).with_name("cases.py").read_text(), re.M
)


@pytest.mark.parametrize("case", CASES)
def test_rtt(case):
    """The counter starts so that it wraps during the test."""
    start = 0x1_FFFF_FFFF - 3000
    simulate(
        ["src/rtt/rtt.f"],
        "rtt",
        "gateware.src.rtt.tb.cases",
        parameters={"CounterStart": f"64'h{start:x}"},
        testcase=case,
        env={"RTT_START": hex(start)},
    )
