# SPDX-License-Identifier: Apache-2.0
"""Plot of the results of bench/gateware.py, from its JSON alone."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

LINE = 100


def draw_streams(axis: Axes, rows: list[dict], key: str, title: str) -> None:
    curves: dict[tuple, list[dict]] = {}
    for row in rows:
        curves.setdefault((row["case"], row["flows"], row["delay"]), []).append(row)
    for (case, flows, delay), points in curves.items():
        label = f"{case}, {flows} flows, memory after {delay} cycles"
        axis.plot([r["payload"] for r in points], [r[key] for r in points], "o-", label=label)
    axis.set(xlabel="bytes of payload", ylabel=title, xscale="log", ylim=(0, None))
    payloads = sorted({row["payload"] for row in rows})
    axis.set_xticks(payloads, [str(n) for n in payloads], fontsize=7, rotation=45)
    axis.minorticks_off()
    axis.grid(alpha=0.3)


def draw_evictions(axis: Axes, rows: list[dict]) -> None:
    for delay in sorted({row["delay"] for row in rows}):
        points = [r for r in rows if r["delay"] == delay]
        axis.plot(
            [r["hit_percent"] for r in points],
            [r["mpps"] for r in points],
            "s--",
            label=f"memory of TCBs after {delay} cycles",
        )
    axis.set(xlabel="events whose TCB is on chip, %", ylabel="M events/s", ylim=(0, None))
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7)


def draw(body: dict, path: Path) -> Path:
    """Plot the rate of the wire and packets by payload, a curve for each way, flows and memory; and
    events by how many TCBs are on chip."""
    found = body["figures"]
    figure, axes = plt.subplots(1, 3, figsize=(15, 5.5))
    axes[0].axhline(LINE, color="grey", linestyle="--", label="the goal")
    draw_streams(axes[0], found["streams"], "wire_gbps", "Gbit/s of the wire")
    draw_streams(axes[1], found["streams"], "mpps", "M packets/s")
    if found["evictions"]:
        draw_evictions(axes[2], found["evictions"])
    else:
        axes[2].set_visible(False)
    figure.suptitle(
        f"gateware TOE, cycles of {body['cycle_ns']} ns ({body['commit']})", fontsize=10
    )
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=3, fontsize=8)
    figure.tight_layout(rect=(0, 0.16, 1, 1))
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path
