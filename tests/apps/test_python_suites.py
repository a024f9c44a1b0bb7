# SPDX-License-Identifier: Apache-2.0
"""Python's own tests of sockets, SSL, asyncio and HTTP: tests that pass on Linux pass on the TOE.

Their servers and clients are at the TOE's own address (tests/programs/python_suite.py).
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from tests.lab import lab as labs
from tests.lab import netns

SUITE = labs.PROGRAMS / "python_suite.py"

# On neither side: this kernel has no vsock and the wait for it never ends; there is no UDP at the
# TOE's address, which is not the kernel's here; hosts of the internet cannot be reached.
LEAVE_OUT = "|".join(
    [
        "VSOCK",
        "UDP",
        "InterruptedRecvTimeout",
        "test_socket_fileno",
        "datagram",
        "recvfrom",
        "test_sendto_blocking",
        "NetworkedTests",
        "test_host_resolution",
    ]
)

# Tests that differ from Linux, with the reason. A listed test that passes is a failure.
EXCEPTIONS: dict[str, str] = {}

ASYNCIO = "test.test_asyncio.test_"
SHORT = [
    ["test.test_httplib", "test.test_socketserver"],
    [f"{ASYNCIO}{name}" for name in ("streams", "sock_lowlevel")],
]
LONG = [
    ["test.test_socket"],
    ["test.test_ssl"],
    [f"{ASYNCIO}{name}" for name in ("events", "server", "sendfile")],
    ["test.test_selectors", "test.test_select", "test.test_poll", "test.test_epoll"],
    ["test.test_ftplib", "test.test_poplib", "test.test_telnetlib", "test.test_asyncore"],
    ["test.test_urllib2_localnet", "test.test_httpservers", "test.test_xmlrpc"],
    [f"{ASYNCIO}{name}" for name in ("sslproto", "ssl", "base_events", "selector_events")],
]


def outcomes(ns, wrapped, address: str, modules: list[str]) -> dict[str, str]:
    """How each test ended in a namespace where "localhost" is that address."""
    # A short path: they make Unix sockets there.
    with tempfile.TemporaryDirectory(prefix="toehold-") as folder:
        hosts = Path(folder) / "hosts"
        hosts.write_text(f"{address} localhost\n")
        shell = f'mount --bind {hosts} /etc/hosts && cd {folder} && exec "$@"'
        argv = [labs.PYTHON, SUITE, address, LEAVE_OUT, *modules]
        argv = ["unshare", "--mount", "sh", "-c", shell, "sh", *wrapped(argv)]
        return json.loads(ns.run(argv, timeout=280, env={"TMPDIR": folder}).stdout)


def failed(ended: dict[str, str]) -> set[str]:
    return {name for name, how in ended.items() if how not in ("ok", "skip")}


@pytest.mark.toehold_only  # it is compared with Linux here
@pytest.mark.parametrize(
    "modules",
    [*SHORT, *(pytest.param(m, marks=pytest.mark.long) for m in LONG)],
    ids=lambda modules: modules[0].removeprefix("test.test_"),
)
def test_python(make_lab, modules):
    pair = netns.Pair(kernel_ip="10.77.0.1/24")
    try:
        on_linux = outcomes(pair.server, lambda argv: argv, "10.77.0.1", modules)
    finally:
        pair.delete()
    assert Counter(on_linux.values())["ok"] > 10
    for _ in range(3):  # Python's tests have limits of time that a busy machine does not keep
        with contextlib.closing(make_lab()) as lab:
            on_toe = outcomes(
                lab.server,
                lambda argv, toed=lab.toed: toed.wrapped(argv, require=False),
                lab.ip,
                modules,
            )
            connections = lab.counter("looped")
        assert on_toe.keys() == on_linux.keys()
        differ = {n: on_toe[n] for n in failed(on_toe) - failed(on_linux)}
        if differ.keys() <= EXCEPTIONS.keys():
            break
    if "test.test_selectors" not in modules:  # these have pipes and socketpair() alone
        assert connections > 20
    known = {n for n in on_linux if n in EXCEPTIONS}
    assert {n: how for n, how in differ.items() if n not in EXCEPTIONS} == {}
    assert known <= differ.keys(), "an exception that is none any more"
