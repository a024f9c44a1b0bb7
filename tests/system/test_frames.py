# SPDX-License-Identifier: Apache-2.0
"""Traffic that any host may receive: odd SYNs, scans, floods, pings, garbage, a kernel beside."""

from __future__ import annotations

import errno
import itertools
import random
import socket
import struct
import threading

import pytest

from tests.lab import frames, nginx
from tests.lab import lab as labs
from tests.lab.frames import ACK, FIN, PSH, RST, SYN, Ghost
from tests.lab.robot import Robot

PORT = 7000
REQUEST = b"GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def timestamps(value: int, echo: int) -> bytes:
    return b"\x01\x01" + struct.pack("!BBII", 8, 10, value & 0xFFFFFFFF, echo)


@pytest.fixture
def ghost(lab):
    with Ghost(lab) as g:
        g.find_target()
        yield g


@pytest.mark.sanitize
@pytest.mark.parametrize("tsval", [0, 1, 0x7FFFFFFF, 0x80000000, 0xC0000000, 0xFFFFFFFF])
def test_timestamps_from_anywhere_in_their_range(lab, ghost, tmp_path, tsval):
    """Half of all clients begin with a TSval of 2^31 or more (RFC 7323 5.3: it is modular)."""
    with nginx.start(lab, tmp_path):
        seq, sport = 0xFFFFFFF0, 30000  # the sequence number wraps in the request
        mss = b"\x02\x04\x05\xb4"
        ghost.send_tcp(sport, 80, SYN, seq=seq, options=mss + timestamps(tsval, 0))
        answer = ghost.segment(sport, "SYN-ACK", lambda s: s.flags == SYN | ACK)
        seq = (seq + 1) & 0xFFFFFFFF
        assert answer.ack == seq
        value, echo = struct.unpack("!II", answer.option(8))
        assert echo == tsval
        ack = answer.seq + 1 & 0xFFFFFFFF
        common = {"ack": ack, "options": timestamps(tsval + 1, value)}
        ghost.send_tcp(sport, 80, ACK, seq=seq, **common)
        ghost.send_tcp(sport, 80, ACK | PSH, seq=seq, data=REQUEST, **common)
        answer = ghost.segment(sport, "the answer", lambda s: s.data)
        assert answer.data.startswith(b"HTTP/1.1 200 OK\r\n")
        assert answer.data.endswith(b"hello\n")
        assert answer.ack == (seq + len(REQUEST)) & 0xFFFFFFFF
        assert struct.unpack("!II", answer.option(8))[1] == (tsval + 1) & 0xFFFFFFFF
        ghost.send_tcp(sport, 80, RST, seq=answer.ack)


def test_a_client_without_options(lab, ghost, tmp_path):
    with nginx.start(lab, tmp_path):
        ghost.send_tcp(30000, 80, SYN, seq=7)
        answer = ghost.segment(30000, "SYN-ACK", lambda s: s.flags == SYN | ACK)
        assert answer.option(8) is None
        assert answer.option(3) is None
        assert answer.option(4) is None
        ghost.send_tcp(30000, 80, ACK, seq=8, ack=answer.seq + 1, data=REQUEST)
        answer = ghost.segment(30000, "the answer", lambda s: s.data)
        # RFC 9293 3.7.1: without an MSS option the peer accepts 536 bytes.
        assert len(answer.data) <= 536
        ghost.send_tcp(30000, 80, RST, seq=answer.ack)


def test_closed_ports_are_refused(lab, ghost):
    for port in [*range(1, 200), 1023, 8080, 32768, 65535]:
        with pytest.raises(ConnectionRefusedError):
            lab.connect(port)
    # RFC 9293 3.10.7.1: a RST for what is no RST; its numbers are such that the sender takes it.
    ghost.send_tcp(30000, 9, SYN, seq=100)
    answer = ghost.segment(30000, "RST for a SYN")
    assert (answer.flags, answer.seq, answer.ack) == (RST | ACK, 0, 101)
    ghost.send_tcp(30001, 9, ACK, seq=100, ack=555)
    answer = ghost.segment(30001, "RST for an ACK")
    assert (answer.flags, answer.seq) == (RST, 555)
    ghost.send_tcp(30002, 9, FIN | PSH, seq=100, data=b"abc")
    answer = ghost.segment(30002, "RST for a FIN")
    assert (answer.flags, answer.seq, answer.ack) == (RST | ACK, 0, 104)


def test_ping(lab):
    lab.client.ping(lab.ip, count=20)


@pytest.mark.parametrize("size", [0, 1, 1472, 1473, 4000, 8000])
def test_ping_of_any_size(lab, size):
    """Larger ones arrive as fragments, and are answered in fragments."""
    assert "wrong data byte" not in lab.client.ping(lab.ip, "-s", size)


def test_udp_port_unreachable(lab):
    with lab.client.socket(kind=socket.SOCK_DGRAM) as s:
        s.connect((lab.ip, 9))
        s.settimeout(labs.proc.seconds(10))
        s.send(b"anyone?")
        with pytest.raises(ConnectionRefusedError):
            s.recv(1)


def test_kernel_works_beside_on_the_same_interface(lab, tmp_path):
    """Its address on the interface answers pings and carries TCP both ways, as SSH would need."""
    lab.client.ping(lab.kernel_ip)
    lab.client.ping(lab.kernel_ip, "-s", 4000)
    with nginx.start(lab, tmp_path, workers=1), lab.server.socket() as listener:
        listener.bind((lab.kernel_ip, PORT))
        listener.listen()
        data = random.Random(labs.SEED).randbytes(2_000_000)
        with lab.client.connect(lab.kernel_ip, PORT) as s, listener.accept()[0] as t:
            sender = threading.Thread(target=t.sendall, args=[data])
            sender.start()
            got = b""
            while len(got) < len(data):
                # The TOE serves the while.
                assert nginx.get(lab, "/hello") == b"hello\n"
                got += s.recv(200_000)
            sender.join()
            assert got == data
        with lab.client.socket() as peer:
            peer.bind((lab.peer_ip, PORT))
            peer.listen()
            source = lab.server.socket()
            source.bind((lab.kernel_ip, 0))
            with source:
                source.connect((lab.peer_ip, PORT))
                with peer.accept()[0] as t:
                    t.sendall(b"hello")
                    assert source.recv(5) == b"hello"


@pytest.mark.sanitize
def test_syn_flood_does_not_keep_clients_out(lab, ghost, tmp_path):
    with nginx.start(lab, tmp_path):
        rng = random.Random(labs.SEED)
        mss = b"\x02\x04\x05\xb4"
        for n in range(5000):
            seq = rng.getrandbits(32)
            ghost.send_tcp(1024 + n, 80, SYN, seq=seq, options=mss)
            if n % 250 == 249:
                assert nginx.get(lab, "/hello") == b"hello\n"
        for _ in range(20):
            assert nginx.get(lab, "/hello") == b"hello\n"
    if not labs.LINUX:
        assert lab.counter("tcp_cookies_taken") > 0
    # The half-open ones end with their listener.
    lab.wait_idle()


@pytest.mark.sanitize
def test_garbage_harms_nobody(lab, ghost, tmp_path):
    """Seeded mutations of good frames, cut and flipped, among the requests of a client."""
    rng = random.Random(labs.SEED)
    mac = ghost.find_target()
    with nginx.start(lab, tmp_path):
        for n in range(3000):
            port = rng.choice([80, 80, 9])
            body = bytearray(rng.randbytes(rng.randrange(0, 80)))
            # (Checksums of most of them are made right again, or nothing but checksums is tested.)
            packet = bytearray(_tcp(rng, ghost, port, bytes(body)))
            for _ in range(rng.randrange(3)):
                packet[rng.randrange(len(packet))] ^= 1 << rng.randrange(8)
            if rng.random() < 0.3:
                del packet[rng.randrange(len(packet)) :]
            kind = rng.choice([b"\x08\x00", b"\x08\x00", b"\x08\x00", b"\x08\x06", b"\x86\xdd"])
            ghost.send_frame(mac + ghost.mac + kind + bytes(packet))
            if n % 300 == 299:
                assert nginx.get(lab, "/hello") == b"hello\n"
    lab.wait_idle(timeout=90)


def _tcp(rng: random.Random, ghost: Ghost, port: int, body: bytes) -> bytes:
    words = rng.randrange(0, 11)
    flags = rng.getrandbits(8)
    head = struct.pack(
        "!HHIIBBHHH",
        rng.randrange(30000, 30010),
        port,
        rng.getrandbits(32),
        rng.getrandbits(32),
        (5 + words) << 4,
        flags,
        rng.getrandbits(16),
        0,
        0,
    )
    segment = head + rng.randbytes(4 * words) + body
    pseudo = socket.inet_aton(ghost.ip) + socket.inet_aton(ghost.target)
    value = frames.checksum(pseudo + struct.pack("!HH", 6, len(segment)) + segment)
    segment = segment[:16] + struct.pack("!H", value) + segment[18:]
    return frames.ipv4(ghost.ip, ghost.target, 6, segment, rng.getrandbits(16))


def test_connect_that_is_never_answered(lab, ghost):
    """The ghost answers ARP and no SYN: the caller's patience ends it."""
    with Robot(lab) as robot:
        with pytest.raises(TimeoutError):
            robot("s = socket.socket(); s.settimeout(0.3); s.connect(at)", at=(ghost.ip, 9))
        robot("s.close(); s = socket.socket()")
        robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack('ll', 0, 300000))")
        assert robot("s.connect_ex(at)", at=(ghost.ip, 9)) == errno.EINPROGRESS


@pytest.mark.long
def test_connect_that_is_never_answered_times_out(lab, ghost):
    """By itself after some minutes (RFC 9293 3.8.3: 3 at least; Linux: 2)."""
    with Robot(lab) as robot, pytest.raises(TimeoutError, match="Connection timed out"):
        robot("socket.create_connection(at)", at=(ghost.ip, 9), timeout=400)


def test_initial_sequence_numbers_are_not_guessable(lab, ghost, tmp_path):
    """RFC 6528: another port pair, another offset; the differences do not repeat."""
    seen = []
    with nginx.start(lab, tmp_path):
        for n in range(20):
            ghost.send_tcp(40000 + n, 80, SYN, seq=1)
            answer = ghost.segment(40000 + n, "SYN-ACK", lambda s: s.flags == SYN | ACK)
            seen.append(answer.seq)
            ghost.send_tcp(40000 + n, 80, RST, seq=2)
    steps = [(b - a) & 0xFFFFFFFF for a, b in itertools.pairwise(seen)]
    assert len(set(steps)) == len(steps)
    assert max(steps) > 1 << 24
