# SPDX-License-Identifier: Apache-2.0
"""`toehold rtt --watch` on an interface that goes down, comes up again, and is removed."""

from __future__ import annotations

import json

import pytest

from tests.lab import netns, paths, proc

pytestmark = pytest.mark.toehold_only


@pytest.fixture
def pair():
    p = netns.Pair(kernel_ip="10.77.0.1/24")
    yield p
    p.delete()


def ping(pair: netns.Pair, count: int) -> None:
    pair.client.run(["ping", "-q", "-c", count, "-i", "0.01", pair.server_ip])


def test_an_interface_that_goes_away_ends_the_measurement(pair):
    command = [paths.built("toehold"), "rtt", "--source", "software", "--watch", "cli0"]
    with pair.client.start([*command, "--match", "icmp", "--json"], name="watch") as p:
        proc.wait_until(lambda: "watching" in p.text(), "watching", proc=p)
        ping(pair, 5)
        pair.client.run(["ip", "link", "set", "cli0", "down"])
        proc.wait_until(lambda: "went down" in p.text(), "it to see cli0 down", proc=p)
        pair.client.run(["ip", "link", "set", "cli0", "up"])
        ping(pair, 7)
        pair.client.run(["ip", "link", "delete", "cli0"])
        assert p.wait(30) == 1
        said = p.text()
    assert "cli0 was removed" in said
    # the results until then are reported: from before it was down, and after
    assert json.loads(said[said.index("{") : said.rindex("}") + 1])["samples"] == 12


def test_one_that_goes_away_after_it_was_told_down(pair):
    """The kernel sends no event for it."""
    command = [paths.built("toehold"), "rtt", "--source", "software", "--watch", "cli0"]
    with pair.client.start([*command, "--match", "icmp", "--json"], name="watch") as p:
        proc.wait_until(lambda: "watching" in p.text(), "watching", proc=p)
        ping(pair, 3)
        pair.client.run(["ip", "link", "set", "cli0", "down"])
        proc.wait_until(lambda: "went down" in p.text(), "it to see cli0 down", proc=p)
        pair.client.run(["ip", "link", "delete", "cli0"])
        assert p.wait(30) == 1
        said = p.text()
    assert "cli0 was removed" in said
    assert json.loads(said[said.index("{") : said.rindex("}") + 1])["samples"] == 3
