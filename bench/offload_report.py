# SPDX-License-Identifier: Apache-2.0
"""What offload.py concludes: medians, goals, and its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from bench import offload_moderation, offload_web, report, terminal

Row = dict[str, float]

# A web server's requests/s with offloads to those without (figure 7).
GAIN = 1.30

# The columns of tables: title, format, factor.
COLUMNS = {
    "gbit_per_s": ("Gbit/s", ".3f", 1),
    "requests_per_s": ("requests/s", ",.0f", 1),
    "sender_cpu": ("sender %", ".0f", 100),
    "receiver_cpu": ("receiver %", ".0f", 100),
    "server_cpu": ("server %", ".0f", 100),
    "sender_us_per_mb": ("sender us/MB", ",.0f", 1),
    "receiver_us_per_mb": ("receiver us/MB", ",.0f", 1),
    "toe_us_per_mb": ("TOE+program us/MB", ",.0f", 1),
    "sleeps_per_mb": ("sleeps/MB", ",.0f", 1),
    "interrupts_per_mb": ("interrupts/MB", ",.0f", 1),
    "toe_us": ("TOE+program us", ".2f", 1),
    "sleeps": ("sleeps/frame", ".3f", 1),
    "server_us": ("server us", ".2f", 1),
    "nginx_us": ("nginx us", ".2f", 1),
    "disk_share": ("from disk %", ".0f", 100),
    "p50_us": ("p50 us", ",.1f", 1),
    "turns": ("turns", ".0f", 1),
}
PROFILE = "profile: "  # before the name of a part of a profile, in percent


def medians(samples: Mapping) -> dict:
    """Replace the list of each system by one row of medians for each point. What is not a number is
    left to the samples."""

    def row(list_: Sequence[Mapping[str, Row]], at: str) -> Row:
        numbers = [k for k, value in list_[0][at].items() if isinstance(value, int | float)]
        return {key: median(rows[at][key] for rows in list_) for key in numbers}

    return {
        rate: {
            part: {
                system: {at: row(list_, at) for at in list_[0]}
                for system, list_ in by_system.items()
            }
            for part, by_system in by_part.items()
        }
        for rate, by_part in samples.items()
    }


def goals_of(found: Mapping, delays: Sequence[int]) -> list[report.Goal]:
    goals = []
    for rate, by_part in found.items():
        link = f"{int(rate) / 1e9:g} Gbit/s" if int(rate) else "unpaced"
        title = f"toed, {link}: frames"
        for rows in by_part.get("moderation", {}).values():
            goals += offload_moderation.delay_goals(title, rows)
        for rows in by_part.get("load", {}).values():
            goals += offload_moderation.auto_goals(title, rows, delays)
        for rows in by_part.get("step", {}).values():
            goals.append(offload_moderation.step_goal(title, rows["step"]))
        for rows in by_part.get("web", {}).values():
            if (gain := offload_web.gain(rows)) is not None:
                name = "Linux, SPECweb99's mix: requests/s with offloads to without"
                goals.append(report.Goal(name, round(gain, 3), "ratio", GAIN, at_most=False))
    return goals


def table(by_system: Mapping[str, Mapping[str, Row]], titles: Mapping[str, str]) -> str:
    """Format a part's rows, with the columns that any of them has."""
    rows = [(titles[s], at, row) for s, points in by_system.items() for at, row in points.items()]
    keys = [key for key in COLUMNS if any(key in row for *_, row in rows)]

    def cell(row: Row, key: str) -> str:
        _, form, factor = COLUMNS[key]
        return format(factor * row[key], form) if key in row else "-"

    head = ["system", "at", *(COLUMNS[key][0] for key in keys)]
    lines = [[title, at, *(cell(row, key) for key in keys)] for title, at, row in rows]
    return terminal.table(head, lines)


def profiles(by_system: Mapping[str, Mapping[str, Row]], titles: Mapping[str, str]) -> list[str]:
    """Return a line for each profile: what part of the server's core does what, in percent."""
    found = []
    for system, points in by_system.items():
        for at, row in points.items():
            shares = {
                k.removeprefix(PROFILE): v for k, v in row.items() if k.startswith(PROFILE) and v
            }
            text = ", ".join(f"{k} {v:.1f} %" for k, v in shares.items())
            if text:
                found.append(f"{titles[system]}, {at}: {text}")
    return found


def binding(rows: Mapping[str, Row], small: int) -> str:
    """Return the end whose small buffer costs more throughput."""
    return min(("sender", "receiver"), key=lambda end: rows[f"{end} {small}"]["gbit_per_s"])


def conclusions(
    part: str, rows: Mapping[str, Row], buffers: Sequence[int], delays: Sequence[int]
) -> list[str]:
    """Return what a part says of a system, in words."""
    if part == "buffers":
        return [f"the {binding(rows, min(buffers))}'s buffer binds"]
    if part == "moderation":
        knee = offload_moderation.knee(rows, delays)
        return [
            f"the knee is at {knee} us: longer delays save less than a tenth of what none takes"
        ]
    return []
