# SPDX-License-Identifier: Apache-2.0
"""The gateware TOE runs unmodified Linux programs through libtoe; the peer is Linux."""

import json
import mmap
import os
import re
import signal
import socket
import struct
import subprocess
from pathlib import Path

import pytest

from gateware.lib import live
from gateware.lib.tools import ROOT
from tests.lab import frames, netns, pcapng, proc

from .raw_host import HELLO, MAGIC, VERSION
from .test_live import read_pcapng
from .toe_lab import ECHO, MANY, PORT, PYTHON, TALK, TOEHOLD, Toe, write_pcap

HELLO_CAPTURE = 9  # toe/attach.h

# Its peer: uses all connections in each round, in a different order each time.
TURNS = """
import os, random, socket, sys
order = random.Random(int(sys.argv[4]))
conns = [socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=60)
         for _ in range(int(sys.argv[3]))]
for turn in range(4):
    order.shuffle(conns)
    said = []
    for c in conns:
        said.append(os.urandom(order.randrange(1, 3000)))
        c.sendall(said[-1])
    for c, data in zip(conns, said):
        got = b""
        while len(got) < len(data) and (part := c.recv(65536)):
            got += part
        assert got == data, (turn, len(got), len(data))
"""

CONNECT = """
import socket, sys
try:
    s = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=300)
except OSError as e:
    print(type(e).__name__)
else:
    s.sendall(b"ab")
    print(s.getpeername(), s.recv(100), s.recv(100))
"""


CONTROL = """
import socket, sys, time
s = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=300)
def control():
    return s.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).strip(b"\\0").decode()
for wanted in sys.argv[3:]:
    if wanted.startswith("="):
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, wanted[1:].encode())
    else:
        s.sendall(b"ab")
        s.recv(100)
        until = time.monotonic() + 300
        while control() != wanted and time.monotonic() < until:
            time.sleep(0.01)
        print(control())
"""


def test_ping_and_a_port_that_is_closed(toe: Toe) -> None:
    toe.client.ping(toe.ip, "-s", 1000)
    said = toe.client.run([PYTHON, "-c", CONNECT, toe.ip, "9"]).stdout
    assert said.strip() == "ConnectionRefusedError"


def test_bytes_both_ways(toe: Toe) -> None:
    server = toe.echo()
    for n in (1, 1447, 1448, 1449, 65535, 400000):
        toe.talk(n)
    server.stop()


@pytest.mark.parametrize(
    "size", [300000, pytest.param(20_000_000, marks=pytest.mark.long)], ids=["small", "20MB"]
)
def test_bytes_both_ways_over_a_bad_link(tmp_path: Path, size: int) -> None:
    toe = Toe(tmp_path, "loss=5,reorder=5,duplicate=2,corrupt=1,seed=7")
    try:
        server = toe.echo()
        toe.talk(size)
        server.stop()
    finally:
        counts = toe.close()
    assert counts["fast_recovery"] > 0
    assert counts["resent"] > 0
    assert counts["strayed"] == counts["unlawful"] == 0


@pytest.mark.parametrize(
    "program", ["toe_sim", pytest.param("toe_sim_4fpcs", marks=pytest.mark.long)]
)
def test_more_flows_than_tcbs_on_chip(tmp_path: Path, program: str) -> None:
    """The other TCBs are in a slow memory (S1.4)."""
    toe = Toe(tmp_path, None, "--delay", 30, program=program)
    try:
        server = toe.server.start([PYTHON, "-c", MANY, PORT], env=toe.env(256))
        proc.wait_until(lambda: "listening" in server.text(), "it does not listen", timeout=30)
        toe.client.run([PYTHON, "-c", TURNS, toe.ip, PORT, 200, 1], timeout=120)
        server.stop()
    finally:
        counts = toe.close()
    assert counts["fetched"] > 200
    assert counts["evicted"] > 200
    assert "tcb_read_error" not in counts and "tcb_write_error" not in counts
    assert counts["strayed"] == counts["unlawful"] == 0


def test_link_and_memory_that_keep_it_waiting(tmp_path: Path) -> None:
    toe = Toe(tmp_path, None, "--stall", 40, "--delay", 50)
    try:
        server = toe.echo()
        toe.talk(200000)
        server.stop()
    finally:
        counts = toe.close()
    assert counts["strayed"] == counts["unlawful"] == 0


# Offsets in a queue pair's area (toe/device.h); EPROTO.
SW_HEAD, HW_TAIL, HALTED, BROKEN = 0, 64, 4096 + 192, 71


def area_of(pid: int) -> mmap.mmap:
    """Maps the memory that a program shares with its TOE."""
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        if "memfd:toehold-qp" in os.readlink(fd):
            with fd.open("r+b") as file:
                return mmap.mmap(file.fileno(), 8192)
    raise AssertionError("it has no queue pair")


@pytest.mark.parametrize(
    ("at", "by"), [(SW_HEAD, 1 << 20), (SW_HEAD, 1), (HW_TAIL, 3), (HW_TAIL, -1)]
)
def test_who_breaks_a_ring_is_halted_alone(toe: Toe, at: int, by: int) -> None:
    """A head too far ahead, a missing command, a tail past the head, a tail that moves back."""
    bad, good = toe.echo(PORT), toe.echo(PORT + 1)
    toe.talk(1000, PORT)
    held = (
        "import socket, sys; s = socket.create_connection((sys.argv[1], int(sys.argv[2])));"
        "print('open', flush=True); s.settimeout(30); s.recv(1)"
    )
    peer = toe.client.start([PYTHON, "-c", held, toe.ip, PORT])
    proc.wait_until(lambda: "open" in peer.text(), "no connection", timeout=30)
    area = area_of(bad.pid)
    used = next(q for q in toe.stats()["engines"][0]["queue_pairs"] if q["pid"] == bad.pid)
    assert (used["slots_used"], used["listeners"], used["halted"]) == (1, 1, 0)
    value = (struct.unpack_from("<I", area, at)[0] + by) % (1 << 32)
    struct.pack_into("<I", area, at, value)

    def told() -> bool:
        return struct.unpack_from("<I", area, HALTED)[0] == BROKEN

    proc.wait_until(told, "it is not halted", timeout=30)
    assert peer.wait(30) == 1
    assert "ConnectionResetError" in peer.text()
    toe.talk(100000, PORT + 1)
    engine = toe.stats()["engines"][0]
    assert engine["counters"]["qp_halted"] == 1
    # The halted program may have exited in the meantime.
    halted = {q["pid"]: q["halted"] for q in engine["queue_pairs"]}
    assert halted in ({good.pid: 0}, {bad.pid: BROKEN, good.pid: 0})
    bad.stop()
    again = toe.echo(PORT)
    toe.talk(1000, PORT)
    for p in (again, good):
        p.stop()


def test_nobody_makes_it_wait(toe: Toe) -> None:
    """A program breaks every rule, and fills and blocks the descriptors that it shares."""
    hostile = ROOT / "build" / "tests" / "hostile"
    halted = 0
    # On a busy machine it may exit before the simulation has seen the violation.
    for seed in range(1, 11):
        ends = [toe.peer_ip, PORT, PORT + 1, "mark"]
        rogue = toe.server.start([hostile, toe.socket, seed, 15, *ends])
        assert rogue.wait(60) == 0, rogue.tail()
        halted = toe.stats()["engines"][0]["counters"]["qp_halted"]
        if halted:
            break
    assert halted > 0
    toe.client.run(["ping", "-c", "2", "-i", "0.2", "-W", "5", toe.ip])


def test_a_program_starts_it(tmp_path: Path) -> None:
    """toehold run --engine gateware: one command, which leaves nothing behind."""
    pair = netns.Pair(kernel_ip=None, tap=True)
    try:
        where = tmp_path / "toe.sock"
        argv = [TOEHOLD, "run", "--engine", "gateware", "--netif", "tap:tap0"]
        argv += ["--ip", f"{pair.server_ip}/24", "--socket", where]
        env = {"TOEHOLD_TOE_SIM": str(live.build("toe_sim"))}
        server = pair.server.start([*argv, PYTHON, "-c", ECHO, PORT], env=env)
        proc.wait_until(lambda: "listening" in server.text(), "it does not listen", timeout=60)
        talk = [PYTHON, "-c", TALK, pair.server_ip, PORT, 50000]
        pair.client.run(talk, timeout=60)
        said = json.loads(pair.server.run([TOEHOLD, "stats", "--json", "--socket", where]).stdout)
        assert said["engines"][0]["queue_pairs"][0]["pid"] == server.pid
        os.kill(server.pid, signal.SIGKILL)
        server.stop()
        proc.wait_until(lambda: not where.exists(), "the simulation stays", timeout=30)
    finally:
        pair.delete()


def test_statistics_and_registers(toe: Toe) -> None:
    toe.client.run(["ping", "-c", "2", "-i", "0.1", "-W", "5", toe.ip])
    said = toe.stats()
    assert said["address"] == f"{toe.ip}/24"
    assert said["engine"] == "gateware, simulated"
    assert said["engines"][0]["netio"]["tx_frames"] >= 2
    assert said["engines"][0]["counters"]["packet_out"] >= 2
    assert "not_ours" in toe.toehold("stats", "--socket", toe.socket)
    # The page that tools get from any TOE, and the bus itself, which can also write registers.
    page, bus = f"toed:{toe.socket}", f"sim:{toe.regs}"
    for bar in (page, bus):
        read = json.loads(toe.toehold("reg", "read", "--bar", bar, "--json", "ID", "FEATURES"))
        text = json.dumps(read)
        assert str(0x31454F54) in text or "31454f54" in text, text
    toe.toehold("reg", "write", "--bar", bus, "DOORBELLS[5].SW_HEAD=7")
    toe.toehold("reg", "write", "--bar", bus, "QP_SELECT=3")
    assert "3" in toe.toehold("reg", "read", "--bar", bus, "QP_SELECT")
    refused = toe.server.run([TOEHOLD, "reg", "write", "--bar", bus, "ID=1"], check=False)
    assert refused.returncode != 0
    assert "ID" in refused.stderr


def capture(toe: Toe, *words: object) -> proc.Proc:
    """`toehold capture`, begun."""
    p = toe.server.start([TOEHOLD, "capture", "--socket", toe.socket, *words], name="capture")
    proc.wait_until(lambda: "capturing on" in p.text(), "the capture begins", proc=p)
    return p


def test_a_capture_of_the_running_toe(tmp_path: Path) -> None:
    """Each frame of both directions with its cycle: the same frames as --pcap records inside."""
    inside, file = tmp_path / "inside.pcapng", tmp_path / "x.pcapng"
    toe = Toe(tmp_path, None, "--pcap", inside)
    try:
        server = toe.echo()
        p = capture(toe, "-w", file)
        other = [TOEHOLD, "capture", "--socket", toe.socket, "-c", 1]
        said = toe.server.run(other, check=False).stderr
        assert f"the TOE refuses: pid {p.pid} is capturing already" in said
        toe.talk(20_000)
        p.send_signal(signal.SIGINT)
        assert p.wait(60) == 0, p.text()
        lines = capture(toe, "--json", "-c", 3, "tcp")  # another, after the first has ended
        toe.talk(1)
        assert lines.wait(60) == 0, lines.text()
        server.stop()
    finally:
        toe.close()
    got = pcapng.read(file)
    [interface] = got.interfaces
    assert (interface.name, interface.description) == ("tap:tap0", "gateware, engine 0")
    assert interface.received == len(got.packets) and interface.dropped == 0
    frames = [
        (int(p.direction == pcapng.OUT), int(re.search(r"cycle (\d+)", p.comment)[1]), p.data)
        for p in got.packets
    ]
    within = [(out, cycle, data) for out, _, cycle, data in read_pcapng(inside)]
    first = within.index(frames[0])
    assert within[first : first + len(frames)] == frames
    assert {out for out, _, _ in frames} == {0, 1}
    assert sum(len(data) for _, _, data in frames) > 40_000
    first, *_ = [json.loads(line) for line in lines.text().splitlines() if line.startswith("{")]
    assert (first["direction"], first["flags"][0], first["dport"]) == ("in", "S", PORT)
    assert first["cycle"] > frames[-1][1] and "flow" not in first


SEND = """
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
for frame in sys.argv[2:]:
    s.send(bytes.fromhex(frame))
"""


def test_a_capture_has_the_reasons_of_drops(toe: Toe) -> None:
    """Of the receive unit, which counts them in `toehold stats` too."""
    toe.client.ping(toe.ip)
    [neighbour] = json.loads(toe.client.run(["ip", "-j", "neigh", "show", toe.ip]).stdout)
    head = bytes.fromhex(neighbour["lladdr"].replace(":", "") + "020000000001" + "0800")
    syn = struct.pack("!HHIIBBHHH", 1, PORT, 0, 0, 0x50, frames.SYN, 1000, 0, 0)
    packet = frames.ipv4(toe.peer_ip, toe.ip, 6, syn)  # the checksum of TCP is missing
    sent = {
        "bad_tcp_sum": packet,
        "not_ours": frames.ipv4(toe.peer_ip, toe.ip, 99, syn),
        "bad_header": frames.ipv4(toe.peer_ip, toe.ip, 6, syn[:10]),
    }
    before = toe.stats()["engines"][0]["counters"]
    words = ["--drops", "--json", "-c", len(sent), f"ether src 02:00:00:00:00:01 and dst {toe.ip}"]
    p = capture(toe, *words)
    raw = [(head + data).hex() for data in sent.values()]
    toe.client.run([PYTHON, "-c", SEND, toe.pair.client_if, *raw])
    assert p.wait(60) == 0, p.text()
    seen = [json.loads(line) for line in p.text().splitlines() if line.startswith("{")]
    assert [frame["dropped"] for frame in seen] == list(sent)
    assert all(frame["cycle"] and frame["reason"] for frame in seen)
    after = toe.stats()["engines"][0]["counters"]
    assert all(after[name] > before[name] for name in sent)
    text = toe.toehold("stats", "--socket", toe.socket)
    assert re.search(r"bad_tcp_sum +\d+ +segments dropped: TCP checksum wrong\n", text)
    # A frame that is passed on has no reason.
    p = capture(toe, "--json", "-c", 2, "icmp")
    toe.client.ping(toe.ip)
    assert p.wait(60) == 0, p.text()
    echoes = [json.loads(line) for line in p.text().splitlines() if line.startswith("{")]
    assert [e["direction"] for e in echoes] == ["in", "out"]
    assert not any("dropped" in e for e in echoes)


def test_a_capture_that_is_not_possible(toe: Toe) -> None:
    for request in (b"", b"256", b"256 3", b"63 8", b"256 512", b"x 8", b"256 8 "):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.settimeout(proc.seconds(30))
            s.connect(str(toe.socket))
            s.send(HELLO.pack(MAGIC, VERSION, HELLO_CAPTURE, 0, *bytes(6), request))
            welcome = s.recv(4096)
            assert b"such a capture is not possible" in welcome, request
    toe.client.ping(toe.ip)


def test_recording_names_cycles_and_runs_again_the_same(tmp_path: Path) -> None:
    """Replays the frames of a live TOE twice in virtual time: the runs are equal to the cycle."""
    live_pcap = tmp_path / "live.pcapng"
    toe = Toe(tmp_path, None, "--pcap", live_pcap)
    try:
        server = toe.echo()
        toe.talk(5000)
        server.stop()
        counts = toe.close()
    except BaseException:
        toe.close()
        raise
    packets = read_pcapng(live_pcap)
    cycles = [cycle for _, _, cycle, _ in packets]
    assert counts["packet_in"] == sum(which == 0 for which, *_ in packets)
    assert counts["packet_out"] == sum(which == 1 for which, *_ in packets)
    assert len(set(cycles)) > len(cycles) // 2
    received = tmp_path / "received.pcap"
    write_pcap(received, [(ns, data) for which, ns, _, data in packets if which == 0])
    runs = []
    for n in range(2):
        recorded = tmp_path / f"again{n}.pcapng"
        argv = [live.build("toe_sim"), "--netif", f"pcap:in={received}", "--ip", f"{toe.ip}/24"]
        argv += ["--socket", tmp_path / "virtual.sock", "--seed", 1, "--time", "virtual"]
        argv += ["--cycles", 400000, "--pcap", recorded]
        subprocess.run([str(a) for a in argv], check=True, timeout=60, capture_output=True)
        runs.append(recorded.read_bytes())
    assert runs[0] == runs[1]
    again = read_pcapng(recorded)
    assert [d for which, _, _, d in again if which == 0] == [
        d for which, _, _, d in packets if which == 0
    ]
    # No listener there: the SYN is answered by RST.
    assert any(
        which == 1 and data[12:14] == b"\x08\0" and data[47] == 0x14 for which, _, _, data in again
    )
    assert all(ns == (1 << 32) + 4 * cycle or ns > 4 * cycle for _, ns, cycle, _ in again)


@pytest.mark.long  # builds the TOE a second time, with traces
def test_waveform_of_a_window(tmp_path: Path) -> None:
    """Records a number of cycles after a counter first changes; and the same cycles by number."""
    program = live.build("toe_sim", trace=True)
    arp = bytes.fromhex("ffffffffffff 020000000002 0806 0001 0800 06 04 0001 020000000002")
    arp += bytes([10, 0, 0, 2]) + bytes(6) + bytes([10, 0, 0, 1]) + bytes(18)
    received = tmp_path / "received.pcap"
    write_pcap(received, [(0, arp)])

    def run(*options: object) -> list[int]:
        fst = tmp_path / "w.fst"
        argv = [program, "--netif", f"pcap:in={received}", "--ip", "10.0.0.1/24", "--seed", 1]
        argv += ["--socket", tmp_path / "s", "--time", "virtual", "--cycles", 30000]
        argv += ["--fst", fst, "--pcap", tmp_path / "r.pcapng", *options]
        subprocess.run([str(a) for a in argv], check=True, timeout=120, capture_output=True)
        vcd = subprocess.run(["fst2vcd", "-f", fst], check=True, capture_output=True, text=True)
        return [int(t) for t in re.findall(r"^#(\d+)$", vcd.stdout, re.M)]

    times = run("--fst-on", "packet_out", "--fst-cycles", 50)
    sent = next(cycle for which, _, cycle, _ in read_pcapng(tmp_path / "r.pcapng") if which == 1)
    begun = times[0] // 4
    assert sent < begun < sent + 200
    assert times[-1] // 4 == begun + 50
    times = run("--fst-from", sent - 20, "--fst-cycles", 100)
    assert (times[0] // 4, times[-1] // 4) == (sent - 20, sent + 80)


def test_another_toe_is_there_already(toe: Toe) -> None:
    argv = [live.build("toe_sim"), "--netif", "pcap:out=/dev/null", "--ip", "10.0.0.1/24"]
    argv += ["--socket", toe.socket]
    second = toe.server.run(argv, check=False)
    assert second.returncode == 1
    assert "a TOE answers there already" in second.stderr


def test_program_connects(toe: Toe) -> None:
    answer = (
        "import socket; s = socket.create_server(('', 6000)); print('listening', flush=True);"
        "c, a = s.accept(); c.sendall(c.recv(100) * 2); c.close()"
    )
    peer = toe.client.start([PYTHON, "-c", answer])
    proc.wait_until(lambda: "listening" in peer.text(), "it does not listen", timeout=30)
    said = toe.server.run([PYTHON, "-c", CONNECT, toe.peer_ip, "6000"], env=toe.env()).stdout
    assert said.strip() == f"('{toe.peer_ip}', 6000) b'abab' b''"
    said = toe.server.run([PYTHON, "-c", CONNECT, toe.peer_ip, "6001"], env=toe.env()).stdout
    assert said.strip() == "ConnectionRefusedError"
    peer.stop()


@pytest.mark.parametrize(("told", "other"), [("cubic", "reno"), ("reno", "cubic")])
def test_congestion_control(tmp_path: Path, told: str, other: str) -> None:
    """The algorithm of toe_sim's option is the default; a program can select another."""
    toe = Toe(tmp_path, None, "--congestion", told)
    try:
        peer = toe.client.start([PYTHON, "-c", MANY, 6000])
        proc.wait_until(lambda: "listening" in peer.text(), "it does not listen", timeout=30)
        argv = [PYTHON, "-c", CONTROL, toe.peer_ip, "6000", told, "=" + other, other]
        assert toe.server.run(argv, env=toe.env()).stdout.split() == [told, other]
        peer.stop()
    finally:
        toe.close()


def test_program_dies_and_comes_again(toe: Toe) -> None:
    """Its peers are reset, and its slots are free for the next program."""
    for _ in range(3):
        server = toe.echo()
        held = (
            "import socket, sys; s = socket.create_connection((sys.argv[1], int(sys.argv[2])));"
            "s.sendall(b'x'); print('open', flush=True); s.settimeout(30); s.recv(1)"
        )
        peer = toe.client.start([PYTHON, "-c", held, toe.ip, PORT])
        proc.wait_until(lambda peer=peer: "open" in peer.text(), "no connection", timeout=30)
        os.kill(server.pid, signal.SIGKILL)
        assert peer.wait(30) == 1
        assert "ConnectionResetError" in peer.text()
        server.stop()
    server = toe.echo()
    toe.talk(1000)
    server.stop()


def test_nginx(toe: Toe, tmp_path: Path) -> None:
    (tmp_path / "html").mkdir()
    (tmp_path / "logs").mkdir()
    (tmp_path / "html" / "file").write_bytes(os.urandom(500000))
    config = tmp_path / "nginx.conf"
    config.write_text(
        f"daemon off; user root; worker_processes 1; pid {tmp_path}/pid;"
        f"error_log {tmp_path}/logs/error;"
        "events { worker_connections 512; } http { access_log off; server { listen 80;"
        f" root {tmp_path}/html; location /hello {{ return 200 hello; }} }} }}\n"
    )
    server = toe.server.start(["nginx", "-p", tmp_path, "-c", config], env=toe.env(256))
    url = f"http://{toe.ip}"

    def answers() -> bool:
        done = toe.client.run(["curl", "-s", "-m", "2", f"{url}/hello"], check=False)
        return done.stdout == "hello"

    proc.wait_until(answers, "nginx does not answer", timeout=30)
    got = tmp_path / "got"
    toe.client.run(["curl", "-sS", "-m", "60", "-o", got, f"{url}/file"])
    assert got.read_bytes() == (tmp_path / "html" / "file").read_bytes()
    load = ["wrk", "-t", "1", "-c", "200", "-d", "2", "--timeout", "60", f"{url}/hello"]
    said = toe.client.run(load, timeout=120).stdout
    assert int(re.search(r"(\d+) requests in", said)[1]) > 200, said
    assert "Non-2xx" not in said and "Socket errors" not in said, said
    server.stop()
