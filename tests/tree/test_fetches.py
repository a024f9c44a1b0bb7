# SPDX-License-Identifier: Apache-2.0
"""The compiled code keeps the prefetches of the source.

To a compiler a function that only prefetches has no effect: it may drop calls of it.
"""

import os
import platform
import re

import pytest

from tests.lab import paths, proc

# By function: its file, and the number of prefetches in its source.
FETCHES = {
    "texpect_events": ("manager/libtoe_preload.so", 9),
    "expect_use": ("manager/libtoe_preload.so", 5),
    "expect_frames": ("engine/libtoe_inline.so", 4),
    "expect_send": ("engine/libtoe_inline.so", 2),
    "toec_expect": ("engine/libtoe_inline.so", 3),
    "toec_expect_flow": ("engine/libtoe_inline.so", 1),
    "toec_fetch_flow": ("engine/libtoe_inline.so", 1),
    "toec_fetch_timed": ("engine/libtoe_inline.so", 5),
    "output_pending": ("engine/libtoe_inline.so", 1),
}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="it looks for x86's instruction")
@pytest.mark.skipif("TOEHOLD_BUILD" in os.environ, reason="of the optimized build")
@pytest.mark.parametrize("function", FETCHES)
def test_none_is_left_out(function: str):
    file, least = FETCHES[function]
    argv = ["objdump", "--disassemble=" + function, paths.ROOT / "build" / file]
    code = proc.run(argv, timeout=60).stdout
    assert f"<{function}>:" in code
    assert len(re.findall(r"\sprefetch\w+\s", code)) >= least, code
