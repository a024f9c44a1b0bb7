# SPDX-License-Identifier: Apache-2.0
"""What a row of the table of programs says (programs.py)."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

PORT = 8000
ORIGIN = 8080  # nginx on the peer, which proxies are placed before


class Site(Protocol):
    """Where a program runs: what commands and configurations may name between @ signs."""

    folder: Path  # its configuration, its data; removed at the end
    ip: str
    peer: str

    def fill(self, text: str) -> str:
        """Replaces @folder@, @ip@, @peer@, @port@, @second@ (port), @origin@ and the row's own."""


@dataclass(frozen=True)
class Reload:
    """How a program takes up a new configuration while it serves.

    signal    sent to its first process
    commands  run beside it, on the stack under test
              neither: it is stopped by SIGTERM and started again
    says      what it then adds to its log, once more than at its start
    replaces  the first process ends all of its children and starts others
    gap       it does not listen for a while: connections refused in between are not lost
    name      of commands, for docs/COMPATIBILITY.md
    """

    signal: signal.Signals | None = None
    commands: Sequence[str] = ()
    says: str | None = None
    replaces: bool = False
    gap: bool = False
    name: str = ""

    def __str__(self) -> str:
        return self.name or (self.signal.name if self.signal else "restart")


HUP = Reload(signal.SIGHUP)
RESTART = Reload(gap=True)


def nothing(_site: Site) -> None:
    """For a program whose configuration is all that it needs."""


@dataclass(frozen=True)
class Program:
    """A server, how it is started, and what its clients do.

    command   words between @ signs are replaced; so they are in the files of conf/ that the
              program needs, which are copied to @folder@
    client    the protocol in talks.py
    front     a file of conf/ for an nginx on the peer, which the clients talk to
    origin    nginx on the peer serves the files at port ORIGIN
    prepare   makes what is not a copied file
    check     compares what the server has kept with what it acknowledged; returns faults
    words     more words to replace
    libraries packages of what its client is written with
    note      what is special about the row, for docs/COMPATIBILITY.md
    known     the fault of Toehold by which it loses requests today
    user      owner of @folder@/state
    """

    name: str
    packages: Sequence[str]
    command: str
    client: str = "http"
    reload: Reload = HUP
    conf: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    front: str | None = None
    origin: bool = False
    prepare: Callable[[Site], None] = nothing
    check: Callable[[Site], list[str]] | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    libraries: Sequence[str] = ()
    note: str = ""
    known: str = ""
    user: str = "root"
    requests: int = 1000
    clients: int = 8
    ready: float = 20
