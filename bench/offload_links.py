# SPDX-License-Identifier: Apache-2.0
"""The links of offload.py: Linux and the TOE over veth, at full speed or paced, with the sizes of
socket buffers and the delay of interrupts chosen end by end. The client sends, the server receives.
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from bench import cpu, links
from tests.lab import netns, proc, toed

# What a TOE's programs have when nothing is changed: no polling, so that CPU time is work.
ENV = {**links.room(512, 1 << 20), "TOEHOLD_BUSY_POLL_US": "0"}
# Interrupts by time alone, not by the number of commands.
BY_TIME = "65535"
AUTO = "auto"


class Linux(links.Linux):
    """A token bucket at each end paces it."""

    system = "linux"

    def __init__(self, *, rate: int = 0, **options: object):
        super().__init__(**options)
        self.rate = rate

    def open(self, stack: ExitStack) -> None:
        super().open(stack)
        self.ends = ((self.client, "cli0"), (self.server, "srv0"))
        for ns, interface in self.ends if self.rate else ():
            bucket = ["rate", f"{self.rate}bit", "burst", "16kb", "limit", "1mb"]
            ns.run(["tc", "qdisc", "replace", "dev", interface, "root", "tbf", *bucket])

    def counted(self) -> dict[str, int]:
        return {}

    def engine_seconds(self) -> float:
        return 0.0

    def offloads(self) -> list[str]:
        return ["tso", "gso", "gro", "tx"]

    def switch(self, changes: Mapping[str, bool]) -> None:
        words = [w for name, on in changes.items() for w in (name, "on" if on else "off")]
        for ns, interface in self.ends if words else ():
            ns.run(["ethtool", "-K", interface, *words])

    def pinged(self, size: int, count: int) -> str:
        """Return what ping(8) says of echoes of that size."""
        return self.client.ping(self.ip, "-s", size, count=count)

    def buffers(self, sender: int, receiver: int) -> None:
        for ns in (self.client, self.server):
            ns.run(["sysctl", "-qw", f"net.ipv4.tcp_wmem=4096 {sender} {sender}"])
            ns.run(["sysctl", "-qw", f"net.ipv4.tcp_rmem=4096 {receiver} {receiver}"])


class _Ends:
    """Environment of the server alone, and back ends that pace."""

    busy = False

    def counted(self) -> dict[str, int]:
        return {}

    def engine_seconds(self) -> float:
        return 0.0

    def __init__(self, *, rate: int = 0, **options: object):
        super().__init__(env=ENV, **options)
        self.rate = rate
        self.of_server: Mapping[str, str] = {}

    def spec(self, interface: str) -> str:
        plain = super().spec(interface)
        return f"impair(dir=tx,rate={self.rate},queue=1000):{plain}" if self.rate else plain

    def _serve(self, role: str, *args: object) -> proc.Proc:
        both = self.env
        self.env = {**both, **self.of_server}
        try:
            return super()._serve(role, *args)
        finally:
            self.env = both

    def buffers(self, sender: int, receiver: int) -> None:
        self.of_server = {**self.of_server, "TOEHOLD_RX_SIZE": str(receiver)}
        self.env = {**self.env, "TOEHOLD_TX_SIZE": str(sender)}

    def delay(self, us: int | None) -> None:
        """Delay the server's interrupts by that time; None: as the load asks for."""
        times = {} if us is None else {"TOEHOLD_IRQ_USEC": str(us), "TOEHOLD_IRQ_COUNT": BY_TIME}
        if us == 0:
            times["TOEHOLD_IRQ_COUNT"] = "1"
        kept = {n: v for n, v in self.of_server.items() if not n.startswith("TOEHOLD_IRQ_")}
        self.of_server = {**kept, **times}


class Toed(_Ends, links.ToedVeth):
    """Each toed reads its moderation from a file, the server's or the client's again when it is to
    change."""

    system = "toed"

    def open(self, stack: ExitStack) -> None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="toehold-bench-")))
        self.file = folder / "toehold.toml"
        self.toed_args = ["--config", self.file]
        self.file.write_text(f'[toed]\nmoderation = "{AUTO}"\n')
        super().open(stack)
        self.moderations = [AUTO, AUTO]
        self.program_seconds = self.started = 0.0

    def moderate(self, server: str, client: str) -> None:
        """Set toed's own delay of frames at each end: "auto", "off" or microseconds."""
        for end, wanted in enumerate((server, client)):
            if wanted == self.moderations[end]:
                continue
            daemon = self.toeds[end].proc
            self.file.write_text(f'[toed]\nmoderation = "{wanted}"\n')
            before = daemon.text().count("SIGHUP: moderation")
            os.kill(daemon.pid, signal.SIGHUP)
            proc.wait_until(
                lambda d=daemon, n=before: d.text().count("SIGHUP: moderation") > n,
                f"moderation {wanted}",
                proc=daemon,
            )
            self.moderations[end] = wanted

    def engine_seconds(self) -> float:
        """Return the CPU time of the server's engine."""
        times = cpu.by_thread(self.toeds[0].proc.pid)
        return sum(t for name, t in times.items() if name.startswith("toed-engine"))

    def _serve(self, role: str, *args: object) -> proc.Proc:
        server = super()._serve(role, *args)
        self.started = sum(cpu.by_thread(server.pid).values())
        return server

    def _ending(self, server: proc.Proc) -> None:
        with contextlib.suppress(FileNotFoundError):  # it has ended by itself: a failure
            self.program_seconds = sum(cpu.by_thread(server.pid).values()) - self.started

    def _engine(self) -> dict:
        return self.toeds[0].stats()["engines"][0]

    def counted(self) -> dict[str, int]:
        """Return counters of the server's engine that do not depend on the machine's other load."""
        found = self._engine()
        names = ("sleeps", "moderated_sleeps", "interrupts")
        frames = {name: found["netio"][name] for name in ("rx_frames", "rx_bytes")}
        return {**{name: found["counters"][name] for name in names}, **frames}

    def spent(self, engine_before: float) -> float:
        """Return the CPU seconds of the server's engine since then, and of its program in the last
        measurement. What other programs do on their core is not part of it."""
        return self.engine_seconds() - engine_before + self.program_seconds

    def current_delay(self) -> int:
        return self._engine()["netio"]["rx_delay_us"]

    def pinged(self, size: int, count: int) -> str:
        """As Linux's; a host of its own asks, as no kernel is at an end of this link."""
        off = [w for w in ("tx", "rx") if w not in self.offloads()]
        switched = ["--offload", ",".join(f"{w}=off" for w in off)] if off else []
        with (
            netns.Pair(subnet="10.79.0", offload=True) as pair,
            toed.Toed(pair, netif=f"af_xdp:{pair.server_if}", args=switched) as one,
        ):
            return pair.client.ping(one.ip, "-s", size, count=count)


class Inline(_Ends, links.InlineVeth):
    """It sleeps when there is nothing to do."""

    system = "inline"

    def pinged(self, size: int, count: int) -> str:
        """Nothing: its stack is that of toed."""
        return ""


LINKS: dict[str, type[links.Link]] = {"linux": Linux, "toed": Toed, "inline": Inline}
