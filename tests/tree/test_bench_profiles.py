# SPDX-License-Identifier: Apache-2.0
"""The goals of bench/profiles.py, and that every profile has a load."""

import json

import pytest

from bench import profiles
from tests.lab import paths, proc


def test_every_profile_has_a_load():
    said = proc.run([paths.built("toehold"), "config", "profiles", "--json"]).stdout
    assert [p["name"] for p in json.loads(said)["profiles"]] == list(profiles.LOADS)


@pytest.mark.parametrize(
    ("name", "default", "profile", "gain", "met"),
    [
        ("latency", [20.0, 10.0, 12.0], [9.0, 6.0, 5.0], 100.0, True),  # us: less is better
        ("latency", [10.0], [10.4], -3.8, True),  # within the tolerance
        ("latency", [10.0], [10.6], -5.7, False),
        ("throughput", [100.0], [150.0], 50.0, True),
        ("throughput", [100.0], [96.0], -4.0, True),
        ("throughput", [100.0], [94.0], -6.0, False),
    ],
)
def test_goals(name, default, profile, gain, met):
    found, goals = profiles.summarise({name: {"default": default, "profile": profile}})
    assert found[name]["gain_percent"] == gain
    assert [goal.met for goal in goals] == [met]
