# SPDX-License-Identifier: Apache-2.0
"""Firmware on the hybrid TOE's processor: it boots, and core/ unchanged runs in it."""

import subprocess

import pytest

from gateware.lib import hybrid, ibex

BYTES = 100_000  # of firmware/pair.c, each way
BURSTS, SEGMENTS = 8, 10  # of firmware/receive.c


def test_boots():
    code, said = hybrid.simulate("boot", 100_000)
    assert (code, said) == (0, "firmware runs\nall good\n")


@pytest.fixture(scope="module")
def pair() -> dict[str, int]:
    code, said = hybrid.simulate("pair", 20_000_000)
    assert code == 0, said
    return {name: int(value) for name, _, value in (x.partition("=") for x in said.split())}


def test_two_stacks_exchange_data(pair):
    assert pair["received_0"] == pair["received_1"] == BYTES
    assert pair["wrong"] == 0
    assert pair["lost_frames"] > 0, "nothing was lost: the run shows no recovery"


def test_cycles_of_a_segment(pair):
    """Cycles of a run are the same on every machine. Both ends of a segment, its ACK included:
    copies and checksums in software take most of them."""
    assert pair["segments"] > 2 * BYTES // 1460
    moved = pair["copy_cycles_per_segment"] + pair["sum_cycles_per_segment"]
    assert moved < pair["cycles_per_segment"] < 60_000
    assert pair["cycles_per_segment"] - moved < 16_000


@pytest.fixture(scope="module", params=hybrid.CONFIGURATIONS)
def sent(request) -> dict:
    return hybrid.send(request.param, delay=32)


def test_sends(sent):
    """The firmware compares what it sent with what the second stack received from the slots, and
    the simulation checks each frame that leaves; here: the cycles of 1024 bytes."""
    most = {"software": 4600, "prototype": 2800, "complete": 1450}[sent["configuration"]]
    assert len(sent["sends"]) == 8 and sent["frames"] > 68
    assert sent["sends"][-1] <= most
    assert sum(sum(c.values()) for c in sent["steps"].values()) == sent["sends"][-1]


def test_units_work_where_they_are_used(sent):
    edges = [name for _, name in sent["edges"]]
    beats = edges.count("host memory -> DFU, slot, PCU: beats of payload")
    assert beats == (0 if sent["configuration"] == "software" else 128)
    described = edges.count("firmware -> header unit: GO")
    assert described == (1 if sent["configuration"] == "complete" else 0)
    by_processor = edges.count("firmware -> way out: LEAVE")
    assert by_processor + described == 1
    assert edges[-1] == "way out -> link: beats of the frame"


@pytest.fixture(scope="module")
def received() -> dict[str, dict]:
    return {c: hybrid.receive(c) for c in hybrid.RECEIVERS}


def test_receives(received):
    """The firmware compares what both ends sent and received, hyb_loop.sv each byte that is placed
    in host memory; here: cycles. With headers read and sums verified by hardware the processor
    touches no payload."""
    most = {"prototype": {"data": 3300, "ack": 2600}, "complete": {"data": 850, "ack": 1350}}
    for configuration, of in most.items():
        r = received[configuration]
        assert r["placed"] > 2 * 16 * 1024
        for what, cycles in of.items():
            assert len(r["taken"][what]) >= 16
            assert r["taken"][what][-1] <= cycles, (configuration, what)
            assert sum(r["sources"][what].values()) == r["taken"][what][-1]
    assert "sum.c" in received["prototype"]["sources"]["data"]
    assert "sum.c" not in received["complete"]["sources"]["data"]


def test_a_burst_is_one_decision(received):
    """Ten segments, cut by the firmware from one grant of core/: less than a third of the cycles
    that ten grants take."""
    burst = {c: r["taken"]["burst"][-1] for c, r in received.items()}
    assert burst["complete"] <= 1600
    assert burst["prototype"] > 3 * burst["complete"]
    beats, first, last = received["complete"]["beats"]
    assert beats == SEGMENTS * 190  # 1514 bytes each
    assert last - first < 1.05 * beats, "the link waits within a burst"


def test_segments_that_wait_are_one(received):
    """Ten segments that wait are one for core/, and their bytes are in their places."""
    merged = received["complete"]["taken"]["merged"]
    assert len(merged) == BURSTS and merged[-1] <= 2700
    assert len(received["prototype"]["taken"]["merged"]) == BURSTS * SEGMENTS


@pytest.mark.parametrize(
    "name",
    [
        "pair",
        "receive_prototype",
        "receive_complete",
        "send_software",
        "send_prototype",
        "send_complete",
        "toe",
        "toe_prototype",
        "toe_complete",
    ],
)
def test_image_fits(name):
    done = subprocess.run(
        ["riscv64-unknown-elf-size", str(hybrid.elf(name))], capture_output=True, text=True
    )
    text, data, bss = (int(n) for n in done.stdout.splitlines()[1].split()[:3])
    assert text + data <= 128 << 10
    assert data + bss + 4096 <= 256 << 10


def test_one_file_has_all_of_ibex():
    text = ibex.generate().read_text()
    assert "module ibex_top" in text
    left = {x.strip() for x in text.splitlines() if x.lstrip().startswith("`include")}
    assert left == {'`include "formal_tb_frag.svh"'}, "of a branch that is not compiled"
