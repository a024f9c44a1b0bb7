# SPDX-License-Identifier: Apache-2.0
"""`toehold rtt`: measurements over a wire with known delays, losses and order."""

from __future__ import annotations

import contextlib
import csv
import itertools
import json
import math
import os
import pty
import re
import socket
import statistics
import subprocess
import threading
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.lab import netns, paths, proc
from tests.lab.lab import PROGRAMS, PYTHON
from tests.lab.registers import Module

pytestmark = pytest.mark.toehold_only

MS = 1_000_000
CLOCK_NANOSLEEP = "230 "  # its number in /proc/PID/syscall (x86-64)
TOEHOLD = paths.built("toehold")
NEAR, FAR = "10.77.0.2", "10.77.0.1"
NEAR6, FAR6 = "fd00:77::2", "fd00:77::1"


class Stretch:
    """The client's namespace, a wire in the middle, and a Linux peer behind it."""

    def __init__(self) -> None:
        self.pair = netns.Pair()
        self.near, self.middle = self.pair.client, self.pair.server
        self.far = netns.Namespace(f"{self.middle.name}-far")
        try:
            netns.Namespace.create(self.far.name)
            self.middle.run(
                ["ip", "link", "add", "far0", "type", "veth"]
                + ["peer", "name", "eth0", "netns", self.far.name]
            )
            for ns, name in ((self.middle, "far0"), (self.far, "eth0")):
                ns.run(["ip", "link", "set", name, "addrgenmode", "none"])
                ns.run(["ip", "link", "set", name, "up"])
            self.far.run(["ethtool", "-K", "eth0", "tx", "off", "tso", "off"])
            self.far.run(["ip", "address", "add", f"{FAR}/24", "dev", "eth0"])
            self.far.run(["ip", "address", "add", f"{FAR6}/64", "dev", "eth0", "nodad"])
            self.near.run(["ip", "address", "add", f"{NEAR6}/64", "dev", "cli0", "nodad"])
            self.far.run(["sysctl", "-qw", "net.ipv4.icmp_ratelimit=0"])
        except BaseException:
            self.delete()
            raise

    def delete(self) -> None:
        self.far.delete()
        self.pair.delete()

    @contextlib.contextmanager
    def wire(self, *argv: object):
        """Runs the wire; the yielded list gets its counters when it has ended."""
        reports: list[dict] = []
        command = [PYTHON, PROGRAMS / "wire.py", "srv0", "far0", *argv]
        with self.middle.start(command, name="wire") as p:
            proc.wait_until(lambda: "wire" in p.text(), "the wire", proc=p)
            yield reports
            assert p.stop() == 0, p.tail()
            reports.append(json.loads(p.text().splitlines()[-1]))

    @contextlib.contextmanager
    def responder(self, at: str = "7"):
        # on one CPU, as the wire: its replies stay in order
        command = ["taskset", "-c", str(min(os.sched_getaffinity(0))), TOEHOLD, "rtt", "--json"]
        with self.far.start([*command, "--respond", at], name="respond") as p:
            proc.wait_until(lambda: "responding" in p.text(), "the responder", proc=p)
            yield p

    def run(self, *argv: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = self.near.run([TOEHOLD, "rtt", *argv], check=False, timeout=60)
        assert done.returncode == code, (argv, done.stdout, done.stderr)
        return done

    def measure(self, *argv: object, code: int = 0) -> dict:
        # long to wait on a busy machine; it ends with the last answer
        options = ["--source", "software", "--interval-us", 1000, "--timeout-ms", 5000, "--json"]
        return json.loads(self.run(*options, *argv, code=code).stdout)

    @contextlib.contextmanager
    def watching(self, *argv: object):
        """Watches cli0; the yielded list gets the results after the interrupt."""
        seen: list[dict] = []
        command = [TOEHOLD, "rtt", "--source", "software", "--watch", "cli0", "--json", *argv]
        with self.near.start(command, name="watch") as p:
            proc.wait_until(lambda: "watching" in p.text(), "watching", proc=p)
            yield seen
            assert p.stop() in (0, 8), p.tail()
            seen.append(json.loads(p.text().split("\n", 1)[1].rpartition("}")[0] + "}"))


@pytest.fixture(scope="module")
def stretch():
    s = Stretch()
    yield s
    s.delete()


def plain(*argv: object, code: int, env: dict | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [TOEHOLD, "rtt", *map(str, argv)],
        capture_output=True,
        text=True,
        timeout=proc.seconds(30),
        env={**os.environ, **(env or {})},
    )
    assert done.returncode == code, (argv, done.stdout, done.stderr)
    return done


def listens(stretch, backlog: int) -> socket.socket:
    """The far side's port 80, which connections of another test may still be leaving."""
    listener = stretch.far.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((FAR, 80))
    listener.listen(backlog)
    return listener


def check_figures(result: dict) -> None:
    """Checks that hold for every result."""
    times, n = result["rtt_ns"], result["samples"]
    percentiles = list(times["percentiles"].values())
    assert sorted(percentiles) == percentiles
    assert times["min"] <= times["mean"] <= times["max"]
    assert times["min"] <= percentiles[0] and percentiles[-1] <= times["max"]
    assert times["spread"] == times["max"] - times["min"]
    assert sum(b["count"] for b in result["histogram"]) == n
    assert sum(i["samples"] for i in result["intervals"]) == n
    edges = [(b["from"], b["to"]) for b in result["histogram"]]
    assert all(a[1] == b[0] for a, b in itertools.pairwise(edges))
    assert edges[0][0] == times["min"] and edges[-1][1] == times["max"] + 1


# ---- probes


@pytest.mark.parametrize(
    "probe",
    [
        ["--udp", f"{FAR}:7"],
        ["--udp", f"[{FAR6}]:7"],
        ["--icmp", FAR],
        ["--icmp", FAR6],
        ["--syn", f"{FAR}:80"],
        ["--syn", f"[{FAR6}]:80"],
    ],
)
def test_a_probe_takes_the_time_of_the_wire(stretch, probe):
    with listens(stretch, 64), stretch.wire("--delay-ms", 4) as reports, stretch.responder():
        result = stretch.measure(*probe, "--count", 60)
    counts = result["counts"]
    assert (result["samples"], counts["sent"], counts["answered"]) == (60, 60, 60)
    assert counts["lost"] == counts["duplicates"] == counts["late"] == counts["unstamped"] == 0
    assert result["rtt_ns"]["min"] >= 8 * MS  # there and back
    assert reports[0]["passed"] >= 60
    assert result["source"]["name"] == "software" and result["source"]["resolution_ns"] == 1
    assert "SO_TIMESTAMPING" in result["source"]["what"]
    # port 80 of IPv6 has no listener, and its RST is an answer too
    assert counts["refused"] == (60 if probe[-1].endswith("]:80") else 0)
    check_figures(result)


def test_a_longer_wire_is_longer_by_its_length(stretch):
    least = []
    for delay in (1, 21):
        with stretch.wire("--delay-ms", delay):
            least.append(stretch.measure("--icmp", FAR, "--count", 40)["rtt_ns"]["min"])
    # The least of forty is little more than the wire, 2 and 42 ms.
    assert 2 * MS <= least[0] < 42 * MS <= least[1]


def test_each_lost_probe_is_counted_and_named(stretch, tmp_path):
    file = tmp_path / "samples.csv"
    with stretch.wire("--drop", 5) as reports, stretch.responder():
        result = stretch.measure(
            *("--udp", f"{FAR}:7", "--count", 50, "--timeout-ms", 3000, "--csv", file)
        )
    assert result["counts"]["lost"] == reports[0]["dropped"] == 10
    assert result["samples"] == 40
    rows = list(csv.DictReader(file.open(newline="")))
    lost = sorted(int(r["seq"]) for r in rows if r["state"] == "lost")
    assert lost == list(range(4, 50, 5))
    assert [r["rtt_ns"] for r in rows if r["state"] == "lost"] == [""] * 10


@pytest.mark.parametrize("probe", [["--udp", f"{FAR}:7"], ["--icmp", FAR]])
def test_duplicates_are_no_samples(stretch, probe):
    with stretch.wire("--double", 4) as reports, stretch.responder():
        # it ends with the last reply, and does not wait for a duplicate of the same probe
        result = stretch.measure(*probe, "--count", 43)
    assert result["counts"]["duplicates"] == reports[0]["doubled"] == 10, result["counts"]
    assert (result["samples"], result["counts"]["lost"]) == (43, 0), result["counts"]


def test_a_probe_that_is_overtaken_is_counted(stretch):
    with stretch.wire("--overtake", 5) as reports, stretch.responder():
        # no frame overtakes the last one: 51 are sent
        result = stretch.measure("--udp", f"{FAR}:7", "--count", 51)
    assert result["counts"]["reordered"] == reports[0]["overtaken"] == 10
    assert (result["samples"], result["counts"]["lost"]) == (51, 0)


def test_an_answer_after_its_time_is_late_and_its_probe_lost(stretch):
    with stretch.wire("--slow", "10:2500") as reports, stretch.responder():
        result = stretch.measure(
            *("--udp", f"{FAR}:7", "--count", 60, "--timeout-ms", 2000, "--interval-us", 30000)
        )
    assert reports[0]["slowed"] == 6
    assert result["counts"]["lost"] == 6 and result["samples"] == 54
    # the replies to the last ones may arrive after the receiver has closed
    assert 1 <= result["counts"]["late"] <= 6
    assert result["rtt_ns"]["max"] < 2500 * MS


def test_the_responder_counts_what_it_has_sent_back(stretch):
    with stretch.wire(), stretch.responder(f"{FAR}:9") as p:
        assert stretch.measure("--udp", f"{FAR}:9", "--count", 20, "--size", 1400)["samples"] == 20
        assert p.stop() == 0
        assert json.loads(p.text().splitlines()[-1]) == {"echoed": 20}


def test_where_nobody_answers_the_exit_code_says_so(stretch):
    with stretch.wire():
        result = stretch.measure("--udp", f"{FAR}:99", "--count", 5, "--timeout-ms", 3000, code=8)
    assert result["samples"] == 0 and result["rtt_ns"] is None
    assert result["counts"]["lost"] == 5 and result["counts"]["refused"] >= 1


def packets(ns: netns.Namespace) -> int:
    """How many packets have come to the interface of the near end."""
    return int(ns.run(["cat", "/sys/class/net/cli0/statistics/rx_packets"]).stdout)


def test_a_second_of_probes_ends_by_itself_and_by_interruption(stretch):
    with stretch.wire(), stretch.responder():
        result = stretch.measure("--udp", f"{FAR}:7", "--duration", 1)
        assert result["counts"]["sent"] == result["samples"] > 10
        command = ["--source", "software", "--udp", f"{FAR}:7", "--count", 0, "--json"]
        before = packets(stretch.near)
        with stretch.near.start([TOEHOLD, "rtt", *command], name="rtt") as p:
            proc.wait_until(lambda: packets(stretch.near) > before + 10, "some probes", proc=p)
            assert p.stop() == 0, p.tail()
            assert json.loads(p.text())["samples"] > 0


# ---- missing sources


def test_no_source_stands_in_for_another(stretch):
    for source, word in (
        (["hardware", "--icmp", FAR], "cli0 has no hardware time stamps"),
        (["hardware", "--icmp", FAR, "--interface", "lo"], "lo has no hardware"),
        (["hardware", "--watch", "cli0", "--match", "udp"], "no hardware stamps of what leaves"),
        (["xdp", "--icmp", FAR, "--interface", "cli0"], "XDP"),
        (["registers", "--bar", "sim:/nonexistent"], "no simulation"),
        (["software", "--watch", "none0", "--match", "udp"], "no interface none0"),
    ):
        done = stretch.run("--source", *source, code=7)
        assert done.stdout == "" and word in done.stderr, source
    done = stretch.run("--source", "toed", "--socket", "/nonexistent", code=4)
    assert "no toed" in done.stderr


def test_sources_tells_which_there_are_and_why_not(stretch):
    done = stretch.run("--sources", "--interface", "cli0", "--json")
    found = {s["source"]: s for s in json.loads(done.stdout)}
    assert list(found) == ["software", "hardware", "xdp", "registers", "toed"]
    assert found["software"]["there"] and not found["hardware"]["there"]
    assert not found["xdp"]["there"] and not found["toed"]["there"]
    assert all(s["text"] for s in found.values())
    assert "1 ns" in stretch.run("--sources").stdout


# ---- traffic of others


def test_pings_of_others_are_timed(stretch):
    with stretch.wire("--delay-ms", 3), stretch.watching("--match", "icmp") as seen:
        stretch.near.run(["ping", "-q", "-c", 20, "-i", "0.05", FAR])
        stretch.near.run(["ping", "-q", "-c", 10, "-i", "0.05", FAR6])
    result = seen[0]
    assert (result["samples"], result["counts"]["lost"]) == (30, 0)
    assert result["rtt_ns"]["min"] >= 6 * MS
    flows = {f["flow"]: f["samples"] for f in result["flows"]}
    assert flows == {f"{NEAR} {FAR}": 20, f"{NEAR6} {FAR6}": 10}
    check_figures(result)


@pytest.mark.parametrize("match", [["tag", "--tag-offset", 12], ["udp"], ["any"]])
def test_questions_over_udp_are_timed(stretch, match):
    with stretch.wire("--delay-ms", 1), stretch.responder():
        stretch.measure("--udp", f"{FAR}:7", "--count", 1)  # the neighbours know each other
        with stretch.watching("--match", *match, "--remote-port", 7) as seen:
            sent = stretch.measure("--udp", f"{FAR}:7", "--count", 30, "--interval-us", 20000)
    assert sent["samples"] == 30
    result = seen[0]
    # without a tag, the next probe replaces a late one
    late = result["counts"]["replaced"]
    if match[0] == "any":
        assert result["samples"] + late >= 30  # other packets count as well
    else:
        assert match[0] == "udp" or late == 0
        assert (result["samples"] + late, result["counts"]["sent"]) == (30, 30)
        assert late or result["rtt_ns"]["min"] >= 2 * MS
    # the passive measurement equals that of the probes, up to a small error
    if not late:  # the same probes
        here, there = (r["rtt_ns"]["percentiles"]["50"] for r in (result, sent))
        assert abs(here - there) < 5 * MS


def test_losses_of_others_are_counted(stretch):
    tag = ["--match", "tag", "--tag-offset", 12, "--timeout-ms", 2900]
    with stretch.wire("--drop", 4) as reports, stretch.responder(), stretch.watching(*tag) as seen:
        stretch.measure("--udp", f"{FAR}:7", "--count", 40, "--timeout-ms", 3000)
    assert seen[0]["counts"]["lost"] == reports[0]["dropped"] == 10
    assert seen[0]["samples"] == 30


def tcp_rounds(stretch, rounds: int, size: int = 100) -> None:
    """A connection of that many questions and answers."""
    with listens(stretch, 1) as listener:

        def serve() -> None:
            peer, _ = listener.accept()
            with peer:
                while data := peer.recv(65536):
                    peer.sendall(data)

        thread = threading.Thread(target=serve)
        thread.start()
        with stretch.near.connect(FAR, 80) as s:
            for _ in range(rounds):
                s.sendall(bytes(size))
                got = 0
                while got < size:
                    got += len(s.recv(65536))
        thread.join()


def test_segments_are_timed_by_their_acknowledgements(stretch):
    with stretch.wire("--delay-ms", 2) as reports, stretch.watching("--match", "tcp") as seen:
        tcp_rounds(stretch, 20)
    result = seen[0]
    # SYN, the requests, FIN; segments covered by a later acknowledgement are not timed (that of the
    # FIN may still be in flight)
    counts = result["counts"]
    assert result["samples"] + counts["covered"] + counts.get("in_flight", 0) == 22
    assert result["samples"] >= 20
    assert result["rtt_ns"]["min"] >= 4 * MS
    assert result["counts"]["ambiguous"] == 0 and reports[0]["dropped"] == 0
    (flow,) = result["flows"]
    assert re.fullmatch(rf"{NEAR}:\d+ {FAR}:80", flow["flow"])


def test_what_was_sent_again_is_no_sample(stretch):
    tcp = ["--match", "tcp", "--timeout-ms", 5000]
    for _ in range(5):
        with stretch.wire("--delay-ms", 2, "--drop", 7) as reports, stretch.watching(*tcp) as seen:
            tcp_rounds(stretch, 25)
        result = seen[0]
        assert reports[0]["dropped"] >= 5
        assert result["counts"]["ambiguous"] >= 1
        assert result["rtt_ns"]["min"] >= 4 * MS
        if result["rtt_ns"]["max"] < 150 * MS:
            break
    # Karn: a retransmission's answer would look like one of more than 200 ms, each time. On a busy
    # machine the wire itself may take as long, but not each time.
    assert result["rtt_ns"]["max"] < 150 * MS


# ---- output


def test_outputs_agree(stretch, tmp_path):
    files = ["--csv", tmp_path / "s.csv", "--svg", tmp_path / "s.svg"]
    with stretch.wire("--drop", 10), stretch.responder():
        result = stretch.measure(
            *("--udp", f"{FAR}:7", "--count", 50, "--timeout-ms", 1000, *files)
        )
    rows = list(csv.DictReader((tmp_path / "s.csv").open(newline="")))
    times = [int(r["rtt_ns"]) for r in rows if r["state"] == "ok"]
    assert {r["source"] for r in rows} == {"software"}
    assert {r["resolution_ns"] for r in rows} == {"1"}
    reports = result["rtt_ns"]
    assert (min(times), max(times), len(times)) == (reports["min"], reports["max"], 45)
    assert math.isclose(statistics.fmean(times), reports["mean"], rel_tol=1e-6)
    assert math.isclose(statistics.pstdev(times), reports["deviation"], rel_tol=1e-4)
    nearest = sorted(times)[math.ceil(0.9 * 45) - 1]
    assert math.isclose(nearest, reports["percentiles"]["90"], rel_tol=0.002)
    root = ElementTree.parse(tmp_path / "s.svg").getroot()
    ns = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{ns}circle")) == 45
    assert len(root.findall(f"{ns}path")) == 5  # the lost ones
    words = " ".join(t.text for t in root.findall(f"{ns}text"))
    assert "software" in words and "resolution" in words


def on_terminal(argv: list[str], env: dict[str, str]) -> str:
    """The output of a program on a terminal."""
    main, side = pty.openpty()
    with subprocess.Popen(argv, stdin=side, stdout=side, env={**os.environ, **env}) as p:
        os.close(side)
        out = b""
        with contextlib.suppress(OSError):  # at the end of the last writer
            while data := os.read(main, 65536):
                out += data
        os.close(main)
        assert p.wait() == 0
    return out.decode()


def test_colour_is_for_terminals_that_want_it():
    argv = [str(TOEHOLD), "rtt", "--source", "software", "--icmp", "127.0.0.1", "--count", "5"]
    assert "\033[1m" in on_terminal(argv, {"TERM": "xterm", "NO_COLOR": ""})
    assert "\033[1m" not in on_terminal(argv, {"TERM": "xterm", "NO_COLOR": "1"})
    assert "\033[1m" not in on_terminal(argv, {"TERM": "dumb", "NO_COLOR": ""})
    text = plain(*argv[2:], code=0, env={"TERM": "xterm"}).stdout
    assert "\033" not in text
    assert "source" in text and "software" in text and "resolution 1 ns" in text
    assert "#" in text and "percentiles" in text


def test_live_lines_where_there_is_no_terminal():
    text = plain(
        *("--source", "software", "--icmp", "127.0.0.1", "--count", 150, "--every", 1), code=0
    ).stdout
    assert re.search(r"^\d+\.\d s: \d+ samples, min ", text, re.MULTILINE)


def test_wrong_usage_exits_2():
    software = ["--source", "software"]
    for argv, word in (
        ([], "--source"),
        (["--source", "guess"], "want one of software"),
        (software, "give a probe"),
        ([*software, "--udp", "10.0.0.1"], "port"),
        ([*software, "--udp", "10.0.0.1:x"], "10.0.0.1:x"),
        ([*software, "--icmp", "1.2.3.4", "--syn", "1.2.3.4:5"], "one of"),
        ([*software, "--icmp", "1.2.3.4", "--count", "many"], "--count many"),
        ([*software, "--icmp", "1.2.3.4", "--size", "8"], "--size 8"),
        ([*software, "--icmp", "1.2.3.4", "--match", "udp"], "--match"),
        ([*software, "--watch", "lo"], "--match"),
        ([*software, "--icmp", "1.2.3.4", "--bar", "file:x"], "--bar"),
        ([*software, "--icmp", "1.2.3.4", "--socket", "x"], "--socket"),
        ([*software, "--watch", "lo", "--match", "all"], "want one of any"),
        (["--source", "registers"], "--bar"),
        (["--source", "registers", "--bar", "file:x", "--looped"], "--looped"),
        (["--source", "toed", "--icmp", "1.2.3.4"], "toed"),
        (["--respond", "nowhere:x"], "nowhere"),
        (["--frob"], "--frob"),
        ([*software, "more"], "more"),
        ([*software, "--icmp"], "needs a value"),
    ):
        done = plain(*argv, code=2)
        assert word in done.stderr and done.stdout == "", argv


def test_a_file_that_cannot_be_written_is_said(tmp_path):
    done = plain(
        *("--source", "software", "--icmp", "127.0.0.1", "--count", 1),
        *("--csv", tmp_path / "no" / "file"),
        code=1,
    )
    assert "cannot write" in done.stderr


# ---- the measuring module


@pytest.fixture
def module(tmp_path):
    m = Module(tmp_path / "module.sock")
    yield m
    m.close()


def from_module(module: Module, samples: list[list[int]], *argv: object, lost: int = 0) -> dict:
    """The report for samples that the module takes in these groups."""
    command = [TOEHOLD, "rtt", "--source", "registers", "--bar", module.spec, "--json", *argv]
    total = sum(map(len, samples))
    with subprocess.Popen(
        [*map(str, command), "--count", str(total)], stdout=subprocess.PIPE, text=True
    ) as p:
        proc.wait_until(lambda: module.ready, "the module is set up")
        for group in samples:
            proc.wait_until(module.read, "the ring is read")
            module.sample(*group, lost=lost)
            lost = 0
        out, _ = p.communicate(timeout=proc.seconds(30))
        assert p.returncode == 0
    return json.loads(out)


def test_samples_of_a_module_are_added_up(module):
    near = [97, 97, 98, 98, 98, 99, 100, 102]
    far = [600, 1100, 5000, 70000]
    module.put(module.PORTS, 0x00500051)
    result = from_module(
        module, [near, far], "--match", "udp", "--remote-port", 7, "--timeout-ms", 250, lost=3
    )
    ticks = near + far
    times = result["rtt_ns"]
    assert result["source"]["name"] == "registers"
    assert "simulation" in result["source"]["what"] and "250 MHz" in result["source"]["clock"]
    assert result["source"]["resolution_ns"] == 4
    assert (result["samples"], times["min"], times["max"]) == (12, 97 * 4, 70000 * 4)
    assert math.isclose(times["mean"], 4 * statistics.fmean(ticks))
    assert math.isclose(times["deviation"], 4 * statistics.pstdev(ticks), rel_tol=1e-9)
    assert abs(times["percentiles"]["50"] - 99 * 4) <= 4
    assert result["counts"]["module_sent"] == 15 and result["counts"]["module_lost"] == 3
    check_figures(result)
    # its changes are undone
    assert module.get(module.CONTROL) == 0 and module.get(module.PORTS) == 0x00500051


def test_a_module_is_set_as_it_is_asked(module):
    seen = {}

    def written(at: int, value: int, keep=module.written) -> None:
        seen.setdefault(at, value)
        keep(at, value)

    module.written = written
    from_module(
        module,
        [[100]],
        *("--match", "tag", "--looped", "--local-port", 1000, "--remote-port", 2000),
        *("--tag-offset", 20, "--timeout-ms", 1),
    )
    assert seen[module.CONTROL] == 1 | 3 << 4 | 1 << 8
    assert seen[module.PORTS] == 2000 << 16 | 1000
    assert seen[module.TAG_OFFSET] == 20 and seen[module.TIMEOUT] == 250_000


def test_samples_of_a_module_one_by_one(module, tmp_path):
    ticks = [100 + n % 7 for n in range(600)]  # more than its ring holds
    groups = [ticks[n : n + 200] for n in range(0, 600, 200)]
    result = from_module(module, groups, "--match", "any", "--csv", tmp_path / "s.csv")
    rows = [int(r["rtt_ns"]) for r in csv.DictReader((tmp_path / "s.csv").open(newline=""))]
    assert rows == [4 * t for t in ticks]
    assert result["samples"] == 600 and result["samples_not_kept"] == 0


def test_probes_beside_a_module_are_no_samples_of_their_own(module):
    argv = ["--source", "registers", "--bar", module.spec, "--match", "icmp", "--json"]
    done = plain(*argv, "--icmp", "127.0.0.1", "--count", 10, code=8)
    result = json.loads(done.stdout)
    assert result["counts"]["sent"] == result["counts"]["answered"] == 10
    assert result["samples"] == 0 and result["rtt_ns"] is None


def test_a_module_that_cannot_measure_is_refused(module):
    at = ["--source", "registers", "--bar", module.spec]
    assert "not enabled" in plain(*at, code=7).stderr
    assert "no measuring module named" in plain(*at, "--block", "rtt1", code=7).stderr
    assert "at most" in plain(*at, "--match", "any", "--timeout-ms", 60000, code=7).stderr
    module.put(module.CLOCK_HZ, 0)
    assert "impossible" in plain(*at, "--match", "any", code=7).stderr


# ---- the software TOE


def test_connections_of_toed_are_timed(make_lab):
    lab = make_lab(impair="delay=3ms")
    echo = f"import socket\ns = socket.create_server(('{lab.ip}', 80))\n"
    echo += "while True:\n c, _ = s.accept()\n while d := c.recv(4096): c.sendall(d)\n c.close()\n"
    lab.app([PYTHON, "-c", echo], name="echo", port=80)
    command = [TOEHOLD, "rtt", "--source", "toed", "--socket", lab.toed.socket, "--json"]
    with lab.server.start([*command, "--duration", 60], name="rtt") as p:
        # It sleeps after its first request: toed records from then on.
        call = Path(f"/proc/{p.pid}/syscall")
        proc.wait_until(lambda: call.read_text().startswith(CLOCK_NANOSLEEP), "it asks", proc=p)
        with lab.connect(80) as s:
            for _ in range(30):
                s.sendall(bytes(100))
                assert len(s.recv(4096)) == 100
            name = "{}:{}".format(*s.getsockname())
        assert p.stop() == 0, p.tail()
        result = json.loads(p.text())
    assert result["source"]["name"] == "toed" and result["source"]["resolution_ns"] == 1024
    assert result["rtt_ns"]["min"] >= 6 * MS * 0.99
    # the SYN, thirty replies, the FIN; the one before it probed the server
    (flow,) = [f for f in result["flows"] if f["flow"] == f"{lab.ip}:80 {name}"]
    assert 30 <= flow["samples"] <= 32
    check_figures(result)
