# SPDX-License-Identifier: Apache-2.0
"""No frame that a stranger can send costs much more than an honest one (instructions, not time)."""

from bench import attack_cost


def test_hostile_frames_cost_what_plain_ones_do():
    missed = [goal for goal in attack_cost.goals(attack_cost.measure()) if not goal.met]
    assert not missed
