# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL under the TOE: a process for each connection, of a user without rights."""

from __future__ import annotations

import hashlib
import os
import pwd
import random
import re
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

from tests.lab import lab as labs
from tests.lab import proc

PORT = 5432
USER = "postgres"
BIN = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name))
AS_USER = ["setpriv", "--reuid", USER, "--regid", USER, "--init-groups"]


@pytest.fixture(scope="module")
def _shared_lab():
    args = [] if labs.LINUX else ["--user", USER]
    with labs.Lab(kernel=True, args=args) as lab:
        yield lab


@pytest.fixture(scope="module")
def data():
    """A fresh data directory. Not under pytest's own, where other users may not look."""
    folder = Path(tempfile.mkdtemp(prefix="toehold-"))
    user = pwd.getpwnam(USER)
    os.chown(folder, user.pw_uid, user.pw_gid)
    try:
        argv = [*AS_USER, BIN / "initdb", "-D", folder / "db", "-A", "trust", "--no-sync"]
        proc.run([*argv, "-E", "UTF8", "--no-locale"], cwd=folder)
        with (folder / "db/pg_hba.conf").open("a") as hba:
            hba.write("host all all 10.77.0.0/24 trust\n")
        yield folder
    finally:
        shutil.rmtree(folder)


def settings(data: Path, address: str) -> list[object]:
    named = {
        "listen_addresses": address,
        "unix_socket_directories": data,
        "fsync": "off",
        "shared_buffers": "32MB",
        "max_connections": 60,
        "log_line_prefix": "%p %r ",
    }
    return [arg for name, value in named.items() for arg in ("-c", f"{name}={value}")]


@pytest.fixture
def postgres(lab, data):
    argv = [*AS_USER, BIN / "postgres", "-D", data / "db", *settings(data, lab.ip)]
    with lab.app(argv, name="postgres", port=PORT, says="ready to accept") as server:
        yield server
        server.send_signal(signal.SIGINT)
        server.wait(20)


class Sql:
    """psql on the peer."""

    def __init__(self, lab: labs.Lab):
        self.lab = lab
        self.to = ["-h", lab.ip, "-p", PORT, "-U", USER]

    def __call__(self, text: str, *args: object) -> str:
        argv = ["psql", *self.to, "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", *args, USER]
        return self.lab.client.run(argv, input=text).stdout.strip()

    def run(self, program: str, *args: object) -> str:
        return self.lab.client.run([program, *self.to, *args, USER], timeout=120).stdout


@pytest.fixture
def sql(lab, postgres):
    return Sql(lab)


def test_pgbench(lab, sql):
    """Transactions of many clients; the tables agree with what the clients report."""
    before = lab.counter("tcp_rx")
    sql.run("pgbench", "-i", "-q", "-s", 1)
    for how in ([], ["-C", "-t", 15]):  # kept connections; one for each transaction
        sql("TRUNCATE pgbench_history")
        for what in ("account", "teller", "branche"):
            sql(f"UPDATE pgbench_{what}s SET {what[0]}balance = 0")
        said = sql.run("pgbench", "-n", "-c", 16, "-j", 2, "-t", 60, "-M", "prepared", *how)
        done = int(re.search(r"actually processed: (\d+)/", said)[1])
        assert re.search(r"failed transactions: 0 ", said), said
        sums = "SELECT (SELECT sum({0}) FROM pgbench_{1})"
        rows = sql(
            "SELECT count(*), sum(delta) FROM pgbench_history;"
            + sums.format("abalance", "accounts") + ";"
            + sums.format("tbalance", "tellers") + ";"
            + sums.format("bbalance", "branches")
        ).splitlines()  # fmt: skip
        count, total = rows[0].split("|")
        assert int(count) == done
        assert rows[1:] == [total] * 3
    assert labs.LINUX or lab.counter("tcp_rx") - before > 1000


def test_large_results_and_copy(lab, sql, tmp_path):
    """20 MB each way through one connection: COPY in, COPY out, and one value of 5 MB."""
    rng = random.Random(labs.SEED)
    lines = [f"{n}\t{rng.randbytes(500).hex()}\n" for n in range(10_000)]
    sql("CREATE TABLE lines (n int, text text)")
    try:
        (tmp_path / "in").write_text("".join(lines))
        sql(f"\\copy lines from {tmp_path}/in")
        sql(f"\\copy (select * from lines order by n) to {tmp_path}/out")
        assert (tmp_path / "out").read_text() == "".join(lines)
        whole = sql("SELECT md5(string_agg(text, '' order by n)), length(repeat('x', 5000000)) "
                    "FROM lines")  # fmt: skip
        text = "".join(line.split("\t")[1].strip() for line in lines)
        assert whole == f"{hashlib.md5(text.encode()).hexdigest()}|5000000"
        assert sql("SELECT repeat('0123456789', 500000)") == "0123456789" * 500_000
    finally:
        sql("DROP TABLE lines")


def test_cancel(lab, sql):
    """A second connection cancels a query while the process that runs it sleeps."""
    argv = ["psql", *sql.to, "-X", "-At", USER, "-c", "SELECT pg_sleep(60)"]
    with lab.client.start(argv) as sleeper:
        asks = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)' "
        proc.wait_until(lambda: sql(asks + "AND state = 'active' AND pid <> pg_backend_pid()")
                        == "1", "it sleeps", proc=sleeper)  # fmt: skip
        sleeper.send_signal(signal.SIGINT)  # psql sends the cancel request over a new connection
        assert sleeper.wait(20) == 1
        assert "canceling statement due to user request" in sleeper.text()


def test_the_server_names_its_client(lab, sql):
    assert sql("SELECT inet_client_addr(), inet_server_addr(), inet_server_port()") == (
        f"{lab.peer_ip}|{lab.ip}|{PORT}"
    )
