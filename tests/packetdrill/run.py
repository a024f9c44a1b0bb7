# SPDX-License-Identifier: Apache-2.0
"""Runs a script on a back end: events in their order, at their times, checked as packetdrill does.

The first fault ends a script: Mismatch for the stack, ScriptError for the script."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import Protocol

from tests.packetdrill import code, packet, shell
from tests.packetdrill import sockets as s
from tests.packetdrill.calls import Calls, Prepared
from tests.packetdrill.config import Config, apply
from tests.packetdrill.errors import Mismatch, NotSupported, ScriptError
from tests.packetdrill.packets import Packets
from tests.packetdrill.script import (
    ABSOLUTE,
    ABSOLUTE_RANGE,
    ANY,
    ELLIPSIS,
    RELATIVE,
    RELATIVE_RANGE,
    Call,
    Code,
    Command,
    Event,
    PacketSpec,
    Script,
)
from tests.packetdrill.symbols import symbol

AF_INET, AF_INET6 = 2, 10
US = 1000


class Backend(Protocol):
    """Times are nanoseconds since start()."""

    name: str
    tolerance_percent: float
    virtual: bool

    def start(self, config: Config) -> None: ...
    def stop(self) -> None: ...
    def now(self) -> int: ...
    def sleep_until(self, when: int) -> None: ...
    def send(self, packet: bytes) -> None: ...
    def receive(self, until: int) -> tuple[bytes, int] | None: ...
    def call(self, name: str, args: list[int]) -> tuple[int, int]: ...
    def begin(self, name: str, args: list[int]) -> None: ...
    def ended(self) -> tuple[int, int, int] | None: ...
    def cancel(self) -> None: ...
    def sysctl(self, name: str, value: str) -> None: ...
    def command(self, line: str) -> bool: ...
    def counter(self, name: str) -> int: ...


@dataclass
class Blocked:
    """A call that has begun and has not returned."""

    event: Event
    call: Call
    prepared: Prepared
    end: int  # microseconds
    start: int


def configure(script: Script, config: Config) -> Config:
    """Returns the script's options, with those of the command line that are not defaults."""
    result = Config()
    for name, value in script.options:
        try:
            result = apply(result, name, value)
        except ScriptError as e:
            raise type(e)(f"{script.path}: {e}") from None
    for name in Config.__dataclass_fields__:
        given = getattr(config, name)
        if name == "so_flags":
            result = apply(result, name, given or None)
        elif given != getattr(Config(), name):
            result = Config(**{**result.__dict__, name: given})
    return result.with_defaults()


class Run:
    def __init__(
        self, script: Script, backend: Backend, config: Config, verbose: bool = False
    ) -> None:
        self.script = script
        self.backend = backend
        self.config = configure(script, config)
        self.verbose = verbose
        self.calls = Calls(self)
        self.packets = Packets(self)
        self.fds: dict[int, int] = {}
        self.sockets: list[s.Sock] = []
        self.under_test: s.Sock | None = None
        self.blocked: Blocked | None = None
        self.code_space: dict[str, object] = {}
        self.event: Event | None = None
        self.last: Event | None = None
        self.log: list[str] = []

    # ---- the whole ----

    def run(self) -> None:
        percent = self.config.tolerance_percent
        self.percent = self.backend.tolerance_percent if percent < 0 else percent
        self.backend.start(self.config)
        try:
            self.commands_before()
            for event in self.script.events:
                self.event = event
                self.one(event)
                self.look_at_blocked()
                self.last = event
            self.finish_blocked()
        finally:
            self.clean_up()

    def commands_before(self) -> None:
        for path in filter(None, self.config.init_scripts.split(",")):
            folder = os.path.dirname(self.script.path)
            with open(os.path.join(folder, path)) as f:
                self.command(f.read(), 0)
        if self.script.init:
            self.command(self.script.init.line, self.script.init_line)

    def clean_up(self) -> None:
        self.backend.cancel()
        try:
            if self.script.cleanup:
                self.command(self.script.cleanup.line, self.script.cleanup_line)
        finally:
            self.packets.reset_all()
            for live in list(self.fds.values()):
                self.backend.call("close", [live])
            self.backend.stop()

    def command(self, line: str, number: int) -> None:
        runner = getattr(self.backend, "shell", None)
        try:
            if runner:
                runner(line)
            else:
                shell.obey(self, line)
        except ScriptError as e:
            raise type(e)(f"{self.script.path}:{number}: {e}") from None

    def one(self, event: Event) -> None:
        self.set_times(event)
        action = event.action
        where = f"{self.script.path}:{event.line}: "
        try:
            match action:
                case PacketSpec(outbound=True):
                    self.packets.outbound(event, action)
                case PacketSpec():
                    self.wait("inbound packet")
                    self.packets.inbound(action)
                case Call():
                    self.wait("system call start")
                    self.system_call(event, action)
                case Command():
                    self.wait("command")
                    self.command(action.line, event.line)
                case Code():
                    self.wait("data collection for code")
                    code.execute(self, action.text, event.line)
        except (Mismatch, ScriptError) as e:
            text = str(e)
            raise type(e)(text if text.startswith(self.script.path) else where + text) from None

    # ---- time, in microseconds since the start of the script ----

    def now(self) -> int:
        return self.backend.now() // US

    def set_times(self, event: Event) -> None:
        """Resolves relative times: after the last incoming packet if both are inbound packets, else
        after now."""
        if event.time_type in (ABSOLUTE, ABSOLUTE_RANGE):
            if self.last and self.last.time_type == ABSOLUTE and event.time < self.last.time:
                raise ScriptError(
                    f"{self.script.path}:{event.line}: time goes backward in script from "
                    f"{self.last.time} usec to {event.time} usec"
                )
            return
        if self.last and inbound(self.last) and inbound(event):
            event.offset = self.last.time
        else:
            event.offset = self.now()
        event.time += event.offset
        event.time_end += event.offset

    def wait(self, what: str) -> None:
        """Waits for the time of the event; a blocked call may return in between."""
        self.backend.sleep_until(self.event.time * US)
        self.look_at_blocked()
        self.check_time(self.now(), what)

    def check_time(self, actual: int, what: str) -> None:
        e = self.event
        last = self.last.time if self.last else None
        self.verify_time(e.time_type, e.time, e.time_end, actual, last, what, e.offset)

    def verify_time(
        self,
        kind: int,
        start: int,
        end: int,
        actual: int,
        last: int | None,
        what: str,
        offset: int,
    ) -> None:
        if kind == ANY:
            return
        tolerance = self.config.tolerance_usecs
        if last is not None:
            tolerance = max(tolerance, int(self.percent / 100 * (start - last)))
        if start - tolerance <= actual <= end + tolerance:
            return
        if kind == ABSOLUTE_RANGE:
            raise Mismatch(
                f"timing error: expected {what} in time range {sec(start)}~{sec(end)} sec "
                f"but happened at {sec(actual)} sec"
            )
        if kind == RELATIVE_RANGE:
            raise Mismatch(
                f"timing error: expected {what} in relative time range "
                f"+{sec(start - offset)}~+{sec(end - offset)} sec "
                f"but happened at +{sec(actual - offset)} sec"
            )
        raise Mismatch(
            f"timing error: expected {what} at {sec(start)} sec but happened at {sec(actual)} sec; "
            f"tolerance {sec(tolerance)} sec"
        )

    # ---- calls ----

    def system_call(self, event: Event, call: Call) -> None:
        prefix = f"runtime error in {call.name} call: "
        self.await_blocked()
        try:
            prepared = self.calls.prepare(call)
            if call.end is None:
                self.call_now(call, prepared)
            else:
                self.call_blocking(event, call, prepared)
        except (Mismatch, ScriptError) as e:
            raise type(e)(prefix + str(e)) from None

    def call_now(self, call: Call, prepared: Prepared) -> None:
        before = self.now()
        if prepared.name:
            result, error = self.backend.call(prepared.name, prepared.args)
        else:  # already made
            result, error = prepared.args
        took = self.now() - before
        self.note(f"{call.name} syscall: {sec(self.now())} = {result}")
        if self.backend.virtual and took > 0:
            raise Mismatch(
                f"the call blocked for {sec(took)} sec; one that is to block is written "
                f"TIME...TIME {call.name}()"
            )
        self.check_call(call, prepared, result, error)

    def call_blocking(self, event: Event, call: Call, prepared: Prepared) -> None:
        self.look_at_blocked()
        if self.blocked:
            line = self.blocked.event.line
            raise ScriptError(f"the call of line {line} is still blocked")
        end = call.end + (event.offset if event.time_type == RELATIVE else 0)
        if end < event.time:
            raise ScriptError("the call would end before it begins")
        self.blocked = Blocked(event, call, prepared, end, event.time)
        self.backend.begin(prepared.name, prepared.args)
        self.look_at_blocked()

    def await_blocked(self) -> None:
        """Waits, in real time up to a second, for a call that should have returned by now."""
        b = self.blocked
        while b and self.blocked and not self.backend.virtual and self.now() >= b.end:
            if self.now() > b.end + 1_000_000:
                return
            self.backend.sleep_until(self.backend.now() + 1_000_000)
            self.look_at_blocked()

    def look_at_blocked(self) -> None:
        b = self.blocked
        if not b:
            return
        done = self.backend.ended()
        if not done:
            return
        self.blocked = None
        result, error, at = done
        self.note(f"{b.call.name} syscall: {sec(at // US)} = {result}")
        try:
            self.check_call(b.call, b.prepared, result, error)
            what = "system call return"
            self.verify_time(ABSOLUTE, b.end, b.end, at // US, b.start, what, 0)
        except (Mismatch, ScriptError) as e:
            where = f"{self.script.path}:{b.event.line}: runtime error in {b.call.name} call: "
            raise type(e)(where + str(e)) from None

    def finish_blocked(self) -> None:
        """Waits at the end of the script for a call that has yet to return."""
        if not self.blocked:
            return
        b = self.blocked
        tolerance = max(self.config.tolerance_usecs, int(self.percent / 100 * (b.end - b.start)))
        self.backend.sleep_until((b.end + tolerance) * US)
        self.look_at_blocked()
        if self.blocked:
            raise Mismatch(
                f"{self.script.path}:{b.event.line}: runtime error in {b.call.name} call: "
                f"expected system call return at {sec(b.end)} sec, and it has not returned"
            )

    def check_call(self, call: Call, prepared: Prepared, result: int, error: int) -> None:
        if call.result is not ELLIPSIS:
            wanted = self.wanted_result(call)
            said = f"{result} with errno {error} ({os.strerror(error)})"
            if prepared.is_fd and wanted >= 0:
                if result < 0:
                    raise Mismatch(f"Expected non-negative result but got {said}")
            elif result != wanted:
                raise Mismatch(f"Expected result {wanted} but got {said if result < 0 else result}")
        if call.error is not None:
            number = symbol(call.error)
            if error != number or result >= 0:
                raise Mismatch(
                    f"Expected errno {number} ({os.strerror(number)}) but got {error} "
                    f"({os.strerror(error)})"
                )
        if result >= 0:
            prepared.after(result)

    def wanted_result(self, call: Call) -> int:
        from tests.packetdrill.symbols import integer

        return integer(call.result, "a result")

    # ---- descriptors ----

    @property
    def socket_domain(self) -> int:
        return AF_INET if self.config.ip_version == "ipv4" else AF_INET6

    def backend_takes(self, domain: int, kind: int, protocol: int) -> None:
        takes = getattr(self.backend, "takes", None)
        if takes:
            takes(domain, kind, protocol)

    def new_fd(self, script_fd: int, live: int) -> None:
        if script_fd in self.fds:
            raise ScriptError(f"duplicate fd {script_fd} in script")
        self.fds[script_fd] = live

    def sock_of_fd(self, script_fd: int) -> s.Sock | None:
        for sock in reversed(self.sockets):
            if sock.script_fd == script_fd and script_fd in self.fds:
                return sock
        return None

    def accepted(self, script_fd: int, live: int, port: int) -> None:
        for sock in self.sockets:
            if sock.state in (s.SYNACK_SENT, s.SYNACK_ACKED, s.PASSIVE) and sock.live_fd < 0:
                if sock.remote_port != port:
                    continue
                sock.script_fd, sock.live_fd = script_fd, live
                return
        raise ScriptError("unable to find socket matching accept() call")

    def connecting(self, sock: s.Sock | None, raw: bytes) -> None:
        """Prepares for connect(), or a first sendto(), of this socket to this address."""
        if sock is None:
            return
        family, port = struct.unpack("=H", raw[:2])[0], struct.unpack("!H", raw[2:4])[0]
        if family == 0:  # AF_UNSPEC disconnects
            sock.state = s.NEW
            return
        if sock.state != s.NEW:
            return
        sock.state = s.CONNECTING
        sock.remote_port = port
        self.under_test = sock

    # ---- words ----

    def note(self, line: str) -> None:
        self.log.append(line)
        if self.verbose:
            print(line)


def inbound(event: Event) -> bool:
    return isinstance(event.action, PacketSpec) and not event.action.outbound


def sec(usecs: int) -> str:
    return f"{usecs / 1e6:.6f}"


__all__ = ["Backend", "Mismatch", "NotSupported", "Run", "ScriptError", "configure", "packet"]
