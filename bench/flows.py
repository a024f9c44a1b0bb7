# SPDX-License-Identifier: Apache-2.0
"""Many flows, for bench/conns.py: their throughput, and their memory while they are idle.

Throughput is measured under two loads. "each": every connection sends its next request after the
answer, so there is one request in flight per connection. "in turn": a fixed, small number of
requests is in flight, on all connections in random order.

Both ends are `toehold bench --api toe-own` on the shared-memory wire: one process each, whose
connections have no kernel descriptors. Buffers have the minimum size.
"""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from bench import links, loadgen, report, terminal
from tests.lab import paths, proc

# Requests in flight by load; 0: one on each connection.
LOADS = {"each": 0, "in turn": 64}
SIZE = 64
BUFFER = 1024
# A pair of addresses and a server port allow 28,232 client ports.
PER_PORT = 20_000
# Memory of both ends with touched buffers: it must be free before that many are opened.
NEEDED = 10_000

GOAL_FEW, GOAL_MANY, GOAL_RATIO = 1000, 100_000, 0.8
GOAL_BYTES = 1024


def _slots(flows: int) -> int:
    """Return the slots of a queue pair: a power of two above the number of flows."""
    return 1 << max(flows + flows // 64, 1024).bit_length()


def _settings(flows: int, **more: object) -> dict[str, str]:
    env = {**links.room(_slots(flows), BUFFER), "TOEHOLD_REQUIRE": "1"}
    return {**env, **{name: str(value) for name, value in more.items()}}


class _Own:
    """Programs that call libtoe directly, without `toehold run` and preloading."""

    flows = 1

    def settings(self, end: int) -> Mapping[str, str]:
        raise NotImplementedError

    def engines(self) -> list[proc.Proc]:
        """Processes that contain only the TOE."""
        return []

    def _args(self) -> list[object]:
        ports = -(-self.flows // PER_PORT)
        busy = ["--busy"] if self.busy else []
        return ["--api", "toe-own", "--ports", ports, *busy]

    def serve(self) -> proc.Proc:
        where = f"{self.ip}:{links.PORT}"
        options = {"core": self.cores[0], "env": self.settings(0)}
        return loadgen.serve(self.server, "pingpong", where, *self._args(), **options)

    def ask(self, *args: object) -> list[object]:
        argv = ["pingpong", "--to", f"{self.ip}:{links.PORT}", *self._args(), "--timeout", 60]
        return loadgen.command(*argv, "--size", SIZE, *args)


class Inline(_Own, links.InlineWire):
    """The inline TOE: a process and a core for each end."""

    def settings(self, end: int) -> Mapping[str, str]:
        ip = (self.pair.server_ip, self.pair.client_ip)[end]
        return _settings(
            self.flows,
            TOEHOLD_ENGINE="inline",
            TOEHOLD_INLINE_LIBRARY=paths.build_dir("toehold") / "engine" / "libtoe_inline.so",
            TOEHOLD_INLINE_OPTIONS=f"--netif {self.netifs[end]} --ip {ip}/{self.pair.prefix_len}"
            f" --max-flows {_slots(self.flows)} --linger-ms 0",
        )


class Toeds(_Own, links.ToedWire):
    """A toed at each end: its memory is separate from that of the program."""

    def open(self, stack: ExitStack) -> None:
        self.toed_args = ["--max-flows", _slots(self.flows)]
        super().open(stack)

    def settings(self, end: int) -> Mapping[str, str]:
        return _settings(self.flows, TOEHOLD_SOCKET=self.toeds[end].socket)

    def engines(self) -> list[proc.Proc]:
        return [toed.proc for toed in self.toeds]


def _open(kind: type, flows: int, stack: ExitStack, *, pin: bool = True) -> _Own:
    link = kind(pin=pin)
    link.flows = flows
    return stack.enter_context(link)


# ---- throughput


def room_for(flows: int) -> str | None:
    """Return why so many cannot be opened here, or None."""
    free = int(Path("/proc/meminfo").read_text().split("MemAvailable:")[1].split()[0]) * 1024
    if free >= flows * NEEDED:
        return None
    return f"{flows:,} flows need {flows * NEEDED >> 20} MiB, {free >> 20} MiB are free"


def rate(load: str, flows: int, seconds: float, *, pin: bool = True) -> dict:
    """Return requests per second over all flows."""
    with ExitStack() as stack:
        link = _open(Inline, flows, stack, pin=pin)
        server = link.serve()
        stack.callback(server.kill)
        # Each connection is used before the measurement, so that its buffers are allocated.
        warm = max(0.5, flows / 100_000)
        argv = link.ask("--connections", flows, "--json", "--quiet", "--duration", seconds)
        argv += ["--warmup", warm]
        if at_once := min(LOADS[load], flows):
            argv += ["--at-once", at_once]
        done = link.client.run(
            loadgen.pinned(link.cores[1], argv), env=link.settings(1), timeout=600 + warm + seconds
        )
        found = json.loads(done.stdout)
    per_s = found["requests_per_s"]
    latency = {f"{p}_us": found["latency_ns"][p] / 1000 for p in ("p50", "p99")}
    return {"connections": found["connections"], "requests_per_s": round(per_s, 1), **latency}


# ---- memory


_PR_SET_THP_DISABLE = 41  # linux/prctl.h


@contextmanager
def small_pages() -> Iterator[None]:
    """Disable huge pages in programs started within: they round the resident size of each mapping
    to 2 MiB, which is 40 bytes per flow at 50,000 flows.
    """

    def switch(off: int) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_THP_DISABLE, off, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    switch(1)
    try:
        yield
    finally:
        switch(0)


def resident(pid: int) -> dict[str, int]:
    """Return the resident bytes of a process: private and shared."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    found = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith("Rss")}
    return {
        "private": int(found["RssAnon"]) * 1024,
        "shared": int(found["RssShmem"]) * 1024,
    }


def idle(kind: type, flows: int, *, pin: bool = True) -> dict[str, dict[str, int]]:
    """Return the resident memory of each process while that many flows are open and idle."""
    with ExitStack() as stack:
        link = _open(kind, flows, stack, pin=pin)
        server = link.serve()
        stack.callback(server.kill)
        argv = link.ask("--idle", flows - 1, "--duration", 1, "--warmup", 1)
        client = link.client.start(loadgen.pinned(link.cores[1], argv), env=link.settings(1))
        stack.callback(client.kill)
        proc.wait_until(
            lambda: f"{flows} connections are open" in client.text(),
            f"{flows} connections",
            proc=client,
            timeout=600,
        )
        names = ["server", "client"]
        found = {name: resident(p.pid) for name, p in zip(names, (server, client), strict=True)}
        for name, toed in zip(names, link.engines(), strict=False):
            found[f"toed_of_{name}"] = resident(toed.pid)
        code = client.wait(timeout=120)
        if code != 0:
            raise proc.Failed(f"the client ended with {code}{client.tail()}")
    return found


def growth(kind: type, flows: int, *, pin: bool = True) -> dict:
    """Return the growth of each process per flow, from that many idle flows to twice as many."""
    with small_pages():
        before, after = idle(kind, flows, pin=pin), idle(kind, 2 * flows, pin=pin)
    return {
        name: {part: round((after[name][part] - n) / flows, 1) for part, n in parts.items()}
        for name, parts in before.items()
    }


def per_flow(grown: dict) -> float:
    """Return the growth of the larger toed. Its shared memory holds the flow records."""
    return max(sum(parts.values()) for name, parts in grown.items() if name.startswith("toed"))


# ---- the bench


def measure(counts: Sequence[int], memory: int, samples: int, seconds: float, *, pin: bool) -> dict:
    rates: dict[str, dict[str, list[dict]]] = {load: {} for load in LOADS}
    absent = {str(n): why for n in counts if (why := room_for(n))}
    for number in range(samples):
        for n in (n for n in counts if str(n) not in absent):
            for load, found in rates.items():
                terminal.progress(f"sample {number + 1} of {samples}: {n:,} flows, {load}")
                found.setdefault(str(n), []).append(rate(load, n, seconds, pin=pin))
    found: dict = {"rates": rates, "absent": absent, "memory": {}}
    for name, kind in (("toed", Toeds), ("inline", Inline)) if memory else ():
        terminal.progress(f"{name}: memory of {memory:,} and {2 * memory:,} idle flows")
        found["memory"][name] = growth(kind, memory, pin=pin)
    terminal.end_progress()
    return found


def summarise(found: dict) -> tuple[dict, list[report.Goal]]:
    medians = {
        load: {
            n: {name: round(median(s[name] for s in list_), 3) for name in list_[0]}
            for n, list_ in by_count.items()
        }
        for load, by_count in found["rates"].items()
    }
    goals = []
    for load, by_count in medians.items():
        few, many = (by_count.get(str(n)) for n in (GOAL_FEW, GOAL_MANY))
        if few and many:
            ratio = round(many["requests_per_s"] / few["requests_per_s"], 3)
            name = f"requests/s over {GOAL_MANY:,} flows / over {GOAL_FEW:,}, {load}"
            goals.append(report.Goal(name, ratio, "times", GOAL_RATIO, at_most=False))
    if "toed" in found["memory"]:
        used = per_flow(found["memory"]["toed"])
        goals.append(report.Goal("memory of an idle flow in toed", used, "bytes", GOAL_BYTES))
    return medians, goals


def show(found: dict, medians: dict) -> None:
    for load, by_count in medians.items():
        if not by_count:
            continue
        head = [f"flows, {load}", "requests/s", "p50 us", "p99 us"]
        rows = [
            [f"{int(n):,}", f"{f['requests_per_s']:,.0f}"]
            + [f"{f[p]:,.1f}" for p in ("p50_us", "p99_us")]
            for n, f in by_count.items()
        ]
        print(f"\n{terminal.table(head, rows)}\n")
    if found["memory"]:
        head = ["bytes an idle flow", "private", "shared"]
        rows = [
            [f"{kind}: {name.replace('_', ' ')}", *(f"{n:,.0f}" for n in parts.values())]
            for kind, grown in found["memory"].items()
            for name, parts in grown.items()
        ]
        print(f"{terminal.table(head, rows)}\n")
