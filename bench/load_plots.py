# SPDX-License-Identifier: Apache-2.0
"""Plots of the benches of the load generator, from their JSON alone."""

from __future__ import annotations

import math
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt


def save(figure: plt.Figure, folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def legend(axis: plt.Axes) -> None:
    """Place the legend next to the axes."""
    axis.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1))


def _bars(
    axis: plt.Axes, groups: list[str], series: dict[str, list[float]], **axes: object
) -> None:
    width = 0.8 / max(len(series), 1)
    for i, (label, values) in enumerate(series.items()):
        axis.bar([k + i * width for k in range(len(groups))], values, width, label=label)
    middle = width * (len(series) - 1) / 2
    axis.set_xticks([k + middle for k in range(len(groups))], groups)
    axis.set(**axes)
    axis.grid(alpha=0.3, axis="y")
    legend(axis)


def source(body: dict) -> str:
    return f"{body['date'][:10]}, {body['commit']}, {body['machine']['cores']} cores"


def _closed(body: dict, folder: Path, key: str, name: str, title: str, scale: float) -> Path:
    closed = body["medians"]["closed"]
    points = list(next(iter(closed.values())))
    figure, axis = plt.subplots(figsize=(9, 4.5))
    series = {
        body["systems"][system]: [by_point[p][key] * scale for p in points]
        for system, by_point in closed.items()
    }
    _bars(axis, points, series, xlabel="connections x bytes", yscale="log", ylabel=title)
    axis.set_title(f"Ping-pong, closed loop ({source(body)})", fontsize=10)
    return save(figure, folder, name)


def _curves(body: dict, folder: Path) -> list[Path]:
    paths = []
    for percentile in ("p50", "p99", "p99_9", "p99_99"):
        figure, axis = plt.subplots(figsize=(7, 4.5))
        for system, rows in body["samples"]["load"].items():
            x = [row["rate"] / 1000 for row in rows]
            axis.plot(
                x, [row[percentile] / 1000 for row in rows], "o-", label=body["systems"][system]
            )
        axis.set(
            xlabel="offered, 1000 requests/s", ylabel="us since due", yscale="log", xscale="log"
        )
        axis.set_title(
            f"{percentile.replace('_', '.')} against offered load ({source(body)})", fontsize=10
        )
        axis.grid(alpha=0.3)
        legend(axis)
        paths.append(save(figure, folder, f"load_{percentile}"))
    return paths


def pingpong(body: dict, folder: Path) -> list[Path]:
    if not body["medians"]["closed"]:
        return []
    made = [
        _closed(body, folder, "requests_per_s", "rate", "requests/s", 1),
        _closed(body, folder, "p50", "p50", "p50, us", 1e-3),
        _closed(body, folder, "p99", "p99", "p99, us", 1e-3),
    ]
    return made + (_curves(body, folder) if body["samples"]["load"] else [])


def nginx(body: dict, folder: Path) -> list[Path]:
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5))
    systems = list(body["medians"])
    series = {
        "requests/s": [body["medians"][s]["requests_per_s"] for s in systems],
        "requests per second of nginx's CPU": [
            body["medians"][s]["requests_per_cpu_s"] for s in systems
        ],
    }
    _bars(left, [body["systems"][s] for s in systems], series, title="nginx, one worker")
    left.tick_params(axis="x", rotation=20)
    profiles = body["profile"]
    names = sorted({n for p in profiles.values() for n in p["parts"]})
    at = dict.fromkeys(profiles, 0.0)
    for name in names:
        values = [p["parts"].get(name, 0) for p in profiles.values()]
        right.bar(
            [body["systems"][s] for s in profiles], values, bottom=list(at.values()), label=name
        )
        at = {s: at[s] + v for s, v in zip(at, values, strict=True)}
    right.set(title="where nginx's CPU time goes", ylabel="% of samples")
    legend(right)
    figure.suptitle(source(body), fontsize=9)
    return [save(figure, folder, "nginx")]


def bulk(body: dict, folder: Path) -> list[Path]:
    figure, axis = plt.subplots(figsize=(8, 4.5))
    for system, by_point in body["medians"].items():
        for connections, style in (("1", "o-"), ("100", "s--")):
            points = [(p.split("x"), v) for p, v in by_point.items()]
            mine = [(int(p[1]), v / 1e9) for p, v in points if p[0] == connections]
            if mine:
                label = f"{body['systems'][system]}, {connections}"
                axis.plot(*zip(*mine, strict=True), style, label=label)
    axis.set(xlabel="bytes a send()", ylabel="GB/s", xscale="log", yscale="log")
    axis.set_title(f"Bulk, over 1 and 100 connections ({source(body)})", fontsize=10)
    axis.grid(alpha=0.3)
    legend(axis)
    made = [save(figure, folder, "bulk")]
    return made + _features(body, folder) + _zero_copy(body, folder)


def _features(body: dict, folder: Path) -> list[Path]:
    changes = body["features_change_percent"]
    names = list(dict.fromkeys(row for by in changes.values() for row in by))
    if not names:
        return []
    figure, axis = plt.subplots(figsize=(9, 4.5))
    series = {body["systems"][s]: [by.get(n, 0) for n in names] for s, by in changes.items()}
    _bars(axis, names, series, ylabel="throughput with it off, percent")
    axis.set_title(f"Bulk with features off in turn ({source(body)})", fontsize=10)
    axis.tick_params(axis="x", rotation=20)
    return [save(figure, folder, "features")]


def _zero_copy(body: dict, folder: Path) -> list[Path]:
    if not body["zero_copy"]:
        return []
    figure, axis = plt.subplots(figsize=(7, 4.5))
    for system, ratios in body["zero_copy_ratio"]["bytes_per_cpu_s"].items():
        axis.plot(
            [int(m) for m in ratios], list(ratios.values()), "o-", label=body["systems"][system]
        )
    axis.axhline(1, color="gray", linewidth=1)
    axis.set(
        xlabel="bytes a send()",
        ylabel="zero copy / copy, bytes per CPU time of the sender",
        xscale="log",
    )
    axis.set_title(f"Zero copy against copy ({source(body)})", fontsize=10)
    axis.grid(alpha=0.3)
    legend(axis)
    return [save(figure, folder, "zero_copy")]


def _many_flows(body: dict, folder: Path) -> list[Path]:
    paths = []
    if any(body["flows"].get("medians", {}).values()):
        figure, axis = plt.subplots(figsize=(8, 4.5))
        for load, by_count in body["flows"]["medians"].items():
            rates = [f["requests_per_s"] for f in by_count.values()]
            axis.plot([int(n) for n in by_count], rates, marker="o", label=load)
        axis.set(xscale="log", ylim=(0, None), xlabel="flows", ylabel="requests/s")
        axis.grid(alpha=0.3)
        legend(axis)
        axis.set_title(f"Requests over many flows ({source(body)})", fontsize=10)
        paths.append(save(figure, folder, "flows"))
    if memory := body["flows"].get("memory"):
        figure, axis = plt.subplots(figsize=(8, 4.5))
        parts = {
            f"{kind}: {name}": p for kind, grown in memory.items() for name, p in grown.items()
        }
        series = {part: [p[part] for p in parts.values()] for part in ("private", "shared")}
        groups = [name.replace("_", " ").replace(": ", "\n") for name in parts]
        _bars(axis, groups, series, ylabel="bytes an idle flow")
        axis.set_title(f"Memory of idle flows ({source(body)})", fontsize=10)
        axis.tick_params(axis="x", labelsize=8)
        paths.append(save(figure, folder, "memory"))
    return paths


def conns(body: dict, folder: Path) -> list[Path]:
    systems = list(body["medians"])
    if not systems:
        return _many_flows(body, folder)
    figure, axis = plt.subplots(figsize=(8, 4.5))
    series = {
        kind: [body["medians"][s][kind]["per_s"] for s in systems]
        for kind in body["medians"][systems[0]]
    }
    _bars(axis, [body["systems"][s] for s in systems], series, ylabel="connections/s")
    axis.set_title(f"Connections set up and torn down ({source(body)})", fontsize=10)
    axis.tick_params(axis="x", rotation=20)
    return [save(figure, folder, "conns"), *_many_flows(body, folder)]


def scaling(body: dict, folder: Path) -> list[Path]:
    figure, axis = plt.subplots(figsize=(7, 4.5))
    most = 1
    for workload, by_count in body["medians"].items():
        counts = sorted(map(int, by_count))
        most = max(most, *counts)
        ratios = [by_count[str(n)]["ratio"] for n in counts]
        axis.plot(counts, ratios, "o-", label=body["titles"][workload])
    axis.plot([1, most], [1, most], "k:", label="n times one core")
    axis.set(xlabel="cores", ylabel="answers, of one core's")
    axis.set_title(f"Closed pairs on cores of their own ({source(body)})", fontsize=10)
    axis.grid(alpha=0.3)
    legend(axis)
    return [save(figure, folder, "scaling")]


def rtt(body: dict, folder: Path) -> list[Path]:
    """Plot the time of each packet by each method, and the paper's means as lines."""
    found = body["samples"]
    cases = [case for case in body["titles"] if found.get(case)]
    figure, axes = plt.subplots(1, len(cases), figsize=(5 * len(cases), 4.5), squeeze=False)
    for axis, case in zip(axes[0], cases, strict=True):
        for i, (name, times) in enumerate(found[case].items()):
            line = axis.plot(
                sorted(max(t, 1) for t in times),
                [100 * (k + 1) / len(times) for k in range(len(times))],
                label=name,
                color=f"C{i}",
                linestyle=("-", "--", ":", "-.")[i % 4],
            )
            paper = body["paper"].get(case, {}).get(name)
            if paper:
                axis.axvline(
                    paper[0], color=line[0].get_color(), alpha=0.4, label=f"{name}, paper's mean"
                )
        axis.set(xscale="log", xlabel="round trip, ns", ylabel="% of packets at most")
        least, most = (math.log10(end) for end in axis.get_xlim())
        axis.set_xlim(10 ** math.floor(least), 10 ** math.ceil(most))
        axis.set_title(body["titles"][case], fontsize=9)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    figure.suptitle(f"The same packets, timed by each ({source(body)})", fontsize=10)
    return [save(figure, folder, "rtt")]


def offload(body: dict, folder: Path) -> list[Path]:
    from bench import offload_plots  # it uses this file

    return offload_plots.draw(body, folder)


def multicore(body: dict, folder: Path) -> list[Path]:
    figure, axes = plt.subplots(1, 3, figsize=(16, 4.5))
    titles, serving, waking = body["systems"], *(body["medians"][k] for k in ("serving", "waking"))
    for system, by_hosts in serving.items():
        rates = [f["requests_per_s"] for f in by_hosts.values()]
        axes[0].plot([int(n) for n in by_hosts], rates, "o-", label=titles[system])
    axes[0].set(xlabel="host cores", ylabel="requests/s", ylim=(0, None), title="nginx")
    axes[0].set_xticks(sorted({int(n) for by_hosts in serving.values() for n in by_hosts}))
    axes[0].grid(alpha=0.3)
    legend(axes[0])
    at = {f"{titles[s]}, {n}": f["cpu_us"] for s, by in serving.items() for n, f in by.items()}
    below = dict.fromkeys(at, 0.0)
    for role in next(iter(at.values()), {}):
        values = [f[role] for f in at.values()]
        axes[1].bar(list(at), values, bottom=list(below.values()), label=role)
        below = {name: below[name] + v for name, v in zip(below, values, strict=True)}
    axes[1].set(title="CPU time of a request, by who used it", ylabel="us")
    axes[1].tick_params(axis="x", rotation=40)
    legend(axes[1])
    series = {
        f"{how}, {p}": [f[how][p] for f in waking.values()]
        for how in ("asleep", "polls")
        for p in ("p50", "p99")
    }
    _bars(axes[2], [titles[s] for s in waking], series, ylabel="us", yscale="log")
    axes[2].set_title("round trip, the server asleep or polling", fontsize=10)
    axes[2].tick_params(axis="x", rotation=20)
    figure.suptitle(source(body), fontsize=9)
    return [save(figure, folder, "multicore")]


def hostcores(body: dict, folder: Path) -> list[Path]:
    """Plot payload of 128-byte segments over host cores: measured, then extrapolated linearly; the
    limit of a TOE is a horizontal line."""
    figure, axis = plt.subplots(figsize=(8, 8))
    titles, found = body["systems"], body["medians"]
    link = found["payload_of_link_gbps"]
    for system, by_hosts in found["by_host_cores"].items():
        used = [f["host_cores"] for f in by_hosts.values()]
        rates = [f["gbps"] for f in by_hosts.values()]
        (line,) = axis.loglog(used, rates, "o", label=titles[system])
        last = found["cores"][system]
        title = f"{titles[system]}: {last:g} cores for the link, if each does as much"
        most = link / last  # best sample by the core's time
        axis.loglog(
            [used[0], last], [used[0] * most, link], "--", color=line.get_color(), label=title
        )
    axis.axhline(link, color="grey", label=f"100 Gbit/s of the wire: {link:g} of payload")
    if made := body["gateware"]:
        title = f"{titles['gateware']}: receives {made['gbps']:g}"
        axis.axhline(made["gbps"], color="black", linestyle=":", label=title)
    axis.set(xlabel="host cores' time used", ylabel="Gbit/s of payload")
    axis.set(title="128-byte segments received")
    axis.grid(alpha=0.3, which="both")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), fontsize=8)
    figure.suptitle(source(body), fontsize=9)
    return [save(figure, folder, "hostcores")]
