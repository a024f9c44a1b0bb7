# SPDX-License-Identifier: Apache-2.0
"""SipHash-2-4 in gateware, compared with core/ on the same bytes; starts at any time."""

import ctypes
import shutil
import subprocess

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import seeded, simulate
from gateware.lib.tools import GATEWARE, OUT

LIBRARY = OUT / "sim" / "core_hash.so"


def core_siphash(key: int, data: bytes) -> int:
    function = ctypes.CDLL(str(LIBRARY)).toec_siphash
    function.argtypes = [ctypes.c_uint64 * 2, ctypes.c_char_p, ctypes.c_ulong]
    function.restype = ctypes.c_uint64
    words = (ctypes.c_uint64 * 2)(key & (1 << 64) - 1, key >> 64)
    return function(words, data, len(data))


@cocotb.test()
async def sums_are_those_of_core(dut):
    rng = seeded()
    dut.start_i.value = 0
    Clock(dut.clk_i, 4, unit="ns").start()
    dut.rst_ni.value = 0
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    want, done = None, 0
    for _ in range(10000):
        starts = rng.random() < (0.02 if want is not None else 0.5)
        key, word = rng.getrandbits(128), rng.getrandbits(32)
        remote, own = rng.getrandbits(128), rng.getrandbits(128)
        ports = rng.getrandbits(32)
        dut.start_i.value, dut.key_i.value, dut.word_i.value = starts, key, word
        dut.tuple_i.value = (remote << 128 | own) << 32 | ports  # IPv4 in the low bits of the sum
        await ReadOnly()
        if dut.done_o.value:
            assert dut.sum_o.value.to_unsigned() == want
            want = None
            done += 1
        if starts:  # aborts a running one
            last = word << 32 | (ports >> 16) << 16 | (ports & 0xFFFF)
            data = b"".join(
                n.to_bytes(size, "little") for n, size in ((remote, 16), (own, 16), (last, 8))
            )
            want = core_siphash(key, data)
        await RisingEdge(dut.clk_i)
    assert done > 300


def test_siphash():
    core = GATEWARE.parent / "core"
    LIBRARY.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [shutil.which("gcc"), "-shared", "-fPIC", "-O1", f"-I{core}/include", f"-I{core}/src"]
        + ["-o", LIBRARY, core / "src" / "base" / "hash.c"],
        check=True,
    )
    simulate(["src/toe/toe_siphash.f"], "toe_siphash", "gateware.src.toe.tb.test_siphash")
