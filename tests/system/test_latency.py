# SPDX-License-Identifier: Apache-2.0
"""`toehold trace FLOW --follow --latency`: where the time of an exchange goes."""

from __future__ import annotations

import itertools
import json
import os
import xml.etree.ElementTree as ET

import pytest

from tests.lab import lab as labs
from tests.lab import paths, proc
from tests.lab.robot import PORT, Robot, take
from tests.system import test_inline

FAILURE, USAGE = 1, 2
SVG = "{http://www.w3.org/2000/svg}"
THINKS_NS = 5_000_000  # of the program, between read and write
# The moments of an exchange on the host of the TOE, and the parts between them.
MOMENTS = ["in", "event", "taken", "read", "write", "posted", "command", "out"]
PARTS = ["toe_in", "ring_in", "program", "libtoe", "ring_out", "toe_out"]
SERVE = f"""
while request := s.recv(1000):
    time.sleep({THINKS_NS} / 1e9)
    s.sendall(bytes(300))
s.close()
"""

pytestmark = pytest.mark.toehold_only


def flows_of(path) -> list[str]:
    done = proc.run([paths.built("toehold"), "flows", "--json", "--socket", path])
    return [flow["flow"] for flow in json.loads(done.stdout)["flows"]]


def flow_of(path) -> str:
    [flow] = flows_of(path)
    return flow


def follow(path, flow: str, *words: object) -> list[object]:
    words = ("--follow", 600, "--latency", "--every-ms", 5, *words)
    return [paths.built("toehold"), "trace", flow, *words, "--socket", path]


def wait_timed(p: proc.Proc, path, flow: str) -> None:
    def is_timed() -> bool:
        done = proc.run([paths.built("toehold"), "trace", flow, "--json", "--socket", path])
        return json.loads(done.stdout)["timed"]

    proc.wait_until(is_timed, "the TOE times the flow", proc=p)


def exchange(peer, times: int) -> None:
    for _ in range(times):
        peer.sendall(b"x" * 100)
        take(peer, 300)


@pytest.mark.sanitize
def test_parts_of_a_servers_exchanges(make_lab, tmp_path):
    lab = make_lab()
    picture = tmp_path / "flow.svg"
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            robot.accept()
            robot.tell(SERVE)
            exchange(peer, 2)  # these are not timed
            flow = flow_of(lab.toed.socket)
            with proc.Proc(follow(lab.toed.socket, flow, "--svg", picture)) as p:
                wait_timed(p, lab.toed.socket, flow)
                exchange(peer, 10)
                peer.shutdown(1)
                take(peer, 1)  # the FIN
                robot.result()
                assert p.wait(60) == 0, p.tail()
                text = p.text()
    assert "latency of 10 exchanges, microseconds" in text
    lines = text[text.index("latency of") :].splitlines()
    assert [line.split(":")[0] for line in lines[2:]] == [
        "peer, wire", "TOE", "ring", "program", "  of this", "libtoe", "ring", "TOE",
        "all of this", "wire, peer",
    ]  # fmt: skip
    bars = [bar.get("class") for bar in ET.parse(picture).getroot().iter(f"{SVG}rect")]
    assert {part: bars.count(part) for part in PARTS} == dict.fromkeys(PARTS, 10)


def check(answer: dict, count: int, requests: int) -> None:
    """All moments of these exchanges are known, in order, and their parts add up."""
    latency, exchanges = answer["latency"], answer["exchanges"]
    assert latency["exchanges"] == len(exchanges) == count
    assert latency["overwritten"] == latency["not_kept"] == 0
    for x in exchanges:
        times = [x[f"{moment}_ns"] for moment in MOMENTS]
        assert times == sorted(times)
        assert (x["bytes_in"], x["bytes_out"]) == (requests, 300)
        assert x["write_ns"] - x["read_ns"] >= THINKS_NS
    for before, after in itertools.pairwise(exchanges):
        assert after["before_ns"] == before["out_ns"]
    parts = latency["parts"]
    assert {parts[part]["count"] for part in PARTS} == {count}
    assert sum(parts[part]["sum_ns"] for part in PARTS) == parts["answer"]["sum_ns"]
    for part in parts.values():
        assert part["min_ns"] <= part["median_ns"] <= part["p99_ns"] <= part["max_ns"]
    assert parts["program"]["min_ns"] >= THINKS_NS


@pytest.mark.parametrize("engine", ["inline", "thread"])
def test_an_engine_within_a_program(engine):
    with test_inline.Inline(engine) as lab:
        code = f"import socket, time\nl = socket.create_server({(lab.ip, PORT)})\n"
        code += "s = l.accept()[0]\n" + SERVE + "l.accept()\n"
        with lab.app([labs.PYTHON, "-c", code], port=None) as program:
            path = f"/run/toehold/inline-{program.pid}.sock"
            proc.wait_until(lambda: os.path.exists(path), "the engine answers", proc=program)
            with lab.connect(PORT) as peer:
                exchange(peer, 1)
                flow = flow_of(path)
                with proc.Proc(follow(path, flow, "--json")) as p:
                    wait_timed(p, path, flow)
                    exchange(peer, 5)
                    peer.shutdown(1)
                    take(peer, 1)  # the FIN
                    assert p.wait(60) == 0, p.tail()
                    check(json.loads(p.text()), 5, 100)


def test_only_one_flow_at_a_time(make_lab):
    lab = make_lab()
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as _one, lab.connect(PORT) as _two:
            robot.accept()
            robot("kept.append(s)")
            robot.accept()
            one, two = flows_of(lab.toed.socket)
            with proc.Proc(follow(lab.toed.socket, one)) as p:
                wait_timed(p, lab.toed.socket, one)
                done = proc.run(follow(lab.toed.socket, two), check=False)
            assert done.returncode == FAILURE and done.stdout == ""
            assert f"times flow {one} of this engine" in done.stderr
            with proc.Proc(follow(lab.toed.socket, two)) as p:
                wait_timed(p, lab.toed.socket, two)


def test_a_flow_that_has_ended(make_lab):
    lab = make_lab()
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT):
            robot.accept()
            flow = flow_of(lab.toed.socket)
            robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))")
            robot("s.close()")
            done = proc.run(follow(lab.toed.socket, flow), check=False)
    assert done.returncode == FAILURE and done.stdout == ""
    assert done.stderr == f"toehold: trace: flow {flow} has ended\n"
