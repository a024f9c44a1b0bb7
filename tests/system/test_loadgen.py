# SPDX-License-Identifier: Apache-2.0
"""toehold bench, the load generator: its counts are correct."""

from __future__ import annotations

import contextlib
import itertools
import json
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable

import pytest

from tests.lab import hlog, netns, paths, patience, proc
from tests.lab import lab as labs

LOCAL = "127.0.0.1"
TOEHOLD = paths.built("toehold")
OK, FAILURE, USAGE, ERRORS = 0, 1, 2, 6
# Of the open loop: how many requests become due follows from these times.
QUICK = ["--duration", "0.2", "--warmup", "0.05"]
# Of the closed loop: longer on a busy machine, where a process may not run for a tenth of a second,
# and a request must begin within the time.
CLOSED = ["--duration", f"{0.2 * patience.factor():.2f}", "--warmup", "0.05"]


def at(port: int) -> int:
    """A port for a server in the peer's namespace: none that a connection there may have had."""
    assert port < labs.FIRST_EPHEMERAL
    return port


def command(*args: object) -> list[object]:
    return [paths.built("toehold"), "bench", *args]


def bench(lab: labs.Lab, *args: object, code: int = OK) -> dict:
    """Runs a client in the peer's namespace and returns its JSON."""
    done = lab.client.run(command(*args, "--json"), check=False, timeout=60)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if code in (OK, ERRORS) else {"said": done.stderr}


class Server:
    """`toehold bench serve ROLE` on a port of the peer's loopback interface."""

    def __init__(self, lab: labs.Lab, role: str, port: int, *args: object, host: str = LOCAL):
        self.where = f"{host}:{at(port)}"
        self.proc = lab.client.start(
            command("serve", role, "--listen", self.where, "--json", *args), name=f"serve-{role}"
        )
        proc.wait_until(lambda: "serving" in self.proc.text(), f"serve {role}", proc=self.proc)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.proc.kill()

    def counted(self) -> dict:
        assert self.proc.stop() in (OK, -signal.SIGKILL), self.proc.text()
        return json.loads(self.proc.text().splitlines()[-1])


@contextlib.contextmanager
def serving(lab: labs.Lab, port: int, handle):
    """A server of the test's own: handle(connection, its number) for each, one after the other."""
    listener = lab.client.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((LOCAL, at(port)))
    listener.listen(64)
    kept = []

    def loop() -> None:
        for number in range(10_000):
            try:
                kept.append(listener.accept()[0])
                handle(kept[-1], number)
            except OSError:
                return

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        for s in [listener, *kept]:
            s.close()
        thread.join()


def echo(s: socket.socket, before: Callable[[], object]) -> None:
    """Returns requests of 64 bytes from a thread, each after a call of before()."""

    def loop() -> None:
        with contextlib.suppress(OSError):  # the test has closed the connection
            while data := s.recv(64, socket.MSG_WAITALL):
                before()
                s.sendall(data)

    threading.Thread(target=loop, daemon=True).start()


# ---- counts


@pytest.mark.parametrize("size", [1, 64, 100_000])
def test_pingpong_counts_each_exchange_once(lab, size):
    with Server(lab, "pingpong", 7001, "--size", size) as server:
        args = ["--to", server.where, "--size", size, "--connections", 5, "--threads", 2]
        found = bench(lab, "pingpong", *args, "--verify", *CLOSED)
        served = server.counted()
    assert found["sent"] == found["answered"] == served["requests"] > 0
    assert served["bytes_received"] == served["bytes_sent"] == found["sent"] * size
    assert found["connections"] == served["connections"] == 5
    assert sum(s["count"] for s in found["by_second"]) == found["latency_ns"]["count"]
    assert sum(s["bytes"] for s in found["by_second"]) == found["bytes"] >= found["requests"] * size
    assert 0 < found["latency_ns"]["min"] <= found["latency_ns"]["p50"]
    assert found["latency_ns"]["p99_99"] <= found["latency_ns"]["max"]


@pytest.mark.parametrize("options", [[], ["--fresh"]])
def test_http_counts_each_answer_once(lab, options):
    with Server(lab, "http", 7002, "--size", 3000) as server:
        url = f"http://{server.where}/some/path"
        args = ["--url", url, "--connections", 3, "--length", 3000, "--verify"]
        found = bench(lab, "http", *args, *options, *CLOSED)
        served = server.counted()
    assert found["sent"] == found["answered"] == served["requests"] > 0
    assert found["statuses"] == {"200": found["answered"]}
    assert found["connections"] == (found["sent"] if options else 3)


def test_ipv6_and_a_server_of_two_threads(lab):
    with Server(lab, "pingpong", 7014, "--threads", 2, host="[::1]") as server:
        args = ["--to", server.where, "--connections", 16, "--verify"]
        found = bench(lab, "pingpong", *args, *CLOSED)
        served = server.counted()
    assert found["sent"] == served["requests"] > 0
    assert served["connections"] == 16


def test_an_answer_without_length_ends_with_its_connection(lab):
    def handle(s: socket.socket, _number: int) -> None:
        s.recv(4096)
        s.sendall(http("200 OK", b"to the end"))
        s.close()

    with serving(lab, 7015, handle):
        args = ["--url", f"http://{LOCAL}:7015/", "--fresh", "--length", 10, "--verify"]
        found = bench(lab, "http", *args, *CLOSED)
    assert found["sent"] == found["answered"] == found["statuses"]["200"] > 0


@pytest.mark.parametrize(
    ("close", "size"), [("fin", 0), ("rst", 0), ("fin", 64), ("rst", 64), ("wait", 64)]
)
def test_conns_counts_each_connection_once(lab, close, size):
    once = ["--once"] if close == "wait" else []
    with Server(lab, "pingpong", 7003, *once) as server:
        args = ["--to", server.where, "--size", size, "--close", close, "--connections", 4]
        found = bench(lab, "conns", *args, "--rate", 500, "--verify", *QUICK)
        served = server.counted()
    assert found["sent"] == found["answered"] == found["connections"] == 125
    assert found["latency_ns"]["count"] == 100
    # A reset can arrive before the server has accepted.
    assert served["connections"] == 125 or close == "rst"


@pytest.mark.parametrize("more", [[], ["--zero-copy"]], ids=["copied", "zero_copy"])
@pytest.mark.parametrize("message", [700, 300_000])
def test_bulk_up_ends_when_the_sink_has_all(lab, message, more):
    with Server(lab, "sink", 7004, "--verify") as server:
        args = ["--to", server.where, "--connections", 2, "--message", message, *more]
        found = bench(lab, "bulk", *args, *CLOSED)
        served = server.counted()
    assert served["mismatches"] == 0
    assert served["requests"] == found["answered"] == 2
    assert served["bytes_received"] % message == 0
    assert found["bytes_in_all"] == served["bytes_received"]
    assert found["bytes"] <= served["bytes_received"]
    # Linux stalls for 200 ms where small sends by MSG_ZEROCOPY fill the receiver with pages.
    assert found["bytes"] > 0 or more
    if more:
        # a send() may accept less than a message
        assert found["zero_copy_sends"] >= served["bytes_received"] // message
        assert found["zero_copy_sends"] >= found["zero_copy_copied"]
    else:
        assert "zero_copy_sends" not in found


def test_bulk_down_is_the_pattern(lab):
    with Server(lab, "bulk", 7005, "--message", 5000) as server:
        args = ["--to", server.where, "--direction", "down", "--verify"]
        found = bench(lab, "bulk", *args, *CLOSED)
    assert found["bytes"] == sum(s["bytes"] for s in found["by_second"]) > 0


@pytest.mark.parametrize("hold_min", ["0", "1"])
def test_bulk_down_lends_what_it_is(tmp_path, hold_min):
    """By toe_recv_borrow(): from the receive buffer, and from the frames themselves."""
    ends, library = [], paths.build_dir("libtoe_inline.so") / "engine/libtoe_inline.so"
    for side, address in (("a", "10.9.0.1"), ("b", "10.9.0.2")):
        options = f"--netif wire:{tmp_path}/w,side={side} --ip {address}/24"
        env = {"TOEHOLD_INLINE_LIBRARY": str(library)}
        env.update(TOEHOLD_ENGINE="inline", TOEHOLD_INLINE_OPTIONS=options, TOEHOLD_REQUIRE="1")
        ends.append({**env, "TOEHOLD_HOLD_MIN": hold_min})
    with netns.Pair() as pair:
        serve = [TOEHOLD, "bench", "serve", "bulk", "--listen", "10.9.0.1:7040", "--api", "toe"]
        with pair.server.start(serve, env=ends[0], name="serve") as server:
            proc.wait_until(lambda: "serving on" in server.text(), "it serves", proc=server)
            args = ["--to", "10.9.0.1:7040", "--api", "toe", "--direction", "down"]
            args += ["--zero-copy", "--verify", "--json", "--quiet", *CLOSED]
            done = pair.client.run([TOEHOLD, "bench", "bulk", *args], env=ends[1], timeout=30)
    found = json.loads(done.stdout)
    assert found["bytes"] > 100_000
    assert not found["errors"]


def test_local_ports_are_used_in_turn(lab):
    seen = []  # ports below those that the system chooses, some of which are in TIME-WAIT
    with serving(lab, 7006, lambda s, _n: seen.append(s.getpeername()[1])):
        args = ["--to", f"{LOCAL}:7006", "--local-ports", "900-909", "--close", "rst"]
        found = bench(lab, "conns", *args, "--rate", 100, "--duration", "0.2", "--warmup", "0")
    assert found["connections"] == 20
    assert set(seen) <= set(range(900, 910))


# ---- open loop


def test_several_ports_have_their_share_of_connections(lab):
    with Server(lab, "pingpong", 7030, "--ports", 3) as first:
        args = ["--to", first.where, "--ports", 3, "--connections", 50, "--verify", *CLOSED]
        found = bench(lab, "pingpong", *args)
        served = first.counted()
    assert found["sent"] == found["answered"] == served["requests"] > 0
    assert found["connections"] == served["connections"] == 50
    assert found["resident_connected"] >= found["resident_before"] > 0
    with Server(lab, "pingpong", 7031) as second:  # 7030 and 7032 have no server
        args = ["--to", f"{LOCAL}:7030", "--ports", 3, "--connections", 3, *CLOSED]
        assert "cannot connect" in bench(lab, "pingpong", *args, code=FAILURE)["said"]
        second.counted()


def test_at_once_asks_all_connections_in_turn(lab):
    asked = [0] * 7

    def handle(s: socket.socket, number: int) -> None:
        def count() -> None:
            asked[number] += 1

        echo(s, count)

    with serving(lab, 7033, handle):
        args = ["--to", f"{LOCAL}:7033", "--connections", 7, "--at-once", 1, "--verify"]
        found = bench(lab, "pingpong", *args, "--duration", 1, "--warmup", 0)
    assert sum(asked) == found["sent"] == found["answered"] > 7
    assert max(asked) - min(asked) <= 1


def test_open_loop_keeps_its_rate_and_its_log_is_readable(lab, tmp_path):
    log = tmp_path / "x.hlog"
    with Server(lab, "pingpong", 7007) as server:
        args = ["--to", server.where, "--connections", 7, "--threads", 2, "--rate", 900]
        times = ["--duration", "1.2", "--warmup", "0.2"]
        found = bench(lab, "pingpong", *args, *times, "--idle", 20, "--hdr", log)
        served = server.counted()
    assert found["sent"] == found["answered"] == served["requests"] == 1260
    assert served["connections"] == 27
    intervals = hlog.read(log)
    counts = hlog.summed(intervals)
    assert [i.start for i in intervals] == [0, 1]
    assert sum(counts) == found["latency_ns"]["count"] == 1080
    for name, percent in (("p50", 50), ("p90", 90), ("p99", 99), ("p99_9", 99.9)):
        exact = min(hlog.percentile(counts, percent), found["latency_ns"]["max"])
        assert found["latency_ns"][name] == exact
    assert max(i.max_ms for i in intervals) == round(found["latency_ns"]["max"] / 1e6, 3)


def test_open_loop_sleeps_until_a_request_is_due(lab):
    """A client that polls keeps a TOE on its core from its work."""
    with Server(lab, "pingpong", 7034) as server:
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
        args = ["--to", server.where, "--rate", 2000, "--duration", "0.5", "--warmup", "0"]
        found = bench(lab, "pingpong", *args)
        slept = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw - before
    assert found["sent"] == found["answered"] == 1000
    # A client that polls never sleeps. On a busy machine one sleep covers several requests.
    assert slept > 10, slept


def test_open_loop_does_not_wake_for_what_cannot_begin(lab):
    """10,000 requests become due while the one connection waits for its first answers."""

    def handle(connection, _number):
        with contextlib.suppress(OSError):
            while data := connection.recv(64):
                time.sleep(0.1)
                connection.sendall(data)

    with serving(lab, 7036, handle):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
        args = ["--to", f"{LOCAL}:7036", "--rate", 20000, "--duration", "0.5", "--warmup", "0"]
        found = bench(lab, "pingpong", *args, "--timeout", "0.1", code=ERRORS)
        woken = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw - before
    assert found["sent"] < 20
    assert found["latency_ns"]["count"] == 10000  # those never answered with their age
    assert woken < 1000, woken


def test_open_loop_without_epoll_pwait2(lab):
    """Before Linux 5.11."""
    with Server(lab, "pingpong", 7035) as server:
        args = ["pingpong", "--to", server.where, "--rate", 2000, *QUICK, "--json"]
        hidden = [labs.PYTHON, labs.PROGRAMS / "without_call.py", 441]
        done = lab.client.run([*hidden, *command(*args)], timeout=60)
    found = json.loads(done.stdout)
    assert found["sent"] == found["answered"] == 500


def test_a_stall_of_the_server_is_seen_by_all_that_were_due(lab, tmp_path):
    """No coordinated omission: 1000 requests a second, a server that stalls for 0.4 s."""
    log = tmp_path / "x.hlog"
    gate = threading.Lock()
    answered = itertools.count(1)

    def stall() -> None:
        with gate:  # both connections stop
            if next(answered) == 500:
                time.sleep(0.4)

    with serving(lab, 7008, lambda s, _number: echo(s, stall)):
        args = ["--to", f"{LOCAL}:7008", "--rate", 1000, "--connections", 2, "--hdr", log]
        found = bench(lab, "pingpong", *args, "--duration", "1.5", "--warmup", "0")
    assert found["sent"] == found["answered"] == found["latency_ns"]["count"] == 1500
    # Those due in the first 0.3 s of it have waited for 0.1 s at least.
    assert hlog.at_least(hlog.summed(hlog.read(log)), 90_000_000) >= 290
    assert found["latency_ns"]["p90"] >= 90_000_000


# ---- failures are counted


def asked(lab: labs.Lab, port: int) -> int:
    """How many connections of a server on this port have received a byte."""
    return lab.client.run(["ss", "-Htni", "sport", "=", f":{port}"]).stdout.count("bytes_received:")


def test_the_servers_death_is_counted_and_ends_the_run(lab):
    with Server(lab, "pingpong", 7009) as server:
        args = ["--to", server.where, "--connections", 3, "--duration", 30, "--warmup", 0, "--json"]
        with lab.client.start(command("pingpong", *args), name="load") as load:
            proc.wait_until(lambda: asked(lab, 7009) == 3, "each connection is used", proc=load)
            server.proc.kill()
            assert load.wait(10) == ERRORS
            text = load.text()
    found = json.loads(text[text.index("{") :])
    assert sum(found["errors"].values()) == 3
    assert set(found["errors"]) <= {"ECONNRESET", "EOF", "EPIPE"}
    assert found["ended_early"] and found["seconds"] < 20
    assert found["answered"] <= found["sent"] <= found["answered"] + 3


def test_nobody_listens(lab):
    said = bench(lab, "pingpong", "--to", f"{LOCAL}:7999", code=FAILURE)["said"]
    assert "cannot connect to 127.0.0.1:7999: Connection refused" in said
    threads = ["--connections", 8, "--threads", 8]
    said = bench(lab, "pingpong", "--to", f"{LOCAL}:7999", *threads, code=FAILURE)["said"]
    assert said.count("cannot connect") == said.count("\n") == 1
    said = bench(lab, "conns", "--to", f"{LOCAL}:7999", *CLOSED, "--quiet", code=FAILURE)
    assert "every attempt failed" in str(said)


def answer_always(data: bytes):
    def handle(s: socket.socket, _number: int) -> None:
        while s.recv(4096):
            s.sendall(data)

    return handle


def http(head: str, body: bytes = b"") -> bytes:
    return f"HTTP/1.1 {head}\r\n\r\n".encode() + body


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (http("404 Not Found\r\nContent-Length: 2", b"no"), "STATUS"),
        (http("200 OK\r\nContent-Length: 3", b"abc"), "LENGTH"),
        (http("200 OK\r\nContent-Length: 2", b"abc"), "LENGTH"),
        (http("200 OK\r\nTransfer-Encoding: chunked", b"0\r\n\r\n"), "HTTP"),
        (b"not at all\r\n\r\n", "HTTP"),
    ],
)
def test_a_wrong_http_answer_is_counted_by_its_kind(lab, answer, error):
    with serving(lab, 7010, answer_always(answer)):
        args = ["--url", f"http://{LOCAL}:7010/", "--length", 2, *CLOSED]
        done = lab.client.run(command("http", *args, "--json"), check=False)
    assert done.returncode == FAILURE  # there was no good answer at all
    assert json.loads(done.stdout)["errors"] == {error: 1}


def test_wrong_bytes_are_a_mismatch(lab):
    with serving(lab, 7011, answer_always(bytes(64))):
        args = ["--to", f"{LOCAL}:7011", "--verify", *CLOSED]
        done = lab.client.run(command("pingpong", *args, "--json"), check=False)
    assert done.returncode == FAILURE
    assert json.loads(done.stdout)["errors"] == {"MISMATCH": 1}


def said_of_http(lab, port: int, *args: object) -> str:
    """The table and the messages of a run against answers of 404."""
    with serving(lab, port, answer_always(http("404 Not Found\r\nContent-Length: 2", b"no"))):
        argv = command("http", "--url", f"http://{LOCAL}:{port}/", *args, *CLOSED)
        done = lab.client.run(argv, check=False)
    assert done.returncode == FAILURE
    return done.stdout + done.stderr


def test_another_status_is_told_with_its_number(lab):
    text = said_of_http(lab, 7041)
    assert "status 404" in text and "200 was expected" in text
    assert "latency" not in text  # of nothing


def test_no_answer_at_all_is_said(lab):
    with serving(lab, 7042, lambda _s, _n: None):
        args = ["--to", f"{LOCAL}:7042", "--timeout", "0.2", *CLOSED]
        said = bench(lab, "pingpong", *args, code=FAILURE)["said"]
    assert "1 has no answer within --timeout 0.2 s of the end" in said
    assert "nothing was measured: nothing was answered" in said


def test_a_connection_that_was_stuck_from_the_warm_up_on_is_counted(lab):
    def handle(s: socket.socket, number: int) -> None:
        if number == 0:
            threading.Thread(target=answer_always(bytes(64)), args=(s, 0), daemon=True).start()

    with serving(lab, 7053, handle):
        args = ["--to", f"{LOCAL}:7053", "--connections", 2, "--timeout", 2, *CLOSED]
        found = bench(lab, "pingpong", *args, code=ERRORS)
    assert found["unanswered"] == found["sent"] - found["answered"] == 1


def test_nothing_due_within_the_time_is_no_measurement(lab):
    with Server(lab, "pingpong", 7043) as server:
        args = ["--to", server.where, "--rate", "0.5", "--duration", "0.2", "--warmup", "0.2"]
        said = bench(lab, "pingpong", *args, code=FAILURE)["said"]
    assert "nothing was measured: nothing was due within --duration" in said


@pytest.mark.parametrize(
    ("mode", "port", "args"),
    [("conns", 7044, ["--size", 64, "--close", "wait"]), ("http", 7045, ["--fresh"])],
)
def test_a_server_that_does_not_close_is_counted(lab, mode, port, args):
    """The server is to close after its answer: a waiting connection sends no more requests."""

    def handle(s: socket.socket, _number: int) -> None:
        s.sendall(http("200 OK\r\nContent-Length: 2", b"ok") if mode == "http" else s.recv(64))

    to = ["--url", f"http://{LOCAL}:{port}/"] if mode == "http" else ["--to", f"{LOCAL}:{port}"]
    with serving(lab, port, handle):
        args = [*to, *args, "--connections", 3, "--timeout", 1, "--duration", 2, "--warmup", 0]
        found = bench(lab, mode, *args, code=ERRORS)
    assert found["answered"] == 3
    assert found["errors"] == {"ETIMEDOUT": 3}


def test_a_thread_whose_connections_are_gone_still_owes_what_is_due(lab):
    """One of two threads loses its connection: half of the requests are reported unanswered."""

    def handle(s: socket.socket, number: int) -> None:
        def echo() -> None:
            while data := s.recv(64):
                if number == 1:
                    s.close()
                    return
                s.sendall(data)

        threading.Thread(target=echo, daemon=True).start()

    with serving(lab, 7046, handle):
        args = ["--to", f"{LOCAL}:7046", "--connections", 2, "--threads", 2, "--rate", 200]
        found = bench(lab, "pingpong", *args, "--duration", 1, "--warmup", 0, code=ERRORS)
    assert not found["ended_early"] and found["seconds"] == 1
    # An answer that comes after the end is counted as answered, not as one of the measured time.
    assert found["answered"] == 100 >= found["requests"]
    assert found["errors"]["EOF"] == 1
    # A request that was due before the client saw the end has no error of its own.
    assert found["unanswered"] == 99 >= found["errors"]["ENOTCONN"] > 0
    assert found["latency_ns"]["count"] == 199


# ---- how a run ends


@pytest.mark.parametrize(
    ("warmup", "code"), [("0", OK), ("20", FAILURE)], ids=["measured", "warming_up"]
)
def test_an_interrupted_run_tells_what_it_has(lab, warmup, code):
    """The signal comes after some answers: what was due by then is still sent and answered."""
    running = threading.Event()
    requests = itertools.count(1)

    def count() -> None:
        if next(requests) == 40:
            running.set()

    with serving(lab, 7047, lambda s, _number: echo(s, count)):
        args = [
            "--to",
            f"{LOCAL}:7047",
            "--rate",
            100,
            "--duration",
            30,
            "--warmup",
            warmup,
            "--json",
        ]
        with lab.client.start(command("pingpong", *args), name="load") as load:
            assert running.wait(proc.seconds(15)), load.tail()
            load.send_signal(signal.SIGINT)
            assert load.wait(15) == code
            text = load.text()
    assert "of 30 s of the measured time: interrupted" in text
    assert ("nothing was measured" in text) == (code == FAILURE)
    found = json.loads(text[text.index("{") :])
    assert found["ended_early"]
    assert found["sent"] == found["answered"] >= 40
    latencies = found["latency_ns"]["count"]
    if code == FAILURE:
        assert latencies == found["requests"] == found["seconds"] == 0
    else:
        # Latencies are of requests due before the end, however late the answer; "requests" are
        # answers before it. On a busy machine several requests are under way at the end.
        assert latencies == found["sent"] >= found["requests"] > 0
        assert abs(latencies - 100 * found["seconds"]) <= 1


@pytest.mark.parametrize(
    ("closed", "code"), [("<&- 2>&-", OK), ("<&- >&-", FAILURE), ("<&- >&- 2>&-", FAILURE)]
)
def test_what_is_said_to_people_goes_into_no_connection(lab, closed, code):
    """A closed stdin, stdout or stderr leaves its number free: none of the sockets gets it."""
    with Server(lab, "pingpong", 7048) as server:
        args = ["--to", server.where, "--connections", 1000, "--verify", *CLOSED]
        text = " ".join(map(str, command("pingpong", *args)))
        done = lab.client.run(["sh", "-c", f"{text} {closed}"], check=False)
        served = server.counted()
    assert served["bytes_received"] == 64 * served["requests"]
    assert done.returncode == code


@pytest.mark.parametrize("where", ["/dev/full", "/nowhere/x.hlog"])
def test_a_log_that_cannot_be_written_is_said(lab, where):
    with Server(lab, "pingpong", 7049) as server:
        args = ["--to", server.where, "--hdr", where, *CLOSED]
        said = bench(lab, "pingpong", *args, code=FAILURE)["said"]
        served = server.counted()
    assert f"--hdr {where}: No s" in said  # space left on device, such file or directory
    # Where the file is in vain, that is known before anything is measured.
    assert bool(served["connections"]) == (where == "/dev/full")


def test_what_a_server_counted_must_get_out(lab):
    argv = [*command("serve", "pingpong", "--listen", f"{LOCAL}:7050", "--json"), ">/dev/full"]
    with lab.client.start(["sh", "-c", "exec " + " ".join(map(str, argv))], name="serve") as server:
        proc.wait_until(lambda: "serving" in server.text(), "serve", proc=server)
        server.send_signal(signal.SIGTERM)
        assert server.wait(10) == FAILURE
        assert "cannot write: No space left on device" in server.text()


def test_too_few_descriptors_are_said_at_both_ends(lab):
    limited = ["prlimit", "--nofile=32:32"]
    with Server(lab, "pingpong", 7051) as server:
        argv = command("pingpong", "--to", server.where, "--connections", 50, *CLOSED)
        done = lab.client.run([*limited, *argv], check=False)
    assert done.returncode == FAILURE
    assert "Too many open files" in done.stderr and "of 50 connections are open" in done.stderr
    assert "ulimit -n" in done.stderr
    serve = command("serve", "pingpong", "--listen", f"{LOCAL}:7052")
    with lab.client.start([*limited, *serve], name="serve") as server:
        proc.wait_until(lambda: "serving" in server.text(), "serve", proc=server)
        args = ["--to", f"{LOCAL}:7052", "--connections", 50, "--timeout", "0.2", *CLOSED]
        assert bench(lab, "pingpong", *args, code=ERRORS)["unanswered"] > 10
        text = server.text()
    assert text.count("cannot accept after") == 1 and "Too many open files" in text


def test_a_lost_idle_connection_is_counted(lab):
    def handle(s: socket.socket, number: int) -> None:
        if number == 1:  # the one opened after the active one
            s.close()
        else:
            threading.Thread(target=answer_always(bytes(64)), args=(s, 0), daemon=True).start()

    with serving(lab, 7012, handle):
        args = ["--to", f"{LOCAL}:7012", "--idle", 1, *CLOSED]
        found = bench(lab, "pingpong", *args, code=ERRORS)
    assert found["idle_lost"] == 1
    assert found["errors"] == {"EOF": 1}
    assert found["sent"] == found["answered"] > 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "give pingpong, bulk, conns, http or serve"),
        (["flood"], "flood: want pingpong"),
        (["pingpong"], "--to is missing"),
        (["http"], "--url is missing"),
        (["serve"], "a role is missing"),
        (["serve", "http"], "--listen is missing"),
        (["pingpong", "--to", "localhost:1"], "--to localhost:1: want a numeric ADDRESS:PORT"),
        (["pingpong", "--to", "10.0.0.1"], "want a numeric ADDRESS:PORT"),
        (["pingpong", "--to", "[::1:80"], "want a numeric ADDRESS:PORT"),
        (["http", "--url", "https://1.2.3.4/"], "want http://ADDRESS"),
        (["bulk", "--to", "1.2.3.4:5", "--rate", "5"], "bulk does not take --rate"),
        (["pingpong", "--to", "1.2.3.4:5", "--size", "0"], "--size 0: want a whole number from 1"),
        (["pingpong", "--to", "1.2.3.4:5", "--duration", "0"], "--duration 0: want seconds"),
        (["pingpong", "--to", "1.2.3.4:5", "--duration", "0.0005"], "want seconds, 0.001 to 86400"),
        (["pingpong", "--to", "1.2.3.4:5", "--duration", "0x10"], "--duration 0x10: want seconds"),
        (["pingpong", "--to", "1.2.3.4:5", "--rate", "1e8"], "--rate 1e8: want 0.001 to 10000000"),
        (["pingpong", "--to", "1.2.3.4:5", "--rate", "-1"], "--rate -1: want"),
        (["pingpong", "--to", "1.2.3.4:5", "--threads", "2"], "at most --connections (1)"),
        (["pingpong", "--to", "1.2.3.4:5", "--hdr"], "a value is missing after --hdr"),
        (["pingpong", "--to", "1.2.3.4:5", "--fast"], "unknown option --fast"),
        (["pingpong", "--to", "1.2.3.4:5", "--connect", "3"], "write --connections in full"),
        (["pingpong", "--to", "1.2.3.4:5", "-ab"], "unknown option -a"),
        (["pingpong", "--to", "1.2.3.4:5", "--busy=3"], "--busy=3: the option takes no value"),
        (["serve", "pingpong", "--to", "1.2.3.4:5"], "serve pingpong does not take --to"),
        (["pingpong", "--to", "1.2.3.4:5", "now"], "unexpected argument 'now'"),
        (["pingpong", "--to", "1.2.3.4:5", "--at-once", "2", "--rate", "1"], "the closed loop"),
        (["pingpong", "--to", "1.2.3.4:5", "--at-once", "2"], "at most --connections (1)"),
        (["pingpong", "--to", "1.2.3.4:65000", "--ports", "537"], "the last port is 65535"),
        (["conns", "--to", "1.2.3.4:5", "--close", "slam"], "want fin, rst or wait"),
        (["conns", "--to", "1.2.3.4:5", "--local-ports", "9-1"], "want two ports"),
        (["bulk", "--to", "1.2.3.4:5", "--direction", "left"], "want up or down"),
        (
            ["bulk", "--to", "1.2.3.4:5", "--zero-copy", "--direction", "down"],
            "--zero-copy with --direction down needs --api toe",
        ),
        (["pingpong", "--to", "1.2.3.4:5", "--zero-copy"], "pingpong does not take --zero-copy"),
        (["bulk", "--to", "1.2.3.4:5", "--api", "xti"], "want sockets, toe or toe-own"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(args, said):
    done = proc.run(command(*args), check=False)
    assert done.returncode == USAGE
    assert said in done.stderr
    assert not done.stdout


def test_help_and_a_table_without_colour(lab):
    assert "usage: toehold bench" in proc.run(command("--help")).stdout
    with Server(lab, "pingpong", 7013) as server:
        times = ["--duration", "0.5", "--warmup", "0"]
        done = lab.client.run(command("pingpong", "--to", server.where, *times))
    assert done.stdout.startswith("pingpong 127.0.0.1:7013, 1 connection, 0.5 s\n")
    assert "\033" not in done.stdout and not done.stderr


# ---- on the TOE


@pytest.mark.parametrize("api", ["sockets", "toe", "toe-own"])
def test_both_roles_on_the_toe(lab, api):
    """The server by either surface on the TOE, the client on Linux; then the other way around."""
    argv = command("serve", "http", "--listen", f"{lab.ip}:7020", "--size", 9000, "--api", api)
    with lab.app(argv, name="serve-http", port=7020):
        args = ["--url", f"http://{lab.ip}:7020/", "--connections", 20, "--verify", *CLOSED]
        found = bench(lab, "http", *args)
        assert found["sent"] == found["answered"] > 0
    with lab.peer(command("serve", "sink", "--listen", f"{lab.peer_ip}:7021"), port=7021):
        args = ["--to", f"{lab.peer_ip}:7021", "--connections", 3, "--api", api, *CLOSED, "--json"]
        found = json.loads(lab.run(command("bulk", *args)).stdout)
        assert found["answered"] == 3 and found["bytes"] > 0
    with lab.peer(command("serve", "pingpong", "--listen", f"{lab.peer_ip}:7022"), port=7022):
        args = ["--to", f"{lab.peer_ip}:7022", "--connections", 9, "--api", api, "--rate", 1000]
        done = lab.run(command("pingpong", *args, "--verify", *QUICK, "--json"))
        assert json.loads(done.stdout)["answered"] == 250
