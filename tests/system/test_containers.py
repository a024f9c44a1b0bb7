# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/CONTAINERS.md: toed in one container, nginx in another that has the socket
alone; by systemd-nspawn and by podman."""

from __future__ import annotations

import resource
import shlex
from pathlib import Path

import pytest

from tests.lab import debian, paths, proc
from tests.lab.blocks import blocks

pytestmark = [pytest.mark.long, pytest.mark.toehold_only]

PAGE = "docs/CONTAINERS.md"
NETWORK_CAPABILITIES = 1 << 12 | 1 << 13  # CAP_NET_ADMIN, CAP_NET_RAW
TOOLS = ["systemd-nspawn", "podman"]  # in the page's order


def quiet(tool: str, pid_file: Path) -> list[str]:
    """How a test runs a container beside others: unregistered, without a terminal. Podman: on
    cgroups of both versions, within this process's limits; its containers are no children of it."""
    if tool == "systemd-nspawn":
        return [tool, "--quiet", "--register=no", "--keep-unit", "--console=pipe"]
    words = [tool, "--runtime=runc", "run", f"--pidfile={pid_file}"]
    for name, number in (("nofile", resource.RLIMIT_NOFILE), ("nproc", resource.RLIMIT_NPROC)):
        _, most = resource.getrlimit(number)
        if most != resource.RLIM_INFINITY:
            most = min(most, 1024)
            words.append(f"--ulimit={name}={most}:{most}")
    return words


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


def commands(tool: str, trees: Path, folder: Path) -> list[list[str]]:
    """Those of the page for a tool, with folders of the test."""
    block = list(blocks(PAGE, (paths.ROOT / PAGE).read_text()))[TOOLS.index(tool)]
    make, *containers = [
        shlex.split(
            command.removesuffix("&")
            .replace("/var/lib/machines", str(trees))
            .replace("/srv/toehold", str(folder / "run"))
        )
        for command in block.commands()
    ]
    start = 1 if tool == "systemd-nspawn" else 2  # the words that quiet() replaces
    return [make] + [
        [*quiet(tool, folder / f"{name}.pid"), *words[start:]]
        for name, words in zip(("toed", "web"), containers, strict=True)
    ]


def status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def descendants(pid: int) -> list[int]:
    tree = proc.run(["pgrep", "-P", str(pid)], check=False).stdout.split()
    return [d for child in tree for d in (int(child), *descendants(int(child)))]


def named(container: proc.Proc, pid_file: Path, name: str) -> list[int]:
    """Its processes with this name. pid_file: has its first process, unless it is a child."""
    roots = [int(pid_file.read_text())] if pid_file.exists() else [container.pid]
    found = []
    for pid in [*roots, *(d for root in roots for d in descendants(root))]:
        try:
            if Path(f"/proc/{pid}/comm").read_text().strip() == name:
                found.append(pid)
        except FileNotFoundError:
            continue
    return found


@pytest.mark.parametrize("tool", TOOLS)
def test_nginx_serves_with_the_socket_alone(tool, trees, tmp_path):
    make, toed, web = commands(tool, trees, tmp_path)
    proc.run(make)
    with proc.Proc(toed, name="toed-container") as engine:
        proc.wait_until(lambda: "toed: ready" in engine.text(), "toed", timeout=60, proc=engine)
        (toed_pid,) = named(engine, tmp_path / "toed.pid", "toed")
        with proc.Proc(web, name="web-container") as program:
            inside = ["nsenter", f"--target={toed_pid}", "--net"]
            get = [*inside, "curl", "--silent", "http://192.0.2.10/"]
            page = proc.wait_until(
                lambda: proc.run(get, check=False).stdout, "nginx", timeout=60, proc=program
            )
            assert "Welcome to nginx" in page
            servers = named(program, tmp_path / "web.pid", "nginx")
            assert len(servers) > 1
            for pid in servers:
                assert not int(status(pid)["CapBnd"], 16) & NETWORK_CAPABILITIES
                links = Path(f"/proc/{pid}/net/dev").read_text().splitlines()[2:]
                assert [line.split(":")[0].strip() for line in links] == ["lo"]
            assert int(status(toed_pid)["CapEff"], 16) == 1 << 12  # CAP_NET_ADMIN
