# SPDX-License-Identifier: Apache-2.0
"""The gateware TOE, simulated, where toed would be (gateware/sim): a process on the same socket."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tests.lab import netns, proc, toed


class ToeSim(toed.Toed):
    """A running toe_sim on tap0 of a pair that was made with tap=True."""

    # What toe_sim has for all programs, and what a program asks for of it.
    SLOTS = 256
    BUFFERS = 65536

    def __init__(self, pair: netns.Pair, *, netif: str = "tap:tap0"):
        from gateware.lib import live

        self._program = live.build("toe_sim")
        super().__init__(pair, netif=netif)

    def _launch(self, *more: object) -> proc.Proc:
        return self.pair.server.start(
            [self._program, "--netif", self.netif, "--mtu", self.pair.mtu]
            + ["--ip", self._address, "--socket", self.socket, "--seed", 1, *more]
        )

    def stop(self) -> None:
        """As of toed; what strayed in host memory or broke AXI4 is a failure too."""
        super().stop()
        said = re.findall(r"(\d+) (strayed|unlawful)", self.proc.text())
        if said != [("0", "strayed"), ("0", "unlawful")]:
            raise proc.Failed(
                f"toe_sim: {said or 'it has not said what strayed'}{self.proc.tail()}"
            )

    def usage(self, name: str) -> int:
        """Of what it has: flows, listeners; half-open flows are among the flows."""
        return sum(engine["usage"].get(name, 0) for engine in self.stats()["engines"])

    def wrapped(self, argv: Sequence[object], *, require: bool = True) -> list[object]:
        sizes = {"SLOTS": self.SLOTS, "TX_SIZE": self.BUFFERS, "RX_SIZE": self.BUFFERS}
        asks = [f"TOEHOLD_{name}={n}" for name, n in sizes.items()]
        return ["env", *asks, *super().wrapped(argv, require=require)]
