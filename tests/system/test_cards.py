# SPDX-License-Identifier: Apache-2.0
"""toed on the kernel drivers of emulated cards, in a guest of QEMU (lab/cards.py): bytes compared
both ways with each offload on and off, the link down and up, the MTU changed, the card pulled out.
docs/CARDS.md has the results."""

from __future__ import annotations

import pytest

from tests.lab import cards, cards_runs

pytestmark = [pytest.mark.toehold_only, pytest.mark.long]

SIZE = 1_000_000
LARGE = 20_000_000


@pytest.fixture(scope="module")
def rack():
    if why := cards.missing():
        pytest.fail(why)
    with cards.Rack() as r:
        yield r


# virtio-net's native mode does not serve yet: docs/CARDS.md, Limits.
REFUSED_CARDS = [name for name in cards.CARDS if name != "virtio-net"]
CELLS = [(name, back_end) for name in cards.CARDS for back_end in ("tap", "af_xdp-generic")]


@pytest.mark.parametrize(("card", "back_end"), CELLS)
def test_a_card_in_every_state(rack, card, back_end):
    result = cards_runs.cell(rack, card, back_end, SIZE)
    assert result["switched"][0] == "all on"
    assert "gso off" not in result["switched"]
    assert result["link"].startswith("connections last")


@pytest.mark.parametrize("card", REFUSED_CARDS)
def test_a_driver_without_native_mode_is_refused(rack, card):
    result = cards_runs.cell(rack, card, "af_xdp-native", SIZE)
    assert "use mode=generic or mode=auto" in result["refused"]


@pytest.mark.parametrize("card", cards.CARDS)
def test_a_large_transfer(rack, card):
    try:
        cards_runs.begin(rack, card, "af_xdp-generic")
        rack.transfer(LARGE)
    finally:
        cards_runs.end(rack)
