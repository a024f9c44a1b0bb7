# SPDX-License-Identifier: Apache-2.0
"""nginx on Toehold and on Linux TCP: requests/s, latency, and nginx's CPU time per request.

The same unmodified nginx runs twice, each in a namespace of its own and each loaded by wrk from a
Linux peer over a veth link. Samples are taken in turn (Linux, Toehold, Linux, ...), so that what
the machine does meanwhile falls on both; the figures are medians. Writes out/demo.json.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench import cpu, report, running, syscalls, terminal, webserver, wrk
from tests.lab import netns, paths, proc
from tests.lab.toed import Toed, af_xdp_missing

SYSTEMS = ("linux", "toehold")
TITLES = {"return200": "return 200, 256 bytes", "file256": "256-byte file"}
FIGURES = ("requests_per_s", "p50_us", "p99_us", "cpu_user_us", "cpu_system_us")
# nginx's CPU per request on Toehold, as a part of what it is on Linux.
GOALS = {"return200": 1 / 3, "file256": 1 / 2}


def start_toed(stack: ExitStack, netio: str) -> tuple[netns.Pair, Toed]:
    """toed on AF_XDP, or on TAP where that is asked for or AF_XDP is not to be had."""
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
        terminal.say(f"No AF_XDP here, so Toehold runs on a TAP device, which is slower: {missing}")
    pair = stack.enter_context(netns.Pair(tap=True))
    return pair, stack.enter_context(Toed(pair, mode="tap"))


class Comparison:
    """nginx running on both systems."""

    def __init__(self, stack: ExitStack, options: argparse.Namespace):
        self.options = options
        pair, self.toed = start_toed(stack, options.netio)
        # Linux has a link of its own, with every offload it comes with.
        linux = stack.enter_context(
            netns.Pair(subnet="10.78.0", kernel_ip="10.78.0.1/24", offload=True)
        )
        self.servers = {
            "linux": stack.enter_context(webserver.Nginx(linux)),
            "toehold": stack.enter_context(webserver.Nginx(pair, toed=self.toed)),
        }
        self.netio = self.toed.stats()["engines"][0]["netio"]["mode"]
        self.peer_offloads = {
            "linux": offloads(linux.client, linux.client_if),
            "toehold": offloads(pair.client, pair.client_if),
        }

    def load(self, case: str, system: str, seconds: int) -> wrk.Result:
        server = self.servers[system]
        connections = self.options.connections
        return wrk.load(server.client, server.url(case), seconds=seconds, connections=connections)

    def sample(self, case: str, system: str) -> dict[str, float]:
        """One measurement; CPU times are microseconds a request."""
        server = self.servers[system]
        counts = self.wakings() if system == "toehold" else {}
        nginx_before, toed_before = server.cpu(), cpu.of(self.toed.proc.pid)
        result = self.load(case, system, self.options.seconds)
        used, toed_used = server.cpu() - nginx_before, cpu.of(self.toed.proc.pid) - toed_before
        figures = {
            "requests_per_s": result.requests_per_s,
            "p50_us": result.p50_us,
            "p99_us": result.p99_us,
            "cpu_user_us": used.user * 1e6 / result.requests,
            "cpu_system_us": used.system * 1e6 / result.requests,
        }
        if system == "toehold":
            figures["toed_cpu_us"] = toed_used.total * 1e6 / result.requests
            for name, count in self.wakings().items():
                figures[name] = (count - counts[name]) / result.requests
        return {name: round(value, 3) for name, value in figures.items()}

    def wakings(self) -> dict[str, int]:
        """How often toed has interrupted a sleeping nginx, and has gone to sleep itself."""
        counters = self.toed.stats()["engines"][0]["counters"]
        return {"nginx_woken": counters["interrupts"], "toed_slept": counters["sleeps"]}

    def measure(self) -> dict:
        """samples[case][system]: a list of what sample() found."""
        samples = {case: {system: [] for system in SYSTEMS} for case in webserver.CASES}
        total = self.options.samples * len(webserver.CASES)
        for case in webserver.CASES:
            for system in SYSTEMS:
                terminal.progress(f"warming up: {case} on {system}")
                self.load(case, system, 1)
        for number in range(self.options.samples):
            for c, case in enumerate(webserver.CASES):
                for system in SYSTEMS:
                    done = number * len(webserver.CASES) + c + 1
                    terminal.progress(f"sample {done} of {total}: {case} on {system}")
                    samples[case][system].append(self.sample(case, system))
        for server in self.servers.values():
            for path in webserver.CASES.values():
                server.verify(path)
        terminal.end_progress()
        return samples

    def count_syscalls(self) -> dict:
        """syscalls[case][system]: nginx's system calls a request, by name."""
        counts = {case: {} for case in webserver.CASES}
        for case in webserver.CASES:
            for system, server in self.servers.items():
                terminal.progress(f"counting system calls: {case} on {system}")
                log = paths.OUT / "log" / f"strace-{case}-{system}.log"
                counts[case][system] = syscalls.count(
                    server.workers(), lambda c=case, s=system: self.load(c, s, 1).requests, log
                )
        terminal.end_progress()
        return counts


# As `ethtool -k` names what decides of which frames an interface sends and takes.
OFFLOADS = (
    "rx-checksumming",
    "tx-checksumming",
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
)


def offloads(ns: netns.Namespace, interface: str) -> list[str]:
    """Those of OFFLOADS that are on."""
    lines = ns.run(["ethtool", "-k", interface]).stdout.splitlines()
    states = dict(line.split(": ", 1) for line in lines if ": " in line)
    return [name for name in OFFLOADS if states[name].startswith("on")]


def medians(samples: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(median(s[name] for s in samples), 2) for name in samples[0]}


def cpu_us(figures: dict[str, float]) -> float:
    return figures["cpu_user_us"] + figures["cpu_system_us"]


def summarise(samples: dict) -> tuple[dict, dict, list[report.Goal]]:
    """cases, ratios (Toehold to Linux) and goals from the samples."""
    cases, ratios, goals = {}, {}, []
    for case, by_system in samples.items():
        found = {system: medians(by_system[system]) for system in SYSTEMS}
        linux, toehold = found["linux"], found["toehold"]
        cases[case] = {s: {name: found[s][name] for name in FIGURES} for s in SYSTEMS}
        ratios[case] = {
            "requests_per_s": round(toehold["requests_per_s"] / linux["requests_per_s"], 3),
            "p50": round(toehold["p50_us"] / linux["p50_us"], 3),
            "p99": round(toehold["p99_us"] / linux["p99_us"], 3),
            "cpu": round(cpu_us(toehold) / cpu_us(linux), 3),
            "cpu_user": round(toehold["cpu_user_us"] / linux["cpu_user_us"], 3),
            "cpu_system": round(toehold["cpu_system_us"] / linux["cpu_system_us"], 3),
            "cpu_with_toed": round((cpu_us(toehold) + toehold["toed_cpu_us"]) / cpu_us(linux), 3),
        }
        name = f"nginx CPU per request, {TITLES[case]}: Toehold / Linux"
        goals.append(report.Goal(name, ratios[case]["cpu"], "ratio", round(GOALS[case], 3)))
    return cases, ratios, goals


def show(cases: dict, samples: dict, counts: dict, goals: list[report.Goal], netio: str) -> None:
    """The comparison, for people."""
    head = ["", "requests/s", "p50 us", "p99 us", "nginx CPU us/request", "user", "system"]
    rows = []
    for case, found in cases.items():
        rows.append([TITLES[case], *[""] * (len(head) - 1)])
        for system, f in found.items():
            label = "Linux TCP" if system == "linux" else f"Toehold ({netio})"
            rows.append(
                [f"  {label}", f"{f['requests_per_s']:,.0f}", f"{f['p50_us']:.0f}"]
                + [f"{f['p99_us']:.0f}", f"{cpu_us(f):.2f}"]
                + [f"{f['cpu_user_us']:.2f}", f"{f['cpu_system_us']:.2f}"]
            )
    print(f"\n{terminal.table(head, rows)}\n")
    print(terminal.bold("Goals"))
    for goal in goals:
        verdict = terminal.good("met") if goal.met else terminal.bad("NOT MET")
        print(f"  {goal.name} {goal.value:.2f}, at most {goal.goal:.2f}: {verdict}")
    print(f"\n{terminal.bold('Where the CPU time goes, a request')}")
    for case, found in cases.items():
        linux, toehold = found["linux"], found["toehold"]
        own = medians(samples[case]["toehold"])
        print(f"  {TITLES[case]}")
        print(f"    Linux    nginx {cpu_us(linux):.2f} us, most of the TCP/IP included;")
        print(f"             system calls: {said(counts[case]['linux'])}")
        print(f"    Toehold  nginx {cpu_us(toehold):.2f} us;")
        print(f"             system calls: {said(counts[case]['toehold'])}")
        print(f"             toed {own['toed_cpu_us']:.2f} us on its own core, for TCP/IP and for")
        print("             polling while there is work: more a request when load is less;")
        print(f"             it woke nginx {own['nginx_woken']:.2f} times, ", end="")
        print(f"slept {own['toed_slept']:.2f} times itself")
        print(f"             both {cpu_us(toehold) + own['toed_cpu_us']:.2f} us")
    print(f"\nnginx, toed and wrk share the {os.cpu_count()} cores of this machine.")


def said(calls: dict[str, float]) -> str:
    """System calls a request, those under strace's eyes: `write` wakes a toed that fell asleep."""
    return ", ".join(f"{name} {n:g}" for name, n in sorted(calls.items())) or "none"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make demo", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=running.number, default=4, help="of each sample (4)")
    parser.add_argument(
        "--samples", type=running.number, default=6, help="of each case and system (6)"
    )
    parser.add_argument(
        "--connections", type=running.number, default=64, help="kept open by wrk (64)"
    )
    parser.add_argument("--netio", choices=["auto", "af_xdp", "tap"], default="auto")
    parser.add_argument("--out", type=Path, default=paths.OUT / "demo.json")
    options = parser.parse_args()
    for name in ("seconds", "samples", "connections"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be at least 1")
    return options


def main() -> int:
    options = arguments()
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
    show(cases, samples, counts, goals, comparison.netio)
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
        "cases": cases,
        "ratios": ratios,
        "toed_cpu_us": {case: medians(samples[case]["toehold"])["toed_cpu_us"] for case in samples},
        "system_calls_per_request": counts,
        "samples": samples,
    }
    report.write(options.out, body, goals)
    print(f"\nwritten: {os.path.relpath(options.out)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
