# SPDX-License-Identifier: Apache-2.0
"""toe-ideal: programs attach to it as to toed, and it counts their responses."""

from __future__ import annotations

import json
import signal

import pytest

from tests.lab import nginx, paths, patience, proc
from tests.lab.ideal import IP, Ideal

pytestmark = pytest.mark.sanitize
OK, FAILURE, USAGE, CONFIG, ERRORS = 0, 1, 2, 3, 6
QUICK = ["--duration", "0.3", "--warmup", "0.1"]


def serve(ideal: Ideal, role: str, *args: object, env: dict | None = None) -> proc.Proc:
    argv = [paths.built("toehold"), "bench", "serve", role, "--listen", f"{IP}:80", "--json"]
    return ideal.app([*argv, *args], name=f"serve-{role}", env=env)


def counted(server: proc.Proc) -> dict:
    assert server.stop() == OK, server.text()
    return json.loads(server.text().splitlines()[-1])


@pytest.mark.parametrize("per_connection", [0, 7])
def test_each_request_is_answered_once(per_connection):
    args = ["--connections", 20, "--requests-per-connection", per_connection]
    with (
        Ideal(*args, "--duration", 1, "--warmup", 0.1) as ideal,
        serve(ideal, "http", "--size", 3000) as server,
    ):
        code, found = ideal.result(20)
        served = counted(server)
    assert code == OK
    assert found["status"] == 200 and found["answer_bytes"] > 3000
    assert found["sent"] == found["answered"] == served["requests"] > found["requests"] > 0
    assert served["bytes_sent"] == found["answered"] * found["answer_bytes"]
    assert found["latency_ns"]["count"] > 0
    if per_connection:
        assert found["opened"] >= found["answered"] // per_connection
    else:
        assert found["opened"] == served["connections"] == 20


def test_a_result_that_cannot_be_written_is_a_failure():
    argv = ["sh", "-c", 'exec "$@" >/dev/full', "sh"]
    with Ideal(*QUICK, prefix=argv) as ideal, serve(ideal, "http"):
        assert ideal.proc.wait(20) == FAILURE
        assert "cannot write: No space left on device" in ideal.proc.text()


def test_open_loop_asks_at_its_rate():
    args = ["--connections", 3, "--rate", 2000]
    with Ideal(*args, *QUICK) as ideal, serve(ideal, "http") as server:
        code, found = ideal.result(20)
        served = counted(server)
    assert code == OK
    # 0.4 s of it, and the one that taught the length.
    assert found["sent"] == served["requests"] == 801
    assert found["latency_ns"]["count"] == 600


def test_small_buffers_wrap():
    """4096 bytes: the request's copy and the answer lie across their ends again and again."""
    env = {"TOEHOLD_TX_SIZE": "4096", "TOEHOLD_RX_SIZE": "4096"}
    args = ["--connections", 2, "--get", "/" + "x" * 900]
    with Ideal(*args, *QUICK) as ideal, serve(ideal, "http", "--size", 9999, env=env) as server:
        code, found = ideal.result(20)
        assert code == OK
        assert found["sent"] == counted(server)["requests"] > 5  # 5 requests are a lap


def test_a_program_under_valgrind():
    """Without epoll_pwait2(), as in kernels before 5.11, libtoe sleeps by epoll_pwait()."""
    argv = [paths.built("toehold-bench"), "serve", "http", "--listen", f"{IP}:80", "--json"]
    with (
        Ideal("--connections", 2, "--timeout", 20, *QUICK) as ideal,
        ideal.app(["valgrind", "--tool=none", "-q", *argv]) as server,
    ):
        code, found = ideal.result(40)
        said = server.text()
        assert server.stop() == OK
    assert code == OK and found["answered"] > 0
    assert "not implemented" not in said


def test_nginx_with_two_workers(tmp_path):
    argv = nginx.configuration(tmp_path, f"{IP}:80", workers=2)
    args = ["--connections", 10, "--get", "/hello", "--requests-per-connection", 50]
    with Ideal(*args, *QUICK) as ideal, ideal.app(argv) as server:
        code, found = ideal.result(20)
        assert server.poll() is None
    assert code == OK
    assert found["sent"] == found["answered"] > 0
    assert found["errors"] == {"LENGTH": 0, "RESET": 0}


def test_a_program_that_dies_leaves_its_requests_unanswered():
    args = ["--connections", 4, "--duration", patience.seconds(1), "--warmup", 0, "--timeout", 1]
    with Ideal(*args) as ideal, serve(ideal, "http") as server:
        proc.wait_until(lambda: used(ideal) == 4, "all connections are open")
        server.kill()
        code, found = ideal.result(20)
    assert code == ERRORS
    assert found["errors"]["RESET"] + found["unanswered"] > 0
    assert found["sent"] == found["answered"] + found["errors"]["RESET"] + found["unanswered"]


def test_what_is_unanswered_since_the_warm_up_is_counted():
    args = ["--connections", 5, "--duration", 0.2, "--warmup", patience.seconds(1), "--timeout", 1]
    with Ideal(*args) as ideal, serve(ideal, "http") as server:
        proc.wait_until(lambda: used(ideal) == 5, "all connections are open", proc=ideal.proc)
        server.send_signal(signal.SIGSTOP)
        code, found = ideal.result(20)
    assert code == ERRORS
    assert 0 < found["unanswered"] == found["sent"] - found["answered"] <= 5


def used(ideal: Ideal) -> int:
    """`toehold stats` reports it like any other TOE."""
    argv = [paths.built("toehold"), "stats", "--json", "--socket", ideal.socket]
    return json.loads(proc.run(argv).stdout)["engines"][0]["usage"]["flows"]


def test_what_is_not_http_is_no_measurement():
    with Ideal(*QUICK) as ideal, serve(ideal, "pingpong"):
        code, found = ideal.result(20)
        said = ideal.proc.text()
    assert (code, found) == (FAILURE, {})
    assert "the first answer is no HTTP answer with a Content-Length" in said


def test_nobody_attaches():
    with Ideal("--timeout", "0.2") as ideal:
        assert ideal.result(20) == (FAILURE, {})
        assert "no program listened, or accepted a connection" in ideal.proc.text()


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--connections", "0"], USAGE, "--connections 0: want a whole number from 1 to 60000"),
        (["--connections", "1.5"], USAGE, "--connections 1.5: want a whole number"),
        (["--get", "x"], USAGE, "--get x: want a path"),
        (["--request", "/nowhere"], USAGE, "--request /nowhere: No such file"),
        (["--request", "/dev/null"], USAGE, "want a file of 1 to 16384 bytes"),
        (["--rate", "fast"], USAGE, "--rate fast: want a number"),
        (["now"], USAGE, "'now': it takes options only"),
        (["--hurry"], USAGE, "--help shows the options"),
        (["--socket", "/nowhere/at/all"], CONFIG, "--socket /nowhere/at/all"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(args, code, said):
    done = proc.run([paths.built("toe-ideal"), *args], check=False, timeout=20)
    assert done.returncode == code
    assert said in done.stderr
