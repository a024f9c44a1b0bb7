# SPDX-License-Identifier: Apache-2.0
"""Random socket calls do on the TOE what they do on Linux, call by call
(tests/lab/random_calls.py). TOEHOLD_SEED is the first of the seeds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from test_ip6 import OWN, PEER, add_peer, wait_answers

from tests.lab import lab as labs
from tests.lab import random_calls
from tests.lab.robot import Robot

SCRIPTS = 300
KERNEL = "fd77::3"

pytestmark = pytest.mark.toehold_only


@pytest.fixture(scope="module")
def calls() -> Iterator[random_calls.Calls]:
    with labs.Lab(kernel=True, args=["--ip6", f"{OWN}/64"]) as lab:
        add_peer(lab)
        at = ["ip", "-6", "address", "add", f"{KERNEL}/64", "dev", lab.pair.server_if, "nodad"]
        lab.server.run(at)
        lab.client.run(["sysctl", "-qw", "net.ipv4.tcp_fastopen=3"])
        for address in OWN, KERNEL:
            wait_answers(lab, address)
        with Robot(lab) as own, Robot(lab, on_peer=True) as peer:
            yield random_calls.Calls(
                own,
                peer,
                {"v4": lab.ip, "v6": OWN},
                {"v4": lab.kernel_ip, "v6": KERNEL},
                {"v4": lab.peer_ip, "v6": PEER},
            )


@pytest.mark.long
def test_random_calls(calls):
    for seed in range(labs.SEED, labs.SEED + SCRIPTS):
        found = calls.compare(random_calls.script(seed))
        assert found is None, f"seed {seed}:\n{found}"


@pytest.mark.parametrize("kind", random_calls.KINDS)
def test_a_difference_is_found(calls, monkeypatch, kind):
    """Of two scripts the second one asks something that only one carrier has."""
    same = [("own", "socket", "a0", None), ("own", "poll", "a0", 4), ("own", "close", "a0", None)]
    assert calls.compare((kind, same)) is None
    at, _ = calls.carriers["linux"]
    monkeypatch.setitem(calls.carriers, "linux", (at, random_calls.PORT + 1))
    other = [*same[:1], ("own", "bind", "a0", random_calls.PORT), ("own", "names", "a0", None)]
    found = calls.compare((kind, other))
    rest = () if kind == "v4" else (0, 0)
    assert (found.toe, found.linux) == (
        [("own", 0, *rest), "ENOTCONN"],
        [("own", 1, *rest), "ENOTCONN"],
    )
