# SPDX-License-Identifier: Apache-2.0
"""One script, one result: for the command line and for tests."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass, field
from pathlib import Path

from tests.packetdrill.config import Config
from tests.packetdrill.errors import Mismatch, NotSupported, ScriptError
from tests.packetdrill.parser import parse
from tests.packetdrill.run import Run

CLONE_NEWNET = 0x40000000


@dataclass
class Result:
    kind: str  # ok, failed (the stack), unsupported, error (the script)
    message: str = ""
    log: list[str] = field(default_factory=list)


_own_network = False


def own_network() -> None:
    """Moves this process to its own network namespace, so that addresses and ports of the kernel
    sockets behind libtoe cannot collide with others. Does nothing without the privilege for it."""
    global _own_network
    if not _own_network and os.geteuid() == 0:
        ctypes.CDLL(None).unshare(CLONE_NEWNET)
    _own_network = True


def make_backend(name: str):
    if name == "core":
        from tests.packetdrill.core import Core

        own_network()
        return Core()
    if name == "gateware":
        from tests.packetdrill.core import Gateware

        own_network()
        return Gateware()
    from tests.packetdrill.linux import Linux

    return Linux()


def run_text(
    text: str,
    path: str,
    backend: str | object = "core",
    config: Config | None = None,
    verbose: bool = False,
) -> Result:
    config = config or Config()
    run = None
    try:
        script = parse(text, path, config.defines)
        if config.dry_run:
            return Result("ok")
        chosen = make_backend(backend) if isinstance(backend, str) else backend
        run = Run(script, chosen, config, verbose)
        run.run()
    except Mismatch as e:
        return Result("failed", str(e), run.log if run else [])
    except NotSupported as e:
        return Result("unsupported", str(e), run.log if run else [])
    except ScriptError as e:
        return Result("error", str(e), run.log if run else [])
    return Result("ok", "", run.log)


def run_file(
    path: str,
    backend: str | object = "core",
    config: Config | None = None,
    verbose: bool = False,
) -> Result:
    try:
        text = Path(path).read_text()
    except (OSError, UnicodeDecodeError) as e:
        return Result("error", f"{path}: {e}")
    return run_text(text, path, backend, config, verbose)
