# SPDX-License-Identifier: Apache-2.0
"""bench hostcores: its input, its computations, and a complete run."""

import json
import sys

import pytest

from bench import hostcores
from tests.lab import paths, proc

STAT = """cpu  100 0 100 9000 0 5 5 0 0 0
cpu0 10 1 20 4000 7 3 4 90 0 0
cpu1 90 0 80 5000 0 2 1 0 0 0
intr 17 1
"""


def test_time_of_cores_is_idle_waiting_or_stolen():
    per = 1 / hostcores.TICKS
    assert hostcores.unused([0], STAT) == pytest.approx((4000 + 7 + 90) * per)
    assert hostcores.unused([0, 1], STAT) == pytest.approx((4097 + 5000) * per)
    assert hostcores.unused([2], STAT) == 0
    assert hostcores.unused(range(4096)) > 0


def test_cores_are_named_as_the_kernel_wants_them():
    assert hostcores.mask([0]) == "00000001"
    assert hostcores.mask([0, 3]) == "00000009"
    assert hostcores.mask([1, 33]) == "00000002,00000002"


def test_counters_are_read_by_name():
    text = "Ip: A B\nIp: 1 2\nTcp: OutSegs MaxConn\nTcp: 7 -1\n"
    assert hostcores.counters(text, "Tcp:") == {"OutSegs": 7, "MaxConn": -1}


def sample(gbps: float, bytes_per_core_s: float) -> dict:
    return {
        "gbps": gbps,
        "segment": 128,
        "sent_again": 0,
        "bytes_per_core_s": bytes_per_core_s,
        "host_cores": 1.0,
    }


def test_cores_that_a_link_takes():
    # 100 Gbit/s of segments of 128 bytes on 206 of the wire: 62.14 Gbit/s of payload.
    body = {
        "samples": {
            "linux": {"1": [sample(1, x) for x in (1, 10**8, 10**9)], "2": [sample(2, 9 * 10**7)]},
            "toed": {"1": [sample(3, 4 * 10**8)]},
        },
        "gateware": {"wire_gbps": 103.5, "gbps": 64.3},
    }
    found, goals = hostcores.summarise(body)
    assert found["payload_of_link_gbps"] == 62.14
    assert found["cores"] == {"linux": 77.67, "toed": 19.42}
    assert [(goal.value, goal.met) for goal in goals] == [(0.25, True), (103.5, True)]
    body["samples"] |= {f"{n}_joined": body["samples"][n] for n in ("linux", "toed")}
    assert [goal.value for goal in hostcores.summarise(body)[1]] == [0.25, 0.25, 103.5]
    del body["samples"]["linux"], body["samples"]["linux_joined"], body["gateware"]
    assert hostcores.summarise({**body, "gateware": None})[1] == []


@pytest.mark.toehold_only
def test_it_runs_to_its_end(tmp_path):
    out = tmp_path / "hostcores.json"
    argv = [sys.executable, "-m", "bench.hostcores", "--samples", "1", "--seconds", "0.5"]
    names = ("linux", "toed", "linux_joined", "toed_joined")
    argv += ["--warmup", "0.1", "--hosts", "1", "--systems", ",".join(names), "--out", out]
    done = proc.run([*argv, "--no-plots"], cwd=paths.ROOT, timeout=120)
    body = json.loads(out.read_text())
    assert body["not_available"] == {}
    for name in names:
        found = body["medians"]["by_host_cores"][name]["1"]
        # Segments are as small as required, on any receiver.
        joined = name.endswith("_joined")
        assert joined or found["segment"] == pytest.approx(hostcores.SEGMENT, abs=1)
        assert found["gbps"] > 0
        assert 0 < found["host_cores"] <= 1.1
        assert (
            f"{hostcores.TITLES[name]}: {body['medians']['cores'][name]} host cores" in done.stdout
        )
    assert len(body["goals"]) == 2
