# SPDX-License-Identifier: Apache-2.0
"""A thread that sleeps is woken by a frame, whatever other threads polled before, over AF_XDP.

The socket leaves the epoll set of sleepers while a thread polls (netio/: watch.h). tests/programs/
woken.c computes without a socket call until the sleeping thread has been woken, so no later call of
its own can make up for a lost wake-up.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from test_inline import Inline

from tests.lab import lab as labs
from tests.lab import paths

PORT = 7310
WOKEN = paths.built("woken")

pytestmark = pytest.mark.toehold_only


@pytest.fixture(params=["inline", "thread", "toed"])
def lab(request) -> Iterator[labs.Lab]:
    with labs.Lab() if request.param == "toed" else Inline(request.param) as lab:
        yield lab


# A round computes for up to half a second.
@pytest.mark.parametrize("rounds", [15, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("poll_us", [0, 50, 2000])
def test_a_sleeper_is_woken_while_another_thread_computes(lab, poll_us, rounds):
    seed = labs.SEED + poll_us
    print(f"seed {seed}")
    with lab.peer([WOKEN, "peer", lab.peer_ip, PORT], says="ready"):
        argv = [WOKEN, "test", lab.peer_ip, PORT, seed, rounds]
        env = {"TOEHOLD_BUSY_POLL_US": str(poll_us)}
        assert lab.run(argv, env=env, timeout=20 + 2 * rounds).stdout == f"{rounds}\n"
