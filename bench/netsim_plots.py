# SPDX-License-Identifier: Apache-2.0
"""Plots of the results of netsim.py."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt


def _save(figure: plt.Figure, folder: Path, name: str) -> Path:
    path = folder / f"{name}.png"
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


# DCTCP without marks is NewReno: draw its line in another style, as it covers Reno's.
STYLES = {"reno": {"marker": "s", "ms": 9, "mfc": "none"}, "dctcp": {"ls": ":", "marker": "x"}}


def _lines(data: dict, key: str, folder: Path, name: str, **axes: object) -> Path:
    figure, axis = plt.subplots(figsize=(7, 4.5))
    for cc, rows in data.items():
        style = {"marker": "o", **STYLES.get(cc, {})}
        (line,) = axis.plot([r["x"] for r in rows], [r[key] for r in rows], label=cc, **style)
        if rows[0].get("theory"):
            theory = [r["theory"] for r in rows]
            axis.plot(
                [r["x"] for r in rows], theory, "--", color=line.get_color(), label=f"{cc}, theory"
            )
    axis.set(**axes)
    axis.grid(alpha=0.3)
    axis.legend()
    return _save(figure, folder, name)


def _recovery(data: dict, folder: Path) -> Path:
    figure, axis = plt.subplots(figsize=(8, 4.5))
    width = 0.8 / len(data)
    for i, (cc, rows) in enumerate(data.items()):
        at = [k + i * width for k in range(len(rows))]
        axis.bar(at, [r["rtts"] for r in rows], width, label=cc)
    names = [r["x"] for r in next(iter(data.values()))]
    axis.set_xticks(range(len(names)), names, rotation=35, ha="right")
    axis.set(ylabel="round trips of silence", title="What was lost, and until data came in order")
    axis.grid(alpha=0.3, axis="y")
    axis.legend()
    return _save(figure, folder, "recovery")


def _cubic(data: dict, folder: Path) -> Path:
    figure, axis = plt.subplots(figsize=(7, 4.5))
    axis.plot(data["t"], data["cwnd"], label="cwnd")
    axis.plot(data["t"], data["formula"], "--", label="RFC 9438 (1)")
    axis.set(xlabel="s", ylabel="segments", title="CUBIC after one loss, RTT 100 ms")
    axis.grid(alpha=0.3)
    axis.legend()
    return _save(figure, folder, "cubic")


def _timeline(cc: str, result: dict, folder: Path) -> Path:
    figure, (top, middle, bottom) = plt.subplots(3, 1, figsize=(8, 8), sharex=True)
    for i, flow in enumerate(result["flows"]):
        s = flow["series"]
        top.plot(s["t"], [w / 1e3 for w in s["cwnd"]], label=f"flow {i}")
        step = 10
        rates = [
            (b - a) * 8 / 1e6 / (s["t"][k + step] - s["t"][k])
            for k, (a, b) in enumerate(zip(s["acked"], s["acked"][step:], strict=False))
        ]
        middle.plot(s["t"][step:], rates, label=f"flow {i}")
    queue = result["queue"]
    bottom.plot(queue["t"], [b / 1e3 for b in queue["bytes"]])
    top.set(ylabel="cwnd, kB", title=f"{cc}: two flows, 50 Mbit/s, 40 ms, 250 kB of queue")
    middle.set(ylabel="Mbit/s over 1 s")
    bottom.set(ylabel="queue, kB", xlabel="s")
    for axis in (top, middle, bottom):
        axis.grid(alpha=0.3)
    top.legend()
    return _save(figure, folder, f"two-{cc}")


def draw(body: dict, timelines: dict, folder: Path) -> list[Path]:
    """Draw every plot; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    log = {"xscale": "log", "yscale": "log"}
    rate = "Mbit/s"
    plots = [
        _lines(
            body["loss"],
            "mbits",
            folder,
            "loss",
            xlabel="loss",
            ylabel=rate,
            title="Random loss, 1 Gbit/s, 50 ms",
            **log,
        ),
        _lines(
            body["rtt"],
            "mbits",
            folder,
            "rtt",
            xlabel="RTT, ms",
            ylabel=rate,
            title="One flow, 100 Mbit/s, one BDP of buffer",
            xscale="log",
        ),
        _lines(
            body["buffer"],
            "mbits",
            folder,
            "buffer",
            xlabel="buffer, BDP",
            ylabel=rate,
            title="One flow, 100 Mbit/s, 20 ms",
            xscale="log",
        ),
        _lines(
            body["buffer"],
            "queue_ms",
            folder,
            "queue",
            xlabel="buffer, BDP",
            ylabel="mean queue, ms",
            title="One flow, 100 Mbit/s, 20 ms",
            xscale="log",
        ),
        _lines(
            body["fairness"],
            "jain",
            folder,
            "fairness",
            xlabel="flows",
            ylabel="Jain's index",
            title="100 Mbit/s, 20 ms, one BDP of buffer",
            ylim=(0, 1.05),
        ),
        _lines(
            body["rtt_fairness"],
            "share",
            folder,
            "rtt-fairness",
            xlabel="RTT, times the other's",
            ylabel="share",
            title="Beside a flow of 20 ms",
            ylim=(0, 0.6),
        ),
        _recovery(body["recovery"], folder),
        _cubic(body["cubic"], folder),
    ]
    return plots + [_timeline(cc, result, folder) for cc, result in timelines.items()]
