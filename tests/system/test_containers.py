# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/CONTAINERS.md: toed in one container, nginx in another that has the socket
alone."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.lab import debian, paths, proc
from tests.lab.blocks import blocks

pytestmark = [pytest.mark.long, pytest.mark.toehold_only]

PAGE = "docs/CONTAINERS.md"
NETWORK_CAPABILITIES = 1 << 12 | 1 << 13  # CAP_NET_ADMIN, CAP_NET_RAW
# How a test runs them beside others: unregistered, without a terminal.
QUIET = ["--quiet", "--register=no", "--keep-unit", "--console=pipe"]


@pytest.fixture(scope="module")
def trees(tmp_path_factory) -> Path:
    """The folder of two trees, toed and web, with the package."""
    package = debian.packages()["toehold"]
    folder = tmp_path_factory.mktemp("machines")
    for name in ("toed", "web"):
        root = folder / name
        debian.unpack(debian.base(package), root)
        (root / "toehold.deb").write_bytes(package.read_bytes())
        proc.run(["chroot", root, "dpkg", "-i", "/toehold.deb"])
    return folder


@pytest.fixture
def commands(trees, tmp_path) -> list[list[str]]:
    """Those of the page, with folders of the test."""
    block = next(blocks(PAGE, (paths.ROOT / PAGE).read_text()))
    lines = [c.removesuffix("&") for c in block.commands()]
    changed = [
        line.replace("/var/lib/machines", str(trees)).replace("/srv/toehold", str(tmp_path / "run"))
        for line in lines
    ]
    argv = [shlex.split(line) for line in changed]
    return [[a[0], *QUIET, *a[1:]] if a[0] == "systemd-nspawn" else a for a in argv]


def status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def descendants(pid: int) -> list[int]:
    tree = proc.run(["pgrep", "-P", str(pid)], check=False).stdout.split()
    return [d for child in tree for d in (int(child), *descendants(int(child)))]


def named(container: proc.Proc, name: str) -> list[int]:
    found = []
    for pid in descendants(container.pid):
        try:
            if Path(f"/proc/{pid}/comm").read_text().strip() == name:
                found.append(pid)
        except FileNotFoundError:
            continue
    return found


def test_nginx_serves_with_the_socket_alone(commands):
    make, toed, web = commands
    proc.run(make)
    with proc.Proc(toed, name="toed-container") as engine:
        proc.wait_until(lambda: "toed: ready" in engine.text(), "toed", timeout=60, proc=engine)
        (toed_pid,) = named(engine, "toed")
        with proc.Proc(web, name="web-container") as program:
            inside = ["nsenter", f"--target={toed_pid}", "--net"]
            get = [*inside, "curl", "--silent", "http://192.0.2.10/"]
            page = proc.wait_until(
                lambda: proc.run(get, check=False).stdout, "nginx", timeout=60, proc=program
            )
            assert "Welcome to nginx" in page
            servers = named(program, "nginx")
            assert len(servers) > 1
            for pid in servers:
                assert not int(status(pid)["CapBnd"], 16) & NETWORK_CAPABILITIES
                links = Path(f"/proc/{pid}/net/dev").read_text().splitlines()[2:]
                assert [line.split(":")[0].strip() for line in links] == ["lo"]
            assert int(status(toed_pid)["CapEff"], 16) == 1 << 12  # CAP_NET_ADMIN
