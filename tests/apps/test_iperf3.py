# SPDX-License-Identifier: Apache-2.0
"""iperf3 under the TOE, as server and as client, both directions."""

from __future__ import annotations

import json

import pytest

from tests.lab import lab as labs

PORT = 5201
# A transfer of bytes, not of seconds: its processes work at full speed until it ends.
AMOUNT = ["-t", 1] if labs.GATEWARE else ["-n", "100M"]
SERVER = ["iperf3", "-s", "-p", PORT, "--forceflush"]


def transferred(out: str) -> dict:
    """The summary of an iperf3 client: bytes were transferred and both ends agree."""
    result = json.loads(out)
    assert "error" not in result, result["error"]
    end = result["end"]
    assert end["sum_received"]["bytes"] > 0
    assert end["sum_received"]["bytes"] <= end["sum_sent"]["bytes"]
    return end


def await_test(server: labs.proc.Proc, n: int) -> None:
    """The server listens for its n-th client; between two of them it closes its listener."""
    labs.proc.wait_until(
        lambda: f"(test #{n})" in server.text(), f"it listens for test {n}", proc=server, timeout=30
    )


@pytest.mark.sanitize
@pytest.mark.parametrize("streams", [1, 8])
@pytest.mark.parametrize("reverse", [False, True], ids=["receive", "send"])
def test_server(lab, streams, reverse):
    with lab.app([*SERVER, "-B", lab.ip], says="listening"):
        argv = ["iperf3", "-c", lab.ip, "-p", PORT, *AMOUNT, "-P", streams, "-J"]
        done = lab.client.run(argv + (["-R"] if reverse else []))
        transferred(done.stdout)


@pytest.mark.parametrize("streams", [1, 8])
@pytest.mark.parametrize("reverse", [False, True], ids=["send", "receive"])
def test_client(lab, streams, reverse):
    with lab.peer([*SERVER, "-B", lab.peer_ip], says="listening"):
        argv = ["iperf3", "-c", lab.peer_ip, "-p", PORT, *AMOUNT, "-P", streams, "-J"]
        done = lab.run(argv + (["-R"] if reverse else []))
        transferred(done.stdout)


def test_both_directions_at_once(lab):
    with lab.app([*SERVER, "-B", lab.ip], says="listening"):
        argv = ["iperf3", "-c", lab.ip, "-p", PORT, "-t", 1, "--bidir", "-J"]
        end = transferred(lab.client.run(argv).stdout)
        assert end["sum_received_bidir_reverse"]["bytes"] > 0


def test_one_server_many_tests(lab):
    """The server survives each client, including those that vanish in mid-transfer."""
    with lab.app([*SERVER, "-B", lab.ip], says="listening") as server:
        argv = ["iperf3", "-c", lab.ip, "-p", PORT, "-n", "1M", "-J"]
        for n in range(1, 4):
            await_test(server, n)
            transferred(lab.client.run(argv).stdout)
        await_test(server, 4)
        with lab.peer(["iperf3", "-c", lab.ip, "-p", PORT, "-t", 20]) as vanishing:
            labs.proc.wait_until(
                lambda: "connected to" in server.text().split("-----")[-1],
                "a test is in progress",
                proc=vanishing,
            )
            vanishing.kill()
        labs.proc.wait_until(
            lambda: lab.client.run(argv, check=False).returncode == 0, "serves again", timeout=30
        )
