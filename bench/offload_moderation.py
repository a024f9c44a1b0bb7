# SPDX-License-Identifier: Apache-2.0
"""Delayed wake-ups of offload.py (figures 8 and 9): toed's own delay of frames, fixed or as the
load asks for, under bulk, requests, a share of what the link can do, and a step of load."""

from __future__ import annotations

import argparse
import itertools
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from bench import offload_links, pingpong, report
from bench.offload_links import AUTO

DELAYS = (0, 10, 25, 50, 100, 250, 500)  # microseconds, those of toed --moderation
PROGRAM = "program-100"  # toed wakes for every frame, and lets the program wait
SHARES = (10, 90)  # percent of the link's requests per second
CONNECTIONS = 64
SIZE = 64
# Goals (S3.3): what 250 us may cost, what 100 us must save; and of auto, what it may cost at a low
# load, and above the best fixed delay at a high one.
KEPT, SAVED = 0.98, 0.70
WITHIN = 1.05
TURNS = 1  # up when the load comes, down when it goes

Row = dict[str, float]


def points(options: argparse.Namespace) -> list[str]:
    return [*map(str, options.delays), *([PROGRAM] if 100 in options.delays else []), AUTO]


def choose(link: offload_links.Toed, point: str) -> None:
    """Delay at the server by a point; the client's toed wakes for every frame."""
    program = {AUTO: None, PROGRAM: 100}.get(point, 0)
    own = {AUTO: AUTO, PROGRAM: "off", "0": "off"}.get(point, point)
    link.moderate(own, "off")
    link.delay(program)


def restore(link: offload_links.Toed) -> None:
    link.moderate(AUTO, AUTO)
    link.delay(None)


def moderation(
    link: offload_links.Toed,
    options: argparse.Namespace,
    bulk: Callable[[], Row],
    requests: Callable[[int], Row],
) -> dict[str, Row]:
    found = {}
    for point in points(options):
        choose(link, point)
        found[f"{point} bulk"] = bulk()
        for connections in options.connections if point != PROGRAM else ():
            found[f"{point} {connections}"] = requests(connections)
    restore(link)
    return found


def offered(link: offload_links.Toed, rate: float | None, options: argparse.Namespace) -> dict:
    times = {"seconds": options.seconds, "warmup": options.warmup}
    return link.sample(CONNECTIONS, SIZE, rate=rate, **times)


def at_rate(link: offload_links.Toed, rate: float, options: argparse.Namespace) -> Row:
    """Return a sample at an offered rate, with the CPU time of a request at the server."""
    engine, before = link.engine_seconds(), link.counted()
    found = pingpong.brief(offered(link, rate, options))
    answered = max(1.0, found["requests_per_s"] * (options.seconds + options.warmup))
    frames = max(1, link.counted()["rx_frames"] - before["rx_frames"])
    return {
        "requests_per_s": found["requests_per_s"],
        "p50_us": found["p50"] / 1000,
        "p99_us": found["p99"] / 1000,
        "toe_us": link.spent(engine) * 1e6 / answered,
        "sleeps": (link.counted()["sleeps"] - before["sleeps"]) / frames,
    }


def load(link: offload_links.Toed, options: argparse.Namespace) -> dict[str, Row]:
    """Return samples at shares of the most requests per second, without a delay."""
    choose(link, "0")
    most = offered(link, None, options)["requests_per_s"]
    found = {}
    for share in SHARES:
        for point in (p for p in points(options) if p != PROGRAM):
            choose(link, point)
            if point == AUTO:
                offered(link, most * share / 100, options)  # the delay settles
            found[f"{point} {share}%"] = at_rate(link, most * share / 100, options)
    restore(link)
    return found


def watch_delay(link: offload_links.Toed, stop: threading.Event, into: list[list[float]]) -> None:
    begin = time.monotonic()
    while not stop.wait(0.05):
        into.append([round(time.monotonic() - begin, 3), link.current_delay()])


def step(link: offload_links.Toed, options: argparse.Namespace) -> dict:
    """Return toed's delay over time while the load goes from a tenth to nine tenths and back."""
    choose(link, "0")
    most = offered(link, None, options)["requests_per_s"]
    choose(link, AUTO)
    stop, seen, phases = threading.Event(), [], []
    reader = threading.Thread(target=watch_delay, args=(link, stop, seen), daemon=True)
    begin = time.monotonic()
    reader.start()
    for share in (SHARES[0], SHARES[-1], SHARES[0]):
        at = round(time.monotonic() - begin, 3)
        found = pingpong.brief(offered(link, most * share / 100, options))
        phases.append({"at": at, "share": share, "p50_us": found["p50"] / 1000})
    stop.set()
    reader.join()
    restore(link)
    return {"delay_us": seen, "phases": phases, "turns": turns([us for _, us in seen])}


def turns(values: Sequence[float]) -> int:
    """Return how often a series changes its direction."""
    moves = [b - a for a, b in itertools.pairwise(values) if b != a]
    return sum(a * b < 0 for a, b in itertools.pairwise(moves))


def knee(rows: Mapping[str, Row], delays: Sequence[int]) -> int:
    """Return the shortest delay beyond which longer ones save less than a tenth of the CPU time,
    of toed and its program, that none takes."""
    costs = {us: rows[f"{us} bulk"]["toe_us_per_mb"] for us in delays}
    enough = min(costs.values()) + costs[min(delays)] / 10
    return min(us for us, cost in costs.items() if cost <= enough)


def delay_goals(title: str, rows: Mapping[str, Row]) -> list[report.Goal]:
    none, goals = rows.get("0 bulk"), []
    if none and "250 bulk" in rows:
        kept = rows["250 bulk"]["gbit_per_s"] / none["gbit_per_s"]
        name = f"{title} delayed by 250 us, throughput"
        goals.append(report.Goal(name, round(kept, 3), "ratio", KEPT, at_most=False))
    if none and "100 bulk" in rows and none["toe_us_per_mb"]:
        cost = rows["100 bulk"]["toe_us_per_mb"] / none["toe_us_per_mb"]
        name = f"{title} delayed by 100 us, receiver's CPU"
        goals.append(report.Goal(name, round(cost, 3), "ratio", SAVED))
    return goals


def auto_goals(title: str, rows: Mapping[str, Row], delays: Sequence[int]) -> list[report.Goal]:
    low, high = (f"{share}%" for share in (SHARES[0], SHARES[-1]))
    goals = []
    if f"0 {low}" in rows:
        value = rows[f"{AUTO} {low}"]["p50_us"] / rows[f"0 {low}"]["p50_us"]
        name = f"{title} delayed by load, p50 at {low} load"
        goals.append(report.Goal(name, round(value, 3), "ratio", WITHIN))
    best = min(rows[f"{us} {high}"]["toe_us"] for us in delays)
    if best:
        value = rows[f"{AUTO} {high}"]["toe_us"] / best
        name = f"{title} delayed by load, CPU at {high} load to the best delay's"
        goals.append(report.Goal(name, round(value, 3), "ratio", WITHIN))
    return goals


def step_goal(title: str, found: Mapping) -> report.Goal:
    name = f"{title} delayed by load, turns of the delay in a step of load and back"
    return report.Goal(name, found["turns"], "turns", TURNS)
