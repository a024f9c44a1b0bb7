# SPDX-License-Identifier: Apache-2.0
"""Sending and receiving without a copy (toe.h), with a Linux peer: over toed, and inline."""

from __future__ import annotations

import json

import pytest

from tests.lab import lab as labs
from tests.lab import netns, paths, proc

TOE_PASS = paths.build_dir("toe_pass") / "manager/tests/toe_pass"
TOEHOLD = paths.built("toehold")
PORT = 7400

pytestmark = pytest.mark.toehold_only


def stats(socket: object) -> dict:
    return json.loads(proc.run([TOEHOLD, "stats", "--json", "--socket", socket]).stdout)


@pytest.fixture(params=["toed", "inline", "thread"])
def place(request, make_lab):
    """Namespaces and addresses, and the environment of a program there that links to libtoe."""
    if request.param == "toed":
        lab = make_lab()
        yield lab, {"TOEHOLD_SOCKET": str(lab.toed.socket)}
        lab.wait_idle()
        return
    with netns.Pair() as pair:
        pair.ip = pair.server_ip
        netif = f"af_xdp:{pair.server_if}"
        options = f"--netif {netif} --ip {pair.server_ip}/{pair.prefix_len}"
        yield pair, {"TOEHOLD_ENGINE": request.param, "TOEHOLD_INLINE_OPTIONS": options}


@pytest.mark.sanitize
@pytest.mark.parametrize("method", ["place", "ref", "lend"])
def test_what_comes_back_is_what_was_sent(place, method):
    lab, env = place
    # received frames are held, and sent from where they are, however small their pieces
    env = {**env, "TOEHOLD_ZEROCOPY_MIN": "1", "TOEHOLD_HOLD_MIN": "1"}
    with lab.server.start([TOE_PASS, PORT, method], env=env, name="toe_pass") as server:
        proc.wait_until(lambda: "ready" in server.text(), "toe_pass is ready", proc=server)
        for rounds, size in ((100, 1), (30, 3000), (4, 1_000_000)):
            script = labs.PROGRAMS / "echo_asyncio.py"
            argv = [labs.PYTHON, script, "client", lab.ip, PORT, 1, rounds, size]
            assert '"connections": 1' in lab.client.run(argv, timeout=60).stdout
        proc.wait_until(lambda: server.text().count("passed") == 3, "all is passed", proc=server)
        if method != "place":
            # only an engine in the program's own thread can read the program's memory
            inline = env.get("TOEHOLD_ENGINE") == "inline"
            assert (", 0 by reference" in server.text().splitlines()[-1]) == (not inline)
        if env.get("TOEHOLD_ENGINE") == "inline":
            # all were held, and none is after the connections have ended
            said = stats(f"/run/toehold/inline-{server.pid}.sock")["engines"][0]
            assert said["counters"]["rx_held"] > 4_000_000 / 1460 / 2
            assert (said["netio"]["rx_held"], said["netio"]["rx_hold_max"]) == (0, 1024)


@pytest.mark.shows("send MSG_ZEROCOPY", "setsockopt SO_ZEROCOPY")
def test_msg_zerocopy_is_that_of_linux(place):
    """The same program on Toehold and on Linux sees the same."""
    lab, env = place
    said = []
    preload = {"LD_PRELOAD": str(paths.built("libtoe_preload.so")), "TOEHOLD_REQUIRE": "1"}
    for namespace, more in ((lab.server, {**env, **preload}), (lab.client, {})):
        address = lab.pair.client_ip if hasattr(lab, "pair") else lab.client_ip
        script = [labs.PYTHON, "-u", labs.PROGRAMS / "zerocopy.py"]
        with lab.client.start([*script, "serve", address, PORT], name="sink") as sink:
            proc.wait_until(lambda s=sink: "ready" in s.text(), "the sink is ready", proc=sink)
            done = namespace.run([*script, "client", address, PORT], env=more, timeout=60)
        said.append(json.loads(done.stdout))
    assert said[0] == said[1]
    assert said[0]["many"] == [4, 23]
