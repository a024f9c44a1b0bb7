# SPDX-License-Identifier: Apache-2.0
"""A program written against toe.h, client and server, with a Linux peer; nothing is preloaded."""

from __future__ import annotations

import pytest

from tests.lab import lab as labs
from tests.lab import paths, proc

TOE_ECHO = paths.build_dir("toe_echo") / "manager/tests/toe_echo"
PORT = 7001

pytestmark = pytest.mark.toehold_only


def env(lab, **more: object) -> dict[str, str]:
    settings = {"TOEHOLD_SOCKET": lab.toed.socket, **more}
    return {name: str(value) for name, value in settings.items()}


@pytest.fixture(params=[0, 100], ids=["sleeping", "polling"])
def settings(request, lab):
    return env(lab, TOEHOLD_BUSY_POLL_US=request.param)


@pytest.mark.sanitize
def test_server(lab, settings):
    with lab.server.start([TOE_ECHO, "server", PORT], env=settings, name="toe_echo") as server:
        proc.wait_until(lambda: "ready" in server.text(), "toe_echo is ready", proc=server)
        for connections, rounds, size in ((1, 200, 1), (100, 20, 1000), (8, 4, 300000)):
            done = lab.client.run(
                [labs.PYTHON, labs.PROGRAMS / "echo_asyncio.py", "client", lab.ip, PORT]
                + [connections, rounds, size],
                timeout=60,
            )
            assert f'"connections": {connections}' in done.stdout
        lab.wait_no_flows()
        lab.wait_no_slots()


@pytest.mark.sanitize
def test_client(lab, settings):
    with lab.peer_script("echo_asyncio.py", "serve", lab.peer_ip, PORT, says="ready"):
        for connections, size in ((1, 1), (200, 5000), (4, 5_000_000)):
            done = lab.server.run(
                [TOE_ECHO, "client", lab.peer_ip, PORT, connections, size],
                env=settings,
                timeout=60,
            )
            assert done.stdout == f"done {connections} {size}\n"
        lab.wait_no_flows()


def test_client_of_nobody(lab):
    done = lab.server.run([TOE_ECHO, "client", lab.peer_ip, PORT, 1, 1], env=env(lab), check=False)
    assert done.returncode == 1
    assert "Connection refused" in done.stderr
