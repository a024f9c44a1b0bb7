# SPDX-License-Identifier: Apache-2.0
"""`toehold trace`: the last events of a flow, while it is open and after it has ended."""

from __future__ import annotations

import json
import socket
import struct
import xml.etree.ElementTree as ET

import pytest

from tests.lab import lab as labs
from tests.lab import paths, proc
from tests.lab.robot import PORT, Robot, take

FAILURE, USAGE, NO_TOE = 1, 2, 4
MANY = 1000000
MAGIC, VERSION, HELLO_TRACE = 0x31454F54, 1, 10  # toe/attach.h
SVG = "{http://www.w3.org/2000/svg}"

pytestmark = pytest.mark.toehold_only


def toehold(path, verb: str, *words: object, code: int = 0):
    done = proc.run([paths.built("toehold"), verb, "--socket", path, *words], check=False)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done


def trace(lab, *words: object) -> dict:
    return json.loads(toehold(lab.toed.socket, "trace", *words, "--json").stdout)


def flow_of(lab) -> dict:
    [flow] = json.loads(toehold(lab.toed.socket, "flows", "--json").stdout)["flows"]
    return flow


def names(answer: dict) -> list[str]:
    return [event["event"] for event in answer["events"]]


def ends(flow: dict) -> list[str]:
    return [f"{flow[end]}:{flow[end + '_port']}" for end in ("local", "remote")]


@pytest.mark.sanitize
def test_a_connection_from_its_begin_to_its_end(make_lab):
    lab = make_lab()
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            robot.accept()
            robot("s.send(bytes(3000))")
            take(peer, 3000)
            flow = flow_of(lab)
            robot.tell("n = 0\nwhile n < size: n += len(s.recv(size - n))", size=MANY)
            peer.sendall(bytes(MANY))
            robot.result()
            # libtoe announces what was read when it is a part of the buffer.
            proc.wait_until(lambda: "recv" in names(trace(lab, flow["flow"])), "the TOE knows")
            answer = trace(lab, flow["flow"])
            assert answer["schema_version"] == 1
            assert answer["now"]["bytes_sent"] == 3000
            assert not answer["ended"] and answer["lost"] == 0
            assert names(answer)[:3] == ["syn_received", "established", "accept"]
            events = {event["event"]: event for event in answer["events"]}
            assert events["established"]["state"] == "established"
            assert events["send"]["bytes"] == 3000
            assert 0 < events["recv"]["bytes"] <= MANY
            times = [event["time_ns"] for event in answer["events"]]
            assert times == sorted(times) and times[-1] <= answer["now_ns"]
            text = toehold(lab.toed.socket, "trace", *ends(flow)).stdout
            assert f"flow {flow['flow']}: {' to '.join(ends(flow))}" in text
            assert f"pid={robot.pid},toed,engine=0" in text
            for said in ("peer     connects (SYN) -> syn-recv", "program  accepts", "3000 bytes"):
                assert said in text
            assert text.splitlines()[-1].split()[-1] == "now"
            robot("s.close()")
            take(peer, 1)  # the FIN
        proc.wait_until(lambda: trace(lab, flow["flow"])["ended"], "the flow has ended")
        answer = trace(lab, flow["flow"])
        assert "now" not in answer and answer["reason"] == "closed"
        assert names(answer)[-3:] == ["close", "state", "gone"], answer["events"]
        states = [event["state"] for event in answer["events"] if "state" in event]
        assert states == ["syn-recv", "established", "fin-wait-1", "fin-wait-2", "time-wait"]
        shown = toehold(lab.toed.socket, "flows").stdout
        assert flow["flow"] not in shown
        listed = trace(lab, "--ended")["flows"]
        assert [f["flow"] for f in listed] == [flow["flow"]]


def test_flows_prints_the_id(lab):
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT):
            robot.accept()
            flow = flow_of(lab)["flow"]
            assert f",flow={flow}" in toehold(lab.toed.socket, "flows").stdout


def test_after_a_reset(make_lab):
    """The peer's reset, by the ends of the connection, of which an older one had the same."""
    lab = make_lab()
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        for _ in range(2):
            peer = lab.client.socket()
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            peer.bind((lab.peer_ip, 9999))
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            peer.connect((lab.ip, PORT))
            robot.accept()
            flow = flow_of(lab)
            peer.close()
            proc.wait_until(lambda: trace(lab, *ends(flow))["ended"], "the reset")  # noqa: B023
        answer = trace(lab, *ends(flow))
        assert answer["flow"] == flow["flow"]
        assert answer["reason"] == "ECONNRESET"
        assert names(answer)[-2:] == ["reset_received", "gone"]
        text = toehold(lab.toed.socket, "trace", flow["flow"]).stdout
        assert "peer     resets the connection" in text
        assert "the flow has ended: ECONNRESET -> closed" in text
        shown = toehold(lab.toed.socket, "trace", "--ended").stdout.splitlines()
        assert len(shown) == 3 and all("ECONNRESET" in line for line in shown[1:])


def test_a_refused_connect_of_a_program_that_has_ended(make_lab):
    lab = make_lab()
    code = f"import socket; socket.create_connection(('{lab.peer_ip}', 9))"
    done = lab.run([labs.PYTHON, "-c", code], check=False)
    assert "ConnectionRefusedError" in done.stderr
    proc.wait_until(lambda: not lab.toed.queue_pairs(), "the program has left")
    [flow] = trace(lab)["flows"]
    assert (flow["remote"], flow["remote_port"]) == (lab.peer_ip, 9)
    answer = trace(lab, flow["flow"])
    assert names(answer) == ["connect", "reset_received", "gone"]
    assert answer["reason"] == "ECONNREFUSED"
    assert answer["process"].startswith("python")


def test_after_a_take_over(make_lab):
    """Events begin again, with the state; later ones follow."""
    lab = make_lab()
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            robot.accept()
            lab.toed.take_over()
            answer = trace(lab, flow_of(lab)["flow"])
            assert names(answer) == ["taken_over"]
            assert answer["events"][0]["state"] == "established"
            assert (answer["local"], answer["local_port"]) == (lab.ip, PORT)
            peer.close()
            proc.wait_until(lambda: flow_of(lab)["state"] == "close-wait", "the FIN")
            assert names(trace(lab, flow_of(lab)["flow"])) == ["taken_over", "peer_closed"]


def test_loss(make_lab):
    """Retransmissions and recoveries of a stream that loses frames."""
    lab = make_lab(impair="loss=3%,seed=7")
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            robot.accept()
            robot.tell("s.sendall(bytes(2000000))")
            take(peer, 2000000)
            robot.result()
            flow = flow_of(lab)
            assert flow["retransmits"] > 0
            answer = trace(lab, flow["flow"])
            happened = [e for e in answer["events"] if e["event"] == "retransmit"]
            assert happened and all(e["bytes"] > 0 and e["seq"] > 0 for e in happened)
            assert {"recovery", "timeout", "tail_probe"} & set(names(answer))


def test_a_picture(make_lab, tmp_path):
    """--follow watches the flow until it ends, and draws what it saw."""
    lab = make_lab(impair="loss=3%,seed=7")
    picture = tmp_path / "flow.svg"
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            robot.accept()
            flow = flow_of(lab)["flow"]
            words = ["--follow", 600, "--every-ms", 1, "--svg", picture, flow]
            argv = [paths.built("toehold"), "trace", "--socket", lab.toed.socket, *words]
            with proc.Proc(argv) as p:
                proc.wait_until(lambda: f"flow {flow}" in p.text(), "it follows", proc=p)
                robot.tell("s.sendall(bytes(2000000))")
                take(peer, 2000000)
                robot.result()
                robot("s.close()")
                take(peer, 1)  # the FIN
                peer.close()
                assert p.wait(60) == 0, p.tail()
                text = p.text()
    assert "the flow has ended: closed" in text.splitlines()[-1]
    assert "retransmits" in text
    root = ET.parse(picture).getroot()
    drawn = {path.get("class") for path in root.iter(f"{SVG}path")}
    assert {"snd_una", "snd_nxt", "snd_edge", "cwnd", "rcv_nxt", "retransmit", "segment"} <= drawn
    words = " ".join(text.text or "" for text in root.iter(f"{SVG}text"))
    # Before the first loss there is no ssthresh: its value is no part of the axis.
    assert "1073741823" not in words
    assert flow in words and "acknowledged" in words


def test_a_picture_that_cannot_be_written(lab, tmp_path):
    """It fails before the flow is followed, not an hour later."""
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT):
            robot.accept()
            words = ["--follow", 3600, "--svg", tmp_path / "none" / "x.svg", flow_of(lab)["flow"]]
            done = toehold(lab.toed.socket, "trace", *words, code=FAILURE)
    assert done.stdout == "" and "cannot write" in done.stderr


def test_samples(lab):
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            robot.accept()
            robot("s.send(bytes(1000))")
            take(peer, 1000)
            proc.wait_until(lambda: flow_of(lab)["send_queue"] == 0, "the ACK")
            answer = trace(lab, flow_of(lab)["flow"], "--follow", 1, "--every-ms", 50)
    assert not answer["ended"]
    assert len(answer["samples"]) >= 2
    assert names(answer) == ["syn_received", "established", "accept", "send"]
    for sample in answer["samples"]:
        assert sample["snd_una"] == sample["snd_nxt"] == 1001
        assert sample["snd_edge"] > 1001 and sample["rcv_nxt"] == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nonsense"], USAGE, "not the id"),
        (["1.2"], USAGE, "not the id"),
        (["1.2.3.4"], USAGE, "not the id"),
        (["1.2.x"], USAGE, "not the id"),
        ([".1.2"], USAGE, "not the id"),
        (["1..2"], USAGE, "not the id"),
        ([""], USAGE, "not the id"),
        (["1.2.4294967296"], USAGE, "not the id"),
        (["10.0.0.1:80", "10.0.0.2"], USAGE, "ADDRESS:PORT"),
        (["10.0.0.1:80", "10.0.0:1"], USAGE, "10.0.0"),
        (["10.0.0.1:80", "::1:1"], USAGE, "::1"),
        (["10.0.0.1:80", "10.0.0.2:65536"], USAGE, "65536"),
        (["10.0.0.1:80", "10.0.0.2:0"], USAGE, "port 0"),
        (["10.0.0.1:80", "10.0.0.2:1", "more"], USAGE, "more"),
        (["0.0.1", "--ended"], USAGE, "takes no FLOW"),
        (["--follow", "1"], USAGE, "needs a FLOW"),
        (["0.0.1", "--svg", "x"], USAGE, "need --follow"),
        (["0.0.1", "--every-ms", "5"], USAGE, "need --follow"),
        (["0.0.1", "--latency"], USAGE, "need --follow"),
        (["0.0.1", "--follow", "0"], USAGE, "--follow 0"),
        (["0.0.1", "--follow", "3601"], USAGE, "3601"),
        (["0.0.1", "--follow", "1", "--every-ms", "1001"], USAGE, "1001"),
        (["--frob"], USAGE, "--frob"),
        (["0.0.4000000000"], FAILURE, "has had no flow 0.0.4000000000"),
        (["9.0.1"], FAILURE, "has had no flow 9.0.1"),
        (["0.4294967295.1"], FAILURE, "has had no flow"),
        (["10.9.9.1:80", "[2001:db8::1]:1"], FAILURE, "no flow with these ends"),
    ],
)
def test_wrong_use(lab, words, code, said):
    done = toehold(lab.toed.socket, "trace", *words, code=code)
    assert done.stdout == ""
    assert said in done.stderr and len(done.stderr.splitlines()) == 1


def test_no_toe(tmp_path):
    for words in ([], ["0.0.1"], ["10.0.0.1:80", "10.0.0.2:1"]):
        done = toehold(tmp_path / "none", "trace", *words, code=NO_TOE)
        assert "no toed answers" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.sanitize
@pytest.mark.parametrize(
    "name",
    [b"", b"0 0 0", b"list", b"list 0", b"list 9 0", b"flow", b"flow 1.2", b"flow x" * 4]
    + [b"time", b"time 0.1", b"time 0.0.1 ", b"done"],
)
def test_requests_that_are_wrong_get_no_answer(lab, name):
    """... and toed serves on."""
    hello = struct.pack("<10I32s", MAGIC, VERSION, HELLO_TRACE, *[0] * 7, name)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.settimeout(20)
        s.connect(str(lab.toed.socket))
        s.send(hello)
        assert s.recv(1 << 20) == b""
    assert trace(lab)["schema_version"] == 1
