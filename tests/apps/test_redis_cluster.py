# SPDX-License-Identifier: Apache-2.0
"""redis: replication between the TOE and Linux, and a cluster on three TOEs that loses a master."""

from __future__ import annotations

import contextlib
import re
import signal
from pathlib import Path

import pytest
from test_redis import Resp

from tests.lab import lab as labs
from tests.lab import netns, proc

PORT = 6379
KEYS = 2000
VALUE = 5000


def command(address: str, folder: Path, port: int = PORT, *more: object) -> list[object]:
    folder.mkdir(exist_ok=True)
    return ["redis-server", "--bind", address, "--port", port, "--protected-mode", "no"] + [
        *("--dir", folder, "--save", "", "--daemonize", "no", "--enable-debug-command", "yes"),
        *("--repl-diskless-sync-delay", 0, *more),
    ]


def info(talk: Resp) -> dict[str, str]:
    lines = talk.call(b"INFO", b"replication").decode().splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def digest(talk: Resp) -> bytes:
    return talk.call(b"DEBUG", b"DIGEST")


def write(talk: Resp, count: int, tag: bytes) -> None:
    for n in range(count):
        talk.send(b"SET", tag + b"%d" % n, b"%d" % n * 10 + tag * 100)
    for _ in range(count):
        assert talk.answer() == b"OK"


@pytest.mark.parametrize("diskless", ["yes", "no"])
@pytest.mark.parametrize("roles", ["master", "replica", "both"])
def test_replication(lab, tmp_path, roles, diskless):
    """Replicates the whole data set, writes during and after that, and again after a cut."""
    master_ip = lab.peer_ip if roles == "replica" else lab.ip
    replica_ip = lab.peer_ip if roles == "master" else lab.ip
    start = {lab.ip: lab.app, lab.peer_ip: lab.peer}
    of_master = command(master_ip, tmp_path / "master", PORT, "--repl-diskless-sync", diskless)
    of_replica = command(replica_ip, tmp_path / "replica", PORT + 1)
    with (
        start[master_ip](of_master, port=PORT),
        start[replica_ip](of_replica, port=PORT + 1) as server,
        Resp(lab.client.connect(master_ip, PORT, timeout=60)) as master,
        Resp(lab.client.connect(replica_ip, PORT + 1, timeout=60)) as replica,
    ):
        assert master.call(b"DEBUG", b"POPULATE", b"%d" % KEYS, b"key", b"%d" % VALUE) == b"OK"
        ip, port = master_ip.encode(), b"%d" % PORT
        assert replica.call(b"REPLICAOF", ip, port) == b"OK"
        write(master, 2000, b"meanwhile")

        def in_step() -> bool:
            return info(replica)["master_link_status"] == "up" and digest(replica) == digest(master)

        proc.wait_until(in_step, "the replica has the whole data set", timeout=30, proc=server)
        write(master, 2000, b"afterwards")
        assert master.call(b"WAIT", b"1", b"20000") == b"1"
        assert digest(replica) == digest(master)
        killed = master.call(b"CLIENT", b"KILL", b"TYPE", b"replica")
        assert killed == b"1"
        write(master, 500, b"again")
        proc.wait_until(in_step, "the replica has reconnected", timeout=30, proc=server)


@pytest.fixture
def three_toes():
    with contextlib.ExitStack() as stack:
        hub = stack.enter_context(netns.Hub())
        yield [stack.enter_context(labs.Lab(hub=hub, host=host)) for host in (1, 3, 4)]


class Cluster:
    """Two nodes on each of the labs."""

    PORTS = (7001, 7002)
    # A node that is unresponsive for that long is considered failed, on a busy machine too.
    PATIENT, WATCHFUL = 60_000, 2_000

    def __init__(self, all_labs: list[labs.Lab], folder: Path, stack: contextlib.ExitStack):
        self.lab = all_labs[0]
        self.nodes = {}
        more = ["--cluster-enabled", "yes", "--cluster-node-timeout", self.PATIENT]
        more += ["--cluster-replica-validity-factor", 0]  # however long its master is silent
        for lab in all_labs:
            for port in self.PORTS:
                at = f"{lab.ip}:{port}"
                argv = command(lab.ip, folder / at, port, *more)
                self.nodes[at] = stack.enter_context(lab.app(argv, port=port))

    def cli(self, *args: object, input: str | None = None) -> str:
        """redis-cli on the peer."""
        return self.lab.client.run(["redis-cli", *args], input=input, timeout=90).stdout

    def at(self, node: str, *args: object, input: str | None = None) -> str:
        host, port = node.split(":")
        return self.cli("-c", "-h", host, "-p", port, *args, input=input)

    def create(self) -> None:
        args = ["--cluster-replicas", 1, "--cluster-yes"]
        said = self.cli("--cluster", "create", *self.nodes, *args)
        assert "[OK] All 16384 slots covered" in said, said

    def living(self) -> list[str]:
        return [at for at, node in self.nodes.items() if node.poll() is None]

    def healthy(self) -> bool:
        """Every node that lives serves, and knows the three masters, which live."""
        return all(
            "cluster_state:ok" in self.at(node, "CLUSTER", "INFO")
            and len(self.masters(node)) == 3
            and set(self.masters(node)) <= set(self.living())
            for node in self.living()
        )

    def patience(self, ms: int) -> None:
        for node in self.living():
            assert self.at(node, "CONFIG", "SET", "cluster-node-timeout", ms).strip() == "OK"

    def masters(self, node: str) -> dict[str, str]:
        """Node ids by address, of those that live."""
        lines = [line.split() for line in self.at(node, "CLUSTER", "NODES").splitlines()]
        return {f[1].split("@")[0]: f[0] for f in lines if "master" in f[2] and "fail" not in f[2]}


def test_cluster(three_toes, tmp_path):
    """Keys over three masters on three TOEs; a master is killed, its replica takes over."""
    with contextlib.ExitStack() as stack:
        cluster = Cluster(three_toes, tmp_path, stack)
        cluster.create()
        first, *_ = cluster.nodes
        proc.wait_until(cluster.healthy, "the cluster is whole", timeout=60)
        keys = range(1500)
        said = cluster.at(first, input="".join(f"SET key{n} value{n}\n" for n in keys))
        assert said.count("OK") == len(keys), said
        masters = cluster.masters(first)
        assert len({at.split(":")[0] for at in masters}) == 3, masters
        sizes = [int(cluster.at(at, "DBSIZE")) for at in masters]
        assert sum(sizes) == len(keys), sizes
        assert min(sizes) > 300, sizes
        for at in masters:  # each has a replica, which has everything
            assert cluster.at(at, "WAIT", 1, 20000).strip() == "1"

        victim = next(at for at in masters if at != first)
        cluster.nodes[victim].send_signal(signal.SIGKILL)
        assert cluster.nodes[victim].wait(10) == -signal.SIGKILL
        cluster.patience(cluster.WATCHFUL)
        proc.wait_until(cluster.healthy, "its replica is master", timeout=60)
        cluster.patience(cluster.PATIENT)  # no other node is considered failed from here on
        proc.wait_until(cluster.healthy, "three masters have all slots", timeout=60)
        said = cluster.at(first, input="".join(f"GET key{n}\n" for n in keys))
        assert re.findall(r"value\d+", said) == [f"value{n}" for n in keys]
    for lab in three_toes:
        lab.wait_idle()
        assert labs.LINUX or lab.counter("tcp_rx") > 100
