# SPDX-License-Identifier: Apache-2.0
"""Settings from files, environment and options (docs/CONFIG.md): which counts for toed and for a
program, what SIGHUP changes, how messages look. The table itself: config/tests/."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.lab import netns, nginx, paths, proc
from tests.lab import toed as toed_module
from tests.system.test_upgrade import Load

pytestmark = pytest.mark.toehold_only


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o644)
    return path


def toehold(*words: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return proc.run([paths.built("toehold"), *words], env=env, check=False)


# ---- toehold config


def test_layers_of_the_real_places(tmp_path):
    """/etc, the user's file, the variable; in a mount namespace whose /etc is the test's."""
    write(tmp_path / "etc/toehold/toehold.toml", "[toed]\nmtu = 1400\nttl = 1\necn = 1\n")
    write(tmp_path / "home/.config/toehold/toehold.toml", "[toed]\nttl = 2\necn = 2\n")
    show = f"exec env -u TOEHOLD_CONFIG {paths.built('toehold')} config show --json"
    command = f"mount --bind {tmp_path}/etc /etc && {show}"
    env = {"HOME": str(tmp_path / "home"), "TOEHOLD_TOED_ECN": "0", "XDG_CONFIG_HOME": ""}
    done = proc.run(["unshare", "--mount", "sh", "-c", command], env=env)
    said = json.loads(done.stdout)
    files = ["/etc/toehold/toehold.toml", f"{tmp_path}/home/.config/toehold/toehold.toml"]
    assert said["schema_version"] == 1
    assert said["files"] == files
    values = {s["name"]: (s["value"], s["origin"]) for s in said["settings"]}
    assert values["toed.mtu"] == (1400, f"{files[0]}:2")
    assert values["toed.ttl"] == (2, f"{files[1]}:2")
    assert values["toed.ecn"] == (0, "TOEHOLD_TOED_ECN")
    assert values["toed.spin-us"] == (50, "default")
    assert values["toed.rfc1337"] == (False, "default")


def test_show_prints_a_file_of_settings(tmp_path):
    """What show prints means the same when it is read again."""
    first = write(
        tmp_path / "a.toml", 'profile = "redis"\n[toed]\nnetif = "tap:a\\"b"\nmtu = 1400\n'
    )
    said = toehold("config", "show", "--config", first).stdout
    assert 'netif = "tap:a\\"b"' in said
    assert "irq-count = 1" in said
    second = write(tmp_path / "b.toml", said)
    assert toehold("config", "show", "--config", second).stdout == said
    origins = toehold("config", "show", "--origin", "--config", first).stdout
    assert "irq-count = 1  # profile redis" in origins
    assert f"mtu = 1400  # {first}:4" in origins


def test_get_and_profile(tmp_path):
    file = write(tmp_path / "a.toml", "[toed]\nmax-flows = 7\n")
    get = ["config", "get", "--config", file, "--profile", "nginx"]
    assert toehold(*get, "toed.max-flows").stdout == "7\n"
    assert toehold(*get, "run.rx-size").stdout == "16384\n"
    done = toehold(*get, "toed.netif")
    assert (done.returncode, done.stdout) == (1, "")
    done = toehold(*get, "toed.netfi")
    assert done.returncode == 2
    assert "the nearest is toed.netif" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["config"], 2, "give show, get, check"),
        (["config", "shw"], 2, "unknown subcommand shw"),
        (["config", "show", "x"], 2, "unexpected argument x"),
        (["config", "show", "--al"], 2, "unknown option --al"),
        (["config", "check", "--json"], 2, "unknown option --json"),
        (["config", "show", "--profile", "fast"], 3, "--profile fast: want latency, throughput"),
        (["config", "show", "--config", "/nonexistent"], 3, "/nonexistent: no such file"),
        (["config", "check", "/etc/hostname", "/nonexistent"], 3, "/nonexistent: no such file"),
        (["run", "--config", "/nonexistent", "true"], 3, "/nonexistent: no such file"),
        (["run", "--profile", "fast", "true"], 3, "--profile fast: want latency"),
    ],
)
def test_wrong_words(words, code, said):
    done = toehold(*words)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


def test_what_the_table_generates_is_current():
    script = paths.ROOT / "scripts" / "config"
    build = paths.built("toehold").parents[1]
    done = proc.run([sys.executable, script, "check", "--build", build], check=False)
    assert done.returncode == 0, done.stdout
    assert toehold("config", "check", paths.ROOT / "packaging" / "toehold.toml").returncode == 0


# ---- a program


def printed(*names: str) -> list[object]:
    script = f"import os; print([os.environ.get(n) for n in {names!r}])"
    return [sys.executable, "-c", script]


def test_a_program_gets_the_settings(tmp_path, pair):
    with toed_module.Toed(pair, mode="tap") as toed:
        text = f'socket = "{toed.socket}"\n[run]\nslots = 64\nrequire = true\nirq-count = 2\n'
        file = write(tmp_path / "a.toml", text + '[log]\nformat = "json"\n')
        names = ["SOCKET", "SLOTS", "REQUIRE", "IRQ_COUNT", "BUSY_POLL_US", "RX_SIZE", "LOG_FORMAT"]
        show = printed(*(f"TOEHOLD_{n}" for n in names))
        run = [paths.built("toehold"), "run", "--config", file, "--profile", "redis"]
        got = pair.server.run([*run, *show], env={"TOEHOLD_IRQ_COUNT": "3"}).stdout
        assert got == f"['{toed.socket}', '64', '1', '3', None, None, 'json']\n"
        off = [paths.built("toehold"), "run", "--no-config", "--socket", toed.socket, *show]
        assert pair.server.run(off).stdout.startswith(f"['{toed.socket}', None, None, ")


def test_an_inline_engine_gets_the_settings(tmp_path):
    text = '[run]\nengine = "inline"\n[inline]\nnetif = "wire:/nonexistent/w"\n'
    text += "ttl = 9\nrfc1337 = true\n"
    file = write(tmp_path / "a.toml", text + 'ip = "10.9.9.9/24"\n')
    show = printed("TOEHOLD_ENGINE", "TOEHOLD_INLINE_OPTIONS")
    run = ["run", "--config", file]
    got = toehold(*run, "--ttl", "8", *show).stdout
    assert "'inline'" in got
    words = re.search(r"'(--.*)'", got)[1].split()
    netif = ["--netif", "wire:/nonexistent/w"]
    assert sorted(words) == sorted([*netif, "--ip", "10.9.9.9/24", "--ttl", "8", "--rfc1337"])
    # the variable wins as a whole
    env = {"TOEHOLD_INLINE_OPTIONS": "--netif wire:/nonexistent/v --ip 10.9.9.8/24"}
    assert "wire:/nonexistent/v" in toehold(*run, *show, env=env).stdout


# ---- toed


@pytest.fixture
def pair():
    with netns.Pair(tap=True) as pair:
        yield pair


@contextmanager
def configured(pair, file: Path, *args: object, **more):
    """A toed that reads this file."""
    with toed_module.Toed(pair, mode="tap", args=["--config", file, *args], **more) as toed:
        yield toed


def reload(toed, said: str) -> str:
    """Sends SIGHUP and returns what toed logs, once a line contains `said`."""
    before = len(toed.proc.text())
    toed.proc.send_signal(signal.SIGHUP)
    proc.wait_until(lambda: said in toed.proc.text()[before:], f"'{said}'", proc=toed.proc)
    return toed.proc.text()[before:]


def test_toed_from_a_file_alone(tmp_path, pair):
    text = f'socket = "{tmp_path}/s"\n[toed]\nnetif = "tap:tap0"\nip = "{pair.server_ip}/24"\n'
    file = write(tmp_path / "a.toml", text + "mtu = 1300\n")
    with pair.server.start([paths.built("toed")], env={"TOEHOLD_CONFIG": str(file)}) as toed:
        proc.wait_until(lambda: "ready: " in toed.text(), "toed", proc=toed)
        ready = rf"toed: ready: {pair.server_ip}/24 on tap:tap0 \(.*\), MTU 1300, 1 engine, socket "
        assert re.search(ready + rf"{tmp_path}/s", toed.text())
        # other verbs find it by the same file
        stats = pair.server.run(
            [paths.built("toehold"), "stats", "--json"], env={"TOEHOLD_CONFIG": str(file)}
        )
        assert len(json.loads(stats.stdout)["engines"]) == 1
        assert toed.stop() == 0


@pytest.mark.parametrize(
    ("text", "args", "code", "said"),
    [
        (
            "[toed]\nmax-flow = 3\n",
            [],
            3,
            ":2: there is no setting max-flow in [toed]; the nearest",
        ),
        ("[toed]\nforce = true\n", [], 2, "--force: want --ip shared too"),
        ("[toed]\nforce = true\n", ["--no-force", "--mtu", "1"], 2, "--mtu 1: want a whole number"),
        ("", ["--profile", "fast"], 2, "--profile fast: want latency"),
        ("", ["--config", ""], 2, "--config: the path is empty"),
        ("", ["--no-mtu"], 2, "there is no option '--no-mtu'"),
        ("", ["--log-level", "loud"], 2, "--log-level loud: want error, warning, info or debug"),
    ],
)
def test_toed_rejects(tmp_path, text, args, code, said):
    file = write(tmp_path / "a.toml", text)
    base = [paths.built("toed"), "--netif", "wire:/nonexistent/w", "--ip", "10.0.0.1/24"]
    done = proc.run([*base, "--config", file, *args], check=False)
    assert done.returncode == code
    assert re.fullmatch(r"toed: [^\n]*\n", done.stderr)
    assert said in done.stderr


def test_a_reload_applies_what_it_can(tmp_path, pair):
    file = write(tmp_path / "a.toml", "[toed]\nspin-us = 10\n")
    with configured(pair, file, "--ttl", "9") as toed:
        write(
            file,
            '[toed]\nspin-us = 20\ncongestion = "reno"\nttl = 5\nmax-flows = 99\nvlan = 7\n'
            'offload = { gro = false }\nuser-limits = "qps=3"\n[log]\nlevel = "warning"\n',
        )
        said = reload(toed, "user-limits: ")  # the last one, in the order of the table
        assert f"toed: SIGHUP: spin-us: 10 -> 20 ({file}:2)" in said
        assert "SIGHUP: congestion: cubic -> reno (" in said
        assert "SIGHUP: offload: not set -> gro=off (" in said
        assert "SIGHUP: user-limits: not set -> qps=3 (" in said
        assert "SIGHUP: max-flows: 16384 -> 99 needs a take-over (systemctl reload toed" in said
        assert "SIGHUP: vlan: not set -> 7 needs a restart, which ends all connections" in said
        assert "ttl" not in said  # the command line wins
        features = proc.run(
            [paths.built("toehold"), "offload", "--json", "--socket", toed.socket]
        ).stdout
        assert re.search(r'"word": "gro", "active": false', " ".join(features.split()))
        # only warnings from now on; what stayed is named again
        said = reload(toed, "max-flows: 16384 -> 99")
        assert "vlan: not set -> 7" in said
        assert "spin-us" not in said


def test_a_reload_of_the_congestion_control(tmp_path, pair):
    """A connection that exists keeps its own; the next one has the new."""
    file = write(tmp_path / "a.toml", '[toed]\ncongestion = "cubic"\n')
    with configured(pair, file) as toed:
        listen = (
            "import socket\ns = socket.create_server(('', 99))\nprint('up', flush=True)\n"
            "kept = [s.accept() for _ in range(2)]\ns.accept()"
        )
        with toed.app([sys.executable, "-c", listen]) as app, pair.client.entered():
            proc.wait_until(lambda: "up" in app.text(), "the listener", proc=app)
            with socket.create_connection((pair.server_ip, 99)):
                proc.wait_until(lambda: congestion(toed) == ["cubic"], "the first", proc=app)
                write(file, '[toed]\ncongestion = "bbr"\n')
                reload(toed, "congestion: cubic -> bbr")
                with socket.create_connection((pair.server_ip, 99)):
                    proc.wait_until(
                        lambda: sorted(congestion(toed)) == ["bbr", "cubic"], "both", proc=app
                    )


def congestion(toed) -> list[str]:
    """The congestion control of each connection."""
    done = proc.run([paths.built("toehold"), "flows", "--json", "--socket", toed.socket])
    return [f["congestion"] for f in json.loads(done.stdout)["flows"] if "congestion" in f]


def test_a_broken_file_changes_nothing(tmp_path, pair):
    file = write(tmp_path / "a.toml", "[toed]\nspin-us = 10\n")
    with configured(pair, file) as toed:
        for text, reason in (
            ("[toed]\nspin-us = 20\nmtu = 5\n", ":3: mtu = 5: want a whole number"),
            ("[toed]\nspin-us = \n", ":2: "),
            (
                "[toed]\nspin = 20\n",
                ":2: there is no setting spin in [toed]; the nearest is spin-us",
            ),
        ):
            write(file, text)
            said = reload(toed, "all settings stay as they are")
            assert f"toed: SIGHUP: {file}{reason}" in said
        file.unlink()
        assert "no such file" in reload(toed, "all settings stay as they are")
        write(file, "[toed]\nspin-us = 10\n")
        assert "--take-over" in reload(toed, "no setting changes")


@pytest.mark.sanitize
def test_reloads_under_load(lab, tmp_path):
    """No request fails while settings change."""
    if not lab.toed:
        pytest.skip("Linux reloads nothing")
    file = write(tmp_path / "a.toml", "")
    lab.toed._args += ["--config", file]
    lab.toed.take_over()
    with nginx.start(lab, tmp_path, workers=2), Load(lab) as load:
        for n, name in enumerate(["reno", "bbr", "dctcp", "cubic", "bbr"]):
            gro, tso = ("true", "false") if n % 2 == 0 else ("false", "true")
            write(
                file,
                f'[toed]\ncongestion = "{name}"\nspin-us = {n}\necn = {n % 3}\n'
                f"offload = {{ gro = {gro}, tso = {tso} }}\n",
            )
            before = load.asked
            reload(lab.toed, "SIGHUP: congestion: ")
            proc.wait_until(lambda least=before: load.asked > least + 30 or load.failed, "requests")
    load.check()


# ---- messages


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], r"toed: ready: .*"),
        (["--log-format", "text"], r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info toed: ready: .*"),
        (["--log-format", "journal"], r"<6>toed: ready: .*"),
        (
            ["--log-format", "json"],
            r'\{"time":"\d{4}-[^"]*Z","level":"info","program":"toed","message":"ready: .*"\}',
        ),
    ],
)
def test_formats_of_the_log(pair, words, line):
    with toed_module.Toed(pair, mode="tap", args=words) as toed:
        proc.wait_until(
            lambda: re.search(rf"^{line}$", toed.proc.text(), re.M), line, proc=toed.proc
        )
        if "json" in words:
            assert all(json.loads(text)["message"] for text in toed.proc.text().splitlines())


def test_the_level_leaves_messages_out(pair):
    with toed_module.Toed(pair, mode="tap", env={"TOEHOLD_LOG_LEVEL": "error"}) as toed:
        assert toed.stats()["engines"]
        assert toed.proc.text() == ""


def test_libtoe_logs_as_toed(tmp_path):
    env = {"TOEHOLD_LOG_FORMAT": "journal", "TOEHOLD_SOCKET": str(tmp_path / "none")}
    env["LD_PRELOAD"] = str(paths.built("libtoe_preload.so"))
    connect = "import socket; socket.socket().connect_ex(('127.0.0.2', 9))"
    listen = "import socket; socket.create_server(('0.0.0.0', 0))"
    said = proc.run([sys.executable, "-c", f"{connect}\n{listen}"], env=env).stderr
    assert re.search(r"^<4>toehold: no TOE answers at ", said, re.M)
    said = proc.run(
        [sys.executable, "-c", f"{connect}\n{listen}"], env={**env, "TOEHOLD_LOG_LEVEL": "error"}
    ).stderr
    assert said == ""
