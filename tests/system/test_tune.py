# SPDX-License-Identifier: Apache-2.0
"""`toehold tune`: what it changes it sets back, however it ends; invalid input changes nothing.

The workloads print figures that depend on what is set, so that each answer is known.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.lab import netns, paths, proc

FAILURE, USAGE, CONFIG, NO_TOE, NO_WORK = 1, 2, 3, 4, 8
INTERFACE = "srv0"

pytestmark = pytest.mark.toehold_only

FIGURES = (
    'echo "{\\"requests_per_s\\": $rate, \\"latency_ns\\": {\\"p50\\": 100, \\"p99\\": 200},'
    ' \\"cpu_s_per_unit\\": 1e-6, \\"busiest_core\\": 0.9}"'
)
# Twice as fast with socket buffers of at most 1 MiB.
BUFFERS = (
    f"set -- $(cat /proc/sys/net/ipv4/tcp_rmem); rate=100; [ $3 != 1048576 ] || rate=200; {FIGURES}"
)


class Machine:
    """Two namespaces and `toehold tune` in the one of srv0."""

    def __init__(self, folder: Path, pair: netns.Pair):
        self.folder, self.ns = folder, pair.server
        self.state = folder / "tune.json"

    def argv(self, *words: object) -> list[object]:
        return [paths.built("toehold"), "tune", "--state", self.state, *words]

    def tune(self, *words: object, code: int = 0, **options) -> str:
        """Runs it. Returns standard output, or standard error if it is to fail."""
        r = self.ns.run(self.argv(*words), check=False, **options)
        assert r.returncode == code, r.stdout + r.stderr
        return r.stderr if code else r.stdout

    def measure(self, *words: object, **options) -> str:
        more = ("--budget", 3600, "--rounds", 5, *words)
        return self.tune("--interface", INTERFACE, *more, **options)

    def look(self) -> list[str]:
        """Everything that tune could have changed."""
        features = self.ns.run(["ethtool", "-k", INTERFACE]).stdout
        names = ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem")
        return [features, *self.ns.run(["sysctl", "-n", *names]).stdout.splitlines()]


@pytest.fixture(scope="module")
def pair():
    with netns.Pair(kernel_ip="10.77.0.1/24") as made:
        # kernels differ in what a veth begins with, and machines in their buffers
        made.server.run(["ethtool", "-K", INTERFACE, "tx", "on", "tso", "on", "gro", "off"])
        sizes = ["net.ipv4.tcp_rmem=4096 131072 6291456", "net.ipv4.tcp_wmem=4096 16384 4194304"]
        made.server.run(["sysctl", "-qw", *sizes])
        yield made


@pytest.fixture
def machine(pair, tmp_path):
    m = Machine(tmp_path, pair)
    before = m.look()
    yield m
    assert m.look() == before
    assert not m.state.exists()


def verdicts(result: dict) -> dict[str, str]:
    return {s["name"]: s["verdict"] for s in result["settings"]}


def test_the_best_is_found(machine):
    words = ("--try", "gro,buffers", "--json", "--", "sh", "-c", BUFFERS)
    result = json.loads(machine.measure(*words))
    assert result["schema_version"] == 1
    assert (result["interface"], result["unit"]) == (INTERFACE, "requests/s")
    assert result["rounds"] == [5, 5]
    assert result["conclusion"]["verdict"] == "use"
    assert result["conclusion"]["setting"] == "buffers 1M"
    found = verdicts(result)
    assert found.pop("buffers 1M") == "better"
    assert found.pop("as it is") is None
    assert set(found) == {"gro on", "buffers 256K", "buffers 4M", "buffers 16M"} - {"as it is"}
    assert set(found.values()) == {"within_spread"}
    best = next(s for s in result["settings"] if s["name"] == "buffers 1M")
    assert best["throughput"] == {"median": 200, "low": 200, "high": 200, "outcome": "gain"}
    assert best["p50_ns"]["outcome"] == "within_spread"
    assert [s["stage"] for s in best["samples"]] == [1] * 5 + [2] * 5
    assert result["applied"] is None and result["not_tried"] == []


def test_nothing_is_better(machine):
    text = machine.measure("--", "sh", "-c", f"rate=100; {FIGURES}")  # everything is tried
    assert "leave it on the kernel" in text
    assert "tso off" in text and "buffers 256K" in text
    assert "toed: no toed answers at" in text
    assert "lro: fixed by the driver" in text
    assert "better" not in text.replace("no setting is better", "")


def test_apply_and_revert(machine):
    before = machine.look()
    words = ("--try", "buffers", "--apply", "--", "sh", "-c", BUFFERS)
    assert "applied: buffers 1M" in machine.measure(*words)
    applied = machine.look()
    assert applied[1].split()[2] == applied[2].split()[2] == "1048576"
    # what is applied is not taken for what was before
    assert "toehold tune --revert" in machine.measure(*words, code=CONFIG)
    assert machine.look() == applied
    machine.tune("--revert")
    assert machine.look() == before
    machine.tune("--revert")  # there is nothing: no failure


def test_nothing_to_apply(machine):
    text = machine.measure("--try", "gro", "--apply", "--", "sh", "-c", f"rate=100; {FIGURES}")
    assert "leave it on the kernel" in text and "applied" not in text


# ---- its end by a signal


def waits(folder: Path) -> list[object]:
    """A workload that does not end once tune has switched gro on."""
    script = (
        f"if ethtool -k {INTERFACE} | grep -q 'generic-receive-offload: on'; then"
        f" echo $$ >{folder}/new; mv {folder}/new {folder}/pid; exec sleep 1000; fi; true"
    )
    return ["--interface", INTERFACE, "--budget", 3600, "--try", "gro", "--", "sh", "-c", script]


def begin(machine) -> proc.Proc:
    """tune, which has switched gro on and waits for the workload."""
    p = machine.ns.start(machine.argv(*waits(machine.folder)))
    proc.wait_until((machine.folder / "pid").exists, "gro is on", proc=p)
    return p


def has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_reverts(machine, number):
    before = machine.look()
    with begin(machine) as p:
        assert machine.look() != before
        p.send_signal(number)
        assert p.wait(30) == -number
        assert "interrupted; everything is set as before" in p.text()
    assert machine.look() == before
    assert has_ended(int((machine.folder / "pid").read_text()))


def test_a_killed_tune_is_reverted_later(machine):
    before = machine.look()
    with begin(machine) as p:
        changed = machine.look()
        os.kill(p.pid, signal.SIGKILL)
        p.wait(30)
    child = int((machine.folder / "pid").read_text())
    proc.wait_until(lambda: has_ended(child), "the workload ends with it")
    assert machine.look() == changed != before
    assert "not reverted" in machine.measure("--try", "gro", "--", "true", code=CONFIG)
    assert machine.look() == changed
    machine.tune("--revert")
    assert machine.look() == before


def test_one_at_a_time(machine):
    with begin(machine) as p:
        assert "--revert` first" in machine.measure("--try", "gro", "--", "true", code=CONFIG)
        assert "SIGINT" in machine.tune("--revert", code=CONFIG)
        p.send_signal(signal.SIGINT)
        p.wait(30)


def test_a_closed_output_does_not_end_it_half_way(machine):
    """A message that cannot be written precedes the revert."""
    reader, writer = os.pipe()
    os.close(reader)
    words = machine.argv("--interface", INTERFACE, "--try", "gro", "--", "false")
    argv = ["ip", "netns", "exec", machine.ns.name, *map(str, words)]
    try:
        r = subprocess.run(argv, stdout=writer, stderr=writer, timeout=proc.seconds(60))
    finally:
        os.close(writer)
    assert r.returncode == FAILURE


def test_the_interface_goes_away(machine):
    machine.ns.run(["ip", "link", "add", "gone0", "type", "veth", "peer", "name", "gone1"])
    words = ("--try", "gro", "--", "ip", "link", "del", "gone0")
    error = machine.tune("--interface", "gone0", "--budget", 3600, *words, code=FAILURE)
    assert "gone0: No such device" in error and "gone0 no longer exists" in error


# ---- invalid input


BAD = {
    "no interface": ([], ["--", "true"], USAGE, "--interface"),
    "missing interface": (["nope0"], ["--", "true"], CONFIG, "no interface nope0"),
    "long interface": (["x" * 16], ["--", "true"], USAGE, "15 bytes"),
    "no workload": ([INTERFACE], [], USAGE, "want one workload"),
    "two workloads": ([INTERFACE], ["--watch", 5, "--", "true"], USAGE, "want one workload"),
    "unknown word": ([INTERFACE], ["--try", "gro,tos", "--", "true"], USAGE, '"tos"; want tso'),
    "fixed": ([INTERFACE], ["--try", "lro", "--", "true"], CONFIG, "fixed by the driver"),
    "no moderation": ([INTERFACE], ["--try", "rx-usecs", "--", "true"], CONFIG, "no interrupt"),
    "no toed": ([INTERFACE], ["--try", "toed", "--", "true"], NO_TOE, "no toed answers"),
    "no engine": ([INTERFACE], ["--try", "inline", "--", "true"], CONFIG, "--netif is missing"),
    "budget": ([INTERFACE], ["--budget", "0", "--", "true"], USAGE, "1 to 86400"),
    "rounds": ([INTERFACE], ["--rounds", "4", "--", "true"], USAGE, "5 to 15"),
    "goal": ([INTERFACE], ["--goal", "speed", "--", "true"], USAGE, "want balanced"),
    "watch": ([INTERFACE], ["--watch", "-1"], USAGE, "seconds"),
    "watch, budget": ([INTERFACE], ["--watch", "5", "--budget", 9], USAGE, "leave out --budget"),
    "apply, dry": ([INTERFACE], ["--apply", "-n", "--", "true"], USAGE, "exclude each other"),
    "revert": ([INTERFACE], ["--revert"], USAGE, "only --state"),
    "it fails": ([INTERFACE], ["--", "sh", "-c", "echo why >&2; exit 5"], FAILURE, "with 5: why"),
    "not found": ([INTERFACE], ["--try", "gro", "--", "/no/such"], FAILURE, "/no/such"),
    "too long": ([INTERFACE], ["--budget", 1, "--", "sleep", 9], FAILURE, "longer than the budget"),
    "no server": (["lo"], ["--try", "gro", "--url", "http://127.0.0.1:9/"], FAILURE, "workload"),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_input(machine, case):
    interface, words, code, says = BAD[case]
    named = ["--interface", *interface] if interface else []
    before = machine.look()
    error = machine.tune(*named, *words, code=code)
    assert says in error
    assert error.count("\n") == 1, error
    assert machine.look() == before


def test_without_rights(machine):
    prefix = ["setpriv", "--bounding-set=-net_admin"]
    words = machine.argv("--interface", INTERFACE, "--try", "gro", "--", "true")
    r = machine.ns.run([*prefix, *words], check=False)
    assert r.returncode == CONFIG
    assert "gro" in r.stderr and "CAP_NET_ADMIN: run as root" in r.stderr
    # without root neither
    prefix = ["setpriv", "--reuid=65534", "--clear-groups", "--bounding-set=-all"]
    words = machine.argv("--interface", INTERFACE, "--", "true")
    r = machine.ns.run([*prefix, *words], check=False)
    assert r.returncode == CONFIG and r.stderr.count("\n") == 1


def test_the_interface_of_the_default_route(machine):
    machine.ns.run(["ip", "route", "add", "default", "via", "10.77.0.2"])
    try:
        words = ("--try", "gro", "--", "sh", "-c", f"rate=1; {FIGURES}")
        assert "--force" in machine.measure(*words, code=CONFIG)
        machine.measure("-n", *words)  # changes nothing
        machine.measure("--force", *words)
    finally:
        machine.ns.run(["ip", "route", "del", "default"])


def test_dry_run(machine):
    text = machine.measure("--dry-run", "--", "true")
    assert "would try" in text and "tso off" in text and "lro: fixed by the driver" in text
    plan = json.loads(machine.measure("-n", "--json", "--try", "gro", "--", "true"))
    assert plan["dry_run"] and plan["settings"] == ["as it is", "gro on"]


def test_a_damaged_state_changes_nothing(machine):
    machine.measure("--try", "buffers", "--apply", "--", "sh", "-c", BUFFERS)
    applied, good = machine.look(), machine.state.read_text()
    saved = json.loads(good)
    bad = {
        "empty": "",
        "cut": good[: len(good) // 2],
        "another namespace": json.dumps({**saved, "namespace": saved["namespace"] + 1}),
        "another release": json.dumps({**saved, "schema_version": 2}),
        "a type": json.dumps({**saved, "tcp_rmem": [1, 2, "3"]}),
        "a range": json.dumps({**saved, "rx_usecs": -1}),
        "features": json.dumps({**saved, "features": [{"name": "x" * 40}]}),
        "writable": good,
    }
    for name, text in bad.items():
        machine.state.write_text(text)
        machine.state.chmod(0o666 if name == "writable" else 0o600)
        error = machine.tune("--revert", code=CONFIG)
        assert error.count("\n") == 1, name
    assert machine.look() == applied
    machine.state.chmod(0o600)
    machine.state.write_text(good)
    machine.tune("--revert")


# ---- workloads other than a command that prints figures


def test_a_url(machine):
    """The load generator's figures count; this one gives them for the URL that it is to load."""
    bench = machine.folder / "bench"
    bench.write_text(
        f'#!/bin/sh\n[ "$1 $2 $3" = "http --url http://10.77.0.2/" ] || exit 9\n{BUFFERS}\n'
    )
    bench.chmod(0o755)
    words = ("--try", "buffers", "--json", "--url", "http://10.77.0.2/")
    result = json.loads(machine.measure(*words, env={"TOEHOLD_BENCH": str(bench)}))
    assert result["conclusion"]["setting"] == "buffers 1M"
    assert result["workload"] == "http://10.77.0.2/"


@pytest.mark.long
def test_a_url_by_the_load_generator(machine, pair):
    address = f"{pair.client_ip}:8080"
    serve = [paths.built("toehold-bench"), "serve", "http", "--listen", address]
    words = ("--try", "gro,tso", "--json", "--budget", 30, "--url", f"http://{address}/")
    with pair.client.start(serve) as server:
        proc.wait_port(pair.client, pair.client_ip, 8080, proc=server)
        result = json.loads(machine.tune("--interface", INTERFACE, *words))
    assert result["unit"] == "requests/s"
    assert [s["name"] for s in result["settings"]][:3] == ["as it is", "tso off", "gro on"]
    for setting in result["settings"]:
        assert setting["throughput"]["median"] > 0
        assert 0 < setting["p50_ns"]["median"] <= setting["p99_ns"]["median"]


def test_nothing_moves(machine):
    error = machine.tune("--interface", "lo", "--watch", 5, "--try", "gro", "--json", code=NO_WORK)
    assert error == ""


def test_a_command_without_figures(machine):
    result = json.loads(machine.measure("--try", "gro", "--json", "--", "true"))
    assert result["unit"] == "runs/s"
    assert all(s["throughput"]["median"] > 0 for s in result["settings"])
    assert all(s["p50_ns"]["outcome"] == "unknown" for s in result["settings"])


# ---- the TOE


def test_the_toe_is_better(lab, tmp_path):
    """The workload is faster where its sockets are on the TOE, and fastest without toed's GRO."""
    toehold, state, settings = paths.built("toehold"), tmp_path / "tune.json", tmp_path / "t.toml"
    script = (
        "rate=100; case $LD_PRELOAD in *libtoe_preload*) rate=200; unset LD_PRELOAD;"
        f" {toehold} offload --socket {lab.toed.socket} |"
        " grep -q 'generic-receive-offload: off' && rate=300;; esac;"
        f" {FIGURES}"
    )
    common = ("--budget", 3600, "--rounds", 5, "--state", state, "--settings", settings)
    argv = [toehold, "tune", "--interface", lab.pair.server_if, "--socket", lab.toed.socket]
    words = ("--try", "toed,moderation,gro", "--apply", "--json", "--", "sh", "-c", script)

    def offloads() -> str:
        return proc.run([toehold, "offload", "--socket", lab.toed.socket]).stdout

    before = offloads()
    result = json.loads(lab.server.run([*argv, *common, *words]).stdout)
    assert result["conclusion"]["setting"] == "toed, gro off"
    found = verdicts(result)
    assert found["toed"] == found["toed, irq-usec 50"] == "better"
    assert offloads() != before
    assert settings.read_text().endswith('[run]\nengine = "toed"\n')
    lab.server.run([toehold, "tune", "--revert", "--state", state])
    assert offloads() == before
    assert not settings.exists() and not state.exists()

    # a file that is there is the user's: nothing is applied
    settings.write_text("[run]\n")
    r = lab.server.run([*argv, *common, *words], check=False)
    assert r.returncode == FAILURE and 'add engine = "toed" to [run] there' in r.stderr
    assert settings.read_text() == "[run]\n"
    assert offloads() == before and not state.exists()
