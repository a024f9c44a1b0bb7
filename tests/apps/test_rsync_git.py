# SPDX-License-Identifier: Apache-2.0
"""rsync and git daemons under the TOE, whose children serve the connection; and their clients."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest

from tests.lab import lab as labs
from tests.lab import proc

MB = 1_000_000
RSYNC = 873
GIT = 9418


@pytest.fixture(autouse=True)
def on_the_toe(lab):
    before = lab.counter("tcp_rx")
    yield
    assert labs.LINUX or lab.counter("tcp_rx") - before > 100


def make_tree(folder: Path) -> dict[str, bytes]:
    """Files of all kinds of sizes; their contents by path."""
    rng = random.Random(labs.SEED)
    files = {f"d{n % 5}/f{n}": rng.randbytes(rng.randrange(20_000)) for n in range(150)}
    files["large"] = rng.randbytes(10 * MB)
    files["empty"] = b""
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return files


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


# ---- rsync


@contextlib.contextmanager
def rsyncd(start, address: str, folder: Path):
    """An rsync daemon whose module `files` is folder/files, readable and writable."""
    (folder / "files").mkdir(parents=True, exist_ok=True)
    config = folder / "rsyncd.conf"
    config.write_text(
        f"use chroot = no\nuid = root\ngid = root\n[files]\npath = {folder}/files\nread only = no\n"
    )
    argv = ["rsync", "--daemon", "--no-detach", "--log-file=/dev/stdout", "--config", config]
    with start([*argv, "--address", address], port=RSYNC) as server:
        yield server


@pytest.mark.parametrize("side", ["server", "client"])
def test_rsync(lab, tmp_path, side):
    """Copies a tree both ways; then only its changes."""
    ip = lab.ip if side == "server" else lab.peer_ip
    run = lab.client.run if side == "server" else lab.run
    (tmp_path / "tree").mkdir()
    files = make_tree(tmp_path / "tree")
    argv = ["rsync", "-a", "--delete", "--stats", "--no-whole-file"]
    with rsyncd(lab.app if side == "server" else lab.peer, ip, tmp_path / "daemon"):
        run([*argv, f"{tmp_path}/tree/", f"rsync://{ip}/files/"])
        assert contents(tmp_path / "daemon/files") == files
        run([*argv, "-z", f"rsync://{ip}/files/", f"{tmp_path}/back/"])
        assert contents(tmp_path / "back") == files
        files["large"] = files["large"][: 5 * MB] + b"inserted" + files["large"][5 * MB :]
        (tmp_path / "tree/large").write_bytes(files["large"])
        (tmp_path / "tree/empty").unlink()
        del files["empty"]
        said = run([*argv, f"{tmp_path}/tree/", f"rsync://{ip}/files/"]).stdout
        assert contents(tmp_path / "daemon/files") == files
        sent = next(line for line in said.splitlines() if line.startswith("Literal data"))
        assert int(sent.split()[2].replace(",", "")) < MB, said


# ---- git


class Git:
    """git in one repository, run by `run`."""

    def __init__(self, run, folder: Path):
        self.run, self.folder = run, folder

    def __call__(self, *args: object) -> str:
        name = ["-c", "user.name=T", "-c", "user.email=t@t", "-c", "safe.directory=*"]
        return self.run(["git", *name, "-C", self.folder, *args], timeout=60).stdout.strip()

    def commit(self, text: str) -> str:
        self("add", "-A")
        self("commit", "-q", "-m", text)
        return self("rev-parse", "HEAD")


@contextlib.contextmanager
def gitd(start, address: str, folder: Path):
    argv = ["git", "daemon", "--verbose", "--export-all", "--enable=receive-pack", "--reuseaddr"]
    safe = {"KEY_0": "safe.directory", "VALUE_0": "*", "COUNT": "1"}
    env = {f"GIT_CONFIG_{name}": value for name, value in safe.items()}
    with start(
        [*argv, f"--listen={address}", f"--base-path={folder}"], port=GIT, env=env
    ) as server:
        yield server


@pytest.fixture
def origin(tmp_path) -> str:
    """Creates tmp_path/served.git to be served; returns its only commit."""
    local = Git(proc.run, tmp_path / "origin")
    (tmp_path / "origin").mkdir()
    make_tree(tmp_path / "origin")
    local("init", "-q", "-b", "main")
    commit = local.commit("first")
    proc.run(["git", "clone", "-q", "--bare", tmp_path / "origin", tmp_path / "served.git"])
    return commit


def test_git_daemon(lab, tmp_path, origin):
    """Clone, push, pull: git-upload-pack and git-receive-pack talk over their standard input."""
    run = lab.client.run
    with gitd(lab.app, lab.ip, tmp_path):
        url = f"git://{lab.ip}/served.git"
        Git(run, tmp_path)("clone", "-q", url, "one")
        one, two = Git(run, tmp_path / "one"), Git(run, tmp_path / "two")
        assert one("rev-parse", "HEAD") == origin
        one("fsck", "--strict")
        (tmp_path / "one/large").write_bytes(random.Random(7).randbytes(5 * MB))
        second = one.commit("second")
        one("push", "-q", "origin", "main")
        Git(run, tmp_path)("clone", "-q", url, "two")
        assert two("rev-parse", "HEAD") == second
        assert contents_of(tmp_path / "two") == contents_of(tmp_path / "one")
        (tmp_path / "two/more").write_text("more")
        third = two.commit("third")
        two("push", "-q", "origin", "main")
        one("pull", "-q")
        assert one("rev-parse", "HEAD") == third


def test_git_as_client(lab, tmp_path, origin):
    with gitd(lab.peer, lab.peer_ip, tmp_path):
        Git(lab.run, tmp_path)("clone", "-q", f"git://{lab.peer_ip}/served.git", "one")
        one = Git(lab.run, tmp_path / "one")
        assert one("rev-parse", "HEAD") == origin
        one("fsck", "--strict")
        local = Git(proc.run, tmp_path / "origin")
        (tmp_path / "origin/large").write_bytes(random.Random(7).randbytes(5 * MB))
        second = local.commit("second")
        local("push", "-q", tmp_path / "served.git", "main")
        one("pull", "-q")
        assert one("rev-parse", "HEAD") == second
        (tmp_path / "one/more").write_bytes(random.Random(8).randbytes(5 * MB))
        third = one.commit("third")
        one("push", "-q", "origin", "HEAD:main")
        assert Git(proc.run, tmp_path / "served.git")("rev-parse", "main") == third


def contents_of(work: Path) -> dict[str, bytes]:
    return {p: data for p, data in contents(work).items() if not p.startswith(".git/")}
