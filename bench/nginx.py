# SPDX-License-Identifier: Apache-2.0
"""nginx on one core: Linux, toed, the inline TOE, and the ideal TOE, which costs the host nothing.

One worker runs on its own core, everything else on the other. On Linux and the TOEs `toehold bench
http` sends requests from a Linux peer over veth. The ideal TOE (bench/ideal/) has no network: it
places requests into the receive buffers. Samples are taken in turn. perf profiles nginx's CPU time.
Writes out/bench/nginx.json and its plot.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench import callgrind, cpu, links, loadgen, perf, report, running, terminal, webserver
from tests.lab import ideal, netns, paths, proc
from tests.lab.toed import Toed, af_xdp_missing

NGINX_CORE, OTHER_CORE = 0, 1
CASE = "return200"
TITLES = {"linux": "Linux", "toed": "toed", "inline": "inline", "ideal": "ideal TOE"}
LIBRARY = "libtoe_preload.so"
ENOUGH = 1000  # fewest samples of a profile for a goal


def on_its_core(argv: Sequence[object]) -> list[object]:
    return loadgen.pinned(NGINX_CORE, argv)


class OverNetwork:
    """nginx on Linux or a TOE, loaded by a Linux peer."""

    def __init__(self, system: str, options: argparse.Namespace, stack: ExitStack):
        self.options = options
        toed, wrap = None, on_its_core
        if system == "linux":
            pair = netns.Pair(subnet="10.78.0", kernel_ip="10.78.0.1/24", offload=True)
            stack.enter_context(pair)
        else:
            pair = stack.enter_context(netns.Pair(offload=True))
        if system == "toed":
            toed = stack.enter_context(Toed(pair))
            proc.run(["taskset", "-a", "-p", "-c", OTHER_CORE, toed.proc.pid])
        elif system == "inline":
            run = [paths.built("toehold"), "run", "--require", "--engine", "inline", "--netif"]
            run += [f"af_xdp:{pair.server_if}", "--ip", f"{pair.server_ip}/{pair.prefix_len}", "--"]
            wrap = lambda argv: on_its_core([*run, *argv])  # noqa: E731
        self.server = stack.enter_context(
            webserver.Nginx(pair, toed=toed, wrap=wrap, name=f"bench-{system}")
        )

    def load(self, seconds: float) -> dict:
        args = ["--url", self.server.url(CASE), "--connections", self.options.connections]
        args += ["--duration", seconds, "--warmup", self.options.warmup]
        args += ["--length", len(webserver.BODY)]
        return loadgen.run(self.server.client, "http", *args, core=OTHER_CORE, timeout=seconds + 60)

    def sample(self) -> tuple[dict, cpu.CpuTime]:
        before = self.server.cpu()
        found = self.load(self.options.seconds)
        return found, self.server.cpu() - before

    def profile(self) -> dict:
        seconds = self.options.seconds
        return perf.profile(self.server.workers()[0], seconds, lambda: self.load(seconds))


class OverIdeal:
    """nginx over the ideal TOE; each sample starts both."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.folder = paths.OUT / "nginx" / "bench-ideal"

    def _run(self, during, under=list) -> tuple[dict, object]:
        """Return the measured result, and the result of during(toe, worker, seconds).

        under changes nginx's command: to run it under valgrind.
        """
        seconds, warmup = self.options.seconds, self.options.warmup
        run = webserver.OverIdeal(
            self.folder,
            CASE,
            toe_prefix=loadgen.pinned(OTHER_CORE, []),
            nginx_prefix=loadgen.pinned(NGINX_CORE, []),
        )
        return run(
            ["--connections", self.options.connections, "--duration", seconds, "--warmup", warmup],
            lambda toe, worker: during(toe, worker, seconds + warmup),
            timeout=seconds + 30,
            under=under,
        )

    def sample(self) -> tuple[dict, cpu.CpuTime]:
        # The worker hardly runs before and after the measurement.
        return self._run(lambda _toe, _worker, _seconds: cpu.of)

    def profile(self) -> dict:
        def during(toe: ideal.Ideal, worker: int, seconds: float) -> dict:
            return perf.profile(worker, seconds, lambda: toe.proc.wait(seconds + 30))

        return self._run(during)[1]

    def count(self) -> dict:
        """Count the instructions of the worker in its event loop by callgrind."""
        out = self.folder.with_suffix(".callgrind")
        within = "ngx_process_events_and_timers"
        worker = self._run(
            lambda _toe, worker, _seconds: worker,
            lambda argv: callgrind.command(out, argv, within=within),
        )[1]
        found = callgrind.read(Path(f"{out}.{worker}"))
        for path in out.parent.glob(f"{out.name}.*"):
            path.unlink()
        return found


def figures(found: dict, used: cpu.CpuTime) -> dict:
    """Return figures per request: all requests and all CPU time of the run."""
    return {
        "requests_per_s": round(found["requests_per_s"], 1),
        "requests_per_cpu_s": round(found["answered"] / used.total, 1) if used.total else 0.0,
        "cpu_us": round(used.total * 1e6 / found["answered"], 3),
        "cpu_user_us": round(used.user * 1e6 / found["answered"], 3),
        "p50_us": found["latency_ns"]["p50"] / 1000,
        "p99_us": found["latency_ns"]["p99"] / 1000,
        "answered": found["answered"],
    }


def why_absent(system: str) -> str | None:
    if system == "inline" and not links.has_inline():
        return "this toehold has no `run --engine inline`"
    return af_xdp_missing() if system in ("toed", "inline") else None


def measure(options: argparse.Namespace) -> dict:
    servers, absent = {}, {}
    samples, profiles = {}, {}
    with ExitStack() as stack:
        for system in options.systems:
            why = why_absent(system)
            if not why:
                try:
                    servers[system] = (
                        OverIdeal(options)
                        if system == "ideal"
                        else OverNetwork(system, options, stack)
                    )
                except proc.Failed as e:
                    why = str(e)
            if why:
                absent[system] = why
                terminal.say(f"not measured: {TITLES[system]}: {why}")
        for number in range(options.samples):
            for system, server in servers.items():
                terminal.progress(f"sample {number + 1} of {options.samples}: {TITLES[system]}")
                samples.setdefault(system, []).append(figures(*server.sample()))
        for system, server in servers.items():
            if system != "ideal":  # toe-ideal has compared the length of every answer
                server.server.verify(webserver.CASES[CASE])
        no_perf = perf.missing() if options.profiler == "perf" else "not asked for"
        if no_perf and options.profiler != "none":
            # Without perf: instructions in user space, and only over the ideal TOE.
            absent["profile by perf"] = no_perf
            if "ideal" in servers:
                terminal.progress("profile: ideal TOE, by callgrind")
                profiles["ideal"] = servers["ideal"].count()
        for system, server in servers.items() if not no_perf else ():
            terminal.progress(f"profile: {TITLES[system]}")
            profiles[system] = server.profile()
    terminal.end_progress()
    return {"samples": samples, "profile": profiles, "not_available": absent}


def summarise(body: dict) -> tuple[dict, list[report.Goal]]:
    found = {
        system: {name: round(median(s[name] for s in list_), 3) for name in list_[0]}
        for system, list_ in body["samples"].items()
    }
    goals = []
    if "ideal" in found and "linux" in found:
        for name, title in (
            ("requests_per_s", "requests/s of one nginx core"),
            ("requests_per_cpu_s", "requests per second of nginx's CPU"),
        ):
            ratio = round(found["ideal"][name] / found["linux"][name], 3)
            goals.append(report.Goal(f"{title}: ideal TOE / Linux", ratio, "ratio", 4, False))
    profile = body["profile"].get("ideal", {})
    if profile.get("samples", 0) >= ENOUGH:
        share = profile["parts"].get(LIBRARY, 0.0)
        of = "CPU" if profile["by"] == "perf" else "instructions"
        goals.append(report.Goal(f"libtoe's share of nginx's {of}, ideal TOE", share, "%", 15))
    return found, goals


def show(found: dict, body: dict, goals: list[report.Goal]) -> None:
    head = ["nginx, 1 worker", "requests/s", "per CPU s", "CPU us", "p50 us", "p99 us"]
    rows = [
        [TITLES[system], f"{f['requests_per_s']:,.0f}", f"{f['requests_per_cpu_s']:,.0f}"]
        + [f"{f['cpu_us']:.2f}", f"{f['p50_us']:.1f}", f"{f['p99_us']:.1f}"]
        for system, f in found.items()
    ]
    print(f"\n{terminal.table(head, rows)}\n")
    for system, profile in body["profile"].items():
        parts = sorted(profile["parts"].items(), key=lambda item: -item[1])[:6]
        said = ", ".join(f"{name} {part:.1f} %" for name, part in parts)
        unit = "samples" if profile["by"] == "perf" else "instructions"
        few = "" if profile["samples"] >= ENOUGH else ", too few to judge"
        print(f"{TITLES[system]}: {said} ({profile['samples']} {unit}{few})")
    report.print_goals({TITLES.get(n, n): why for n, why in body["not_available"].items()}, goals)


def run(options: argparse.Namespace) -> None:
    body = measure(options)
    found, goals = summarise(body)
    show(found, body, goals)
    titles = {system: TITLES[system] for system in found}
    body = {"systems": titles, "medians": found, **body}
    report.write(options.out, {"settings": running.settings(options), **body}, goals)


def main() -> int:
    parser = running.arguments("nginx", __doc__, TITLES, seconds=4, samples=6)
    parser.add_argument("--connections", type=running.number, default=64, help="kept open (64)")
    parser.add_argument(
        "--profiler", choices=["perf", "callgrind", "none"], default="perf", help="(perf)"
    )
    return running.carry_out("nginx", parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
