# SPDX-License-Identifier: Apache-2.0
"""nginx on Linux TCP and on Toehold: requests/s, latency, and nginx's CPU time per request.

The same unmodified nginx runs on each system. On Linux, toed and the inline TOE it has a namespace
of its own and wrk loads it from a Linux peer over a veth link. The ideal TOE (bench/ideal/) has no
network: it puts requests into the receive buffers, so nginx's time on it is the floor for any TOE.
Samples are taken in turn (Linux, toed, inline, ...), so that other load on the machine affects all
of them; the figures are medians. Writes out/bench/demo.json and draws out/bench/demo.svg from it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench import cpu, demo_plot, report, running, syscalls, terminal, webserver, wrk
from tests.lab import netns, paths, proc
from tests.lab.toed import Toed, af_xdp_missing

SYSTEMS = {"linux": "Linux TCP", "toed": "toed", "inline": "inline", "ideal": "ideal TOE"}
TITLES = {"return200": "return 200, 256 bytes", "file256": "256-byte file"}
FIGURES = ("requests_per_s", "p50_us", "p99_us", "cpu_user_us", "cpu_system_us")
# nginx's CPU per request on toed, as a fraction of that on Linux.
GOALS = {"return200": 1 / 3, "file256": 1 / 2}
CHOICE = (
    "Choose toed when the program's core is the bottleneck, or when several programs or workers "
    "share one address: TCP leaves that core, and costs a core of its own.",
    "Choose inline when one process owns the interface and latency or the CPU time of the whole "
    "machine counts: TCP runs in that process's thread, and no second core polls.",
)


def start_toed(stack: ExitStack, netio: str) -> tuple[netns.Pair, Toed]:
    """Start toed on AF_XDP, or on TAP if the user chose it or AF_XDP is not available."""
    if netio in ("auto", "af_xdp"):
        missing = af_xdp_missing()
        if not missing:
            inner = ExitStack()
            try:
                pair = inner.enter_context(netns.Pair(offload=True))
                toed = inner.enter_context(Toed(pair))
            except proc.Failed as e:
                inner.close()
                missing = str(e)
            else:
                stack.push(inner)
                return pair, toed
        if netio == "af_xdp":
            raise proc.Failed(f"no AF_XDP: {missing}")
        terminal.say(f"No AF_XDP here; Toehold runs on a TAP device, which is slower: {missing}")
    pair = stack.enter_context(netns.Pair(tap=True))
    return pair, stack.enter_context(Toed(pair, mode="tap"))


def figures(requests: int, requests_per_s: float, p50: float, p99: float, used: cpu.CpuTime):
    """Return one sample; CPU times are microseconds per request."""
    return {
        "requests_per_s": requests_per_s,
        "p50_us": p50,
        "p99_us": p99,
        "cpu_user_us": used.user * 1e6 / requests,
        "cpu_system_us": used.system * 1e6 / requests,
    }


class OverNetwork:
    """nginx behind a veth link, loaded by wrk."""

    def __init__(self, pair: netns.Pair, server: webserver.Nginx, connections: int, toed=None):
        self.pair, self.server, self.connections, self.toed = pair, server, connections, toed

    def load(self, case: str, seconds: int) -> wrk.Result:
        url = self.server.url(case)
        return wrk.load(self.server.client, url, seconds=seconds, connections=self.connections)

    def sample(self, case: str, seconds: int) -> dict[str, float]:
        toed = self.toed
        counts = wake_ups(toed) if toed else {}
        toed_before = cpu.of(toed.proc.pid).total if toed else 0.0
        before = self.server.cpu()
        r = self.load(case, seconds)
        used = self.server.cpu() - before
        found = figures(r.requests, r.requests_per_s, r.p50_us, r.p99_us, used)
        if toed:
            found["toed_cpu_us"] = (cpu.of(toed.proc.pid).total - toed_before) * 1e6 / r.requests
            for name, count in wake_ups(toed).items():
                found[name] = (count - counts[name]) / r.requests
        return found

    def count_syscalls(self, case: str, log: Path) -> dict[str, float]:
        return syscalls.count(self.server.workers(), lambda: self.load(case, 1).requests, log)

    def verify(self) -> None:
        for path in webserver.CASES.values():
            self.server.verify(path)


class OverIdeal:
    """nginx over the ideal TOE. Both processes start again for each sample."""

    def __init__(self, connections: int):
        self.connections = connections
        self.folder = paths.OUT / "nginx" / "demo-ideal"

    def sample(self, case: str, seconds: int) -> dict[str, float]:
        run = webserver.OverIdeal(self.folder, case)
        # The worker has hardly run before the measurement, and hardly runs after it.
        found, used = run(
            ["--connections", self.connections, "--duration", seconds, "--warmup", 0],
            lambda _toe, _worker: cpu.of,
            timeout=seconds + 30,
        )
        p50, p99 = (found["latency_ns"][p] / 1000 for p in ("p50", "p99"))
        return figures(found["answered"], found["requests_per_s"], p50, p99, used)


def wake_ups(toed: Toed) -> dict[str, int]:
    """Return how often toed has interrupted a sleeping nginx, and how often it has slept itself."""
    counters = toed.stats()["engines"][0]["counters"]
    return {"nginx_woken": counters["interrupts"], "toed_slept": counters["sleeps"]}


class Comparison:
    """nginx running on every system."""

    def __init__(self, stack: ExitStack, options: argparse.Namespace):
        self.options = options
        n = options.connections
        pair, toed = start_toed(stack, options.netio)
        on_tap = toed.netif.startswith("tap:")
        # Linux has a link of its own, with veth's default offloads.
        linux = stack.enter_context(
            netns.Pair(subnet="10.78.0", kernel_ip="10.78.0.1/24", offload=True)
        )
        own = stack.enter_context(netns.Pair(subnet="10.79.0", tap=on_tap, offload=not on_tap))
        netif = "tap:tap0" if on_tap else f"af_xdp:{own.server_if}"
        inline = [paths.built("toehold"), "run", "--require", "--engine", "inline"]
        inline += ["--netif", netif, "--ip", f"{own.server_ip}/{own.prefix_len}"]
        inline += ["--mtu", own.mtu, "--"]
        start = stack.enter_context
        self.servers = {
            "linux": OverNetwork(linux, start(webserver.Nginx(linux)), n),
            "toed": OverNetwork(pair, start(webserver.Nginx(pair, toed=toed)), n, toed),
            "inline": OverNetwork(
                own,
                start(webserver.Nginx(own, wrap=lambda argv: [*inline, *argv], name="inline")),
                n,
            ),
            "ideal": OverIdeal(n),
        }
        self.netio = toed.stats()["engines"][0]["netio"]["mode"]
        self.peer_offloads = {
            system: offloads(server.pair.client, server.pair.client_if)
            for system, server in self.over_network()
        }

    def over_network(self) -> list[tuple[str, OverNetwork]]:
        return [(s, v) for s, v in self.servers.items() if isinstance(v, OverNetwork)]

    def measure(self) -> dict:
        """Return samples[case][system]: a list of what sample() returned."""
        samples = {case: {system: [] for system in self.servers} for case in webserver.CASES}
        total = self.options.samples * len(webserver.CASES)
        for case in webserver.CASES:
            for system, server in self.over_network():
                terminal.progress(f"warming up: {case} on {SYSTEMS[system]}")
                server.load(case, 1)
        for number in range(self.options.samples):
            for c, case in enumerate(webserver.CASES):
                for system, server in self.servers.items():
                    done = number * len(webserver.CASES) + c + 1
                    terminal.progress(f"sample {done} of {total}: {case} on {SYSTEMS[system]}")
                    found = server.sample(case, self.options.seconds)
                    samples[case][system].append({n: round(v, 3) for n, v in found.items()})
        for _, server in self.over_network():
            server.verify()
        terminal.end_progress()
        return samples

    def count_syscalls(self) -> dict:
        """Return syscalls[case][system]: nginx's system calls per request, by name."""
        counts = {case: {} for case in webserver.CASES}
        for case in webserver.CASES:
            for system, server in self.over_network():
                terminal.progress(f"counting system calls: {case} on {SYSTEMS[system]}")
                log = paths.OUT / "log" / f"strace-{case}-{system}.log"
                counts[case][system] = server.count_syscalls(case, log)
        terminal.end_progress()
        return counts


# The features of `ethtool -k` that decide which frames an interface sends and accepts.
OFFLOADS = (
    "rx-checksumming",
    "tx-checksumming",
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
)


def offloads(ns: netns.Namespace, interface: str) -> list[str]:
    """Return the OFFLOADS that are on."""
    lines = ns.run(["ethtool", "-k", interface]).stdout.splitlines()
    states = dict(line.split(": ", 1) for line in lines if ": " in line)
    return [name for name in OFFLOADS if states[name].startswith("on")]


def medians(samples: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(median(s[name] for s in samples), 2) for name in samples[0]}


def cpu_us(figures: dict[str, float]) -> float:
    return figures["cpu_user_us"] + figures["cpu_system_us"]


def ratios_to(linux: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    """Return other's figures over Linux's; nginx's CPU time also with toed's added."""
    pairs = {
        "requests_per_s": (other["requests_per_s"], linux["requests_per_s"]),
        "p50": (other["p50_us"], linux["p50_us"]),
        "p99": (other["p99_us"], linux["p99_us"]),
        "cpu": (cpu_us(other), cpu_us(linux)),
        "cpu_user": (other["cpu_user_us"], linux["cpu_user_us"]),
        "cpu_system": (other["cpu_system_us"], linux["cpu_system_us"]),
        "cpu_with_toed": (cpu_us(other) + other.get("toed_cpu_us", 0.0), cpu_us(linux)),
    }
    return {name: round(a / b, 3) if b else None for name, (a, b) in pairs.items()}


def summarise(samples: dict) -> tuple[dict, dict, list[report.Goal]]:
    """Return cases, ratios of each system to Linux, and goals, from the samples."""
    cases, ratios, goals = {}, {}, []
    for case, by_system in samples.items():
        found = {system: medians(list_) for system, list_ in by_system.items()}
        cases[case] = {s: {name: f[name] for name in FIGURES} for s, f in found.items()}
        ratios[case] = {s: ratios_to(found["linux"], f) for s, f in found.items() if s != "linux"}
        name = f"nginx CPU per request, {TITLES[case]}: toed / Linux"
        value = ratios[case]["toed"]["cpu"]
        goals.append(report.Goal(name, value, "ratio", round(GOALS[case], 3)))
    return cases, ratios, goals


def show(body: dict, goals: list[report.Goal]) -> None:
    """Print the comparison."""
    head = ["", "requests/s", "p50 us", "p99 us", "nginx CPU us/request", "user", "system"]
    head += ["toed CPU", "both"]
    rows = []
    for case, found in body["cases"].items():
        rows.append([TITLES[case], *[""] * (len(head) - 1)])
        for system, f in found.items():
            toed = body["toed_cpu_us"][case] if system == "toed" else 0.0
            rows.append(
                [f"  {SYSTEMS[system]}", f"{f['requests_per_s']:,.0f}", f"{f['p50_us']:.0f}"]
                + [f"{f['p99_us']:.0f}", f"{cpu_us(f):.2f}"]
                + [f"{f['cpu_user_us']:.2f}", f"{f['cpu_system_us']:.2f}"]
                + [f"{toed:.2f}" if toed else "-", f"{cpu_us(f) + toed:.2f}"]
            )
    print(f"\nToehold's packets: {body['netio']}\n")
    print(f"{terminal.table(head, rows)}\n")
    print(terminal.bold("Goals"))
    for goal in goals:
        verdict = terminal.good("met") if goal.met else terminal.bad("NOT MET")
        print(f"  {goal.name} {goal.value:.2f}, at most {goal.goal:.2f}: {verdict}")
    print(f"\n{terminal.bold('System calls of nginx per request')}")
    for case, by_system in body["system_calls_per_request"].items():
        print(f"  {TITLES[case]}")
        for system, calls in by_system.items():
            print(f"    {SYSTEMS[system]:10} {listed(calls)}")
        own = medians(body["samples"][case]["toed"])
        print(
            f"    toed interrupted a sleeping nginx {own['nginx_woken']:.2f} times per request, "
            f"and slept {own['toed_slept']:.2f} times itself"
        )
    print(f"\n{terminal.bold('Which placement')}")
    for sentence in CHOICE:
        print(f"  {sentence}")
    print(f"\nnginx, toed and wrk share the {os.cpu_count()} cores of this machine. The ideal TOE")
    print("has no network and no wrk: its row is the floor of nginx's own time.")


def listed(calls: dict[str, float]) -> str:
    """System calls per request under strace, where a `write` wakes a toed that fell asleep."""
    return ", ".join(f"{name} {n:g}" for name, n in sorted(calls.items())) or "none"


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make demo", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=running.number, default=3, help="per sample (3)")
    parser.add_argument("--samples", type=running.number, default=6, help="per case and system (6)")
    parser.add_argument(
        "--connections", type=running.number, default=64, help="wrk keeps this many open (64)"
    )
    parser.add_argument("--netio", choices=["auto", "af_xdp", "tap"], default="auto")
    parser.add_argument("--out", type=running.result, default=paths.OUT / "bench" / "demo.json")
    options = parser.parse_args(argv)
    for name in ("seconds", "samples", "connections"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    options = arguments(argv)
    if os.geteuid() != 0:
        terminal.say("demo: it makes network namespaces: run it as root (sudo make demo)")
        return 1
    netns.end_on_signals()
    try:
        with ExitStack() as stack:
            comparison = Comparison(stack, options)
            samples = comparison.measure()
            counts = comparison.count_syscalls()
    except (proc.Failed, OSError) as e:
        terminal.say(f"demo: {e}")
        return 1
    except KeyboardInterrupt:
        terminal.say("demo: interrupted; namespaces and processes are removed")
        return 130
    cases, ratios, goals = summarise(samples)
    body = {
        "netio": comparison.netio,
        "settings": {
            "seconds": options.seconds,
            "samples": options.samples,
            "connections": options.connections,
            "wrk_threads": 1,
            "nginx_workers": 1,
            "keep_alive": True,
            "peer_offloads": comparison.peer_offloads,
            "environment": {k: v for k, v in os.environ.items() if k.startswith("TOEHOLD_")},
        },
        "systems": SYSTEMS,
        "titles": TITLES,
        "cases": cases,
        "ratios": ratios,
        "toed_cpu_us": {case: medians(samples[case]["toed"])["toed_cpu_us"] for case in samples},
        "system_calls_per_request": counts,
        "samples": samples,
    }
    show(body, goals)
    report.write(options.out, body, goals)
    picture = options.out.with_suffix(".svg")
    demo_plot.draw(json.loads(options.out.read_text()), picture)
    print(f"\nwritten: {os.path.relpath(options.out)}, {os.path.relpath(picture)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
