# SPDX-License-Identifier: Apache-2.0
"""The web server of offload.py: nginx on its own core, with the files of SPECweb99 and a page cache
too small for them (figure 7), or with many clients of one file (S3.4).

On Linux, TCP is the work of nginx's core, without offloads alone, with them shared with the "card":
the other end's core, as veth passes large segments on. toed is a card on the other core, the inline
TOE works on nginx's core.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench import cores, fileset, links, loadgen, memory_limit, perf, webserver, wrk
from tests.lab import netns, paths, proc
from tests.lab.toed import Toed

NGINX_CORE, OTHER_CORE = links.SERVER_CORE, links.CLIENT_CORE
SEED = 1999
ORDER = 200_000  # requests, then again from the first
WORKERS = 8  # that one may wait for the disk while another works
CONNECTIONS = 64
WORDS = ("tso", "gso", "tx")  # of the server's interface
ENDS = 0.25

Row = dict[str, float]

# What functions of the kernel do, by their names; the first that matches counts. What runs with
# interrupts disabled is sampled where they are enabled again.
PARTS = {
    "checksums": r"csum|checksum",
    "segmentation": r"gso|skb_segment|skb_split|tso_|skb_copy_bits|pskb_(expand|pull)|__pi_memcpy",
    "copying": r"rep_movs|copy_(to|from)_|_copy_(to|from)_iter|clear_page",
    "interrupts": r"write_msr|softirq|_irq(restore)?$|smp_call|try_to_wake|ttwu|send_call_function",
    "disk and files": r"^_*(ext4|jbd2|filemap|page_cache|readahead|folio|bio|blk|virtblk|virtio|"
    r"vring|virtqueue|iowrite|vfs|xas|xa|splice|iter_file_splice|lookup|d|dentry|path|link_path|"
    r"walk|namei|inode|lru|mem_cgroup|try_charge|shrink|workingset|open|do_open|do_filp|stat|"
    r"iomap|submit|mpage|generic_file|page_vma|kiocb|sendfile|do_sendfile|user_statx|cp_statx)"
    r"(_|$)",
    "idle": r"^_*(pv_native_safe_halt|default_idle|cpuidle|do_idle|mwait)",
}

PROGRAMS, KERNEL = "programs", "the rest of the kernel"


def part_of(function: str) -> str:
    """Return what a function does, named as perf names it: "[k] csum_partial"."""
    where, _, name = function.rpartition(" ")
    if where.strip() != "[k]":
        return PROGRAMS
    for part, pattern in PARTS.items():
        if re.search(pattern, name.split(".")[0]):
            return part
    return KERNEL


def parts(functions: list[dict]) -> dict[str, float]:
    """Return the percent of a profile's functions by what they do."""
    found = dict.fromkeys([*PARTS, PROGRAMS, KERNEL], 0.0)
    for f in functions:
        name = part_of(f["function"])
        found[name] = round(found[name] + f["percent"], 2)
    return found


def steer_to_cores(pair: netns.Pair) -> None:
    """Have each end's core receive its frames, by RPS: an interrupt between the processors. Else
    veth's sender does the work of both ends."""
    for ns, interface, core in (
        (pair.server, pair.server_if, NGINX_CORE),
        (pair.client, pair.client_if, OTHER_CORE),
    ):
        mask = f"/sys/class/net/{interface}/queues/rx-0/rps_cpus"
        ns.run(["sh", "-c", f"echo {1 << core:x} >{mask}"])


class Server:
    """nginx on a system, with a Linux peer; a context manager.

    system    linux, toed or inline.
    root      files to serve; None: those of webserver.CASES.
    """

    def __init__(self, system: str, *, root: Path | None = None, workers: int = 1, slots: int = 64):
        self.system, self.root, self.workers = system, root, workers
        self.env = links.room(max(64, slots), 65536)
        self._stack = ExitStack()

    def __enter__(self) -> Server:
        try:
            self._open(self._stack)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stack.close()

    def _open(self, stack: ExitStack) -> None:
        linux = self.system == "linux"
        address = {"subnet": "10.78.0", "kernel_ip": "10.78.0.1/24"} if linux else {}
        self.pair = stack.enter_context(netns.Pair(offload=True, **address))
        daemon = None
        if linux:
            steer_to_cores(self.pair)
            # The only one that every namespace may choose. BBR sets timers for what it paces.
            for ns in (self.pair.server, self.pair.client):
                ns.run(["sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno"])
        elif self.system == "toed":
            daemon = stack.enter_context(Toed(self.pair))
            proc.run(["taskset", "-a", "-p", "-c", OTHER_CORE, daemon.proc.pid])

        def wrap(argv: list[object]) -> list[object]:
            variables = [f"{name}={value}" for name, value in self.env.items()]
            if self.system == "inline":
                run = [paths.built("toehold"), "run", "--require", "--engine", "inline", "--netif"]
                run += [f"af_xdp:{self.pair.server_if}", "--ip"]
                argv = [*run, f"{self.pair.server_ip}/{self.pair.prefix_len}", "--", *argv]
            return loadgen.pinned(NGINX_CORE, ["env", *variables, *argv])

        self.nginx = stack.enter_context(
            webserver.Nginx(
                self.pair,
                toed=daemon,
                wrap=wrap,
                workers=self.workers,
                root=self.root,
                name=f"offload-{self.system}",
            )
        )

    def switch(self, on: bool) -> None:
        words = [w for word in WORDS for w in (word, "on" if on else "off")]
        self.pair.server.run(["ethtool", "-K", self.pair.server_if, *words])

    def pids(self) -> list[int]:
        return [self.nginx.proc.pid, *self.nginx.workers()]

    def read_from_disk(self) -> int:
        """Return the bytes that the workers have read from the disk."""
        fields = [Path(f"/proc/{pid}/io").read_text() for pid in self.nginx.workers()]
        return sum(int(re.search(r"^read_bytes: (\d+)$", f, re.MULTILINE)[1]) for f in fields)


def measured(server: Server, seconds: float, work: Callable[[], tuple[int, int, float]]) -> Row:
    """Return a row of work(), which returns requests, bytes and the p50 in microseconds."""
    before, read = server.nginx.cpu(), server.read_from_disk()
    with cores.Watch() as watch:
        requests, size, p50 = work()
    used = server.nginx.cpu() - before
    share = watch.share(NGINX_CORE, max(0.1, seconds - ENDS), ENDS)
    return {
        "requests_per_s": requests / seconds,
        "gbit_per_s": 8 * size / seconds / 1e9,
        "server_cpu": share,
        "server_us": share * 1e6 * seconds / max(1, requests),
        "nginx_us": used.total * 1e6 / max(1, requests),
        "disk_share": (server.read_from_disk() - read) / max(1, size),
        "p50_us": p50,
    }


class Site:
    """The file set on the disk, and the server's limit of memory."""

    def __init__(self, stack: ExitStack, options: argparse.Namespace):
        folder = Path(tempfile.mkdtemp(prefix="fileset-", dir=paths.OUT))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        self.root, self.options = folder, options
        fileset.create(folder, options.directories, SEED)
        self.order = fileset.order(options.directories, ORDER, SEED)

    def load(self, server: Server, seconds: int) -> wrk.Result:
        return wrk.load(
            server.pair.client,
            server.nginx.base,
            seconds=seconds,
            connections=CONNECTIONS,
            prefix=loadgen.pinned(OTHER_CORE, []),
            paths=self.order,
        )

    @contextmanager
    def limited(self, server: Server):
        """Let the server's processes have the cache of --cache-mib, their own memory included."""
        with memory_limit.MemoryLimit(self.options.cache_mib << 20) as limit:
            limit.add(server.pids())
            try:
                yield
            finally:
                server.nginx.proc.stop()

    def sample(self, server: Server) -> Row:
        seconds = max(1, round(self.options.seconds))
        found: list[wrk.Result] = []

        def work() -> tuple[int, int, float]:
            result = self.load(server, seconds)
            found.append(result)
            return result.requests, result.bytes, result.p50_us

        self.load(server, 1)  # fills the cache
        return measured(server, seconds, work)

    def profile(self, server: Server) -> dict[str, float]:
        seconds = max(1, round(self.options.seconds))
        found = perf.profile(
            0, seconds, lambda: self.load(server, seconds), core=NGINX_CORE, most=400
        )
        return {f"profile: {name}": v for name, v in parts(found["functions"]).items()}


def web(system: str, options: argparse.Namespace) -> dict[str, dict]:
    """Return a sample of the mix with offloads, and on Linux without; with it its profile."""
    found: dict[str, dict] = {}
    with ExitStack() as stack:
        site = Site(stack, options)
        server = stack.enter_context(Server(system, root=site.root, workers=WORKERS))
        stack.enter_context(site.limited(server))
        for at in ("on", "off") if system == "linux" else ("on",):
            if system == "linux":
                server.switch(at == "on")
            found[f"{at} mix"] = site.sample(server)
            if options.profiles and not perf.missing():
                found[f"{at} mix"] |= site.profile(server)
    return found


def clients(system: str, options: argparse.Namespace) -> dict[str, Row]:
    """Return samples of requests for one file by many clients, each on a connection of its own."""
    found: dict[str, Row] = {}
    with Server(system, slots=2 * max(options.clients)) as server:
        for at in ("on", "off") if system == "linux" else ("on",):
            if system == "linux":
                server.switch(at == "on")
            for count in options.clients:
                found[f"{at} {count}"] = ask(server, count, options)
    return found


def ask(server: Server, count: int, options: argparse.Namespace) -> Row:
    args = ["--url", server.nginx.url("return200"), "--connections", count, "--warmup", 0]
    args += ["--duration", options.seconds, "--length", len(webserver.BODY)]

    def work() -> tuple[int, int, float]:
        said = loadgen.run(server.pair.client, "http", *args, core=OTHER_CORE)
        answered = said["answered"]
        return answered, answered * len(webserver.BODY), said["latency_ns"]["p50"] / 1000

    return measured(server, options.seconds, work)


def why_missing() -> str | None:
    """Return why figure 7 cannot be measured here, or None."""
    return memory_limit.missing() or (None if shutil.which("wrk") else "wrk is not installed")


def gain(rows: Mapping[str, Row]) -> float | None:
    """Return requests/s of the mix with offloads to without."""
    if "on mix" not in rows or "off mix" not in rows:
        return None
    return rows["on mix"]["requests_per_s"] / rows["off mix"]["requests_per_s"]
