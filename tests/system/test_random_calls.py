# SPDX-License-Identifier: Apache-2.0
"""Random socket calls do on the TOE what they do on Linux, call by call
(tests/lab/random_calls.py). TOEHOLD_SEED is the first of the seeds."""

from __future__ import annotations

import pytest

from tests.lab import lab as labs
from tests.lab import random_calls
from tests.lab.robot import Robot

SCRIPTS = 300


@pytest.mark.long
@pytest.mark.toehold_only
def test_random_calls(lab):
    with Robot(lab) as own, Robot(lab, on_peer=True) as peer:
        calls = random_calls.Calls(own, peer, lab.ip, lab.kernel_ip, lab.peer_ip)
        for seed in range(labs.SEED, labs.SEED + SCRIPTS):
            found = calls.compare(random_calls.script(seed))
            assert found is None, f"seed {seed}:\n{found}"


@pytest.mark.toehold_only
def test_a_difference_is_found(lab):
    """Of two scripts the second one asks something that only one carrier has."""
    same = [("own", "socket", "a0", None), ("own", "poll", "a0", 4), ("own", "close", "a0", None)]
    with Robot(lab) as own, Robot(lab, on_peer=True) as peer:
        calls = random_calls.Calls(own, peer, lab.ip, lab.kernel_ip, lab.peer_ip)
        assert calls.compare(same) is None
        calls.carriers["linux"] = (lab.kernel_ip, random_calls.PORT + 1)
        other = [*same[:1], ("own", "bind", "a0", random_calls.PORT), ("own", "names", "a0", None)]
        found = calls.compare(other)
        assert (found.toe, found.linux) == (
            [("own", 0), "ENOTCONN"],
            [("own", 1), "ENOTCONN"],
        )
