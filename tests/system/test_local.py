# SPDX-License-Identifier: Apache-2.0
"""A program on the TOE reaches another, or itself, at the TOE's own address, as on Linux."""

from __future__ import annotations

import errno

import pytest
from test_ip6 import OWN as OWN6
from test_ip6 import wait_usable

from tests.lab import lab as labs
from tests.lab import nginx
from tests.lab.robot import PORT, Robot

MB = 1_000_000


@pytest.fixture(scope="module", params=["4", "6"])
def own(request):
    """A lab, and its own address of that family."""
    args = () if labs.LINUX or request.param == "4" else ("--ip6", f"{OWN6}/64")
    with labs.Lab(args=args) as lab:
        if labs.LINUX:
            add = ["ip", "-6", "address", "add", f"{OWN6}/64", "dev", lab.pair.server_if, "nodad"]
            lab.server.run(add)
        if request.param == "6":
            wait_usable(lab, OWN6)
        yield lab, lab.ip if request.param == "4" else OWN6


def listen(robot: Robot, address: str, port: int = PORT) -> None:
    code = "family = socket.AF_INET6 if ':' in at[0] else socket.AF_INET; "
    code += "listener = socket.create_server(at, family=family)"
    robot(code, at=(address, port))


@pytest.mark.sanitize
def test_two_programs(own):
    """Every byte of 20 MB each way, at once."""
    lab, address = own
    with lab.script("transfer.py", "serve", address, PORT, 20 * MB, 1, says="ready") as server:
        argv = [labs.PYTHON, labs.PROGRAMS / "transfer.py", "client", address, PORT, 20 * MB, 1]
        assert lab.run(argv).stdout == "ok\n"
        assert server.wait(30) == 0
    if lab.toed:
        assert lab.counter("looped") > 1000


def test_a_program_and_itself(own):
    lab, address = own
    with Robot(lab) as robot:
        listen(robot, address)
        robot("c = socket.create_connection(at); s, who = listener.accept()", at=(address, PORT))
        assert robot("who[:2] == c.getsockname()[:2]")
        assert robot("who[0]") == address
        robot("c.sendall(b'there'); s.sendall(b'and back')")
        assert robot("s.recv(100)") == b"there"
        assert robot("c.recv(100)") == b"and back"
        robot("s.close()")
        assert robot("c.recv(100)") == b""


def test_nobody_listens(own):
    lab, address = own
    with Robot(lab) as robot, pytest.raises(ConnectionRefusedError):
        robot("socket.create_connection(at)", at=(address, PORT))


def test_a_socket_connected_to_its_own_port(own):
    """RFC 9293 3.5: its SYN crosses itself, a simultaneous open of one flow."""
    lab, address = own
    with Robot(lab) as robot:
        robot("s = socket.socket(socket.AF_INET6 if ':' in a else socket.AF_INET)", a=address)
        robot("s.bind((a, 7001)); s.connect((a, 7001))", a=address)
        assert robot("s.getpeername() == s.getsockname()")
        robot("s.sendall(b'to myself')")
        assert robot("s.recv(100)") == b"to myself"


def test_reset(own):
    lab, address = own
    with Robot(lab) as robot:
        listen(robot, address)
        robot("c = socket.create_connection(at); s, _ = listener.accept()", at=(address, PORT))
        robot("s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))")
        robot("s.close()")
        with pytest.raises(ConnectionResetError):
            robot("c.recv(1)")


def test_a_peer_that_dies_at_the_same_address(own):
    lab, address = own
    with Robot(lab) as robot:
        with Robot(lab) as other:
            listen(other, address)
            robot("c = socket.create_connection(at)", at=(address, PORT))
            other("s, _ = listener.accept()")
            other.proc.kill()
        with pytest.raises(OSError) as failed:
            robot("c.recv(100)\nwhile True: c.sendall(b'x'); time.sleep(0.01)")
        assert failed.value.errno in (errno.ECONNRESET, errno.EPIPE)


@pytest.mark.parametrize("engines", [1, 2])
def test_nginx_in_front_of_another(make_lab, tmp_path, engines):
    """A reverse proxy, both on the TOE and at one address; by several engines too."""
    lab = make_lab(engines=engines)
    back, front = tmp_path / "back", tmp_path / "front"
    back.mkdir()
    front.mkdir()
    proxy = f"location /p/ {{ proxy_pass http://{lab.ip}:81/; }}"
    with nginx.start(lab, back, port=81):
        digest = nginx.make_file(back / "files/large", 10 * MB)
        with nginx.start(lab, front, workers=2, more=proxy):
            for _ in range(20):
                assert nginx.get(lab, "/p/hello") == b"hello\n"
            with nginx.Http(lab) as web:
                assert web.digest("/p/large") == digest
    if lab.toed:
        assert lab.counter("looped") > 100
