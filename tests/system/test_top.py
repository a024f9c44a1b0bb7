# SPDX-License-Identifier: Apache-2.0
"""`toehold top`: rates of engines and flows, on a terminal and in batches."""

from __future__ import annotations

import json
import socket

import pytest

from tests.lab import lab as labs
from tests.lab import paths, proc
from tests.lab.frames import Ghost, ipv4
from tests.lab.robot import PORT, Robot, take
from tests.lab.screen import DOWN, ENTER, ESCAPE, Screen

USAGE, NO_TOE = 2, 4

pytestmark = pytest.mark.toehold_only


def argv(path, *words: object) -> list[object]:
    return [paths.built("toehold"), "top", "--socket", path, *words]


@pytest.fixture
def flows(lab):
    """Two flows of a robot, to the ports 7000 and 7001."""
    with Robot(lab) as robot, labs.closing_all() as peers:
        for n in range(2):
            robot.listen(lab.ip, PORT + n, name=f"l{n}")
            peers.append(lab.connect(PORT + n))
            robot.accept(name=f"s{n}", listener=f"l{n}")
        yield lab, robot, peers


def test_a_batch_as_json(flows):
    lab, robot, peers = flows
    with proc.Proc(argv(lab.toed.socket, "--batch", 2, "--json", "--every", 1)) as p:
        proc.wait_until(lambda: p.text().count("\n") == 1, "the first look", proc=p)
        robot("s1.sendall(bytes(100000))")
        take(peers[1], 100000)
        assert p.wait(30) == 0
        first, second = map(json.loads, p.text().splitlines())
    assert first["schema_version"] == 1
    [engine] = second["engines"]
    assert engine["id"] == 0 and engine["flows"] == 2
    assert engine["polling_percent"] >= 0 and engine["cpu_percent"] > 0
    assert all(flow["tx_rate"] == 0 for flow in first["flows"])
    # sorted by bytes sent; the whole stream is in one interval
    top = second["flows"][0]
    assert top["local_port"] == PORT + 1
    assert top["tx_rate"] * second["interval_s"] == pytest.approx(100000, rel=0.01)
    assert second["flows"][1]["tx_rate"] == 0
    assert engine["tx_bytes"] * second["interval_s"] > 100000


def test_a_batch_as_text(flows):
    lab, _, _ = flows
    lines = proc.run(argv(lab.toed.socket, "--batch", 1, "--every", 1, "--sort", "cwnd")).stdout
    lines = lines.splitlines()
    assert lines[0].startswith("toehold top - ") and lines[0].endswith("flows: 2")
    assert lines[1].split()[:3] == ["Engine", "CPU%", "Poll%"]
    assert lines[2].split()[0] == "0"
    [head] = [line for line in lines if "Retr/s" in line]
    assert "*cwnd" in head
    assert sum("established" in line for line in lines) == 2


def test_drops_are_named(make_lab):
    """A counter of drops that is not 0 is shown with its meaning."""
    lab = make_lab()
    with Ghost(lab) as ghost:
        ghost.send_ip(ipv4(ghost.ip, lab.ip, socket.IPPROTO_TCP, bytes(10)))
        proc.wait_until(lambda: lab.toed.counter("tcp_bad_header") > 0, "the segment is dropped")
        words = ["--batch", 1, "--every", 1]
        drops = json.loads(proc.run(argv(lab.toed.socket, *words, "--json")).stdout)["drops"]
        [drop] = [d for d in drops if d["name"] == "tcp_bad_header"]
        assert (drop["total"], drop["engine"], drop["rate"]) == (1, 0, 0)
        assert drop["help"].startswith("dropped: TCP header short")
        text = proc.run(argv(lab.toed.socket, *words)).stdout
        assert "tcp_bad_header: dropped: TCP header short" in text


@pytest.mark.sanitize
def test_the_screen(flows, tmp_path):
    lab, robot, _ = flows
    with Screen(argv(lab.toed.socket, "--every", 1), tmp_path) as screen:
        text = screen.wait_for("Engine", "*TXB/s", f"{lab.ip}:{PORT}", f"{lab.ip}:{PORT + 1}")
        assert "q quit" in text and f"/{robot.pid}" in text
        screen.keys("d")
        screen.wait_for("*RTT ms")
        screen.keys("h")
        screen.wait_for("keys", "its details")
        screen.keys(ESCAPE)
        screen.wait_without("its details")
        screen.keys(DOWN + ENTER)
        text = screen.wait_for("windows: cwnd_bytes", "last events", "accepts the connection")
        assert "established, cubic" in text
        screen.keys(ESCAPE)
        screen.wait_for("Engine", "*RTT ms")
        screen.keys("p")
        screen.wait_for("paused")
        screen.keys("p")
        screen.wait_without("paused")
        screen.keys("q")
        assert screen.wait() == 0


def test_a_flow_that_ends_while_it_is_shown(lab, tmp_path):
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            robot.accept()
            with Screen(argv(lab.toed.socket, "--every", 1), tmp_path) as screen:
                screen.wait_for(f"{lab.ip}:{PORT}")
                screen.keys(ENTER)
                screen.wait_for("last events")
                peer.close()
                robot("s.close()")
                screen.wait_for("ended: closed", "closes its side (FIN)")
                screen.keys("q")
                assert screen.wait() == 0


def test_resize(flows, tmp_path):
    """Rows are cut at the edge; of a few rows, the important ones are shown."""
    lab, _, _ = flows
    with Screen(argv(lab.toed.socket, "--every", 1), tmp_path, rows=24, columns=160) as screen:
        screen.wait_for(f"{lab.ip}:{PORT}", "Process")
        screen.resize(30, 40)
        text = screen.wait_for("Engine", "q quit")
        assert "Process" not in text
        screen.resize(2, 20)
        screen.wait_for("toehold top", "q quit")
        screen.resize(24, 160)
        screen.wait_for("Process", f"{lab.ip}:{PORT}")
        screen.keys("q")
        assert screen.wait() == 0


def test_toed_ends_and_comes_back(make_lab, tmp_path):
    lab = make_lab()
    with Screen(argv(lab.toed.socket, "--every", 1), tmp_path) as screen:
        screen.wait_for("Engine", "q quit")
        lab.toed.stop()
        screen.wait_for("Engine", "no toed answers")
        lab.toed.start()
        screen.wait_for("Engine", "q quit")
        screen.keys("q")
        assert screen.wait() == 0


def test_toed_ends_during_a_batch(make_lab):
    lab = make_lab()
    with proc.Proc(argv(lab.toed.socket, "--batch", 1000, "--every", 1)) as p:
        proc.wait_until(lambda: "Engine" in p.text(), "the first look", proc=p)
        lab.toed.stop()
        assert p.wait(30) == NO_TOE
        assert "no toed answers" in p.text()


def test_no_toe_on_a_terminal(tmp_path):
    """One line, and the screen was not cleared."""
    with Screen(argv(tmp_path / "none"), tmp_path) as screen:
        assert screen.wait() == NO_TOE
        [line] = [line for line in screen.lines() if line]
        assert "no toed answers" in line


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], USAGE, "use --batch"),
        (["--json"], USAGE, "--batch"),
        (["--batch", "0"], USAGE, "--batch 0"),
        (["--batch", "x"], USAGE, "--batch x"),
        (["--batch", "1", "--every", "0"], USAGE, "--every 0"),
        (["--batch", "1", "--every", "3601"], USAGE, "3601"),
        (["--batch", "1", "--sort", "name"], USAGE, "--sort name"),
        (["--batch", "1", "more"], USAGE, "more"),
        (["--frob"], USAGE, "--frob"),
        (["--batch", "1"], NO_TOE, "no toed answers"),
    ],
)
def test_wrong_use(tmp_path, words, code, said):
    done = proc.run(argv(tmp_path / "none", *words), check=False)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr and len(done.stderr.splitlines()) == 1
