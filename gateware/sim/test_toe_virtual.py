# SPDX-License-Identifier: Apache-2.0
"""The gateware TOE in virtual time, judged by the scripts that judge core/."""

from collections.abc import Iterator

import pytest

from gateware.lib import virtual
from packetdrill.judge import SCRIPTS
from packetdrill.worker import Worker

FOLDERS = ("blocking", "epoll", "language", "nagle", "poll", "shutdown", "sockets", "timers")


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    virtual.library()
    with Worker("gateware") as w:
        yield w


@pytest.mark.parametrize("folder", FOLDERS)
def test_scripts(worker: Worker, folder: str) -> None:
    paths = sorted((SCRIPTS / folder).glob("*.pkt"))
    assert paths
    failed = [r.message for p in paths if (r := worker.run(p)).kind != "ok"]
    assert not failed, "\n\n".join(failed)
