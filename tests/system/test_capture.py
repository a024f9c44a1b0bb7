# SPDX-License-Identifier: Apache-2.0
"""`toehold capture`: frames of a running TOE as pcapng and as text, with flows and the reasons for
drops; what happens under load, at the ends of its life, and to requests that are wrong."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
import test_inline

from tests.lab import frames, nginx, paths, pcapng, proc, vlan
from tests.lab.flow import Flow
from tests.lab.robot import PORT, Robot, take

FAILURE, USAGE, NO_TOE = 1, 2, 4
MAGIC, VERSION, HELLO_CAPTURE = 0x31454F54, 1, 9  # toe/attach.h
SUM = re.compile(r"(\d+) frames captured, (\d+) of them .*; (\d+) frames seen, (\d+) lost")

pytestmark = pytest.mark.toehold_only


def command(lab, *words: object, path: object = None) -> list[object]:
    return [paths.built("toehold"), "capture", "--socket", path or lab.toed.socket, *words]


def start(lab, *words: object, path: object = None, prefix=()) -> proc.Proc:
    """A capture that has begun."""
    p = proc.Proc([*prefix, *command(lab, *words, path=path)], name="capture")
    try:
        proc.wait_until(lambda: "capturing on" in p.text(), "the capture begins", proc=p)
    except BaseException:
        p.kill()
        raise
    return p


def end(p: proc.Proc, sig: int = signal.SIGINT) -> tuple[int, ...]:
    """Ends a capture. Its figures: captured, dropped by the TOE, seen, lost."""
    p.send_signal(sig)
    assert p.wait(20) == 0, p.text()
    return tuple(map(int, SUM.search(p.text()).groups()))


@contextlib.contextmanager
def capturing(lab, file: Path, *words: object, **options: object) -> Iterator[proc.Proc]:
    """A capture to a file, complete at the end."""
    p = start(lab, "-w", file, *words, **options)
    try:
        yield p
        end(p)
    finally:
        p.kill()


def tcp(packet: pcapng.Packet) -> frames.Segment | None:
    """The segment of a packet, in a VLAN or not."""
    data = packet.data[16:] if packet.data[12:14] == b"\x81\x00" else packet.data[12:]
    if data[:2] != b"\x08\x00" or data[11] != 6:
        return None
    size = int.from_bytes(data[4:6], "big")
    return frames.parse(data[2 : 2 + size])


def streams(capture: pcapng.Capture, port: int) -> dict[int, dict[int, int]]:
    """The bytes of connections with this port of the TOE: {direction: {connection: bytes}}.

    Retransmissions count once: bytes are those between the first and the last sequence number.
    """
    covered: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for p in capture.packets:
        s = tcp(p)
        if not s or port not in (s.sport, s.dport) or not s.data:
            continue
        assert (p.direction == pcapng.OUT) == (s.sport == port)
        peer = s.dport if s.sport == port else s.sport
        covered.setdefault((p.direction, peer), set()).add((s.seq, len(s.data)))
    found: dict[int, dict[int, int]] = {pcapng.IN: {}, pcapng.OUT: {}}
    for (direction, peer), parts in covered.items():
        first = min(parts, key=lambda x: (x[0] - next(iter(parts))[0] + (1 << 31)) % (1 << 32))[0]
        marks, last = 0, 0
        for seq, n in sorted(((seq - first) % (1 << 32), n) for seq, n in parts):
            marks += max(0, seq + n - max(seq, last))
            last = max(last, seq + n)
        found[direction][peer] = marks
    return found


def flow_of(lab, port: int) -> str:
    """The flow of the peer's port, as comments name it: by the id of `toehold flows`."""
    done = proc.run(command(lab)[:1] + ["flows", "--json", "--socket", lab.toed.socket])
    [flow] = [f for f in json.loads(done.stdout)["flows"] if f["remote_port"] == port]
    return f"flow {flow['flow']}"


# ---- what is captured


@pytest.mark.sanitize
def test_bytes_and_directions_of_a_connection(lab, robot, tmp_path):
    """Every byte of both programs is in the file, in the direction it went, with its flow."""
    file = tmp_path / "x.pcapng"
    robot.listen(lab.ip, PORT)
    with capturing(lab, file), lab.connect(PORT) as peer:
        own = peer.getsockname()[1]
        robot.accept()
        peer.sendall(bytes(70_000))
        assert robot("n = 0\nwhile n < 70000: n += len(s.recv(65536))\nn") == 70_000
        robot.tell("s.sendall(bytes(range(250)) * 1200)")
        assert take(peer, 300_000) == bytes(range(250)) * 1200
        robot.result()
        name = flow_of(lab, own)
    got = pcapng.read(file)
    assert streams(got, PORT) == {pcapng.IN: {own: 70_000}, pcapng.OUT: {own: 300_000}}
    ours = [p for p in got.packets if (s := tcp(p)) and own in (s.sport, s.dport)]
    assert all(p.comment.split(",")[0] == name for p in ours), {p.comment for p in ours}
    assert {ours[0].direction, ours[1].direction} == {pcapng.IN, pcapng.OUT}  # SYN, SYN and ACK
    # `toehold trace` takes what the comment has
    words = [paths.built("toehold"), "trace", "--socket", lab.toed.socket, "--json"]
    traced = json.loads(proc.run([*words, ours[0].comment.removeprefix("flow ")]).stdout)
    assert (traced["flow"], traced["remote_port"]) == (name.removeprefix("flow "), own)
    times = [p.time_ns for p in got.packets]
    assert times == sorted(times)
    [interface] = got.interfaces
    assert (interface.name, interface.description) == (lab.toed.netif, "toed, engine 0")
    assert (interface.resolution, interface.dropped) == (9, 0)
    assert interface.received == interface.accepted == len(got.packets)
    assert got.program.startswith("toehold ")
    robot("s.close()")


def test_tshark_reads_what_nginx_sent(make_lab, tmp_path):
    """... and a pipe into tshark while it runs."""
    lab = make_lab()
    with nginx.start(lab, tmp_path):
        nginx.make_file(tmp_path / "files/x", 100_000)
        words = ["-c", 12, "-w", "-", "tcp", "port", 80]
        line = " ".join(map(str, command(lab, *words)))
        fields = [
            *("-T", "fields", "-e", "frame.packet_flags_direction", "-e", "ip.src"),
            *("-e", "frame.comment", "-e", "http.request.uri"),
        ]
        pipe = proc.Proc(["sh", "-c", f"{line} | tshark -n -l -r - {' '.join(fields)}"])
        try:
            proc.wait_until(lambda: "capturing on" in pipe.text(), "the capture", proc=pipe)
            assert len(nginx.get(lab, "/x")) == 100_000
            assert pipe.wait(40) == 0, pipe.text()
        finally:
            pipe.kill()
    rows = [r.split("\t") for r in pipe.text().splitlines() if r.count("\t") == 3]
    assert len(rows) == 12, pipe.text()
    for direction, source, comment, _uri in rows:
        assert (int(direction, 0) == pcapng.OUT) == (source == lab.ip)
        assert re.match(r"flow \d+\.\d+", comment)
    assert any(uri == "/x" for *_, uri in rows)


@pytest.mark.sanitize
def test_a_drop_has_its_reason_and_flow(lab, robot, tmp_path):
    """A segment of a live connection whose checksum is wrong, and one of another station."""
    file = tmp_path / "x.pcapng"
    robot.listen(lab.ip, PORT)
    with lab.connect(PORT) as peer, frames.Ghost(lab) as ghost:
        robot.accept()
        ghost.find_target()
        own = peer.getsockname()[1]
        name = flow_of(lab, own)
        before = lab.counter("tcp_bad_checksum")
        with capturing(lab, file, "--drops"):
            segment = struct.pack("!HHIIBBHHH", own, PORT, 1, 1, 0x50, frames.ACK, 99, 1, 0)
            ghost.send_ip(frames.ipv4(lab.peer_ip, lab.ip, 6, segment + b"wrong"))
            ghost.send_ip(frames.ipv4(ghost.ip, lab.ip, 200, b"protocol 200"))
            proc.wait_until(
                lambda: (
                    lab.counter("ip4_unknown_proto") > 0
                    and lab.counter("tcp_bad_checksum") > before
                ),
                "both drops",
            )
        drops = pcapng.read(file).packets
    assert len(drops) == 2, drops
    assert drops[0].comment.startswith(f"dropped: TCP checksum wrong (tcp_bad_checksum), {name}"), (
        drops[0]
    )
    assert tcp(drops[0]).data == b"wrong"
    assert "(ip4_unknown_proto)" in drops[1].comment and "flow" not in drops[1].comment
    robot("s.close()")


def test_filter_direction_snaplen_and_count(lab, robot, tmp_path):
    file = tmp_path / "x.pcapng"
    for port in (7001, 7002):
        robot.listen(lab.ip, port, name=f"l{port}")
    words = ["-s", 60, "-Q", "in", "-c", 4, "tcp port 7002", "and", "dst", "host", lab.ip]
    with start(lab, "-w", file, *words) as p:
        for port in (7001, 7002, 7002, 7001, 7002, 7002):
            lab.connect(port).close()
            robot.accept(listener=f"l{port}")
            robot("s.close()")
        assert p.wait(20) == 0, p.text()
    got = pcapng.read(file)
    assert len(got.packets) == 4
    assert all(tcp(p).dport == 7002 and p.direction == pcapng.IN for p in got.packets)
    assert all(len(p.data) == 60 <= p.length for p in got.packets)
    assert got.interfaces[0].filter == f"tcp port 7002 and dst host {lab.ip}"
    assert got.interfaces[0].snaplen == 60
    assert got.interfaces[0].accepted == 4 < got.interfaces[0].received


def test_text_and_json(lab, robot):
    robot.listen(lab.ip, PORT)
    with (
        start(lab, "-c", 3, f"tcp port {PORT}") as lines,
        lab.connect(PORT) as peer,
    ):
        own = peer.getsockname()[1]
        assert lines.wait(20) == 0, lines.text()
        robot.accept()
        said = [line for line in lines.text().splitlines() if not line.startswith("toehold:")]
        stamp, ends = r"\d\d:\d\d:\d\d\.\d{9} ", r"win \d+, length 0, flow \d+\.\d+\.\d+"
        a, b = f"{lab.peer_ip}.{own}", f"{lab.ip}.{PORT}"
        for line, pattern in zip(
            said,
            [
                rf"{stamp}in    IP {a} > {b}: Flags \[S\S*\], seq \d+, ack 0, {ends}",
                rf"{stamp}out   IP {b} > {a}: Flags \[S\S*\.\], seq \d+, ack \d+, {ends}",
                rf"{stamp}in    IP {a} > {b}: Flags \[\.\], seq \d+, ack \d+, {ends}",
            ],
            strict=True,
        ):
            assert re.fullmatch(pattern, line), line
        with start(lab, "--json", "-c", 1, "-Q", "out", "tcp") as objects:
            robot("s.send(b'abcde')")
            assert objects.wait(20) == 0, objects.text()
            [line] = [x for x in objects.text().splitlines() if x.startswith("{")]
            frame = json.loads(line)
        assert (frame["direction"], frame["src"], frame["dst"]) == ("out", lab.ip, lab.peer_ip)
        assert (frame["sport"], frame["dport"], frame["payload"]) == (PORT, own, 5)
        assert {"time_ns", "engine", "length", "qp", "slot", "seq", "ack", "win"} <= set(frame)
        robot("s.close()")


def test_segments_in_one_frame_stay_one(make_lab, tmp_path):
    """TSO to a TAP device, and what the kernel joined for it."""
    file = tmp_path / "x.pcapng"
    lab = make_lab(mode="tap")
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            own = peer.getsockname()[1]
            robot.accept()
            with capturing(lab, file):
                robot.tell("s.sendall(bytes(500000))")
                take(peer, 500_000)
                robot.result()
    got = pcapng.read(file)
    assert streams(got, PORT)[pcapng.OUT] == {own: 500_000}
    large = [p for p in got.packets if p.length > 1514]
    assert large
    assert all(re.search(r"segments of \d+ bytes", p.comment) for p in large)


@pytest.mark.parametrize("engine", ["inline", "thread"])
def test_an_engine_within_a_program(tmp_path, engine):
    file = tmp_path / "x.pcapng"
    with test_inline.Inline(engine) as lab:
        argv = nginx.configuration(tmp_path, f"{lab.ip}:80")
        nginx.make_file(tmp_path / "files/x", 50_000)
        with lab.app(argv, port=80) as web:
            socks = [f"/run/toehold/inline-{pid}.sock" for pid in [web.pid, *web.children()]]
            [sock] = [s for s in socks if os.path.exists(s)]
            with capturing(lab, file, path=sock):
                assert len(nginx.get(lab, "/x")) == 50_000
            with capturing(lab, tmp_path / "again", path=sock):
                assert len(nginx.get(lab, "/x")) == 50_000
    got = pcapng.read(file)
    assert got.interfaces[0].description == f"{engine}, engine 0"
    [sent] = streams(got, 80)[pcapng.OUT].values()
    assert 50_000 < sent < 51_000
    assert len(pcapng.read(tmp_path / "again").packets) > 40


@pytest.mark.parametrize("tagged", [False, True])
def test_two_engines(make_lab, tmp_path, tagged):
    """Each frame once, on the interface of the engine that has its flow, with its VLAN tag."""
    file = tmp_path / "x.pcapng"
    lab = make_lab(engines=2, args=["--vlan", vlan.ID] if tagged else [])
    if tagged:
        vlan.join(lab.pair)
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        owns = {}
        with capturing(lab, file, "vlan 100 and tcp" if tagged else "tcp"):
            for n in range(8):
                with lab.connect(PORT) as peer:
                    robot.accept()
                    peer.sendall(bytes(20_000))
                    robot("n = 0\nwhile n < 20000: n += len(s.recv(65536))\nn")
                    robot("s.sendall(bytes(5000 + k))", k=n)
                    take(peer, 5000 + n)
                    owns[peer.getsockname()[1]] = 5000 + n
                robot("s.close()")
    got = pcapng.read(file)
    assert streams(got, PORT) == {pcapng.IN: dict.fromkeys(owns, 20_000), pcapng.OUT: owns}
    homes: dict[int, set[int]] = {}
    for p in got.packets:
        s = tcp(p)
        homes.setdefault(s.dport if s.sport == PORT else s.sport, set()).add(p.interface)
    assert all(len(h) == 1 for h in homes.values()), homes
    tag = vlan.ID.to_bytes(4, "big")[2:]
    assert all((p.data[12:16] == b"\x81\x00" + tag) == tagged for p in got.packets)
    names = [(i.name, i.description) for i in got.interfaces]
    assert names == [(f"{lab.toed.netif} engine {i}", f"toed, engine {i}") for i in (0, 1)]
    assert sum(i.accepted for i in got.interfaces) == len(got.packets)


def test_frames_to_the_own_address(lab, robot, tmp_path):
    """They reach no interface, and appear once."""
    file = tmp_path / "x.pcapng"
    robot.listen(lab.ip, PORT)
    with capturing(lab, file, "-Q", "in", f"tcp port {PORT}"):
        robot("c = socket.create_connection(at); s, _ = listener.accept()", at=(lab.ip, PORT))
        robot("c.sendall(bytes(3000)); n = 0\nwhile n < 3000: n += len(s.recv(4096))")
    robot("c.close(); s.close()")
    got = pcapng.read(file)
    segments = [tcp(p) for p in got.packets]
    assert sum(len(s.data) for s in segments if s.dport == PORT) == 3000
    assert sum(s.flags == frames.SYN for s in segments) == 1
    assert {p.direction for p in got.packets} == {0}
    assert all(re.fullmatch(r"flow \d+\.\d+\.\d+.*, looped back", p.comment) for p in got.packets)


# ---- its life


def has_memory(lab) -> bool:
    return "toehold-capture" in Path(f"/proc/{lab.toed.proc.pid}/maps").read_text()


@pytest.mark.sanitize
def test_twenty_captures_under_load(lab, robot, tmp_path):
    """No byte of the connection is lost, and the TOE's memory is released each time."""
    robot.listen(lab.ip, PORT)
    with lab.connect(PORT) as peer:
        robot.accept()
        flow = Flow(robot, peer)
        before = lab.footprint()["fds"]
        for n in range(20):
            with start(lab, "-w", tmp_path / f"{n % 2}", "-c", 100) as p:
                assert p.wait(20) == 0, p.text()
        flow.end()
        proc.wait_until(lambda: not has_memory(lab), "the memory is released")
        proc.wait_until(lambda: lab.footprint()["fds"] == before, "the descriptors are closed")
    got = pcapng.read(tmp_path / "1")
    assert len(got.packets) == 100
    robot("s.close()")


@pytest.mark.sanitize
def test_a_killed_capture_frees_its_memory(lab, tmp_path):
    p = start(lab, "-w", tmp_path / "x")
    assert has_memory(lab)
    p.kill()
    proc.wait_until(lambda: not has_memory(lab), "the memory is released")
    with capturing(lab, tmp_path / "y"):
        lab.client.ping(lab.ip)
    assert pcapng.read(tmp_path / "y").packets


@pytest.mark.sanitize
def test_frames_that_do_not_fit_are_counted(lab, robot, tmp_path):
    """The tool is stopped while more arrives than its ring holds."""
    file = tmp_path / "x.pcapng"
    robot.listen(lab.ip, PORT)
    with lab.connect(PORT) as peer, start(lab, "-w", file, "--buffer-mib", 1) as p:
        robot.accept()
        p.send_signal(signal.SIGSTOP)
        robot.tell("s.sendall(bytes(1500000))")
        take(peer, 1_500_000)
        robot.result()
        p.send_signal(signal.SIGCONT)
        captured, _, seen, lost = end(p)
    got = pcapng.read(file)
    [interface] = got.interfaces
    assert lost > 0 and captured == len(got.packets)
    assert interface.dropped == lost
    assert interface.received == seen == captured + lost
    assert "--buffer-mib" in p.text()
    robot("s.close()")


def test_ends_by_duration_and_signals(lab, tmp_path):
    with start(lab, "-w", tmp_path / "x", "--duration", 1) as p:
        assert p.wait(20) == 0, p.text()
    for sig in (signal.SIGTERM, signal.SIGHUP):
        with start(lab, "-w", tmp_path / "x") as p:
            assert end(p, sig)[3] == 0
    assert pcapng.read(tmp_path / "x").interfaces[0].received is not None


def test_the_reader_of_the_pipe_ends(lab, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with start(lab, "-w", pipe) as p:
        os.close(reader)
        lab.client.ping(lab.ip)
        assert p.wait(20) == 0, p.text()


def test_a_full_disk(lab):
    with start(lab, "-w", "/dev/full") as p:
        lab.client.ping(lab.ip)
        assert p.wait(20) == FAILURE
        assert "cannot write /dev/full: No space left on device" in p.text()


@pytest.mark.sanitize
def test_the_toe_ends_or_is_replaced(make_lab, tmp_path):
    lab = make_lab()
    with start(lab, "-w", tmp_path / "x") as p:
        lab.client.ping(lab.ip)
        lab.toed.take_over()
        assert p.wait(20) == FAILURE
        assert "the TOE has ended, or another has taken over" in p.text()
    assert len(pcapng.read(tmp_path / "x").packets) >= 2
    with start(lab, "-w", tmp_path / "x") as p:
        lab.client.ping(lab.ip)
        lab.toed.stop()
        assert p.wait(20) == FAILURE
    assert len(pcapng.read(tmp_path / "x").packets) >= 2


# ---- what is refused


def refused(argv: list[object]) -> tuple[int, str]:
    done = proc.run(argv, check=False)
    assert done.stdout == "" and len(done.stderr.splitlines()) <= 2, done
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tcp", "prt", "80"], "the filter 'tcp prt 80' is wrong: "),
        (["outbound"], "the filter 'outbound' is wrong: it needs the kernel; --direction replaces"),
        (["port", "70000"], "the filter 'port 70000' is wrong: "),
        (["-c", "0"], "--count 0 is not a whole number from 1"),
        (["-c", "-1"], "--count -1 is not a whole number"),
        (["--duration", "1.5"], "--duration 1.5 is not a whole number from 1 to 31536000"),
        (["-s", "262145"], "--snaplen 262145 is not a whole number from 0 to 262144"),
        (["-B", "3"], "--buffer-mib 3 is not a power of two"),
        (["-B", "512"], "--buffer-mib 512 is not a whole number from 1 to 256"),
        (["-Q", "up"], "--direction up is not in, out or inout"),
        (["--json", "-w", "x"], "--json is for the terminal"),
        (["--dur", "1"], "unknown option --dur; write --duration in full"),
        (["--frames"], "unknown option --frames"),
        (["x" * 5000], "the filter is longer than 4095 bytes"),
        (["--capture"], "--capture needs --extcap-interface and --fifo"),
        (["--extcap-dlts"], "--extcap-interface is missing"),
        (["--extcap-dlts", "--extcap-interface", "eth0"], "there is no interface eth0"),
        (["--extcap-interface", "toehold"], "give --extcap-interfaces, --extcap-dlts"),
    ],
)
def test_wrong_use(words, said, tmp_path):
    toehold = paths.built("toehold")
    code, text = refused([toehold, "capture", "--socket", tmp_path / "none", *words])
    assert code == USAGE and said in text, text


@pytest.mark.sanitize
def test_one_capture_at_a_time(lab, tmp_path):
    with capturing(lab, tmp_path / "x") as first:
        code, text = refused(command(lab))
        assert code == FAILURE
        assert f"the TOE refuses: pid {first.pid} is capturing already" in text


def test_no_toe_and_no_file(lab, tmp_path):
    code, text = refused(command(lab, path=tmp_path / "none"))
    assert code == NO_TOE and "no toed answers" in text
    code, text = refused(command(lab, "-w", tmp_path / "no/file"))
    assert code == FAILURE and f"cannot write {tmp_path}/no/file: No such file" in text


def as_user(argv: list[object]) -> list[object]:
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *argv]


def test_users(make_lab, tmp_path):
    """A user that cannot open the socket cannot capture; with limits per user, only root can."""
    lab = make_lab(args=["--user-limits", "qps=9"])
    code, text = refused(as_user(command(lab)))
    assert code == NO_TOE and "no right to reach toed" in text
    lab.toed.socket.chmod(0o666)
    code, text = refused(as_user(command(lab)))
    assert code == FAILURE and "with --user-limits only root may capture" in text
    with capturing(lab, tmp_path / "x"):
        pass


def test_a_user_of_the_socket_may_capture(make_lab):
    lab = make_lab(args=["--user", "nobody"])
    p = start(lab, "-c", 2, "icmp", prefix=as_user([]))
    lab.client.ping(lab.ip)
    assert p.wait(20) == 0, p.text()
    assert "ICMP" in p.text()


def ask(lab, name: bytes) -> tuple[socket.socket, bytes, list[int]]:
    """A raw request; the connection, the answer and its descriptors."""
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(20)
    s.connect(str(lab.toed.socket))
    s.send(struct.pack("<10I32s", MAGIC, VERSION, HELLO_CAPTURE, *[0] * 7, name))
    data, fds, _, _ = socket.recv_fds(s, 4096, 4)
    return s, data, fds


@pytest.mark.sanitize
@pytest.mark.parametrize(
    "name",
    [b"", b"64", b"64 ", b" 1", b"63 1", b"262145 1", b"64 0", b"64 3", b"64 512", b"64 1 "]
    + [b"-1 1", b"64 1x", b"6" * 31, b"999999999999999999999 1"],
)
def test_requests_that_are_wrong(lab, name):
    s, data, fds = ask(lab, name)
    with s:
        assert struct.unpack_from("<3I", data)[2] != 0 and not fds
        assert b"such a capture is not possible" in data
        assert s.recv(1) == b""
    assert not has_memory(lab)


@pytest.mark.sanitize
def test_a_tool_that_breaks_what_it_shares(lab, tmp_path):
    """It writes nonsense over all of the memory, and cannot shrink it; then a second message."""
    s, _, [fd] = ask(lab, b"64 1")
    with s:
        size = os.fstat(fd).st_size
        for size_wanted in (0, 2 * size):
            with pytest.raises(PermissionError):
                os.ftruncate(fd, size_wanted)
        for byte in (b"\xff", b"\x5a", b"\0"):
            os.pwrite(fd, byte * size, 0)
            lab.client.ping(lab.ip)
        os.close(fd)
        s.send(b"what")
        assert s.recv(1) == b""
    proc.wait_until(lambda: not has_memory(lab), "the memory is released")
    with capturing(lab, tmp_path / "x"):
        lab.client.ping(lab.ip)
    assert pcapng.read(tmp_path / "x").packets


# ---- Wireshark


def test_extcap(lab, tmp_path):
    """tshark lists the interface of the extcap folder, checks a filter, and captures from it."""
    folder = tmp_path / "extcap"
    folder.mkdir()
    (folder / "toehold-capture").symlink_to(paths.built("toehold"))
    env = {"TOEHOLD_SOCKET": str(lab.toed.socket)}
    link = folder / "toehold-capture"

    def said(*words: object) -> str:
        return proc.run([link, *words], env=env).stdout

    assert "interface {value=toehold}{display=Toehold: toed}" in said("--extcap-interfaces")
    of = ["--extcap-interface=toehold"]
    assert said(*of, "--extcap-dlts") == "dlt {number=1}{name=EN10MB}{display=Ethernet}\n"
    assert "{call=--drops}" in said(*of, "--extcap-config")
    assert said(*of, "--extcap-capture-filter=tcp") == ""
    assert "syntax error" in said(*of, "--extcap-capture-filter=tcp prt 1")
    # tshark ignores WIRESHARK_EXTCAP_DIR when root runs it: a mount of its own replaces the folder.
    [system] = Path("/usr/lib").glob("*/wireshark/extcap")
    mount = 'mount --bind "$0" "$1" && shift && exec "$@"'
    argv = ["unshare", "--mount", "sh", "-c", mount, folder, system]
    argv += ["tshark", "-n", "-l", "-i", "toehold", "-f", "icmp", "-c", 4]
    with proc.Proc([*argv, "-T", "fields", "-e", "icmp.type"], env=env, name="tshark") as p:

        def captured() -> bool:
            lab.client.ping(lab.ip)
            return p.poll() is not None

        proc.wait_until(captured, "tshark ends", timeout=60)
        assert p.poll() == 0, p.text()
        assert sorted(set(p.text().split()) & {"0", "8"}) == ["0", "8"], p.text()
    proc.wait_until(lambda: not has_memory(lab), "the capture has ended")
