# SPDX-License-Identifier: Apache-2.0
"""What bench/gateware.py has measured, as a plot: from its JSON alone."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

LINE = 100


def draw(body: dict, path: Path) -> Path:
    """Rate of the wire and packets by payload, a curve for each way, flows and memory."""
    curves: dict[tuple, list[dict]] = {}
    for row in body["figures"]["streams"]:
        curves.setdefault((row["case"], row["flows"], row["delay"]), []).append(row)
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.5))
    for axis, key, title in zip(
        axes, ("wire_gbps", "mpps"), ("Gbit/s of the wire", "M packets/s"), strict=True
    ):
        for (case, flows, delay), rows in curves.items():
            label = f"{case}, {flows} flows, memory after {delay} cycles"
            axis.plot([r["payload"] for r in rows], [r[key] for r in rows], "o-", label=label)
        axis.set(xlabel="bytes of payload", ylabel=title, xscale="log", ylim=(0, None))
        axis.grid(alpha=0.3)
    axes[0].axhline(LINE, color="grey", linestyle="--", label="the goal")
    axes[0].legend(fontsize=7)
    figure.suptitle(
        f"gateware TOE, cycles of {body['cycle_ns']} ns ({body['commit']})", fontsize=10
    )
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path
