# SPDX-License-Identifier: Apache-2.0
"""Debian's package in a clean Debian under systemd: installed, reloaded and upgraded under load,
killed, misconfigured, removed."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.lab import debian, netns, nginx, paths, proc
from tests.lab.machine import Machine

pytestmark = [pytest.mark.long, pytest.mark.toehold_only]

SETTINGS = """
[toed]
netif = "af_xdp:{netif}"
ip = "{ip}/24"
group = "www-data"
"""
TOED_CAPABILITIES = 1 << 12 | 1 << 13 | 1 << 14 | 1 << 39  # NET_ADMIN, NET_RAW, IPC_LOCK, BPF


@pytest.fixture(scope="module")
def pair():
    with netns.Pair() as pair:
        yield pair


@pytest.fixture(scope="module")
def versions(tmp_path_factory) -> list[Path]:
    """The package in two versions."""
    package = debian.packages()["toehold"]
    folder = tmp_path_factory.mktemp("packages")
    version = debian.field(package, "Version")
    return [debian.with_version(package, f"{version}+{n}", folder) for n in (1, 2)]


@pytest.fixture(scope="module")
def booted(pair, versions, tmp_path_factory):
    """A machine without the package, which is in /srv as 1.deb and 2.deb."""
    root = tmp_path_factory.mktemp("machine") / "root"
    debian.unpack(debian.base(versions[0]), root)
    for number, package in enumerate(versions, 1):
        (root / "srv" / f"{number}.deb").write_bytes(package.read_bytes())
    drop_in = root / "etc/systemd/system/nginx.service.d/toehold.conf"
    drop_in.parent.mkdir(parents=True)
    drop_in.write_text((paths.ROOT / "packaging/systemd/nginx-toehold.conf").read_text())
    # Neither runs before the package is there.
    (root / "etc/systemd/system/multi-user.target.wants/nginx.service").unlink(missing_ok=True)
    with Machine(root, pair.server) as machine:
        yield machine


@pytest.fixture
def machine(pair, booted):
    """The machine with version 1, set up; nothing runs."""
    booted.run(["systemctl", "stop", "nginx", "toed"], check=False)
    booted.run(["dpkg", "-i", "/srv/1.deb"])
    settings = SETTINGS.format(netif=pair.server_if, ip=pair.server_ip)
    (booted.root / "etc/toehold/toehold.toml").write_text(settings)
    (booted.root / "etc/default/toed").write_text('TOED_OPTIONS=""\n')
    booted.run(["systemctl", "daemon-reload"])
    booted.run(["systemctl", "reset-failed"])
    return booted


@pytest.fixture
def serving(pair, machine):
    """nginx runs on toed."""
    machine.run(["systemctl", "start", "toed", "nginx"])
    proc.wait_port(pair.client, pair.server_ip, 80)
    return machine


def received(machine: Machine) -> int:
    """Segments that toed has received; a take-over keeps the counter."""
    stats = json.loads(machine.run(["toehold", "stats", "--json"]).stdout)
    return sum(engine["counters"]["tcp_rx"] for engine in stats["engines"])


class Load:
    """wrk on nginx, until the end of the `with`: no request may fail."""

    def __init__(self, pair: netns.Pair, machine: Machine):
        command = ["wrk", "-t1", "-c16", "-d3600", *nginx.PATIENT, f"http://{pair.server_ip}/"]
        self.machine = machine
        self.wrk = pair.client.start(command)

    def goes_on(self) -> None:
        """Waits for a thousand segments more."""
        enough = received(self.machine) + 1000
        proc.wait_until(
            lambda: received(self.machine) > enough, "more load", timeout=60, proc=self.wrk
        )

    def __enter__(self) -> Load:
        return self

    def __exit__(self, kind: type | None, *_exc: object) -> None:
        self.wrk.send_signal(signal.SIGINT)  # prints what has been
        self.wrk.wait(60)
        if kind is None:
            said = self.wrk.text()
            assert "requests in" in said
            assert "Socket errors" not in said and "Non-2xx" not in said, said


def main_pid(machine: Machine) -> int:
    return int(machine.show("toed", "MainPID"))


def test_the_service_starts_without_roots_rights(serving):
    assert serving.show("toed", "ActiveState") == "active"
    assert serving.show("toed", "StatusText").endswith("socket /run/toehold/toed.sock")
    status = serving.run(["cat", f"/proc/{main_pid(serving)}/status"]).stdout
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    user = serving.run(["id", "-u", "toehold"]).stdout.strip()
    assert fields["Uid"].split() == [user] * 4 != ["0"] * 4
    assert int(fields["CapEff"], 16) == TOED_CAPABILITIES
    assert fields["NoNewPrivs"] == "1"
    assert fields["Seccomp"] == "2"


def test_a_reload_under_load_loses_no_request(pair, serving):
    old = main_pid(serving)
    with Load(pair, serving) as load:
        load.goes_on()
        serving.run(["systemctl", "reload", "toed"])
        load.goes_on()
    assert main_pid(serving) != old
    assert f"taken over from pid {old}" in serving.journal("toed")


def test_an_upgrade_under_load_loses_no_request(pair, serving):
    old = main_pid(serving)
    with Load(pair, serving) as load:
        load.goes_on()
        serving.run(["dpkg", "-i", "/srv/2.deb"])
        load.goes_on()
    new = main_pid(serving)
    assert new != old
    assert serving.run(["readlink", f"/proc/{new}/exe"]).stdout.strip() == "/usr/bin/toed"
    assert f"taken over from pid {old}" in serving.journal("toed")
    # The settings are the administrator's.
    assert pair.server_if in (serving.root / "etc/toehold/toehold.toml").read_text()


def test_an_upgrade_that_cannot_take_over_keeps_the_old_toed(pair, serving):
    old = main_pid(serving)
    (serving.root / "etc/toehold/toehold.toml").write_text("[toed]\nwrong = 1\n")
    done = serving.run(["dpkg", "-i", "/srv/2.deb"])
    assert "continues" in done.stderr
    assert main_pid(serving) == old
    proc.wait_port(pair.client, pair.server_ip, 80)


def test_a_killed_toed_is_started_again_after_a_reload_too(pair, serving):
    serving.run(["systemctl", "reload", "toed"])
    old = main_pid(serving)
    serving.run(["kill", "-KILL", str(old)])
    proc.wait_until(
        lambda: (
            main_pid(serving) not in (0, old) and serving.show("toed", "ActiveState") == "active"
        ),
        "another toed",
        timeout=30,
    )
    proc.wait_port(pair.client, pair.server_ip, 80, timeout=30)  # nginx has attached again


def test_stop_leaves_nothing(pair, serving):
    serving.run(["systemctl", "stop", "nginx", "toed"])
    assert serving.show("toed", "Result") == "success"
    assert not (serving.run(["ls", "/run/toehold"]).stdout)
    assert "xdp" not in serving.run(["ip", "link", "show", pair.server_if]).stdout


def test_without_an_interface_it_is_skipped_with_the_reason(machine):
    (machine.root / "etc/toehold/toehold.toml").write_text("")
    machine.run(["systemctl", "start", "toed"])
    assert machine.show("toed", "ActiveState") == "inactive"
    assert machine.run(["pgrep", "-x", "toed"], check=False).stdout == ""
    assert "no interface: set netif in /etc/toehold/toehold.toml" in machine.journal("toed")


@pytest.mark.parametrize(("options", "code"), [("--mtu x", "2"), ("--netif af_xdp:none0", "3")])
def test_wrong_options_fail(machine, options, code):
    (machine.root / "etc/default/toed").write_text(f'TOED_OPTIONS="{options}"\n')
    assert machine.run(["systemctl", "start", "toed"], check=False).returncode != 0
    assert machine.show("toed", "ExecMainStatus") == code
    machine.run(["systemctl", "stop", "toed"])


def test_removal_stops_it_and_purge_leaves_nothing(pair, serving):
    serving.run(["systemctl", "stop", "nginx"])
    serving.run(["dpkg", "--remove", "toehold"])
    assert serving.run(["pgrep", "-x", "toed"], check=False).stdout == ""
    assert (serving.root / "etc/toehold/toehold.toml").exists()
    serving.run(["dpkg", "--purge", "toehold"])
    left = serving.run(["find", "/etc", "/usr", "/lib", "/var/lib/systemd", "/run"]).stdout
    own = [line for line in left.splitlines() if line.endswith(("/toed", "/toed.service"))]
    own += [
        line for line in left.splitlines() if line.startswith(("/etc/toehold", "/usr/bin/toehold"))
    ]
    assert own == []
    assert "xdp" not in serving.run(["ip", "link", "show", pair.server_if]).stdout
