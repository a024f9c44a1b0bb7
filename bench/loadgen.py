# SPDX-License-Identifier: Apache-2.0
"""Runs toehold bench, the load generator: a server for a sample, and its client."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from tests.lab import paths, proc
from tests.lab.netns import Namespace

Wrap = Callable[[Sequence[object]], list[object]]


def plain(argv: Sequence[object]) -> list[object]:
    """Return argv unchanged: the program runs on Linux TCP."""
    return list(argv)


def pinned(core: int | None, argv: Sequence[object]) -> list[object]:
    """Return argv pinned to one core; None: the kernel chooses."""
    return [*([] if core is None else ["taskset", "-c", core]), *argv]


def command(*args: object) -> list[object]:
    return [paths.built("toehold"), "bench", *args]


def serve(
    ns: Namespace,
    role: str,
    where: str,
    *args: object,
    wrap: Wrap = plain,
    core: int | None = None,
    env: Mapping[str, str] | None = None,
) -> proc.Proc:
    """A server that has reported that it listens."""
    argv = wrap(command("serve", role, "--listen", where, *args))
    server = ns.start(pinned(core, argv), name=f"serve-{role}", env=env)
    try:
        proc.wait_until(lambda: "serving on" in server.text(), f"serve {role}", proc=server)
    except BaseException:
        server.kill()
        raise
    return server


def run(
    ns: Namespace,
    *args: object,
    wrap: Wrap = plain,
    core: int | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 60,
) -> dict:
    """Return a client's JSON. Raise Failed when a request was not answered."""
    argv = wrap(command(*args, "--quiet", "--json"))
    done = ns.run(pinned(core, argv), timeout=timeout, env=env)
    return json.loads(done.stdout)
