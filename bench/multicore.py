# SPDX-License-Identifier: Apache-2.0
"""Notification of several host cores: Linux, interrupts of toed, toed's polling manager.

Compares the design of the thesis (one HW ring; a helper core polls it, distributes and wakes) with
its proposed improvement (each engine interrupts the core of the queue pair) and with Linux. nginx
runs a worker on each of 1, 2, 4, ... host cores: requests per second, CPU time by process, idle CPU
time; and round trips to a server that sleeps between two requests, and to one that polls. Each
sample restarts its system, in turn, as the polling manager uses a core even when idle. Writes
out/bench/multicore.json and its plot.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median

from bench import cpu, loadgen, report, running, terminal, webserver
from tests.lab import netns
from tests.lab.toed import Toed, af_xdp_missing

TITLES = {
    "linux": "Linux",
    "interrupts": "toed, interrupts",
    "polling": "toed, polling manager",
}
# Threads of toed by their role.
THREADS = {"engine": "toed-engine", "manager": "toed-manager"}
USERS = ("application", *THREADS)
CASE = "return200"
PORT = 7000
# The design of the thesis needs a helper core; interrupts should cost nothing when idle.
IDLE_MOST = 1.0


def steps(cores: int) -> list[int]:
    """Return the numbers of host cores: 1, 2, 4, ... up to all."""
    return [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= cores]


def placement(system: str, cores: Sequence[int], hosts: int) -> dict[str, list[int]]:
    """Assign cores: the application gets the first ones; engine, client and manager get their own
    from the last one down while there are free cores, and then share the last."""
    roles = ["client"] if system == "linux" else ["engine", "client"]
    roles += ["manager"] if system == "polling" else []
    left = list(cores[hosts:])
    found = {"application": list(cores[:hosts])}
    for role in roles:
        found[role] = [left.pop() if left else cores[-1]]
    return found


def shared(place: dict[str, list[int]]) -> dict[int, list[str]]:
    """Return the cores that several roles share."""
    by_core: dict[int, list[str]] = {}
    for role, cores in place.items():
        for core in cores:
            by_core.setdefault(core, []).append(role)
    return {core: roles for core, roles in by_core.items() if len(roles) > 1}


class System:
    """One idle system; a context manager."""

    def __init__(self, name: str, hosts: int, *, offload: bool = True):
        self.place = placement(name, sorted(os.sched_getaffinity(0)), hosts)
        self._name, self._offload, self._stack = name, offload, ExitStack()
        self.toed: Toed | None = None

    def __enter__(self) -> System:
        linux = self._name == "linux"
        more = {"subnet": "10.78.0", "kernel_ip": "10.78.0.1/24"} if linux else {}
        try:
            self.pair = self._stack.enter_context(netns.Pair(offload=self._offload, **more))
            self._prepare()
            if not linux:
                self.toed = self._stack.enter_context(Toed(self.pair, args=self._toed_args()))
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stack.close()

    def _prepare(self) -> None:
        """Prepare the pair before its first use."""

    def _toed_args(self) -> list[object]:
        (engine,) = self.place["engine"]
        args = ["--manager", self._name, "--cpu", engine]
        if manager := self.place.get("manager"):
            args += ["--manager-cpu", *manager]
        # A polling thread on a shared core keeps the others from running (docs/PERFORMANCE.md).
        return [*args, *(["--spin-us", 0] if engine in shared(self.place) else [])]

    def on_host(self, argv: Sequence[object]) -> list[object]:
        return ["taskset", "-c", ",".join(map(str, self.place["application"])), *argv]

    def nginx(self) -> webserver.Nginx:
        workers = len(self.place["application"])
        return self._stack.enter_context(
            webserver.Nginx(
                self.pair,
                toed=self.toed,
                workers=workers,
                wrap=self.on_host,
                name=f"bench-{self._name}",
            )
        )

    def ask(self, *args: object, seconds: float) -> dict:
        (core,) = self.place["client"]
        args = [*args, "--duration", seconds]
        return loadgen.run(self.pair.client, *args, core=core, timeout=seconds + 60)

    def used(self, server: webserver.Nginx) -> dict[str, float]:
        """Return the CPU seconds of all serving processes until now."""
        workers = sum(sum(cpu.by_thread(pid).values()) for pid in server.workers())
        threads = cpu.by_thread(self.toed.proc.pid) if self.toed else {}
        return {"application": workers} | {
            role: sum(used for name, used in threads.items() if name.startswith(prefix))
            for role, prefix in THREADS.items()
        }

    def round_trips(self, options: argparse.Namespace, *, busy: bool) -> dict:
        """Return round trips of spaced requests of one connection, in microseconds."""
        where = f"{self.pair.server_ip}:{PORT}"
        wrap = self.toed.wrapped if self.toed else loadgen.plain
        server = loadgen.serve(
            self.pair.server,
            "pingpong",
            where,
            *(["--busy"] if busy else []),
            wrap=lambda argv: self.on_host(wrap(argv)),
        )
        try:
            args = ["--to", where, "--rate", options.rate, "--warmup", options.warmup]
            found = self.ask("pingpong", *args, seconds=options.seconds)
        finally:
            server.stop()
        return {name: found["latency_ns"][name] / 1000 for name in ("p50", "p99")}


def minus(after: dict, before: dict) -> dict[str, float]:
    return {role: after[role] - before[role] for role in after}


def serving(name: str, hosts: int, options: argparse.Namespace) -> dict:
    """Take a sample of nginx: under load, then idle."""
    with System(name, hosts) as system:
        server = system.nginx()
        before = system.used(server)
        args = ["--url", server.url(CASE), "--connections", options.connections]
        args += ["--warmup", options.warmup, "--length", len(webserver.BODY)]
        found = system.ask("http", *args, seconds=options.seconds)
        used = minus(system.used(server), before)
        time.sleep(0.2)  # the rest of the load is finished
        before, began = system.used(server), time.monotonic()
        time.sleep(options.idle)
        idle = minus(system.used(server), before)
        passed = time.monotonic() - began
        server.verify(webserver.CASES[CASE])
    return {
        "requests_per_s": round(found["requests_per_s"], 1),
        "answered": found["answered"],
        "p50_us": found["latency_ns"]["p50"] / 1000,
        "p99_us": found["latency_ns"]["p99"] / 1000,
        # CPU time per request: both of the whole run.
        "cpu_us": {role: round(s * 1e6 / found["answered"], 3) for role, s in used.items()},
        "idle_percent": {role: round(100 * s / passed, 2) for role, s in idle.items()},
    }


def waking(name: str, options: argparse.Namespace) -> dict:
    """Take a sample of round trips to a server that sleeps, and to one that polls."""
    with System(name, 1) as system:
        return {
            "asleep": system.round_trips(options, busy=False),
            "polls": system.round_trips(options, busy=True),
        }


def measure(options: argparse.Namespace) -> dict:
    absent = {}
    for name in options.systems:
        why = af_xdp_missing() if name != "linux" else None
        if why:
            absent[name] = why
            terminal.say(f"not measured: {TITLES[name]}: {why}")
    names = [name for name in options.systems if name not in absent]
    cores = sorted(os.sched_getaffinity(0))
    counts = [n for n in steps(len(cores)) if n <= options.hosts]
    served = {name: {str(n): [] for n in counts} for name in names}
    woken: dict[str, list] = {name: [] for name in names}
    for number in range(options.samples):
        for name in names:
            for n in counts:
                said = f"{TITLES[name]}, {n} host core{'s' if n > 1 else ''}"
                terminal.progress(f"sample {number + 1} of {options.samples}: {said}")
                served[name][str(n)].append(serving(name, n, options))
            terminal.progress(f"sample {number + 1} of {options.samples}: {TITLES[name]}, waking")
            woken[name].append(waking(name, options))
    terminal.end_progress()
    places = {name: {str(n): placement(name, cores, n) for n in counts} for name in names}
    return {
        "placement": places,
        "samples": {"serving": served, "waking": woken},
        "not_available": absent,
    }


def medians(samples: list[dict]) -> dict:
    """Return the median of each figure, recursively."""
    return {
        key: medians([s[key] for s in samples])
        if isinstance(first, dict)
        else round(median(s[key] for s in samples), 3)
        for key, first in samples[0].items()
    }


def summarise(samples: dict) -> tuple[dict, list[report.Goal]]:
    serving = {
        name: {n: medians(list_) for n, list_ in by_hosts.items()}
        for name, by_hosts in samples["serving"].items()
    }
    waking = {name: medians(list_) for name, list_ in samples["waking"].items()}
    for found in waking.values():
        # The cost of a sleep. A difference of percentiles is not that of any request.
        found["waking"] = {
            p: round(found["asleep"][p] - found["polls"][p], 3) for p in ("p50", "p99")
        }
    goals = []
    for n, found in serving.get("interrupts", {}).items():
        idle = round(sum(found["idle_percent"].values()), 2)
        title = f"interrupts, nothing to do, {n} host core{'s' if n != '1' else ''}: CPU"
        goals.append(report.Goal(title, idle, "% of a core", IDLE_MOST))
    return {"serving": serving, "waking": waking, "ratio": ratios(serving, waking)}, goals


def ratios(serving: dict, waking: dict) -> dict:
    """Return ratios to Linux in the same run: requests, CPU time of all servers, wake-up round
    trip.
    """
    linux = serving.get("linux")
    if not linux:
        return {}
    found: dict[str, dict] = {}
    for name, by_hosts in serving.items():
        found[name] = {
            n: {
                "requests_per_s": round(f["requests_per_s"] / linux[n]["requests_per_s"], 3),
                "application_cpu_us": share(f["cpu_us"], linux[n]["cpu_us"], ("application",)),
                "cpu_us": share(f["cpu_us"], linux[n]["cpu_us"], USERS),
            }
            for n, f in by_hosts.items()
        }
        found[name]["asleep"] = {
            p: round(waking[name]["asleep"][p] / waking["linux"]["asleep"][p], 3)
            for p in ("p50", "p99")
        }
    return found


def share(own: dict, of: dict, roles: Sequence[str]) -> float | None:
    total = sum(of[role] for role in roles)
    return round(sum(own[role] for role in roles) / total, 3) if total else None


def show(found: dict, body: dict, goals: list[report.Goal]) -> None:
    head = ["nginx", "host cores", "requests/s", "CPU us: application", "engine", "manager"]
    head += ["idle, % of a core", "p50 us", "p99 us"]
    rows = [
        [TITLES[name], n, f"{f['requests_per_s']:,.0f}"]
        + [f"{f['cpu_us'][role]:.2f}" for role in USERS]
        + [f"{sum(f['idle_percent'].values()):.1f}", f"{f['p50_us']:.0f}", f"{f['p99_us']:.0f}"]
        for name, by_hosts in found["serving"].items()
        for n, f in by_hosts.items()
    ]
    print(f"\n{terminal.table(head, rows)}\n")
    head = ["round trip, us", "asleep p50", "p99", "polls p50", "p99", "waking p50", "p99"]
    rows = [
        [TITLES[name], *(f"{f[how][p]:.1f}" for how in f for p in ("p50", "p99"))]
        for name, f in found["waking"].items()
    ]
    print(f"{terminal.table(head, rows)}\n")
    for name, by_hosts in body["placement"].items():
        for n, place in by_hosts.items():
            said = "; ".join(f"{role} {','.join(map(str, at))}" for role, at in place.items())
            both = ", ".join(f"{c}: {' and '.join(roles)}" for c, roles in shared(place).items())
            print(f"{TITLES[name]}, {n}: cores of {said}{f' (shared {both})' if both else ''}")
    report.print_goals({TITLES[n]: why for n, why in body["not_available"].items()}, goals)


def run(options: argparse.Namespace) -> None:
    body = measure(options)
    found, goals = summarise(body["samples"])
    show(found, body, goals)
    body = {"systems": TITLES, "medians": found, **body}
    report.write(options.out, {"settings": running.settings(options), **body}, goals)


def main() -> int:
    parser = running.arguments("multicore", __doc__, TITLES, seconds=3, samples=5)
    parser.add_argument("--connections", type=running.number, default=64, help="kept open (64)")
    parser.add_argument(
        "--hosts", type=running.number, default=64, help="host cores, at most so many (64)"
    )
    parser.add_argument(
        "--idle", type=running.duration, default=2, help="seconds with nothing to do (2)"
    )
    parser.add_argument(
        "--rate", type=running.number, default=500, help="of round trips, a second (500)"
    )
    return running.carry_out("multicore", parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
