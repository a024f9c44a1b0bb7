# SPDX-License-Identifier: Apache-2.0
"""`toehold flows`: what it lists agrees with the program's own view, and filters mean what they
mean to ss."""

from __future__ import annotations

import json
import os
import socket
import struct

import pytest

from tests.lab import lab as labs
from tests.lab import paths, proc
from tests.lab.robot import PORT, Robot, take

MANY = 1000
USAGE, NO_TOE = 2, 4
MAGIC, VERSION, HELLO_FLOWS = 0x31454F54, 1, 8  # toe/attach.h

pytestmark = pytest.mark.toehold_only


def flows(lab, *words: object, code: int = 0):
    command = [paths.built("toehold"), "flows", "--json", "--socket", lab.toed.socket, *words]
    done = proc.run(command, check=False)
    assert done.returncode == code, (done.stdout, done.stderr)
    return json.loads(done.stdout) if code == 0 else done.stderr


def text(lab, *words: object) -> str:
    return proc.run([paths.built("toehold"), "flows", "--socket", lab.toed.socket, *words]).stdout


@pytest.mark.sanitize
def test_a_listener_and_a_flow(make_lab):
    lab = make_lab()
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT, backlog=77)
        with lab.connect(PORT) as peer:
            proc.wait_until(lambda: flows(lab)["flows"], "the connection")
            answer = flows(lab)
            [listener] = answer["listeners"]
            assert (listener["state"], listener["local"]) == ("listen", lab.ip)
            assert (listener["local_port"], listener["pid"]) == (PORT, robot.pid)
            assert (listener["recv_queue"], listener["send_queue"]) == (1, 77)
            assert not answer["flows"][0]["accepted"]
            robot.accept()
            proc.wait_until(lambda: flows(lab)["flows"][0]["accepted"], "the accept")
            assert flows(lab)["listeners"][0]["recv_queue"] == 0
            robot("s.send(bytes(5000))")
            take(peer, 5000)
            peer.send(bytes(300))
            proc.wait_until(lambda: flows(lab)["flows"][0]["recv_queue"] == 300, "300 unread bytes")
            [flow] = flows(lab)["flows"]
            near, far = peer.getpeername(), peer.getsockname()
            assert (flow["local"], flow["local_port"]) == near
            assert (flow["remote"], flow["remote_port"]) == far
            assert (flow["state"], flow["send_queue"]) == ("established", 0)
            assert (flow["bytes_received"], flow["uid"]) == (300, os.getuid())
            assert (flow["toe"], flow["congestion"]) == ("toed", "cubic")
            assert {"ts", "sack", "wscale"} <= set(flow["options"])
            shown = text(lab).splitlines()
            assert len(shown) == 4, shown
            assert shown[1].split()[:4] == ["LISTEN", "0", "77", f"{lab.ip}:{PORT}"]
            ends = [f"{near[0]}:{near[1]}", f"{far[0]}:{far[1]}"]
            assert shown[2].split()[:5] == ["ESTAB", "300", "0", *ends]
            assert f"pid={robot.pid},user=root,toed,engine=0" in shown[2]
            assert "cubic" in shown[3] and "cwnd:" in shown[3] and "rtt:" in shown[3]
            assert "ssthresh" not in shown[3]
            # as ss shows the other end
            peers = lab.client.run(["ss", "-tinH", f"dport = :{PORT}"]).stdout
            assert f"mss:{flow['mss']}" in peers
            robot("s.shutdown(socket.SHUT_WR)")
            take(peer, 0)
            proc.wait_until(
                lambda: flows(lab)["flows"][0]["state"] == "fin-wait-2", "the peer's ACK of the FIN"
            )


TCP_INFO = """
import struct
r = []
for c in kept:
    i = c.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
    r.append((c.getpeername()[1], i[0], *struct.unpack_from("II", i, 68)[:1],
              *struct.unpack_from("II", i, 76)))
r
"""


def test_thousand_flows_agree_with_tcp_info(make_lab):
    """State, cwnd and rtt of each; the answers come in batches, and no flow is lost between two."""
    lab = make_lab()
    with Robot(lab) as robot, labs.closing_all() as peers:
        robot.listen(lab.ip, PORT, backlog=MANY)
        robot("kept = []")
        for _ in range(MANY):
            peers.append(lab.connect(PORT))
            robot("kept.append(listener.accept()[0])")
        robot("for c in kept: c.send(bytes(100))", timeout=60)
        for s in peers:
            take(s, 100)
        proc.wait_until(lambda: not any(f["send_queue"] for f in flows(lab)["flows"]), "every ACK")
        listed = {f["remote_port"]: f for f in flows(lab)["flows"]}
        assert len(listed) == MANY

        def of_listing() -> dict[int, tuple[int, int]]:
            return {p: (f["srtt_us"], f["cwnd_bytes"] // f["mss"]) for p, f in listed.items()}

        def of_program() -> dict[int, tuple[int, int]]:
            info = robot(TCP_INFO, timeout=60)
            for _, state, _, ssthresh, _ in info:
                assert (state, ssthresh) == (1, 0x7FFFFFFF)  # as on Linux before the first loss
            return {port: (srtt, cwnd) for port, _, srtt, _, cwnd in info}

        assert {f["state"] for f in listed.values()} == {"established"}
        # A flow's record is written some time after its last segment.
        proc.wait_until(lambda: of_program() == of_listing(), "both agree", timeout=20)


@pytest.fixture(scope="module")
def three(request):
    """Flows to ports 7001 to 7003 and their listeners."""
    with labs.Lab() as lab, Robot(lab) as robot, labs.closing_all() as peers:
        for port in (7001, 7002, 7003):
            robot.listen(lab.ip, port, name=f"l{port}")
            peers.append(lab.connect(port))
            robot.accept(name=f"s{port}", listener=f"l{port}")
        yield lab, robot


@pytest.mark.parametrize(
    ("words", "ports", "listeners"),
    [
        ("", [7001, 7002, 7003], 3),
        ("state established", [7001, 7002, 7003], 0),
        ("state listen", [], 3),
        ("state connected", [7001, 7002, 7003], 0),
        ("state time-wait", [], 0),
        ("sport = :7002", [7002], 1),
        ("sport :7002", [7002], 1),
        ("sport eq 7002", [7002], 1),
        ("sport != 7002", [7001, 7003], 2),
        ("sport >= 7002 state established", [7002, 7003], 0),
        ("sport = 7001 or sport = 7003", [7001, 7003], 2),
        ("( sport = 7001 or sport = 7003 ) and state established", [7001, 7003], 0),
        ("not sport gt :7001", [7001], 1),
        ("! ( sport = 7001 or sport = 7002 )", [7003], 1),
        ("dport gt 0", [7001, 7002, 7003], 0),
        ("src {ip}", [7001, 7002, 7003], 3),
        ("src {ip}:7003", [7003], 1),
        ("src != {ip}", [], 0),
        ("dst {peer}/24 sport 7001", [7001], 0),
        ("dst 192.0.2.0/24", [], 0),
        ("dst ::/0 sport 7001", [7001], 0),
        ("pid {pid} uid 0 sport lt 7003", [7001, 7002], 2),
        ("pid 1", [], 0),
    ],
)
def test_filters(three, words, ports, listeners):
    lab, robot = three
    words = words.format(ip=lab.ip, peer=lab.peer_ip, pid=robot.pid)
    for argv in ([words], words.split()):
        answer = flows(lab, *argv)
        assert sorted(f["local_port"] for f in answer["flows"]) == ports
        assert len(answer["listeners"]) == listeners


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("state open", "open"),
        ("state", "not nothing"),
        ("sport = :65536", "65536"),
        ("sport = x", "x"),
        ("sport =", "missing after ="),
        ("src 300.1.1.1", "300.1.1.1"),
        ("src 10.0.0.0/33", "10.0.0.0/33"),
        ("src [::1", "[::1"),
        ("src > 10.0.0.1", "address"),
        ("( sport = 1", ") is missing"),
        ("sport = 1 )", "unexpected )"),
        ("sport = 1 and", "ends early"),
        ("nonsense", "nonsense"),
        ("not " * 70 + "pid 1", "64 levels"),
    ],
)
def test_wrong_filters_are_named(three, words, said):
    lab, _ = three
    assert said in flows(lab, words, code=USAGE)


def test_wrong_use(lab, tmp_path):
    toehold = paths.built("toehold")
    for argv, code, said in (
        (["--frob"], USAGE, "--frob"),
        (["--socket"], USAGE, "needs a value"),
        (["--socket", tmp_path / "none"], NO_TOE, "no toed answers"),
    ):
        done = proc.run([toehold, "flows", *argv], check=False)
        assert (done.returncode, done.stdout) == (code, ""), done
        assert said in done.stderr and len(done.stderr.splitlines()) <= 2


@pytest.mark.sanitize
@pytest.mark.parametrize("name", [b"", b"0", b"0 0 0 0", b"9 0 0", b"0 0 -1", b"x" * 31])
def test_requests_that_are_wrong_get_no_answer(lab, name):
    """... and toed serves on. A cursor behind all queue pairs is right, and ends the list."""
    hello = struct.pack("<10I32s", MAGIC, VERSION, HELLO_FLOWS, *[0] * 7, name)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.settimeout(proc.seconds(20))
        s.connect(str(lab.toed.socket))
        s.send(hello)
        if name == b"0 0 -1":
            assert json.loads(s.recv(1 << 20))["next"] is None
        else:
            assert s.recv(1 << 20) == b""
    assert flows(lab) == {"schema_version": 1, "listeners": [], "flows": []}
