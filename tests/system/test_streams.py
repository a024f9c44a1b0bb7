# SPDX-License-Identifier: Apache-2.0
"""Bytes and ends of connections: a process under the TOE against sockets of the Linux peer.

Each test is a dialogue of two ends: `robot` is the process under test, `peer` a socket of
the test's own.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import threading
import time

import pytest

from tests.lab import lab as labs
from tests.lab.robot import PORT, Robot, take

# ---- data


@pytest.mark.shows("send", "recv")
def test_data_both_ways(robot, peer):
    data = os.urandom(50_000)
    peer.sendall(data)
    assert robot("s.recv(50000, socket.MSG_WAITALL)") == data
    robot("s.sendall(data)", data=data)
    assert take(peer, 50_000) == data


def test_blocking_recv_wakes(robot, peer):
    robot.tell("s.recv(100)")
    robot.sleeps()
    peer.sendall(b"wake")
    assert robot.result() == b"wake"


@pytest.mark.shows("setsockopt SO_RCVTIMEO")
def test_receive_timeout(robot, peer):
    robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', 0, 100000))")
    with pytest.raises(BlockingIOError):
        robot("s.recv(1)")
    robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', 60, 0))")
    peer.sendall(b"x")
    assert robot("s.recv(1)") == b"x"


@pytest.mark.shows("recv MSG_PEEK", "recv MSG_DONTWAIT")
def test_peek_and_do_not_wait(robot, peer):
    with pytest.raises(BlockingIOError):
        robot("s.recv(1, socket.MSG_DONTWAIT)")
    peer.sendall(b"abcdef")
    assert robot("s.recv(3, socket.MSG_PEEK)") == b"abc"
    assert robot("s.recv(6, socket.MSG_PEEK | socket.MSG_WAITALL)") == b"abcdef"
    assert robot("s.recv(2)") == b"ab"
    assert robot("s.recv(100, socket.MSG_PEEK | socket.MSG_DONTWAIT)") == b"cdef"
    assert robot("s.recv(4, socket.MSG_WAITALL)") == b"cdef"


@pytest.mark.shows("ioctl FIONREAD")
def test_bytes_waiting_are_told(robot, peer):
    ask = "struct.unpack('i', fcntl.ioctl(s, termios.FIONREAD, b'    '))[0]"
    assert robot(ask) == 0
    peer.sendall(bytes(1234))
    robot("p = select.poll(); p.register(s, select.POLLIN); p.poll(20000)")
    labs.proc.wait_until(lambda: robot(ask) == 1234, "FIONREAD says 1234")


@pytest.mark.shows("readv", "writev", "sendmsg", "recvmsg")
def test_scatter_and_gather(robot, peer):
    assert robot("os.writev(s.fileno(), [b'ab', b'', b'cde'])") == 5
    assert robot("s.sendmsg([b'f', b'gh'])") == 3
    assert take(peer, 8) == b"abcdefgh"
    peer.sendall(b"0123456789")
    robot("p = select.poll(); p.register(s, select.POLLIN); p.poll(20000)")
    robot("a, b = bytearray(3), bytearray(4)")
    assert robot("os.readv(s.fileno(), [a, b]), bytes(a), bytes(b)") == (7, b"012", b"3456")
    assert robot("s.recvmsg(100)[0]") == b"789"


@pytest.mark.shows("read", "write")
def test_read_and_write(robot, peer):
    assert robot("os.write(s.fileno(), b'hello')") == 5
    assert peer.recv(5) == b"hello"
    peer.sendall(b"hello")
    assert robot("os.read(s.fileno(), 100)") == b"hello"


@pytest.mark.shows("sendfile")
def test_sendfile(robot, peer, tmp_path):
    data = os.urandom(300_000)
    (tmp_path / "file").write_bytes(data)
    path = str(tmp_path / "file")
    robot.tell("with open(path, 'rb') as f: sent = s.sendfile(f)\nsent", path=path)
    assert take(peer, len(data)) == data
    assert robot.result() == len(data)
    robot("f = open(path, 'rb'); f.seek(7)")
    # With an offset the file's own position stays, without one it moves.
    assert robot("os.sendfile(s.fileno(), f.fileno(), 100, 50), f.tell()") == (50, 7)
    assert robot("os.sendfile(s.fileno(), f.fileno(), None, 10), os.lseek(f.fileno(), 0, 1)") == (
        10,
        17,
    )
    assert robot("os.sendfile(s.fileno(), f.fileno(), 300000, 10)") == 0
    assert take(peer, 60) == data[100:150] + data[7:17]


@pytest.mark.shows("send EAGAIN")
def test_send_until_full_then_again(robot, peer):
    """EAGAIN while the peer does not read; EPOLLOUT after it has; every byte arrives."""
    robot("s.setblocking(False); ep = select.epoll(); ep.register(s, select.EPOLLOUT)")
    fill = """
sent = 0
block = bytes(range(256)) * 256
while ep.poll(0.3):  # the peer's buffer fills too
    try:
        while True:
            sent += s.send(block[sent % 256:])
    except BlockingIOError:
        pass
sent"""
    sent = robot(fill)
    assert sent > 0
    robot.tell("ep.poll(20)")
    got = take(peer, sent)
    assert got == (bytes(range(256)) * (sent // 256 + 1))[:sent]
    assert robot.result() == [(robot("s.fileno()"), select.EPOLLOUT)]


def test_peer_does_not_read_for_a_while(robot, peer):
    """The window closes and opens: nothing is lost."""
    data = os.urandom(20_000_000)
    robot.tell("s.sendall(data)", data=data)
    time.sleep(1)
    assert take(peer, len(data)) == data
    robot.result(60)


def test_program_does_not_read_for_a_while(robot, peer):
    data = os.urandom(5_000_000)
    peer.settimeout(labs.proc.seconds(60))
    thread = threading.Thread(target=peer.sendall, args=[data])
    thread.start()
    time.sleep(1)
    assert thread.is_alive()  # it does not fit the buffers
    got = robot("s.recv(n, socket.MSG_WAITALL)", n=len(data), timeout=60)
    thread.join()
    assert got == data


# ---- closing


def test_orderly_close_by_the_peer(robot, peer):
    peer.sendall(b"last words")
    peer.shutdown(socket.SHUT_WR)
    assert robot("s.recv(10, socket.MSG_WAITALL)") == b"last words"
    assert robot("s.recv(10)") == b""
    # The other direction is still open.
    robot("s.sendall(b'and mine')")
    assert take(peer, 8) == b"and mine"
    robot("s.close()")
    assert peer.recv(1) == b""


@pytest.mark.shows("shutdown SHUT_WR")
def test_half_close_by_the_program(robot, peer):
    robot("s.sendall(b'last words'); s.shutdown(socket.SHUT_WR)")
    assert take(peer, 10) == b"last words"
    assert peer.recv(1) == b""
    with pytest.raises(BrokenPipeError):
        robot("s.send(b'more')")
    data = os.urandom(200_000)
    peer.settimeout(labs.proc.seconds(20))
    robot.tell("s.recv(200000, socket.MSG_WAITALL)")
    peer.sendall(data)
    assert robot.result() == data
    peer.close()
    assert robot("s.recv(1)") == b""


@pytest.mark.shows("shutdown SHUT_RD")
def test_shutdown_of_receiving(robot, peer):
    robot("s.shutdown(socket.SHUT_RD)")
    assert robot("s.recv(10)") == b""
    robot("s.sendall(b'still here')")
    assert take(peer, 10) == b"still here"


def test_close_sends_what_is_buffered(robot, peer):
    robot("s.setblocking(False); n = s.send(bytes(60000)); s.close()")
    n = robot("n")
    assert n > 0
    assert len(take(peer, n + 1)) == n


@pytest.mark.shows("close SO_LINGER 0")
def test_linger_zero_resets_the_peer(robot, peer):
    robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); s.close()")
    with pytest.raises(ConnectionResetError):
        peer.recv(1)


def test_what_was_sent_goes_before_the_reset(robot, peer):
    robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))")
    robot("s.send(b'first'); s.close()")
    assert peer.recv(100) == b"first"
    with pytest.raises(ConnectionResetError):
        peer.recv(1)


def test_what_was_sent_goes_before_a_close_with_unread_data(robot, peer):
    peer.sendall(b"never read")
    robot("p = select.poll(); p.register(s, select.POLLIN); p.poll(20000)")
    robot("s.send(b'last'); s.close()")
    assert peer.recv(100) == b"last"
    with pytest.raises(ConnectionResetError):
        peer.recv(1)


@pytest.mark.shows("close with unread data")
def test_close_with_unread_data_resets_the_peer(robot, peer):
    peer.sendall(b"never read")
    robot("p = select.poll(); p.register(s, select.POLLIN); p.poll(20000)")
    robot("s.close()")
    with pytest.raises(ConnectionResetError):
        peer.recv(1)


@pytest.mark.shows("recv ECONNRESET")
def test_reset_by_the_peer(robot, peer):
    robot("ep = select.epoll(); ep.register(s, select.EPOLLIN | select.EPOLLRDHUP)")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()
    [(_, events)] = robot("ep.poll(20)")
    assert events & select.EPOLLERR
    assert events & select.EPOLLHUP
    with pytest.raises(ConnectionResetError):
        robot("s.recv(1)")
    assert robot("s.recv(1)") == b""
    with pytest.raises(BrokenPipeError):
        robot("s.send(b'x')")


def test_blocked_recv_ends_by_a_reset(robot, peer):
    robot.tell("s.recv(1)")
    robot.sleeps()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()
    with pytest.raises(ConnectionResetError):
        robot.result()


@pytest.mark.shows("send EPIPE")
def test_send_to_a_closed_peer(robot, peer):
    peer.close()
    assert robot("s.recv(1)") == b""
    robot("s.send(b'x')")
    labs.proc.wait_until(
        lambda: robot("p = select.poll(); p.register(s, 0); p.poll(0)"), "POLLHUP after its RST"
    )
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        robot("s.send(b'x'); s.send(b'x')")


ENDS = ["exit", "_exit", "_Exit", "quick_exit"]


@pytest.mark.parametrize("end", ENDS)
def test_end_of_a_program_closes_its_connections(lab, robot, peer, end):
    with Robot(lab) as other:
        other.listen(lab.ip, PORT + 1)
        with lab.connect(PORT + 1) as s:
            other.accept()
            other("s.send(b'hello')")
            assert s.recv(5) == b"hello"
            other.tell(f"ctypes.CDLL(None).{end}(0)")
            assert s.recv(1) == b""
            assert other.proc.wait(20) == 0
    robot("s.send(b'undisturbed')")
    assert take(peer, 11) == b"undisturbed"


@pytest.mark.parametrize("end", ENDS)
def test_what_was_sent_before_the_end_arrives(lab, end):
    """All data arrives long after the program has exited, and then the FIN."""
    data = bytes(range(256)) * 400
    with Robot(lab) as other:
        other.listen(lab.ip, PORT + 1)
        with lab.connect(PORT + 1) as s:
            other.accept()
            other.tell(f"s.sendall(data)\nctypes.CDLL(None).{end}(3)", data=data)
            assert other.proc.wait(20) == 3
            assert take(s, len(data)) == data
            assert s.recv(1) == b""


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGKILL])
def test_what_was_sent_before_a_death_arrives(lab, sig):
    """Of a program that has answered and is killed: its answers, and the FIN."""
    data = bytes(range(256)) * 400
    with Robot(lab) as other:
        other.listen(lab.ip, PORT + 1)
        with lab.connect(PORT + 1) as s:
            other.accept()
            s.sendall(b"a question")
            other("s.recv(10); s.sendall(data)", data=data)
            os.kill(other.pid, sig)
            assert other.proc.wait(20) == -sig
            assert take(s, len(data)) == data
            assert s.recv(1) == b""


def test_death_with_much_unread_resets(lab):
    with Robot(lab) as other:
        other.listen(lab.ip, PORT + 1)
        with lab.connect(PORT + 1) as s:
            other.accept()
            s.settimeout(0.2)
            with pytest.raises(TimeoutError):
                while True:
                    s.send(bytes(10000))
            s.settimeout(labs.proc.seconds(20))
            other.proc.kill()
            with pytest.raises(ConnectionResetError):
                s.recv(1)


@pytest.mark.parametrize("end", ENDS)
def test_end_with_unread_bytes_resets(lab, end):
    with Robot(lab) as other:
        other.listen(lab.ip, PORT + 1)
        with lab.connect(PORT + 1) as s:
            other.accept()
            s.sendall(b"never read")
            other("p = select.poll(); p.register(s, select.POLLIN); p.poll(20000)")
            other.tell(f"ctypes.CDLL(None).{end}(0)")
            with pytest.raises(ConnectionResetError):
                s.recv(1)
