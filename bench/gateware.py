# SPDX-License-Identifier: Apache-2.0
"""The gateware TOE in simulated cycles of 4 ns: packets, streams, latency (gateware/sim/toe_bench).

The peer is never idle and the host is always fast enough, so that the TOE is the bottleneck.
Figures are cycles: they are the same on every machine. Host memory answers after --delays cycles;
200 (800 ns) are those of a card on PCI Express.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench import report, running, terminal
from tests.lab import paths, proc

CYCLE_NS = 4
PAYLOADS = [1, 16, 64, 128, 256, 512, 1024, 1460]
FLOWS = [1, 64]
DELAYS = [1, 200]
FPCS = {1: "toe_bench", 2: "toe_bench_2", 4: "toe_bench_4"}
LATENCY_PAYLOADS = [1, 128, 1460]
FEW, TCBS = "toe_bench_32", 32  # fewer TCBs on chip than flows,
MANY = 128  # ... and more flows than packet buffers, so that no two events wait for one TCB
HITS = [100, 90, 50, 10, 0]  # events of 100 whose TCB is on chip
HEADERS = 14 + 20 + 20  # Ethernet, IPv4, TCP without options
FCS, LEAST, BETWEEN = 4, 64, 20  # ... and of preamble and the gap before the next
LINE_FRAMES = 148.8  # a microsecond: 64-byte frames of 100 Gbit/s Ethernet
LINE_INTERVAL_PS = 6720
JUDGED = 128


def build(name: str) -> Path:
    done = proc.run([paths.ROOT / "scripts" / "gateware", "sim", name], timeout=900)
    return paths.ROOT / done.stdout.splitlines()[-1]


def on_wire(payload: float) -> float:
    """Return the bytes of a segment on the link."""
    return max(HEADERS + payload + FCS, LEAST) + BETWEEN


@dataclass
class Run:
    program: str
    about: dict  # settings that the sample does not contain
    words: list[object]


def evictions(options: argparse.Namespace) -> list[Run]:
    """Measure frames of which a given part finds its TCB on chip; then single segments, of flows
    that all fit on chip, and of so many flows that none does."""
    runs = []
    about = {"fpcs": 1, "tcbs": TCBS}
    for delay in options.delays:
        for hits in options.hits:
            words = ["frames", "--flows", MANY, "--delay", delay]
            words += ["--packets", 10 * options.packets, "--hits", hits]
            runs.append(Run(FEW, {**about, "hits": hits}, words))
        for flows in (TCBS // 2, MANY) if options.hits else ():
            words = ["latency", "--payload", JUDGED, "--flows", flows, "--delay", delay]
            runs.append(Run(FEW, about, [*words, "--packets", 2 * flows]))
    return runs


def cases(options: argparse.Namespace) -> list[Run]:
    runs: list[tuple[int, list[object]]] = []
    for case in ("receive", "send"):
        for flows in options.flows:
            for delay in options.delays:
                for payload in options.payloads:
                    words = [case, "--payload", payload, "--flows", flows, "--delay", delay]
                    runs.append((1, [*words, "--packets", options.packets]))
    for fpcs in options.fpcs:
        for flows in options.flows:
            for interval in (0, LINE_INTERVAL_PS):
                words = ["frames", "--flows", flows, "--interval", interval]
                runs.append((fpcs, [*words, "--packets", 10 * options.packets]))
    for delay in options.delays:
        for payload in options.latencies:
            words = ["latency", "--payload", payload, "--flows", 4, "--delay", delay]
            runs.append((1, [*words, "--packets", 16]))
    known = [Run(FPCS[fpcs], {"fpcs": fpcs}, words) for fpcs, words in runs]
    return known + evictions(options)


def measure(options: argparse.Namespace) -> list[dict]:
    runs = cases(options)
    programs = {name: build(name) for name in sorted({run.program for run in runs})}

    def one(run: Run) -> dict:
        done = proc.run([programs[run.program], *run.words], timeout=900)
        return {**run.about, **json.loads(done.stdout)}

    with ThreadPoolExecutor(options.jobs) as pool:
        return list(pool.map(one, runs))


def rates(sample: dict) -> dict:
    """Return millions of packets per second, Gbit/s of payload and of the wire of a stream."""
    (begin, first, before), (end, last, after) = sample["marks"][0], sample["marks"][-1]
    ns = (end - begin) * CYCLE_NS
    packets, payload = last - first, after - before
    keys = ("case", "payload", "flows", "delay")
    return {
        **{k: sample[k] for k in keys},
        "mpps": round(1000 * packets / ns, 2),
        "gbps": round(8 * payload / ns, 2),
        "wire_gbps": round(8 * packets * on_wire(payload / packets) / ns, 2),
        "dropped": sample["counters"].get("no_buffer", 0),
    }


def taken(sample: dict) -> dict:
    """Return events per cycle, and millions of frames per second."""
    per = (sample["offered"] - sample["dropped"]) / sample["cycles"]
    keys = ("fpcs", "flows", "interval_ps", "offered", "dropped")
    return {
        **{k: sample[k] for k in keys},
        "per_cycle": round(per, 3),
        "mpps": round(per * 1000 / CYCLE_NS, 1),
    }


def delays(sample: dict) -> dict:
    """Return the longest latency of each, in nanoseconds."""
    placed, notified, sent = (max(column) for column in zip(*sample["cycles"], strict=True))
    return {
        **{k: sample[k] for k in ("payload", "delay")},
        "placed_cycles": placed,
        "told_ns": notified * CYCLE_NS,
        "sent_ns": sent * CYCLE_NS,
    }


def found_on_chip(sample: dict) -> dict:
    """Return, for frames beyond the TCBs on chip, the hits per 100 events, and the rate."""
    events = sample["offered"] - sample["dropped"]
    return {
        **taken(sample),
        "delay": sample["delay"],
        "tcbs": sample["tcbs"],
        "hit_percent": round(100 * (1 - sample["fetched"] / events), 1),
    }


def derive(samples: list[dict]) -> dict:
    all_fit = [s for s in samples if "tcbs" not in s]
    few = [s for s in samples if "tcbs" in s]
    return {
        "streams": [rates(s) for s in all_fit if "marks" in s],
        "frames": [taken(s) for s in all_fit if s["case"] == "frames"],
        "latency": [delays(s) for s in all_fit if s["case"] == "latency"],
        "evictions": [found_on_chip(s) for s in few if s["case"] == "frames"],
        "eviction_latency": [
            {**delays(s), "flows": s["flows"], "tcbs": s["tcbs"]}
            for s in few
            if s["case"] == "latency"
        ],
    }


def goals(found: dict) -> list[report.Goal]:
    judged = []
    for row in found["frames"]:
        if row["flows"] > 1 and row["interval_ps"] == 0:
            name = f"64-byte frames, {row['flows']} flows, {row['fpcs']} FPCs"
            judged.append(report.Goal(name, row["mpps"], "M/s", LINE_FRAMES, at_most=False))
    for row in found["streams"]:
        if row["payload"] == JUDGED:
            verb = {"receive": "received", "send": "sent"}[row["case"]]
            name = (
                f"wire rate {verb}, {JUDGED} bytes of payload, {row['flows']} flows, "
                f"memory after {row['delay']} cycles"
            )
            judged.append(report.Goal(name, row["wire_gbps"], "Gbit/s", 100, at_most=False))
    near = min((row["delay"] for row in found["latency"]), default=0)
    for row in found["latency"]:
        if row["delay"] != near:
            continue
        what = f"{row['payload']} bytes, memory after {near} cycle{'s' if near != 1 else ''}"
        name = f"first beat in to first byte in host memory, {what}"
        judged.append(report.Goal(name, row["placed_cycles"], "cycles", 200))
        both = row["told_ns"] + row["sent_ns"]
        name = f"segment in to command, and command to segment out, {what}"
        judged.append(report.Goal(name, both, "ns", 1500))
    return judged


def table(found: dict) -> str:
    lines = []
    groups = {(r["case"], r["flows"], r["delay"]) for r in found["streams"]}
    for case, flows, delay in sorted(groups):
        rows = [
            r
            for r in found["streams"]
            if (r["case"], r["flows"], r["delay"]) == (case, flows, delay)
        ]
        lines.append(f"{case}, {flows} flows, host memory after {delay} cycles")
        for key, title in (
            ("payload", "bytes of payload"),
            ("mpps", "M packets/s"),
            ("gbps", "Gbit/s of payload"),
            ("wire_gbps", "Gbit/s of the wire"),
            ("dropped", "frames dropped"),
        ):
            lines.append(f"  {title:20}" + "".join(f"{r[key]:>9}" for r in rows))
    for r in found["frames"]:
        offered = "each cycle" if r["interval_ps"] == 0 else f"each {r['interval_ps'] / 1000} ns"
        lines.append(
            f"64-byte frames, {r['flows']} flows, {r['fpcs']} FPCs, one {offered}: "
            f"{r['per_cycle']} events a cycle, {r['mpps']} M/s, {r['dropped']} of "
            f"{r['offered']} dropped"
        )
    for r in found["latency"]:
        lines.append(
            f"{r['payload']} bytes, host memory after {r['delay']} cycles: in memory after "
            f"{r['placed_cycles']} cycles, notified after {r['told_ns']} ns; command to segment "
            f"{r['sent_ns']} ns"
        )
    for r in found["evictions"]:
        lines.append(
            f"{r['flows']} flows, {r['tcbs']} TCBs on chip, memory after {r['delay']} cycles: "
            f"{r['hit_percent']} % on chip, {r['per_cycle']} events a cycle, {r['mpps']} M/s"
        )
    for r in found["eviction_latency"]:
        lines.append(
            f"{r['flows']} flows in turn, {r['tcbs']} TCBs on chip, memory after {r['delay']} "
            f"cycles: {r['payload']} bytes notified after {r['told_ns']} ns"
        )
    return "\n".join(lines)


def percents(text: str) -> list[int]:
    """Parse "100,50,0", or "none"."""
    values = [] if text == "none" else [int(part) for part in text.split(",")]
    if any(not 0 <= v <= 100 for v in values):
        raise ValueError(text)
    return values


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make bench NAME=gateware",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    for name, values in (
        ("payloads", PAYLOADS),
        ("flows", FLOWS),
        ("delays", DELAYS),
        ("fpcs", list(FPCS)),
        ("latencies", LATENCY_PAYLOADS),
    ):
        text = ",".join(map(str, values))
        parser.add_argument(f"--{name}", type=running.numbers, default=values, help=text)
    text = ",".join(map(str, HITS))
    parser.add_argument("--hits", type=percents, default=HITS, help=f"{text}, or none")
    parser.add_argument("--packets", type=running.number, default=1000, help="of a stream (1000)")
    parser.add_argument("--jobs", type=running.number, default=2, help="runs at a time (2)")
    parser.add_argument("--no-plots", action="store_true", help="without matplotlib")
    parser.add_argument("--plots-only", action="store_true", help="draw what --out holds")
    parser.add_argument("--out", type=running.result, default=paths.OUT / "bench" / "gateware.json")
    options = parser.parse_args()
    if unknown := set(options.fpcs) - set(FPCS):
        parser.error(f"--fpcs: no build with {unknown}; there are {list(FPCS)}")
    return options


def run(options: argparse.Namespace) -> None:
    samples = measure(options)
    found = derive(samples)
    judged = goals(found)
    body = {
        "cycle_ns": CYCLE_NS,
        "settings": {k: getattr(options, k) for k in ("packets", "payloads", "flows", "delays")},
        "figures": found,
        "samples": samples,
    }
    report.write(options.out, body, judged)
    print(table(found))
    report.print_goals({}, judged)


def main() -> int:
    options = arguments()
    if not options.plots_only:
        try:
            run(options)
        except (proc.Failed, OSError) as e:
            terminal.say(f"gateware: {e}")
            return 1
    if not options.no_plots:
        try:
            body = running.read(options.out)
        except OSError as e:
            terminal.say(f"gateware: {e}")
            return 1
        from bench import gateware_plots  # matplotlib: not needed to measure

        print(f"written: {gateware_plots.draw(body, options.out.with_suffix('.png'))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
