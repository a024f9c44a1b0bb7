# SPDX-License-Identifier: Apache-2.0
"""toed --manager polling (SEEDS S1.15): one HW ring for all, and a thread that hands out. Programs
see no difference: tests of other files run again on it, over two engines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_death import (  # noqa: F401
    test_killed_in_the_middle_of_a_transfer,
    test_killed_program_ends_its_connections,
    test_stopped_toed_says_goodbye,
)
from test_readiness import (  # noqa: F401
    test_edge_triggered,
    test_peer_closes_half,
    test_toe_and_kernel_descriptors_together,
)
from test_sockets import (  # noqa: F401
    test_backlog_refuses_no_one_for_good,
    test_connect_refused,
    test_fork_leaves_the_connection_with_the_parent,
    test_non_blocking_connect,
    test_port_in_use,
    test_threads_send_and_receive_at_once,
)
from test_upgrade import Load

from tests.apps.test_nginx import (  # noqa: F401
    test_both_workers_get_connections,
    test_worker_killed_is_replaced,
)
from tests.lab import lab as labs
from tests.lab import nginx, paths, proc
from tests.lab.robot import PORT, Robot

POLLING = ("--manager", "polling")


@pytest.fixture(scope="module")
def _shared_lab():
    with labs.Lab(kernel=True, engines=2, args=POLLING) as lab:
        yield lab


def test_every_byte_both_ways(lab):
    """5 MB each way; buffers fill, and so does the common ring now and then."""
    server = lab.script("transfer.py", "serve", lab.ip, PORT, 5_000_000, 7, says="ready")
    peer = lab.peer_script("transfer.py", "client", lab.ip, PORT, 5_000_000, 7)
    for end in (server, peer):
        assert end.wait(60) == 0, end.tail()
        assert "ok" in end.text()


@pytest.mark.toehold_only
def test_the_manager_wakes_who_sleeps(lab, robot):
    """Not the engines; and moderation holds in its hands."""
    before = {n: lab.counter(n) for n in ("manager_commands", "manager_wakes", "interrupts")}
    assert lab.toed.stats()["manager"] == "polling"
    robot.listen(lab.ip, PORT)
    with lab.connect(PORT) as peer:
        robot.accept()
        for n in range(20):
            robot.tell("s.recv(100)")
            assert robot.waits(0.02)
            peer.sendall(b"%d" % n)
            assert robot.result(10) == b"%d" % n
        woken = lab.counter("manager_wakes") - before["manager_wakes"]
    assert woken >= 20
    assert lab.counter("manager_commands") - before["manager_commands"] >= 20
    assert lab.counter("interrupts") == before["interrupts"]


@pytest.mark.toehold_only
def test_the_manager_never_sleeps(lab):
    """With nothing to do the engines do; it runs, or waits for a CPU to run on."""

    def threads() -> dict[str, dict[str, str]]:
        found = {}
        for task in Path(f"/proc/{lab.toed.proc.pid}/task").iterdir():
            fields = dict(re.findall(r"(\w+):\t(.*)", (task / "status").read_text()))
            found[fields["Name"]] = fields
        return found

    def slept(thread: str) -> int:
        return int(threads()[thread]["voluntary_ctxt_switches"])

    assert set(threads()) == {"toed", "toed-manager", "toed-engine0", "toed-engine1"}
    for engine in ("toed-engine0", "toed-engine1"):
        proc.wait_until(lambda e=engine: threads()[e]["State"].startswith("S"), f"{engine} sleeps")
    before, used = slept("toed-manager"), labs.cpu_ticks(lab.toed.proc.pid)
    proc.wait_until(lambda: labs.cpu_ticks(lab.toed.proc.pid) > used + 30, "it runs", timeout=60)
    assert slept("toed-manager") - before <= 3  # a page fault may wait; a sleep would repeat


@pytest.mark.toehold_only
def test_a_program_that_waits_for_many(lab, robot):
    """Moderation of the manager: several notifications, one waking, none too late."""
    with Robot(lab, env={"TOEHOLD_IRQ_COUNT": "64", "TOEHOLD_IRQ_USEC": "20000"}) as slow:
        slow.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            slow.accept()
            slow.tell("s.recv(100)")
            peer.sendall(b"x")
            assert slow.result(10) == b"x"


@pytest.mark.toehold_only
def test_from_one_manager_to_the_other(make_lab, tmp_path):
    """Continuous requests do not notice an upgrade, in either direction."""
    lab = make_lab(engines=2)
    with nginx.start(lab, tmp_path, workers=2), Load(lab) as load:
        for manager in ("polling", "polling", "interrupts"):
            before = load.asked
            old, new = lab.toed.proc, lab.toed._launch("--take-over", "--manager", manager)
            lab.toed.proc = new
            assert old.wait(timeout=20) == 0
            proc.wait_until(lambda new=new: "ready" in new.text(), "it is ready", proc=new)
            proc.wait_until(lambda least=before: load.asked > least + 50 or load.failed, "requests")
            assert lab.toed.stats()["manager"] == manager
    load.check()


@pytest.mark.toehold_only
@pytest.mark.parametrize(
    ("more", "said", "code"),
    [
        (["--manager", "polite"], "--manager polite: want interrupts or polling", 2),
        (["--manager-cpu", "0"], "--manager-cpu: want --manager polling too", 2),
        (
            [*POLLING, "--manager-cpu", "99999"],
            "--manager-cpu 99999: want a whole number from 0 to 1023",
            2,
        ),
        (
            [*POLLING, "--manager-cpu", "1000"],
            "--manager-cpu 1000: this machine has no such CPU",
            3,
        ),
    ],
)
def test_wrong_settings(make_lab, tmp_path, more, said, code):
    lab = make_lab(mode="tap")
    lab.toed.stop()
    argv = [paths.built("toed"), "--netif", "tap:tap0", "--ip", f"{lab.ip}/24", *more]
    argv += ["--socket", tmp_path / "s"]
    done = lab.server.run(argv, check=False, timeout=20)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert done.stdout == ""
    lab.toed.start()
