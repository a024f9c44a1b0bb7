# SPDX-License-Identifier: Apache-2.0
"""toed under a service manager: what it reports (sd_notify), the units, a reload by take-over. The
test plays the manager."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from tests.lab import netns, paths, proc
from tests.lab import toed as toed_module

pytestmark = pytest.mark.toehold_only

SYSTEMD = paths.ROOT / "packaging" / "systemd"


class Manager:
    """Receives what services report."""

    def __init__(self, name: str):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + name[1:] if name[0] == "@" else name)
        self.socket.settimeout(proc.seconds(20))

    def next(self) -> dict[str, str]:
        text = self.socket.recv(4096).decode()
        return dict(line.split("=", 1) for line in text.splitlines())


@pytest.fixture
def pair():
    with netns.Pair(tap=True) as pair:
        yield pair


@pytest.mark.sanitize
@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_ready_and_stopping(pair, tmp_path, kind):
    name = str(tmp_path / "notify") if kind == "path" else f"@toehold-notify-{os.getpid()}"
    with pair.server.entered():  # where abstract names belong to
        manager = Manager(name)
    with toed_module.Toed(pair, mode="tap", env={"NOTIFY_SOCKET": name}) as toed:
        said = manager.next()
        assert said["READY"] == "1"
        assert int(said["MAINPID"]) == toed.proc.pid
        assert re.match(r"10\.\S+ on tap:tap0 .*MTU 1500, 1 engine, socket /", said["STATUS"])
        toed.stop()
        assert manager.next() == {"STOPPING": "1"}


def test_a_take_over_names_the_new_process(pair, tmp_path):
    name = str(tmp_path / "notify")
    manager = Manager(name)
    with toed_module.Toed(pair, mode="tap", env={"NOTIFY_SOCKET": name}) as toed:
        assert int(manager.next()["MAINPID"]) == toed.proc.pid
        toed.take_over()
        assert int(manager.next()["MAINPID"]) == toed.proc.pid


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("notify", "NOTIFY_SOCKET=notify: neither a path nor an abstract name"),
        ("/" + "x" * 200, "neither a path nor an abstract name of at most 107 bytes"),
        ("/nonexistent/notify", "cannot notify /nonexistent/notify: No such file or directory"),
    ],
)
def test_a_wrong_socket_is_logged(pair, name, said):
    with toed_module.Toed(pair, mode="tap", env={"NOTIFY_SOCKET": name}) as toed:
        proc.wait_until(lambda: said in toed.proc.text(), f"'{said}'", proc=toed.proc)


def test_systemd_accepts_the_units(tmp_path):
    """systemd-analyze checks names and values; the programs that it looks for are not installed."""
    for name in ("toed.service", "nginx-toehold.conf"):
        assert (SYSTEMD / name).exists()
    unit = tmp_path / "toed.service"
    text = (SYSTEMD / "toed.service").read_text()
    unit.write_text(re.sub(r"/usr/(bin|libexec)\S*", "/bin/true", text))
    (tmp_path / "nginx.service.d").mkdir()
    nginx = tmp_path / "nginx.service"
    nginx.write_text("[Service]\nType=forking\nExecStart=/bin/false\n")
    drop_in = (SYSTEMD / "nginx-toehold.conf").read_text()
    drop_in = re.sub(r"/usr/bin/\S*", "/bin/true", drop_in)
    (tmp_path / "nginx.service.d" / "toehold.conf").write_text(drop_in)
    command = ["systemd-analyze", "verify", "--man=no", unit, nginx]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:/lib/systemd/system"},
    )
    ours = [line for line in done.stderr.splitlines() if "toed" in line or "nginx" in line]
    assert not ours
    assert done.returncode == 0, done.stderr


@pytest.fixture
def take_over_script(tmp_path, pair):
    """The reload of the service, with the toed of this build in the place of the installed one."""
    script = tmp_path / "toed-take-over"
    text = (SYSTEMD / "toed-take-over").read_text()
    assert text.count("/usr/bin/toed --run-as toehold") == 1
    text = text.replace("/usr/bin/toed", str(paths.built("toed")))
    script.write_text(text.replace("--run-as toehold", "--run-as nobody:nogroup"))
    shutil.copymode(SYSTEMD / "toed-take-over", script)
    return script


def test_the_service_runs_as_the_user_that_sysusers_makes():
    unit = (SYSTEMD / "toed.service").read_text()
    assert re.findall(r"^ExecStart=(.*)", unit, re.M) == [
        "/usr/bin/toed --run-as toehold $TOED_OPTIONS"
    ]
    users = (SYSTEMD / "toehold.sysusers").read_text()
    assert re.findall(r"^(\w) (\S+)", users, re.M) == [("u", "toehold")]


def test_the_service_may_have_what_toed_keeps():
    """Each capability of docs/SECURITY.md, and what changes the user and owns the socket."""
    text = (paths.ROOT / "docs/SECURITY.md").read_text()
    rows = re.findall(r"^\| `(?:tap|af_xdp)[^|]*\| ([^|]*) \|", text, re.M)
    assert len(rows) == 3
    keeps = set(re.findall(r"CAP_\w+", " ".join(rows)))
    unit = (SYSTEMD / "toed.service").read_text()
    may = set(" ".join(re.findall(r"^CapabilityBoundingSet=(.*)", unit, re.M)).split())
    assert keeps | {"CAP_SETUID", "CAP_SETGID", "CAP_CHOWN"} <= may
    assert "CAP_SYS_ADMIN" not in may


def test_reload_takes_over(pair, take_over_script):
    name = f"@toehold-notify-{os.getpid()}"  # reachable for every user, as systemd's
    with pair.server.entered():
        manager = Manager(name)
    with toed_module.Toed(pair, mode="tap", env={"NOTIFY_SOCKET": name}) as toed:
        old = int(manager.next()["MAINPID"])
        options = f"--netif tap:tap0 --ip {pair.server_ip}/{pair.prefix_len} --mtu {pair.mtu}"
        env = {"MAINPID": str(old), "NOTIFY_SOCKET": name}
        env["TOED_OPTIONS"] = f"{options} --socket {toed.socket}"
        reload = pair.server.start([take_over_script], env=env)
        assert toed.proc.wait(timeout=20) == 0
        assert reload.wait(timeout=20) == 0
        new = int(manager.next()["MAINPID"])
        assert new != old
        status = Path(f"/proc/{new}/status").read_text()
        assert re.search(r"^Uid:\t65534\t65534\t65534\t65534$", status, re.M)
        os.kill(new, 15)
        assert manager.next() == {"STOPPING": "1"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"TOED_OPTIONS": "", "TOEHOLD_CONFIG": ""}, "pid {pid} continues"),
        ({"MAINPID": ""}, "MAINPID: set by systemd"),
        ({"TOED_OPTIONS": "--netif tap:tap0"}, "pid {pid} continues"),
    ],
)
def test_a_reload_that_fails_leaves_the_old_one(pair, take_over_script, change, said):
    with toed_module.Toed(pair, mode="tap") as toed:
        env = {"MAINPID": str(toed.proc.pid), "TOED_OPTIONS": "--bad", **change}
        done = pair.server.run([take_over_script], env=env, check=False)
        assert done.returncode != 0
        assert said.format(pid=toed.proc.pid) in done.stderr
        assert toed.proc.poll() is None
