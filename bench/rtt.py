# SPDX-License-Identifier: Apache-2.0
"""Round-trip times of the same packets by the measuring module, tcpdump and tshark.

  near: a TAP device is the host's side of a simulated NIC            far: a Linux peer
  probes, tcpdump, tshark - tap - measuring module - cable | veth | veth, bridge, veth

"cable" is the paper's direct case: each packet returns through 3 m of cable and two MACs, whose
delay is known. In "direct" a Linux peer answers, in "bridge" through a software bridge. The
module's times in "cable" are cycles of simulated hardware. In the other cases its counter follows
the clock of the machine, so they are host time at the outer side of the NIC. Without rtt_sim
(scripts/gateware sim) the probes go over veth, and the rows of the module are missing.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import statistics
import struct
import sys
import tempfile
import time
from pathlib import Path

from bench import report, running
from tests.lab import netns, paths, proc

NEAR, FAR, PORT = "10.88.0.2", "10.88.0.1", 7
MAGIC = b"TRTT"
# The paper's values in nanoseconds: mean, min, max, spread; None: not in the paper.
PAPER = {
    "cable": {
        "module": (392.56, 388, 408, 20),
        "tcpdump": (78_850, None, None, 161_000),
        "tshark": (78_847, None, None, 161_320),
    },
    "bridge": {
        "module": (78_832, None, None, None),
        "tcpdump": (164_530, None, None, None),
        "tshark": (161_273, None, None, None),
    },
}
TITLES = {
    "cable": "back through 3 m of cable (Table 1)",
    "direct": "to a Linux peer, direct",
    "bridge": "to a Linux peer, through a software bridge (Table 2)",
}
STAMPS = ("module", "tcpdump", "tshark", "software")
SIM = Path(
    os.environ.get("TOEHOLD_RTT_SIM", paths.OUT / "gateware" / "live" / "rtt_sim" / "rtt_sim")
)


class Set:
    """Create the namespaces of one case; with rtt_sim, probes leave by the simulated NIC."""

    def __init__(self, case: str, folder: Path, stack: contextlib.ExitStack):
        self.case, self.folder = case, folder
        self.module = SIM.exists()
        self.regs = folder / "regs.sock"
        self.near, self.far = (self._namespace(n, stack) for n in ("near", "far"))
        if case != "cable":
            self._link(self._namespace("middle", stack) if case == "bridge" else None)
        if self.module:
            self._simulate(stack)
        for argv in (
            ["ip", "address", "add", f"{NEAR}/24", "dev", self.interface],
            ["ip", "link", "set", self.interface, "up"],
        ):
            self.near.run(argv)
        if case == "cable":  # no host answers ARP there
            self.near.run(
                ["ip", "neigh", "replace", FAR, "lladdr", "02:00:00:00:00:01"]
                + ["dev", self.interface, "nud", "permanent"]
            )
        else:
            stack.enter_context(self._responder())

    @staticmethod
    def _namespace(name: str, stack: contextlib.ExitStack) -> netns.Namespace:
        ns = netns.Namespace.create(f"{netns.PREFIX}-{os.getpid()}-rtt-{name}")
        stack.callback(ns.delete)
        return ns

    @property
    def interface(self) -> str:
        return "rtt0" if self.module else "net0"

    @staticmethod
    def _veth(a: netns.Namespace, a_if: str, b: netns.Namespace, b_if: str) -> None:
        a.run(["ip", "link", "add", a_if, "type", "veth", "peer", "name", b_if, "netns", b.name])
        for ns, name in ((a, a_if), (b, b_if)):
            ns.run(["ethtool", "-K", name, "tx", "off"])
            ns.run(["ip", "link", "set", name, "addrgenmode", "none", "up"])

    def _link(self, middle: netns.Namespace | None) -> None:
        if middle is None:
            self._veth(self.near, "net0", self.far, "eth0")
        else:
            self._veth(self.near, "net0", middle, "left0")
            self._veth(self.far, "eth0", middle, "right0")
            middle.run(["ip", "link", "add", "br0", "type", "bridge"])
            for name in ("left0", "right0"):
                middle.run(["ip", "link", "set", name, "master", "br0"])
            middle.run(["ip", "link", "set", "br0", "up"])
        self.far.run(["ip", "address", "add", f"{FAR}/24", "dev", "eth0"])

    def _simulate(self, stack: contextlib.ExitStack) -> None:
        self.near.run(["ip", "tuntap", "add", "dev", "rtt0", "mode", "tap"])
        self.near.run(["ip", "link", "set", "rtt0", "addrgenmode", "none", "up"])
        net = (
            ["--path", "cable=3,mac=400,jitter=uniform:8"]
            if self.case == "cable"
            else ["--net", "packet:net0"]
        )
        command = [SIM, "--host", "tap:rtt0", *net, "--regs", self.regs]
        p = stack.enter_context(self.near.start(command, name="rtt_sim"))
        proc.wait_until(self.regs.exists, "the simulation", proc=p, timeout=30)

    @contextlib.contextmanager
    def _responder(self):
        with self.far.start(
            [paths.built("toehold"), "rtt", "--respond", PORT], name="respond"
        ) as p:
            proc.wait_until(lambda: "responding" in p.text(), "the responder", proc=p)
            yield


@contextlib.contextmanager
def captures(at: Set):
    """Run tcpdump and tshark on the interface of the probes; each writes a file."""
    files = {"tcpdump": at.folder / "tcpdump.pcap", "tshark": at.folder / "tshark.pcapng"}
    quoted = f"udp port {PORT}"
    commands = {
        "tcpdump": [
            "tcpdump",
            "-i",
            at.interface,
            "--nano",
            "--immediate-mode",
            "-s",
            128,
            "-B",
            65536,
            "-U",
            "-Z",
        ]
        + ["root", "-w", files["tcpdump"], quoted],
        "tshark": ["tshark", "-q", "-i", at.interface, "-s", 128, "-B", 64]
        + ["-w", files["tshark"], "-f", quoted],
    }
    with contextlib.ExitStack() as stack:
        started = {
            name: stack.enter_context(at.near.start(argv, name=name))
            for name, argv in commands.items()
        }
        for name, p in started.items():
            proc.wait_until(
                lambda f=files[name]: f.exists() and f.stat().st_size >= 24,
                name,
                proc=p,
                timeout=30,
            )
        time.sleep(0.5)  # the file of the socket exists before it accepts connections
        yield files
        time.sleep(1.5)  # the kernel delivers buffered captures within a second
        for p in started.values():
            p.send_signal(2)
            p.wait(20)


def probe_of(packet: bytes) -> tuple[int, bool] | None:
    """Return the number of a probe or answer in a frame, and whether it is the probe."""
    at = packet.find(MAGIC, 42)
    if at < 0 or packet[12:14] != b"\x08\x00":
        return None
    return struct.unpack_from("!Q", packet, at + 8)[0], packet[26:30] == socket.inet_aton(NEAR)


def from_capture(file: Path, looped: bool) -> list[int]:
    """Return the nanoseconds from each probe to its answer."""
    if file.suffix == ".pcapng":
        plain = file.with_suffix(".nsec")
        proc.run(["tshark", "-r", file, "-F", "nsecpcap", "-w", plain], timeout=120)
        file = plain
    data = file.read_bytes()
    magic = struct.unpack_from("<I", data)[0]
    unit = {0xA1B23C4D: 1, 0xA1B2C3D4: 1000}[magic]
    at, left, found = 24, {}, []
    while at + 16 <= len(data):
        seconds, part, kept, _ = struct.unpack_from("<4I", data, at)
        probe = probe_of(data[at + 16 : at + 16 + kept])
        at += 16 + kept
        if probe is None:
            continue
        stamp = seconds * 1_000_000_000 + part * unit
        number, leaves = probe
        # the cable returns the probe itself: its second capture is the arrival
        if leaves and not (looped and number in left):
            left[number] = stamp
        elif number in left:
            found.append(stamp - left.pop(number))
    return found


def figures(times: list[int]) -> dict:
    return {
        "count": len(times),
        "mean": round(statistics.fmean(times), 2),
        "median": statistics.median_low(times),
        "least": min(times),
        "greatest": max(times),
        "spread": max(times) - min(times),
        "deviation": round(statistics.pstdev(times), 2),
    }


def of_module(result: dict) -> dict:
    """Return the module's own sums, as its ring of samples may have overflowed."""
    t = result["rtt_ns"]
    return {
        "count": result["samples"],
        "mean": round(t["mean"], 2),
        "median": t["percentiles"]["50"],
        "least": t["min"],
        "greatest": t["max"],
        "spread": t["spread"],
        "deviation": round(t["deviation"], 2),
    }


def measure(case: str, options: argparse.Namespace) -> tuple[dict, dict]:
    """Return figures and single times of the same packets by each method."""
    if case == "cable" and not SIM.exists():
        return {}, {}  # the cable that returns packets is part of the simulation
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="toehold-")))
        at = Set(case, folder, stack)
        looped = case == "cable"
        argv = [paths.built("toehold"), "rtt", "--udp", f"{FAR}:{PORT}", "--json"]
        argv += ["--count", options.packets, "--interval-us", options.interval_us]
        argv += ["--csv", folder / "s.csv"]
        if at.module:
            argv += ["--source", "registers", "--bar", f"sim:{at.regs}", "--match", "tag"]
            argv += ["--tag-offset", 12, *["--looped"][:looped]]
        else:
            argv += ["--source", "software"]
        with captures(at) as files:
            done = at.near.run(argv, timeout=120 + options.packets * options.interval_us / 1e5)
        result = json.loads(done.stdout)
        times = {name: from_capture(file, looped) for name, file in files.items()}
        rows = [line.split(",") for line in (folder / "s.csv").read_text().splitlines()[1:]]
        times["module" if at.module else "software"] = [int(r[2]) for r in rows if r[3] == "ok"]
        found = {name: figures(t) for name, t in times.items() if t}
        if at.module:
            found["module"] = of_module(result)
        print(f"{case}: {result['samples']} of {options.packets} timed", file=sys.stderr)
        return found, times


def table(found: dict[str, dict[str, dict]]) -> str:
    lines = []
    for case, rows in found.items():
        lines += [TITLES[case], f"  {'':10}{'samples':>9}{'mean':>12}{'median':>10}{'least':>10}"]
        lines[-1] += f"{'greatest':>12}{'spread':>12}   {'paper: mean':>12}{'spread':>10}  (ns)"
        for name in STAMPS:
            if name not in rows:
                continue
            r = rows[name]
            paper = PAPER.get(case, {}).get(name, (None,) * 4)
            mean, spread = ("-" if v is None else f"{v:,}" for v in (paper[0], paper[3]))
            lines.append(
                f"  {name:10}{r['count']:9,}{r['mean']:12,.0f}{r['median']:10,}"
                f"{r['least']:10,}{r['greatest']:12,}{r['spread']:12,}   {mean:>12}{spread:>10}"
            )
    return "\n".join(lines)


DIFFERS = """\
What differs from the paper: the module is simulated. Through the cable its times are cycles of
4 ns of hardware and a path of known delay (3 m, 400 ns of MACs, jitter of 8 ns); on the
other two its counter is the machine's clock, read as the simulation takes a frame from its port.
tcpdump's and tshark's are the kernel's stamps at the TAP device, as the paper's were at its NIC,
and contain the simulation's own time beside the host's. Both have each packet from one kernel,
and so the same stamps."""


def goals(found: dict[str, dict[str, dict]], packets: int) -> list[report.Goal]:
    """Check that the module's mean is below that of the captures, and its spread far below."""
    judged = []
    for case, rows in found.items():
        if "module" not in rows:
            continue
        for name in {"tcpdump", "tshark"} & set(rows):
            judged.append(
                report.Goal(
                    f"{case}: mean of the module against {name}'s",
                    round(rows["module"]["mean"] / rows[name]["mean"], 4),
                    "ratio",
                    1,
                )
            )
    if "module" in found.get("cable", {}):
        row = found["cable"]["module"]
        judged.append(report.Goal("cable: spread of the module", row["spread"], "ns", 20))
        judged.append(report.Goal("cable: packets not timed", packets - row["count"], "", 0))
    return judged


def run(options: argparse.Namespace) -> None:
    measured = {case: measure(case, options) for case in TITLES}
    found = {case: figures for case, (figures, _) in measured.items() if figures}
    absent = {}
    if not SIM.exists():
        absent["the module"] = f"there is no {SIM}: scripts/gateware sim builds it"
    judged = goals(found, options.packets)
    body = {
        "settings": running.settings(options),
        "titles": TITLES,
        "paper": PAPER,
        "differs": DIFFERS,
        "medians": found,
        "samples": {case: times for case, (_, times) in measured.items()},
    }
    report.write(options.out, body, judged)
    print(table(found))
    print(DIFFERS)
    report.print_goals(absent, judged)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="make bench NAME=rtt",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument(
        "--packets", type=running.number, default=10_000, help="of each case (10000)"
    )
    parser.add_argument(
        "--interval-us", type=running.number, default=4000, help="between two (4000)"
    )
    parser.add_argument("--no-plots", action="store_true", help="without matplotlib")
    parser.add_argument("--plots-only", action="store_true", help="draw what --out holds")
    parser.add_argument("--out", type=running.result, default=paths.OUT / "bench" / "rtt.json")
    return running.carry_out("rtt", parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
