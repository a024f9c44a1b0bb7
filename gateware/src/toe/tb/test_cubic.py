# SPDX-License-Identifier: Apache-2.0
"""CUBIC in gateware, compared with core/: random ACKs, losses, timeouts and round trips."""

import ctypes
import shutil
import subprocess

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge

from gateware.lib.bench import seeded, simulate
from gateware.lib.tools import GATEWARE, OUT

LIBRARY = OUT / "sim" / "core_cubic.so"
UNIT = GATEWARE / "src/toe/rtl/fpc_cubic.sv"
FIELDS = ["epoch_set", "after_rto", "cwnd", "w_max", "cwnd_prior"]
FIELDS += ["epoch", "k", "w_est", "credit", "est_credit"]
WIDTHS = [1, 1] + [32] * 8
MOST = 0x3FFFFFFF

# Faults that the test must find: text of fpc_cubic.sv and its replacement.
FAULTS = {
    "K is that of half the curve": ("s_q.cwnd, 8'd0} << 2;", "s_q.cwnd, 8'd0} << 1;"),
    "K's last bit is not looked for": ("bit_q[0] ? Age", "bit_q[1] ? Age"),
    "the target is today's": ("at_q <= at_q + (in_q.srtt >> 3);", "at_q <= at_q;"),
    "more than 1.5 cwnd": ("(window_q > half_more) ?", "(window_q > ~half_more) ?"),
    "Reno's share stays 9/17": ("s_q.w_est < s_q.cwnd_prior)", "s_q.w_est < ~s_q.cwnd_prior)"),
    "what is left over is lost": ("s_q.credit <= sum[31:0];", "s_q.credit <= 32'd0;"),
    "the curve below W_max goes up": ("before_q <= at_q < s_q.k;", "before_q <= 1'b0;"),
    "an epoch's clock runs on": ("s_q.epoch <= in_q.stamp - TimeMax;", ""),
}


def packed(words: list[tuple[int, int]]) -> int:
    value = 0
    for word, width in words:
        value = value << width | word
    return value


def named(state: list[int]) -> dict[str, int]:
    return dict(zip(FIELDS, state, strict=True))


def unpacked(value: int) -> list[int]:
    words = []
    for width in reversed(WIDTHS):
        words.append(value & (1 << width) - 1)
        value >>= width
    return words[::-1]


class Unit:
    def __init__(self, dut, rng):
        self.dut, self.rng = dut, rng

    async def start(self) -> None:
        self.dut.valid_i.value = self.dut.ready_i.value = self.dut.ask_i.value = 0
        Clock(self.dut.clk_i, 4, unit="ns").start()
        self.dut.rst_ni.value = 0
        for _ in range(3):
            await RisingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
        await RisingEdge(self.dut.clk_i)

    async def ask(self, state: list[int], acked: int, stamp: int, srtt: int, mss: int) -> list[int]:
        """Makes a request. Checks that the answer is stable until accepted after any delay."""
        words = [*zip(state, WIDTHS, strict=True), (acked, 32), (stamp, 32), (srtt, 32), (mss, 16)]
        self.dut.ask_i.value = packed(words)
        self.dut.valid_i.value = 1
        await RisingEdge(self.dut.clk_i)
        self.dut.valid_i.value = 0
        self.dut.ask_i.value = self.rng.getrandbits(370)
        for _ in range(1000):
            await ReadOnly()
            taken, there = bool(self.dut.ready_i.value), bool(self.dut.valid_o.value)
            answer = self.dut.state_o.value.to_unsigned()
            await RisingEdge(self.dut.clk_i)
            self.dut.ready_i.value = int(self.rng.random() < 0.5)
            if taken and there:
                self.dut.ready_i.value = 0
                return unpacked(answer)
        raise AssertionError("no answer in 1000 cycles")


def core():
    library = ctypes.CDLL(str(LIBRARY))
    library.cubic_model_acked.restype = None
    library.cubic_model_acked.argtypes = [ctypes.POINTER(ctypes.c_uint32)] + [ctypes.c_uint32] * 4
    library.cubic_model_congested.restype = ctypes.c_uint32
    return library


def one_flow(rng, mss: int) -> tuple[list[int], int, int]:
    """Returns a state after slow start, its round trip time, and the time."""
    cwnd = min(mss * int(2 ** rng.uniform(1, 14)), MOST // 2)
    srtt = max(8, int(2 ** rng.uniform(6, 21)))
    return [0, 0, cwnd, 0, 0, 0, 0, 0, 0, 0], srtt, rng.getrandbits(32)


@cocotb.test()
async def windows_are_those_of_core(dut):
    rng, model, seen = seeded(), core(), set()
    unit = Unit(dut, rng)
    await unit.start()
    for _ in range(60):
        mss = rng.choice([1448, 1460, 1388, 536, 88, 9000, 65483])
        state, srtt, now = one_flow(rng, mss)
        for _ in range(30):
            what = rng.random()
            words = (ctypes.c_uint32 * 10)(*state)
            if what < 0.08:  # computed by the pipeline in the TOE, by core/ here
                timeout = rng.random() < 0.3
                flight = rng.randrange(mss, state[2] + mss)
                cut = model.cubic_model_congested(words, flight, int(timeout), mss)
                words[2] = cut
                state = list(words)
                seen.add("timeout" if timeout else "loss")
                continue
            pause = rng.choice([srtt >> 5, srtt >> 3, srtt, 1 << 20, 1 << rng.randrange(29)])
            now = now + rng.randrange(pause + 1) & 0xFFFFFFFF
            acked = rng.choice([1, mss, 2 * mss, rng.randrange(1, 64 * mss), state[2]])
            if state[2] >= MOST:  # the largest window does not grow
                break
            model.cubic_model_acked(words, acked, now, srtt, mss)
            got = await unit.ask(state, acked, now, srtt, mss)
            want = list(words)
            assert got == want, (
                f"mss {mss}, srtt {srtt}, now {now}, acked {acked}, before {named(state)}: "
                f"core {named(want)}, here {named(got)}"
            )
            seen.add("new epoch" if not state[0] else "same epoch")
            seen.add("K" if got[6] else "no K")
            seen.add("below W_max" if (now - got[5]) & 0xFFFFFFFF < got[6] else "beyond")
            if got[5] != state[5] and state[0]:
                seen.add("clock stops")
            if got[2] == got[7]:
                seen.add("as Reno")
            state = got
            srtt = max(8, min(srtt + rng.randrange(-srtt // 8, srtt // 8 + 1), 1 << 24))
    assert seen == {
        "loss", "timeout", "new epoch", "same epoch", "K", "no K", "below W_max", "beyond",
        "clock stops", "as Reno",
    }  # fmt: skip


def built() -> None:
    sources = GATEWARE.parent / "core"
    LIBRARY.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [shutil.which("gcc"), "-shared", "-fPIC", "-O1", "-Wl,-Bsymbolic"]
        + [f"-I{sources}/include", f"-I{sources}/src", "-o", LIBRARY]
        + [sources / "src" / "cc" / "cc_cubic.c", sources / "src" / "cc" / "cc_hystart.c"]
        + [GATEWARE / "src" / "toe" / "tb" / "cubic_model.c"],
        check=True,
    )


def test_cubic():
    built()
    simulate(["src/toe/fpc_cubic.f"], "fpc_cubic", "gateware.src.toe.tb.test_cubic")


@pytest.mark.long
@pytest.mark.parametrize("why", FAULTS)
def test_finds(why, tmp_path):
    """The test fails on a unit with this fault."""
    built()
    old, new = FAULTS[why]
    text = UNIT.read_text()
    assert text.count(old) == 1, f"fpc_cubic.sv has no longer, or more than once: {old}"
    top = f"fpc_cubic_fault{list(FAULTS).index(why)}"
    faulty = tmp_path / f"{top}.sv"
    faulty.write_text(text.replace(old, new).replace("module fpc_cubic\n", f"module {top}\n"))
    with pytest.raises(AssertionError, match="1 of 1 failed"):
        simulate(
            [],
            top,
            "gateware.src.toe.tb.test_cubic",
            extra=[UNIT.parent / "fpc_cubic_pkg.sv", faulty],
        )
