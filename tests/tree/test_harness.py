# SPDX-License-Identifier: Apache-2.0
"""The harness itself: its processes end, however the run ends; namespaces have no route to the
outside."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab import netns, paths, proc

# Makes a pair with a process inside, prints where, and waits to be killed.
VICTIM = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the tests ignores
from tests.lab.netns import Pair
with Pair() as pair:
    inside = pair.server.start(["sleep", "1000"])
    print(pair.server.name, inside.pid, flush=True)
    time.sleep(1000)
"""


def test_pair_reaches_the_other_end_and_nothing_else():
    with netns.Pair(kernel_ip="10.77.0.1/24") as pair:
        pair.client.run(["ping", "-c", "1", "-W", "5", pair.server_ip])
        routes = pair.client.run(["ip", "route"]).stdout.splitlines()
        assert [route.strip() for route in routes] == [
            f"10.77.0.0/24 dev {pair.client_if} proto kernel scope link src {pair.client_ip}"
        ]


def test_a_ping_that_is_not_answered_is_told():
    with netns.Pair(kernel_ip="10.77.0.1/24") as pair:
        pair.client.ping(pair.server_ip, "-s", 0, count=2)
        pair.server.run(["sysctl", "-w", "net.ipv4.icmp_echo_ignore_all=1"])
        with pytest.raises(AssertionError, match="0 received"):
            pair.client.ping(pair.server_ip, "-w", 1)


def test_sockets_of_a_namespace_are_usable_from_outside():
    with netns.Pair(kernel_ip="10.77.0.1/24") as pair, pair.server.socket() as listener:
        listener.bind((pair.server_ip, 7))
        listener.listen()
        with pair.client.connect(pair.server_ip, 7) as mine, listener.accept()[0] as theirs:
            mine.sendall(b"hello")
            assert theirs.recv(5) == b"hello"
            assert theirs.getpeername()[0] == pair.client_ip


@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGINT])
def test_nothing_outlives_its_maker(sig):
    maker = subprocess.Popen(
        [sys.executable, "-c", VICTIM],
        cwd=paths.ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    name, pid = maker.stdout.readline().split()
    assert Path("/run/netns", name).exists()
    maker.send_signal(sig)
    maker.wait()
    maker.stdout.close()
    proc.wait_until(lambda: not Path("/run/netns", name).exists(), f"{name} is removed")
    proc.wait_until(lambda: not Path("/proc", pid).exists(), f"process {pid} ends")


def test_stop_ends_children_too():
    script = "sleep 1000 & echo $!; wait"
    shell = proc.Proc(["sh", "-c", script])
    child = int(proc.wait_until(shell.text, "the shell's child"))
    shell.stop()
    proc.wait_until(lambda: _gone(child), f"process {child} ends")


def _gone(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    # A zombie has ended; only its parent's wait() is missing.
    return not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_a_process_that_ended_is_not_waited_for():
    broken = proc.Proc(["sh", "-c", "echo it broke; exit 3"])
    with pytest.raises(proc.Failed, match=r"(?s)sh ended with 3.*it broke"):
        proc.wait_until(lambda: False, "never", timeout=30, proc=broken)


def test_a_command_that_hangs_is_ended():
    with pytest.raises(proc.Failed, match=r"(?s)did not end in.*started"):
        proc.run(["sh", "-c", "echo started; sleep 1000"], timeout=1)
    assert os.waitpid(-1, os.WNOHANG) == (0, 0)


def test_a_stopped_process_is_ended_without_a_wait():
    with proc.Proc(["sleep", "1000"]) as sleeper:
        sleeper.send_signal(signal.SIGSTOP)
        stat = Path(f"/proc/{sleeper.pid}/stat")
        proc.wait_until(lambda: stat.read_text().rsplit(")")[1].split()[0] == "T", "it is stopped")
        assert sleeper.stop() == -signal.SIGTERM
