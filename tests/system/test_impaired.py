# SPDX-License-Identifier: Apache-2.0
"""Through a bad network (netio's impairing wire, seeded, in both directions): every byte arrives.

Both ends send and receive at once, so the TOE's recovery and Linux's are both at work. In Linux
mode the network is a good one.
"""

from __future__ import annotations

import pytest

from tests.lab import lab as labs
from tests.lab import nginx

PORT = 9000
MB = 1_000_000

NETWORKS = {
    "loss": "loss=5",
    "burst": "burst=0.5/60",
    "reorder": "reorder=10,gap=5",
    "duplicate": "duplicate=10",
    "corrupt": "corrupt=3",
    "delay": "delay=2ms,jitter=2ms,loss=1",
    "narrow": "rate=100M,queue=50",
    "all": "loss=5,reorder=5,duplicate=5,corrupt=1",
}


def network(name: str) -> str:
    return f"{NETWORKS[name]},seed={labs.SEED}"


def transfer(lab: labs.Lab, size: int, server_under_test: bool, limit: float) -> None:
    serve = ["transfer.py", "serve"]
    tail = [PORT, size, labs.SEED]
    if server_under_test:
        first = lab.script(*serve, lab.ip, *tail, says="ready")
        second = lab.peer_script("transfer.py", "client", lab.ip, *tail)
    else:
        first = lab.peer_script(*serve, lab.peer_ip, *tail, says="ready")
        second = lab.script("transfer.py", "client", lab.peer_ip, *tail)
    with first, second:
        for p in (second, first):
            assert p.wait(limit) == 0, p.tail()
            assert p.text().endswith("ok\n")


@pytest.mark.parametrize("name", NETWORKS)
def test_bytes_both_ways(make_lab, name):
    lab = make_lab(impair=network(name))
    transfer(lab, 4 * MB, server_under_test=True, limit=120)
    lab.wait_idle(timeout=120)


@pytest.mark.sanitize
def test_bytes_both_ways_as_client(make_lab):
    lab = make_lab(impair=network("all"))
    transfer(lab, 2 * MB, server_under_test=False, limit=120)
    lab.wait_idle(timeout=120)


@pytest.mark.parametrize("server_under_test", [True, False], ids=["server", "client"])
def test_100_mb_each_way(make_lab, server_under_test):
    lab = make_lab(impair=network("all"))
    transfer(lab, 100 * MB, server_under_test, limit=240)
    lab.wait_idle(timeout=120)


@pytest.mark.sanitize
def test_many_connections(make_lab, tmp_path):
    """Opening and closing too lose, repeat and reorder their segments."""
    lab = make_lab(impair=network("all"))
    with nginx.start(lab, tmp_path):
        digest = nginx.make_file(tmp_path / "files/some", 100_000)
        url = f"http://{lab.ip}/some?[1-100]"
        out = tmp_path / "got"
        out.mkdir()
        argv = ["curl", "-sS", "-Z", "--parallel-max", 50, "--no-keepalive", "-o", out / "#1"]
        argv += ["-H", "Connection: close"]
        lab.client.run([*argv, "--retry", 3, url], timeout=120)
        for n in range(1, 101):
            data = (out / str(n)).read_bytes()
            assert nginx.hashlib.sha256(data).hexdigest() == digest
    lab.wait_idle(timeout=120)
