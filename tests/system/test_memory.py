# SPDX-License-Identifier: Apache-2.0
"""Memory and descriptors run out: each allocating call fails once (programs/failalloc.c), in toed
and in a program on it."""

from __future__ import annotations

import json
import random
import re

import pytest

from tests.lab import lab as labs
from tests.lab import nginx, paths, proc
from tests.lab.robot import PORT

pytestmark = pytest.mark.toehold_only

CONNLOAD = paths.build_dir("connload") / "tests/connload"
REQUEST = "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
WHY = "Cannot allocate memory|No buffer space|runs on the kernel's TCP|Too many open files"
ENDS = (1, 3)  # toed: an allocation failed; a resource is unavailable here


def failing(n: int, program: str, count) -> dict[str, str]:
    return {
        "LD_PRELOAD": str(paths.built("libfailalloc.so")),
        "FAILALLOC": str(n),
        "FAILALLOC_IN": program,
        "FAILALLOC_COUNT": str(count),
    }


def chosen(total: int, samples: int) -> list[int]:
    """So many of the calls, from the first to the last, others with another seed."""
    step = max(1, total // samples)
    return list(range(1 + random.Random(labs.SEED).randrange(step), total + 1, step))


def request(lab, env: dict | None = None) -> proc.subprocess.CompletedProcess[str]:
    argv = [CONNLOAD, lab.peer_ip, 80, 100, 1, "server", "hello\n", REQUEST]
    done = lab.run(argv, env=env, check=False, require=False, timeout=20)
    assert 0 <= done.returncode < 128, (done, lab.toed.proc.tail())
    return done


def served(done) -> bool:
    return done.returncode == 0 and json.loads(done.stdout)["done"] == 1


@pytest.fixture
def server(make_lab, tmp_path):
    lab = make_lab()
    with nginx.start_on_peer(lab, tmp_path):
        yield lab


def outlives(lab, n: int) -> bool:
    """Starts toed with that call failing. Returns False if toed exited cleanly."""
    toed = lab.toed
    try:
        toed.start(wait=False)
        proc.wait_until(toed._answers, "it serves", proc=toed.proc, timeout=20)
        return True
    except proc.Failed:
        code = toed.proc.poll()
        assert code in ENDS, (n, code, toed.proc.tail())
        assert "\ntoed: " in "\n" + toed.proc.text(), (n, toed.proc.tail())
        return False


@pytest.mark.parametrize("samples", [16, pytest.param(1000, marks=pytest.mark.long)])
def test_toed(server, tmp_path, samples):
    """It exits with a message and its exit code, or rejects the request and continues to serve."""
    lab, toed = server, server.toed
    count = tmp_path / "count"
    stats = [paths.built("toehold"), "stats", "--socket", toed.socket]
    toed.stop()

    def run(n: int) -> None:
        toed._env = failing(n, "toed", count)
        if not outlives(lab, n):
            return
        request(lab)
        lab.server.run(stats, check=False)
        # The failing call may belong to the next request: the number of requests to toed before
        # that varies from start to start.
        serves = served(request(lab)) or served(request(lab))
        if toed.proc.poll() is None:
            assert serves, (n, toed.proc.tail())
            toed.stop()
        else:
            assert toed.proc.poll() in ENDS, (n, toed.proc.tail())

    run(0)
    for n in chosen(int(count.read_text()), samples):
        run(n)
    toed._env = {}
    toed.start()


def test_program(server, tmp_path):
    """It gets an errno, or the kernel's TCP with a message; toed serves the next one."""
    lab = server
    count = tmp_path / "count"
    assert served(request(lab, failing(0, "connload", count)))
    for n in range(1, int(count.read_text()) + 1):
        done = request(lab, failing(n, "connload", count))
        assert f"failalloc: call {n}" in done.stderr
        if not served(done):
            said = done.stdout + done.stderr
            assert re.search(WHY, said), (n, said)
        assert served(request(lab)), n
    lab.wait_idle()


@pytest.mark.parametrize("mib", [200, 256])
def test_a_limited_address_space(lab, robot, mib):
    """A daemon that limits its address space below the size of a full queue pair is carried, with
    fewer slots."""
    robot("import resource")
    robot("resource.setrlimit(resource.RLIMIT_AS, (limit, limit))", limit=mib << 20)
    robot.listen(lab.ip, PORT)
    slots = [qp["slots"] for qp in lab.toed.queue_pairs()]
    assert len(slots) == 1
    assert 16 <= slots[0] <= (mib << 20) // (2 * 131072)
    for _ in range(10):
        with lab.connect(PORT) as peer:
            robot.accept()
            peer.sendall(b"x")
            assert robot("s.recv(10)") == b"x"
            robot("s.close()")
            assert peer.recv(1) == b""
