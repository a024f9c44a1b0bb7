# SPDX-License-Identifier: Apache-2.0
"""Workers with little address space (RLIMIT_AS) serve the listener of their parent."""

from __future__ import annotations

import pytest

from tests.lab.robot import PORT, take

MB = 1 << 20

# The parent listens; a child with `room` more bytes of address space than it uses accepts.
WORKER = """
import os, resource
listener = socket.create_server((ip, port))
pid = os.fork()
if not pid:
    try:
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + room, used + room))
        for _ in range(3):
            c, _ = listener.accept()
            c.sendall(c.recv(100) * 1000)
            c.close()
        bytearray(room // 4)  # the program has memory of its own
        os._exit(0)
    finally:
        os._exit(1)
"""


@pytest.mark.shows("accept with a limit of address space")
@pytest.mark.parametrize("room", [400 * MB, 64 * MB, 12 * MB, 2 * MB], ids=lambda n: f"{n // MB}MB")
def test_a_worker_with_little_address_space(lab, robot, room):
    robot(WORKER, ip=lab.ip, port=PORT, room=room)
    for _ in range(3):
        with lab.connect(PORT) as peer:
            peer.send(b"x" * 10)
            assert take(peer, 10000) == b"x" * 10000
            assert peer.recv(1) == b""
    assert robot("os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])") == 0
    robot("listener.close()")
