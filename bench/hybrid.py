# SPDX-License-Identifier: Apache-2.0
"""The hybrid TOE's send path: a send of 1024 bytes, step by step, in cycles (S2's Tables 1 and 2).

core/ runs as firmware on a simulated processor (gateware/src/hyb), in three configurations:
software alone; the paper's prototype with MAU, DFU and PCU; the complete one, whose header unit
builds headers, and where SEND goes straight into TCP. Cycles are the same on every machine. Host
memory answers after --delays cycles; 200 are those of a card on PCI Express at 250 MHz. The
firmware writes the register MARKER at each step, which costs a few cycles each and is included.
Cycles are the processor's: in the complete configuration it does not wait for the payload.

Then what receiving takes in the last two, with the link looped back: a segment of 1024 bytes in
order, a pure ACK, the poll that acknowledges two segments, ten segments that wait; and the sending
of ten segments. The complete configuration joins what it receives and cuts what it sends: core/
decides once.
"""

from __future__ import annotations

import argparse
import json
import sys

from bench import report, running, terminal
from tests.lab import paths, proc

CONFIGURATIONS = ("software", "prototype", "complete")
RECEIVERS = CONFIGURATIONS[1:]
DELAYS = [1, 200]
# MHz: the paper's processor and its FPGA, and ours.
CLOCKS = (135, 66, 250)
FLOOR = 1300  # of the complete one, whose goal is a twentieth of the software's
GOALS = {"software": 9300, "prototype": 2700, "complete": 465}
BEATS = "way out -> link: beats of the frame"
BURST = 14480  # bytes of firmware/receive.c's burst
SEGMENTS = 10
BURST_GOAL, MERGED_GOAL = 15, 10  # Gbit/s at 250 MHz

# Of core/: the sources of each row. What no row names is TCP.
ENTRY = {"stack.c", "timer.c", "timer.h", "stack_timer.c", "pool.h", "bits.h", "stack.h", "send.c"}
TCP_HEADER = {"tcp_emit.c", "wire_tcp.h", "tcp_opt.c"}
IP = {"ip_out.c", "ip4_out.c", "ip4_out.h", "wire_ip4.h", "ip.h", "pmtu.c", "sum.c", "wire.h"}
IP |= {"ip6_out.c", "wire_ip6.h"}
MAC = {"neigh.c", "neigh.h", "wire_eth.h", "arp.c", "soc.c"}

# Table 1 of the paper: the row, microseconds of the hybrid and of the software TOE; None: no row.
TABLE1 = (
    ("enter", "enter TCP", 469.2, 469.2),
    ("command", "socket buffer (SEND)", 20.2, 20.2),
    ("slot", "packet buffer", 1.0, 10.0),
    ("fetch", "fetch data, its sum", 7.7, 69.6),
    ("tcp", "TCP: decisions, timers", None, None),
    ("tcp_header", "TCP header", 48.9, 48.9),
    ("ip", "enter IP, IP header", 101.6, 101.6),
    ("mac", "driver, MAC header", 32.7, 32.7),
    ("copy", "copy to TX buffer", 12.2, 690.5),
    ("leave", "completion: frame leaves", 104.2, 104.2),
)
PAPER_TOTAL = {"software": 1547.4, "prototype": 797.8}
# Table 2: what, the rows of ours it concerns, microseconds before and as predicted.
TABLE2 = (
    ("F1 socket buffer by hardware", ("command", "slot"), 21.2, 1.0),
    ("F2 headers by hardware", ("tcp_header", "ip", "mac", "copy"), 142.8, 4.5),
    ("F3 completion", ("leave",), 104.2, 10.0),
    ("F4 interrupt straight to TCP", ("enter",), 469.2, 3.6),
    # core/ calls functions: its layers have no cost apart from F2's
    ("F5 no cost of layers", (), 85.3, 7.2),
    ("none: TCP, timers", ("tcp",), None, None),
)


def row_of(step: str, source: str) -> str:
    """Return the row of Table 1 that cycles of this step and source belong to."""
    fixed = {"command": "command", "slot": "slot", "fetch": "fetch", "wait": "fetch"}
    fixed |= {"headers": "copy", "leave": "leave"}
    if step in fixed:
        return fixed[step]
    named = [("enter", ENTRY), ("tcp_header", TCP_HEADER), ("ip", IP), ("mac", MAC)]
    for row, sources in [*named, ("copy", {"tx_complete.c"})]:
        if source in sources:
            return row
    return "tcp"


def rows(sample: dict) -> dict[str, int]:
    """Return the cycles of each row of Table 1."""
    found = {key: 0 for key, *_ in TABLE1}
    for step, by_source in sample["steps"].items():
        for source, cycles in by_source.items():
            found[row_of(step, source)] += cycles
    return found


def measure(options: argparse.Namespace) -> list[dict]:
    samples = []
    for configuration in CONFIGURATIONS:
        for delay in options.delays:
            command = [paths.ROOT / "scripts" / "gateware", "hybrid", configuration]
            done = proc.run([*command, "--delay", str(delay)], timeout=1800)
            samples.append(json.loads(done.stdout))
    return samples


def measure_receive() -> dict[str, dict]:
    found = {}
    for configuration in RECEIVERS:
        command = [paths.ROOT / "scripts" / "gateware", "hybrid", "--receive", configuration]
        found[configuration] = json.loads(proc.run(command, timeout=1800).stdout)
    return found


def derive_receive(samples: dict[str, dict]) -> dict[str, dict[str, float]]:
    """Return cycles; of a burst also Gbit/s at 250 MHz: by the processor's cycles, by the
    link's."""

    def rate(cycles: int) -> float:
        return round(BURST * 8 * 0.25 / cycles, 1)

    found = {}
    for configuration, s in samples.items():
        last = {what: cycles[-1] for what, cycles in s["taken"].items()}
        _, first, end = s["beats"]
        merged = sum(s["taken"]["merged"][-SEGMENTS if configuration == "prototype" else -1 :])
        found[configuration] = {
            "data": last["data"],
            "ack": last["ack"],
            "poll": max(s["taken"]["poll"][-2:]),
            "burst": last["burst"],
            "burst_processor_gbit": rate(last["burst"]),
            "burst_link_gbit": rate(end - first + 1),
            "merged": merged,
            "merged_gbit": rate(merged),
        }
    return found


def derive(samples: list[dict]) -> list[dict]:
    return [
        {
            "configuration": s["configuration"],
            "delay": s["delay"],
            "rows": rows(s),
            "cycles": s["sends"][-1],
            "edges": s["edges"],
        }
        for s in samples
    ]


def goals(found: list[dict]) -> list[report.Goal]:
    return [
        report.Goal(
            f"1024-byte send, {f['configuration']}, host memory after {f['delay']} "
            f"cycle{'s' if f['delay'] != 1 else ''}",
            f["cycles"],
            "cycles",
            GOALS[f["configuration"]],
        )
        for f in found
    ]


def rates(received: dict[str, dict[str, float]]) -> list[report.Goal]:
    """Return the goals of ten segments by themselves: ACKs are not part of them."""
    ours = received["complete"]
    sent = min(ours["burst_processor_gbit"], ours["burst_link_gbit"])
    what = "ten segments, complete, at 250 MHz"
    return [
        report.Goal(f"send {what}", sent, "Gbit/s", BURST_GOAL, at_most=False),
        report.Goal(f"receive {what}", ours["merged_gbit"], "Gbit/s", MERGED_GOAL, at_most=False),
    ]


def micros(cycles: int, mhz: int) -> float:
    return round(cycles / mhz, 1)


def of(found: list[dict], configuration: str, delay: int) -> dict:
    return next(f for f in found if (f["configuration"], f["delay"]) == (configuration, delay))


def beats(f: dict) -> tuple[int, int]:
    """Return the cycles of the first and the last beat of the frame on the link."""
    cycles = [cycle for cycle, name in f["edges"] if name == BEATS]
    return cycles[0], cycles[-1]


def table1(found: list[dict], delay: int) -> str:
    """Format all configurations beside the paper's microseconds."""
    ours = [of(found, c, delay) for c in CONFIGURATIONS]
    lines = [
        f"Table 1: a send of 1024 bytes, host memory after {delay} cycles",
        f"{'':26}" + "".join(f"{c:>28}" for c in CONFIGURATIONS) + f"{'paper, us':>15}",
        f"{'':26}" + 3 * f"{'cycles':>9}{'135':>7}{'66':>6}{'250':>6}" + f"{'sw':>8}{'hybrid':>7}",
    ]
    whole = [("total", "total", PAPER_TOTAL["prototype"], PAPER_TOTAL["software"])]
    for key, title, hybrid, alone in [*TABLE1, *whole]:
        line = f"{title:26}"
        for f in ours:
            cycles = f["cycles"] if key == "total" else f["rows"][key]
            low, middle, high = (micros(cycles, mhz) for mhz in CLOCKS)
            line += f"{cycles:>9}{low:>7}{middle:>6}{high:>6}"
        lines.append(line + f"{alone or '-':>8}{hybrid or '-':>7}")
    for which, title in enumerate(("first beat on the link", "last beat")):
        lines.append(f"{title:26}" + "".join(f"{beats(f)[which]:>9}{'':19}" for f in ours).rstrip())
    return "\n".join(lines)


def table2(found: list[dict], delay: int) -> str:
    """Format what the prototype and the complete one spend on the same, beside the paper."""
    prototype, complete = of(found, "prototype", delay), of(found, "complete", delay)
    lines = [
        "Table 2: what completing it would give",
        f"{'':32}{'prototype, cycles':>18}{'us at 66 MHz':>14}{'paper, us':>11}{'predicted':>11}"
        f"{'complete':>10}",
    ]
    for title, keys, before, predicted in TABLE2:
        cycles = sum(prototype["rows"][k] for k in keys)
        after = sum(complete["rows"][k] for k in keys) if keys else "in F2"
        ours = f"{cycles:>18}{micros(cycles, 66):>14}" if keys else f"{'in F2':>18}{'-':>14}"
        lines.append(f"{title:32}{ours}{before or '-':>11}{predicted or '-':>11}{after:>10}")
    lines.append(
        f"complete: {complete['cycles']} cycles; its floor of {FLOOR} is "
        f"{'met' if complete['cycles'] <= FLOOR else 'missed'}"
    )
    return "\n".join(lines)


TABLE_RECEIVE = (
    ("data", "1024 bytes in order"),
    ("ack", "a pure ACK"),
    ("poll", "poll: the ACK of two segments"),
    ("merged", "ten segments that wait"),
    ("merged_gbit", "... Gbit/s"),
    ("burst", "send ten segments"),
    ("burst_processor_gbit", "... Gbit/s, by the processor"),
    ("burst_link_gbit", "... Gbit/s, on the link"),
)


def table_receive(received: dict[str, dict[str, float]]) -> str:
    lines = [
        "Receiving, and bursts, cycles; Gbit/s at 250 MHz",
        f"{'':30}" + "".join(f"{c:>12}" for c in RECEIVERS),
    ]
    for key, title in TABLE_RECEIVE:
        lines.append(f"{title:30}" + "".join(f"{received[c][key]:>12}" for c in RECEIVERS))
    return "\n".join(lines)


def walk(found: list[dict], configuration: str, delay: int) -> str:
    """Format the edges of a send; consecutive cycles of an edge are one line."""
    spans: dict[str, list[int]] = {}
    for cycle, name in of(found, configuration, delay)["edges"]:
        spans.setdefault(name, []).append(cycle)
    lines = [f"The hardware's edges, {configuration}, host memory after {delay} cycles"]
    for name, cycles in sorted(spans.items(), key=lambda item: item[1][0]):
        span = f"{cycles[0]}" if len(cycles) == 1 else f"{cycles[0]} to {cycles[-1]}"
        lines.append(f"{span:>14}  {name}" + (f" ({len(cycles)})" if len(cycles) > 1 else ""))
    return "\n".join(lines)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make bench NAME=hybrid",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    text = ",".join(map(str, DELAYS))
    parser.add_argument("--delays", type=running.numbers, default=DELAYS, help=text)
    parser.add_argument("--out", type=running.result, default=paths.OUT / "bench" / "hybrid.json")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    try:
        samples = measure(options)
        received = measure_receive()
    except (proc.Failed, OSError) as e:
        terminal.say(f"hybrid: {e}")
        return 1
    found = derive(samples)
    figures = derive_receive(received)
    judged = [*goals(found), *rates(figures)]
    body = {
        "clocks_mhz": CLOCKS,
        "settings": {"delays": options.delays},
        "figures": found,
        "samples": samples,
        "receive": figures,
        "receive_samples": received,
    }
    report.write(options.out, body, judged)
    for delay in options.delays:
        print(table1(found, delay), end="\n\n")
    print(table2(found, options.delays[0]), end="\n\n")
    print(table_receive(figures), end="\n\n")
    for configuration in CONFIGURATIONS[1:]:
        print(walk(found, configuration, options.delays[-1]), end="\n\n")
    report.print_goals({}, judged)
    return 0


if __name__ == "__main__":
    sys.exit(main())
