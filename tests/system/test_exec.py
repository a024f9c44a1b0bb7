# SPDX-License-Identifier: Apache-2.0
"""A process executes another program, and its connections and listeners survive."""

from __future__ import annotations

import socket
import stat
import sys

import pytest

from tests.lab import lab as labs
from tests.lab.robot import PORT, take

NAMES = "import os, select, socket, sys, time\ns = socket.socket(fileno=int(sys.argv[1]))\n"
# The executed program: reads 11 bytes and answers with them and the peer's name.
SECOND = (
    NAMES
    + """
got = b''
while len(got) < 11:
    got += s.recv(11 - len(got))
s.sendall(b'<' + got + b'>' + b'%s %d.' % (s.getpeername()[0].encode(), s.getpeername()[1]))
s.recv(1)"""
)


def become(robot, code, *args, env="os.environ", fd="s.fileno()"):
    """The robot becomes a Python program with this code and its descriptor as an argument."""
    argv = [sys.executable, "-c", code]
    robot.tell(
        f"d = {fd}\nos.set_inheritable(d, True)\nos.execve(argv[0], [*argv, str(d), *more], {env})",
        argv=argv,
        more=[str(a) for a in args],
    )


def named(peer):
    name = peer.getsockname()
    return f"{name[0]} {name[1]}.".encode()


@pytest.mark.shows("execve with a connection")
def test_connection_goes_on(lab, robot, peer):
    """With bytes read and unread, and written bytes still in flight."""
    peer.sendall(b"read hello ")
    assert robot("s.recv(5)") == b"read "
    robot("s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1); s.sendall(bytes(50000))")
    become(robot, SECOND)
    peer.sendall(b"world")
    assert take(peer, 50000) == bytes(50000)
    want = b"<hello world>" + named(peer)
    assert take(peer, len(want)) == want


@pytest.mark.toehold_only
def test_connection_stays_with_the_toe(lab, robot, accepted):
    become(robot, SECOND)
    accepted.sendall(b"hello world")
    want = b"<hello world>" + named(accepted)
    assert take(accepted, len(want)) == want
    assert lab.usage("flows") == 1
    assert lab.queue_pairs() == 1


def test_options_go_on(robot, accepted):
    robot("s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1); s.settimeout(5)")
    robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)")
    become(
        robot,
        NAMES
        + "o = s.getsockopt(6, socket.TCP_NODELAY), s.getsockopt(1, socket.SO_KEEPALIVE)\n"
        + "s.sendall(b'%d %d %d' % (*o, os.get_blocking(s.fileno()))); s.recv(1)",
    )
    assert take(accepted, 5) == b"1 1 0"


@pytest.mark.shows("execve FD_CLOEXEC")
def test_what_exec_closes_is_closed(robot, peer):
    """FD_CLOEXEC: the peer sees the end of the stream, after all that was written."""
    robot("s.sendall(bytes(50000))")
    robot.tell("os.execv('/bin/sleep', ['sleep', '60'])")
    assert take(peer, 50001) == bytes(50000)


def test_end_of_stream_goes_on(robot, accepted):
    accepted.sendall(b"last")
    accepted.shutdown(socket.SHUT_WR)
    robot("p = select.poll(); p.register(s, select.POLLRDHUP); p.poll(20000)")
    become(robot, NAMES + "s.sendall(s.recv(100) + b'|' + s.recv(100) + b'.'); s.close()")
    assert take(accepted, 7) == b"last|."


@pytest.mark.shows("execve that fails")
def test_failed_exec_changes_nothing(robot, peer):
    with pytest.raises(FileNotFoundError):
        robot("os.set_inheritable(s.fileno(), True); os.execv('/none', ['none'])")
    with pytest.raises(PermissionError):
        robot("os.execve('/etc/passwd', ['x'], {})")
    peer.sendall(b"hello")
    assert robot("s.recv(10)") == b"hello"
    robot("s.send(b'world'); s.close()")
    assert take(peer, 6) == b"world"


def test_fifo_is_no_program(robot, peer, tmp_path):
    """No process waits for the writer."""
    fifo = tmp_path / "fifo"
    labs.proc.run(["mkfifo", "-m", "755", fifo])
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    with pytest.raises(PermissionError):
        robot("os.set_inheritable(s.fileno(), True); os.execv(fifo, ['x'])", fifo=str(fifo))


# A descriptor of that name with this in it, the descriptors of libtoe in it, and an exec that no
# library prepares: what a libtoe of another build would leave.
OTHER_BUILD = """
import ctypes, fcntl, struct
own = [int(d) for d in os.listdir('/proc/self/fd') if int(d) > 200]
for d in own:
    os.set_inheritable(d, True)
d = os.memfd_create('toehold-exec', 2)
os.write(d, struct.pack('<II64i', 0x44455845, len(own), *own, *[-1] * (64 - len(own))) + bytes(900))
fcntl.fcntl(d, 1033, 15)
libc = ctypes.CDLL('libc.so.6')
argv = (ctypes.c_char_p * 3)(b'sleep', b'60', None)
env = (ctypes.c_char_p * 9)(*[f'{k}={v}'.encode() for k, v in os.environ.items()
                              if k.startswith(('LD_PRELOAD', 'TOEHOLD_'))][:8], None)
libc.execve(b'/bin/sleep', argv, env)
"""


@pytest.mark.toehold_only
def test_image_of_another_build(robot, peer):
    """Its descriptors are closed, so that the peer is notified."""
    robot.tell(OTHER_BUILD)
    assert peer.recv(1) == b""
    assert "another build" in robot.proc.text()


def test_dead_connection_in_the_queue_of_a_closed_listener(lab, robot, peer):
    """It ends once: two connections made later are two."""
    robot.listen(lab.ip, PORT + 1)
    with lab.connect(PORT + 1) as dead:
        robot("p = select.poll(); p.register(listener, select.POLLIN); p.poll(20000)")
        dead.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    peer.sendall(b"x")
    robot("p.register(s, select.POLLIN); p.poll(20000); s.recv(1)")
    with lab.client.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((lab.peer_ip, PORT + 2))
        listener.listen()
        listener.settimeout(labs.proc.seconds(20))
        become(
            robot,
            NAMES
            + "two = [socket.create_connection((sys.argv[2], int(sys.argv[3]))) for _ in 'ab']\n"
            + "two[0].sendall(b'a'); two[1].sendall(b'b')\n"
            + "s.sendall(two[0].recv(9) + two[1].recv(9))\ns.recv(1)",
            lab.peer_ip,
            PORT + 2,
        )
        (a, _), (b, _) = listener.accept(), listener.accept()
        with a, b:
            assert take(a, 1) + take(b, 1) == b"ab"
            a.sendall(b"1")
            b.sendall(b"2")
            assert take(peer, 2) == b"12"


def test_several_numbers_of_one_connection(robot, peer):
    robot("os.dup2(s.fileno(), 200); os.dup2(s.fileno(), 201)")
    become(
        robot, NAMES + "s.send(b'one'); s.close(); os.write(200, b'two'); os.close(200)", fd="201"
    )
    assert take(peer, 7) == b"onetwo"


def test_again_and_again(robot, accepted):
    """A program that executes itself."""
    code = NAMES + (
        "n = int(sys.argv[3])\n"
        "s.sendall(b'%d' % n)\n"
        "assert s.recv(1) == b'%d' % n\n"
        "if n: os.execv(sys.executable, [sys.executable, '-c', sys.argv[2], sys.argv[1],"
        " sys.argv[2], str(n - 1)])\n"
        "s.sendall(b'end'); s.recv(1)"
    )
    become(robot, code, code, 3)
    for n in (b"3", b"2", b"1", b"0"):
        assert take(accepted, 1) == n
        accepted.sendall(n)
    assert take(accepted, 3) == b"end"


@pytest.mark.shows("execve with a listener")
def test_listener_keeps_its_backlog(lab, robot):
    """A client that connected before the exec is accepted after it."""
    robot.listen(lab.ip, PORT)
    robot("p = select.poll(); p.register(listener, select.POLLIN)")
    with lab.connect(PORT) as one, lab.connect(PORT) as two:
        one.sendall(b"one")
        robot("p.poll(20000)")
        become(
            robot,
            NAMES
            + "for _ in range(3):\n c, _ = s.accept(); c.sendall(b'<' + c.recv(9) + b'>')"
            + "\nc.recv(1)",
            fd="listener.fileno()",
        )
        assert take(one, 5) == b"<one>"
        two.sendall(b"two")
        assert take(two, 5) == b"<two>"
        with lab.connect(PORT) as three:
            three.sendall(b"three")
            assert take(three, 7) == b"<three>"


_EPOLL = (
    NAMES
    + """
ep = select.epoll.fromfd(int(sys.argv[2]))
listener = socket.socket(fileno=int(sys.argv[3]))
for name in (b'data', b'client'):
    (fd, events), = ep.poll(20)
    if fd == s.fileno():
        s.sendall(name + s.recv(100))
    else:
        c, _ = listener.accept()
        c.sendall(name)
s.recv(1)
"""
)


@pytest.mark.shows("execve with an epoll instance")
def test_epoll_instance_knows_its_sockets(lab, robot, accepted):
    """A connection and its listener, registered before the exec; under two numbers."""
    robot("ep = select.epoll(); ep.register(s, select.EPOLLIN)")
    robot("ep.register(listener, select.EPOLLIN); ep.poll(0); e = os.dup(ep.fileno())")
    robot("[os.set_inheritable(n, True) for n in (ep.fileno(), e, listener.fileno())]")
    become(robot, _EPOLL, *robot("e, listener.fileno()"))
    accepted.sendall(b" read")
    assert take(accepted, 9) == b"data read"
    with lab.connect(PORT) as client:
        assert take(client, 6) == b"client"


def test_epoll_instance_in_another(robot, accepted):
    """The outer instance still reports events of the inner one, three levels deep."""
    robot("eps = [select.epoll() for _ in range(3)]; eps[0].register(s, select.EPOLLIN)")
    robot("[b.register(a.fileno(), select.EPOLLIN) for a, b in zip(eps, eps[1:])]; eps[2].poll(0)")
    robot("[os.set_inheritable(e.fileno(), True) for e in eps]")
    code = NAMES + (
        "eps = [select.epoll.fromfd(int(n)) for n in sys.argv[2:]]\n"
        "for _ in range(2):\n"
        " for e, inner in zip(eps[:0:-1], eps[-2::-1]):\n"
        "  (fd, _), = e.poll(20); assert fd == inner.fileno()\n"
        " (fd, _), = eps[0].poll(20); assert fd == s.fileno()\n"
        " got = s.recv(100); assert not eps[2].poll(0); s.sendall(got)\n"
        "s.recv(1)"
    )
    accepted.sendall(b"before")  # the first arrives before or during the exec
    become(robot, code, *robot("[e.fileno() for e in eps]"))
    assert take(accepted, 6) == b"before"
    accepted.sendall(b"after")
    assert take(accepted, 5) == b"after"


def test_epoll_instance_with_a_listener_of_both(lab, robot):
    """At any address the kernel has the other half."""
    robot.listen("0.0.0.0", PORT)
    robot("ep = select.epoll(); ep.register(listener, select.EPOLLIN); ep.poll(0)")
    robot("os.set_inheritable(ep.fileno(), True)")
    code = NAMES + (
        "ep = select.epoll.fromfd(int(sys.argv[2]))\n"
        "for _ in range(2):\n (fd, _), = ep.poll(20); c, _ = s.accept(); c.sendall(b'%d' % fd)"
    )
    become(robot, code, robot("ep.fileno()"), fd="listener.fileno()")
    for address in (lab.ip, lab.kernel_ip):
        with lab.client.connect(address, PORT, timeout=20) as client:
            assert client.recv(10).isdigit()


def test_epoll_instance_that_a_program_is_started_with(lab, robot):
    """Nothing is in it yet."""
    robot("ep = select.epoll(); os.set_inheritable(ep.fileno(), True)")
    code = (
        "import select, socket, sys\n"
        "ep = select.epoll.fromfd(int(sys.argv[1]))\n"
        "listener = socket.create_server((sys.argv[2], int(sys.argv[3])))\n"
        "ep.register(listener); ep.poll(20)\n"
        "listener.accept(); s, _ = listener.accept()\n"
        "ep.unregister(listener); ep.register(s, select.EPOLLIN); ep.poll(20)\n"
        "s.sendall(s.recv(100)); s.recv(1)"
    )
    become(robot, code, lab.ip, PORT, fd="ep.fileno()")
    labs.proc.wait_port(lab.client, lab.ip, PORT, proc=robot.proc)
    with lab.connect(PORT) as s:
        s.sendall(b"hello")
        assert take(s, 5) == b"hello"


WITHOUT = "{k: v for k, v in os.environ.items() if k != 'LD_PRELOAD'}"


@pytest.mark.shows("execve of a program without the library")
def test_program_without_the_library(robot, peer):
    """Its connection is a socket all the same, in both directions and to the end."""
    peer.sendall(b"read hello ")
    assert robot("s.recv(5)") == b"read "
    code = NAMES + (
        "got = b''\nwhile len(got) < 11: got += s.recv(11 - len(got))\n"
        "s.sendall(b'<' + got + b'>' + bytes(100000))\n"
        "s.shutdown(socket.SHUT_WR)\n"
        "assert s.recv(10) == b'bye'"
    )
    become(robot, code, env=WITHOUT)
    peer.sendall(b"world")
    assert take(peer, 100013) == b"<hello world>" + bytes(100000)
    assert peer.recv(1) == b""
    peer.sendall(b"bye")
    assert robot.proc.wait(20) == 0


def test_program_without_the_library_is_closed_in_time(robot, peer):
    """No other process keeps the descriptors that exec closes, nor the program's other files."""
    robot("r, w = os.pipe(); os.set_inheritable(r, True); os.set_inheritable(w, True)")
    become(
        robot,
        NAMES + "os.close(int(sys.argv[3])); print(os.read(int(sys.argv[2]), 1) == b'', flush=True)"
        "\ns.sendall(b'ok'); s.recv(1)",
        *robot("r, w"),
        env=WITHOUT,
    )
    assert take(peer, 2) == b"ok"
    peer.close()
    assert robot.proc.wait(20) == 0


def test_program_without_the_library_that_is_not_there(robot, peer):
    with pytest.raises(FileNotFoundError):
        robot(f"os.set_inheritable(s.fileno(), True); os.execve('/none', ['none'], {WITHOUT})")
    peer.sendall(b"hello")
    assert robot("s.recv(10)") == b"hello"
    robot("s.send(b'world'); s.close()")
    assert take(peer, 6) == b"world"


def test_shell_that_becomes_a_program(lab, peer_listener):
    code = "exec 3<>/dev/tcp/$0/$1; echo hello >&3; exec cat <&3"
    with lab.app(["bash", "-c", code, lab.peer_ip, PORT]) as shell:
        peer, _ = peer_listener.accept()
        with peer:
            assert take(peer, 6) == b"hello\n"
            peer.sendall(b"world\n")
            labs.proc.wait_until(lambda: "world" in shell.text(), "cat has it", proc=shell)
            peer.shutdown(socket.SHUT_WR)
            assert shell.wait(20) == 0


@pytest.mark.shows("execve of a static program")
def test_static_program(robot, peer, tmp_path):
    source, program = tmp_path / "x.c", tmp_path / "x"
    source.write_text("""
#include <stdlib.h>
#include <unistd.h>
int main(int n, char **v)
{
    char b[5];
    int fd = atoi(v[n - 1]);
    return read(fd, b, 5) != 5 || write(fd, b, 5) != 5;
}""")
    labs.proc.run(["cc", "-static", "-o", program, source])
    robot.tell(
        "os.set_inheritable(s.fileno(), True); d = str(s.fileno())\nos.execv(x, [x, d])",
        x=str(program),
    )
    peer.sendall(b"hello")
    assert take(peer, 6) == b"hello"
    assert robot.proc.wait(20) == 0


def test_static_program_with_many(lab, robot, tmp_path, peer_listener):
    """Each of its connections continues."""
    source, program, many = tmp_path / "x.c", tmp_path / "x", 100
    source.write_text("""
#include <stdlib.h>
#include <unistd.h>
int main(int n, char **v)
{
    char b;
    for (int i = 1; i < n; i++)
        if (read(atoi(v[i]), &b, 1) != 1 || write(atoi(v[i]), &b, 1) != 1)
            return 1;
    return 0;
}""")
    labs.proc.run(["cc", "-static", "-o", program, source])
    robot("all_ = [socket.create_connection(at) for _ in range(n)]", at=(lab.peer_ip, PORT), n=many)
    peers = [peer_listener.accept()[0] for _ in range(many)]
    robot("for s in all_: os.set_inheritable(s.fileno(), True)")
    robot.tell("os.execv(x, [x, *(str(s.fileno()) for s in all_)])", x=str(program))
    for n, peer in enumerate(peers):
        with peer:
            peer.settimeout(labs.proc.seconds(20))
            peer.sendall(bytes([n]))
            assert take(peer, 1) == bytes([n])
    assert robot.proc.wait(20) == 0


@pytest.mark.shows("execve in a child that its parent waits for")
def test_shell_whose_child_reads(lab, peer_listener):
    """The shell keeps its own descriptor, and waits."""
    code = "exec 3<>/dev/tcp/$0/$1; cat <&3; echo done >&3"
    with lab.app(["bash", "-c", code, lab.peer_ip, PORT]) as shell:
        peer, _ = peer_listener.accept()
        with peer:
            peer.sendall(b"world\n")
            labs.proc.wait_until(lambda: "world" in shell.text(), "cat has it", proc=shell)
            peer.shutdown(socket.SHUT_WR)
            assert take(peer, 5) == b"done\n"
            assert shell.wait(20) == 0
