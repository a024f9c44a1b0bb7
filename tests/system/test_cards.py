# SPDX-License-Identifier: Apache-2.0
"""toed and inline on the drivers of emulated cards, the kernel's and DPDK's, in a guest of QEMU
(lab/cards.py): bytes compared both ways with each offload on and off, the link down and up, the MTU
changed, the card pulled out. docs/CARDS.md has the results."""

from __future__ import annotations

import json

import pytest

from tests.lab import cards, cards_runs

pytestmark = pytest.mark.toehold_only

SIZE = 1_000_000
LARGE = 20_000_000


def test_one_card():
    """What `make test` runs of this file: some ten seconds of CPU, most of it the guest's boot."""
    if why := cards.missing():
        pytest.skip(why)
    with cards.Rack(("e1000",)) as rack:
        cards_runs.begin(rack, "e1000", "af_xdp-generic")
        rack.transfer(SIZE)
        assert cards_runs.link_down_and_up(rack) == "connections last"
        assert cards_runs.pulled_out(rack) == "toed ends: the interface is gone"
        cards_runs.end(rack)


@pytest.fixture(scope="module")
def rack(request):
    """A guest for the card of the parameter."""
    if why := cards.missing():
        pytest.fail(why)
    with cards.Rack((request.param,), dpdk=cards.has_dpdk()) as r:
        yield r


def on(*names):
    """Runs a long test on each of these cards."""
    marks = (
        pytest.mark.long,
        pytest.mark.parametrize("rack", names, indirect=True, scope="module"),
    )

    def mark(test):
        for m in marks:
            test = m(test)
        return test

    return mark


@pytest.mark.parametrize("back_end", ["tap", "af_xdp-generic", "dpdk", "inline"])
@on(*cards.CARDS)
def test_a_card_in_every_state(rack, back_end):
    if back_end == "dpdk" and not cards.has_dpdk():
        pytest.skip("this build has no DPDK")
    result = cards_runs.cell(rack, rack.names[0], back_end, SIZE)
    assert result["switched"][0] == "all on"
    assert result["link"].startswith("connections last")
    if back_end == "dpdk":
        assert "the interface is gone" in result["pulled"]


@on("e1000", "e1000e", "vmxnet3")
def test_a_driver_without_native_mode_is_refused(rack):
    result = cards_runs.cell(rack, rack.names[0], "af_xdp-native", SIZE)
    assert "use mode=generic or mode=auto" in result["refused"]


@on("virtio-net")
def test_native_mode_with_all_queues_in_use(rack):
    result = cards_runs.cell(rack, "virtio-net", "af_xdp-native", SIZE)
    assert result["mode"] == "af_xdp native copy"
    assert result["engines"] == 2
    assert result["link"].startswith("connections last")


@on("virtio-net")
def test_native_mode_that_opens_queues_which_cannot_send(rack):
    """One queue in use of two: the driver opens the other one for the XDP program."""
    try:
        interface = rack.plug(cards.CARDS["virtio-net"])
        assert not rack.start_toed(f"af_xdp:{interface},mode=native")
        said = rack.log("toed")
        assert f"'ethtool -L {interface} combined 2' first, and as many engines" in said
        assert rack.start_toed(f"af_xdp:{interface}")
        assert "af_xdp generic (no native: it opens queues that cannot send)" in rack.log("toed")
        rack.start_nginx()
        rack.transfer(SIZE)
    finally:
        cards_runs.end(rack)


@on("virtio-net")
def test_the_doctor_cures_native_mode(rack):
    def findings():
        said = rack.run(f"/b/cli/toehold doctor --json --interface {interface}", None).stdout
        return [f for f in json.loads(said)["findings"] if f["id"] == "interface.native"]

    try:
        interface = rack.plug(cards.CARDS["virtio-net"])
        [finding] = findings()
        assert "uses 1 of its 2 queues: AF_XDP's native mode opens 1 more" in finding["found"]
        rack.run(finding["cure"])
        assert findings() == []
        assert rack.start_toed(f"af_xdp:{interface},mode=native", "--engines 2"), rack.log("toed")
    finally:
        cards_runs.end(rack)


@on("e1000")
def test_a_wrong_checksum_is_found(rack):
    """A test of the tests: the card writes some checksums to a wrong place. TCP repairs that
    unnoticed, so the bytes are right, and only the peer's count shows it. Of QEMU's cards e1000
    alone takes the place from its driver."""
    try:
        preload = "LD_PRELOAD=/b/tests/libwrongsum.so WRONGSUM_EVERY=8"
        cards_runs.begin(rack, "e1000", "tap", env=preload)
        with pytest.raises(AssertionError, match="sent segments with a wrong checksum"):
            rack.transfer(SIZE)
    finally:
        cards_runs.end(rack)


@on(*cards.CARDS)
def test_a_large_transfer(rack):
    try:
        cards_runs.begin(rack, rack.names[0], "af_xdp-generic")
        rack.transfer(LARGE)
    finally:
        cards_runs.end(rack)


@on("e1000")
def test_jumbo_frames(rack):
    """Generic AF_XDP takes what one buffer holds (before Linux 6.6), the others all."""
    mtus = [
        cards_runs.jumbo(rack, "e1000", back_end, SIZE) for back_end in ("af_xdp-generic", "tap")
    ]
    assert mtus == ["3826", "9000"]
    if cards.has_dpdk():
        assert cards_runs.jumbo(rack, "e1000", "dpdk", SIZE) == "9000"


@on("e1000e")
def test_delayed_interrupts(rack):
    assert cards_runs.throttling(rack, "e1000e", SIZE) == "native"


@on("virtio-net")
def test_two_queues(rack):
    assert cards_runs.spread(rack, "virtio-net", SIZE) == "native"
