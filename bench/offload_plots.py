# SPDX-License-Identifier: Apache-2.0
"""The figures of offload.py, from its JSON alone."""

from __future__ import annotations

from pathlib import Path

from matplotlib import pyplot as plt

from bench import load_plots


def _buffers(body: dict, rate: str, by_system: dict, folder: Path) -> Path:
    figure, axis = plt.subplots(figsize=(8, 4.5))
    for system, rows in by_system.items():
        ends: dict[str, list[tuple[int, float]]] = {}
        for at, row in rows.items():
            end, size = at.split()
            ends.setdefault(end, []).append((int(size), row["gbit_per_s"]))
        for end, points in ends.items():
            axis.plot(*zip(*points, strict=True), "o-", label=f"{body['systems'][system]}, {end}")
    axis.set(xscale="log", xlabel="socket buffer, bytes", ylabel="Gbit/s", ylim=(0, None))
    axis.set_title(
        f"Bulk by socket buffer, {_paced(rate)} ({load_plots.source(body)})", fontsize=10
    )
    axis.grid(alpha=0.3)
    load_plots.legend(axis)
    return load_plots.save(figure, folder, f"buffers_{rate}")


def _paced(rate: str) -> str:
    return f"{int(rate) / 1e9:g} Gbit/s" if int(rate) else "unpaced"


def _delays(body: dict, rate: str, by_system: dict, folder: Path) -> Path:
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5))
    share = left.twinx()
    for system, rows in by_system.items():
        name = body["systems"][system]
        by_load: dict[str, list[tuple[int, dict]]] = {}
        for at, row in rows.items():
            delay, load = at.split()
            if delay.isdecimal():
                by_load.setdefault(load, []).append((int(delay), row))
        for load, points in by_load.items():
            at = [delay for delay, _ in points]
            if load == "bulk":
                rates = [row["gbit_per_s"] for _, row in points]
                busy = [row["toe_us_per_mb"] for _, row in points]
                left.plot(at, rates, "o-", label=f"{name}, Gbit/s")
                share.plot(at, busy, "s--", color="tab:red", label="toed and its program")
            else:
                times = [row["p50_us"] for _, row in points]
                right.plot(at, times, "o-", label=f"{name}, {load} connections")
    left.set(xlabel="delay, us", ylabel="Gbit/s", ylim=(0, None))
    left.set_ylim(top=1.1 * left.get_ylim()[1])
    share.set(ylabel="CPU, us per MB", ylim=(0, None))
    right.set(xlabel="delay, us", ylabel="p50 of 64-byte requests, us", yscale="log")
    for axis, where in ((left, "lower left"), (share, "lower right"), (right, "best")):
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8, loc=where)
    figure.suptitle(f"Frames delayed, {_paced(rate)} ({load_plots.source(body)})", fontsize=10)
    return load_plots.save(figure, folder, f"moderation_{rate}")


def _load(body: dict, rate: str, by_system: dict, folder: Path) -> Path:
    """Plot p50 and CPU against the delay for each share of the load; auto is a dashed line."""
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.5))
    for rows in by_system.values():
        shares = list(dict.fromkeys(at.split()[1] for at in rows))
        for axis, key in zip(axes, ("p50_us", "toe_us"), strict=True):
            for i, share in enumerate(shares):
                points = [at.split()[0] for at in rows if at.endswith(f" {share}")]
                fixed = [p for p in points if p.isdecimal()]
                values = [rows[f"{p} {share}"][key] for p in fixed]
                axis.plot(list(map(int, fixed)), values, "o-", color=f"C{i}", label=f"load {share}")
                auto = rows[f"auto {share}"][key]
                axis.axhline(auto, color=f"C{i}", linestyle="--", label=f"load {share}, auto")
            axis.set(xlabel="delay, us", yscale="log", ylabel={"p50_us": "p50, us"}.get(key, key))
            axis.grid(alpha=0.3)
            axis.legend(fontsize=8)
    axes[1].set(ylabel="CPU of toed and its program, us per request")
    figure.suptitle(f"64-byte requests at a part of the load ({load_plots.source(body)})")
    return load_plots.save(figure, folder, f"load_{rate}")


def _step(body: dict, rate: str, by_system: dict, folder: Path) -> Path:
    figure, axis = plt.subplots(figsize=(8, 4.5))
    for system in by_system:
        found = body["samples"][rate]["step"][system][0]["step"]
        axis.step(
            *zip(*found["delay_us"], strict=True), where="post", label=body["systems"][system]
        )
        for phase in found["phases"]:
            axis.axvline(phase["at"], color="grey", linestyle=":")
            text = f" {phase['share']} % load\n p50 {phase['p50_us']:,.0f} us"
            axis.text(phase["at"], 255, text, fontsize=8, va="bottom")
    axis.set(xlabel="seconds", ylabel="delay of frames, us", ylim=(-5, 300))
    axis.set_title(
        f"toed --moderation auto, a step of load ({load_plots.source(body)})", fontsize=10
    )
    axis.grid(alpha=0.3)
    return load_plots.save(figure, folder, f"step_{rate}")


def _requests(body: dict, rate: str, by_system: dict, folder: Path, part: str) -> Path:
    """Plot requests per second, and the CPU time of each."""
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.5))
    for axis, key, title in (
        (axes[0], "requests_per_s", "requests/s"),
        (axes[1], "server_us", "CPU of nginx's core, us per request"),
    ):
        names = {
            f"{body['systems'][system]}\n{at}": row[key]
            for system, rows in by_system.items()
            for at, row in rows.items()
        }
        axis.bar(list(names), list(names.values()))
        axis.set(ylabel=title)
        axis.tick_params(axis="x", rotation=60, labelsize=7)
    title = "SPECweb99's mix of files" if part == "web" else "Many clients"
    figure.suptitle(f"{title}; offloads on and off ({load_plots.source(body)})", fontsize=10)
    return load_plots.save(figure, folder, f"{part}_{rate}")


def draw(body: dict, folder: Path) -> list[Path]:
    kinds = {"buffers": _buffers, "moderation": _delays, "load": _load, "step": _step}
    found = []
    for rate, by_part in body["medians"].items():
        for part, by_system in by_part.items():
            if part in kinds:
                found.append(kinds[part](body, rate, by_system, folder))
            elif part in ("web", "clients"):
                found.append(_requests(body, rate, by_system, folder, part))
    return found
