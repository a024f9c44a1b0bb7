# SPDX-License-Identifier: Apache-2.0
"""toehold metrics: OpenMetrics text, its server, and the names in the dashboard and the alerts."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import stat

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.lab import lab as labs
from tests.lab import paths, proc

DOCS = paths.ROOT / "docs/metrics"
USAGE, NO_TOE = 2, 4
LISTEN = """
import socket, sys
s = socket.create_server((sys.argv[1], 4000))
print("serving", flush=True)
sys.stdin.read()
s.accept()
"""

pytestmark = pytest.mark.toehold_only


def argv(lab: labs.Lab, *more: object) -> list[object]:
    return [paths.built("toehold"), "metrics", "--socket", lab.toed.socket, *more]


def parsed(text: str) -> dict[str, object]:
    """The metrics by name. The parser rejects what the format does not allow."""
    return {family.name: family for family in text_string_to_metric_families(text)}


class Unix(http.client.HTTPConnection):
    def __init__(self, path: object):
        super().__init__("toehold", timeout=20)
        self.path = str(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(proc.seconds(20))
        self.sock.connect(self.path)


def ask(path: object, method: str = "GET", target: str = "/metrics") -> tuple[int, str, str]:
    with contextlib.closing(Unix(path)) as c:
        c.request(method, target)
        r = c.getresponse()
        return r.status, r.headers["Content-Type"], r.read().decode()


def test_all_figures_are_metrics(lab):
    listen = ["sh", "-c", 'sleep 60 | exec "$@"', "sh", labs.PYTHON, "-c", LISTEN, lab.ip]
    with lab.app(listen) as p:
        proc.wait_until(lambda: "serving" in p.text(), "it serves", proc=p)
        said = lab.toed.stats()
        text = proc.run(argv(lab)).stdout
    metrics = parsed(text)
    assert metrics["toehold_up"].samples[0].value == 1
    assert metrics["toehold_build"].samples[0].labels["version"] == said["version"]
    engine = said["engines"][0]
    for group, prefix in (("counters", ""), ("netio", "netio_"), ("usage", "usage_")):
        for name, value in engine[group].items():
            if isinstance(value, str):
                continue
            family = metrics[f"toehold_{prefix}{name}"]
            gauge = group == "usage" or name.startswith(("rx_h", "rx_delay"))
            assert family.type == ("gauge" if gauge else "counter")
            assert family.documentation == said["help"][group][name]["help"]
            (sample,) = family.samples
            assert sample.labels == {"engine": "0"}
            assert sample.value >= value or gauge
    (qp,) = engine["queue_pairs"]
    (sample,) = metrics["toehold_queue_pair_listeners"].samples
    assert sample.labels == {
        "engine": "0",
        "queue_pair": str(qp["id"]),
        "pid": str(qp["pid"]),
        "program": qp["name"],
    }
    assert sample.value == 1
    assert metrics["toehold_netio_rx_bytes"].unit == "bytes"


def test_server(lab, tmp_path):
    path = tmp_path / "m.sock"
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(path))  # left by a server that was killed
    dead.close()
    with lab.server.start(argv(lab, "--listen", f"unix:{path}")) as server:
        proc.wait_until(lambda: "metrics at" in server.text(), "it listens", proc=server)
        assert stat.S_IMODE(path.stat().st_mode) == 0o660
        status, kind, text = ask(path)
        assert (status, kind.split(";")[0]) == (200, "application/openmetrics-text")
        assert parsed(text)["toehold_up"].samples[0].value == 1
        assert ask(path, target="/")[0] == 200
        assert ask(path, "HEAD")[::2] == (200, "")
        assert ask(path, target="/metrics2")[0] == 404
        assert ask(path, "POST")[0] == 405
        silent = []
        for _ in range(40):
            silent.append(socket.socket(socket.AF_UNIX))
            silent[-1].connect(str(path))
            assert ask(path)[0] == 200
        silent[-1].sendall(b"GET / HTTP/1.1\r\n" + b"x" * 8000)  # a head that is too long
        assert ask(path)[0] == 200
        for s in silent:
            s.close()
        lab.toed.stop()
        metrics = parsed(ask(path)[2])
        assert list(metrics) == ["toehold_up"]
        assert metrics["toehold_up"].samples[0].value == 0
        assert proc.run(argv(lab), check=False).returncode == NO_TOE
        lab.toed.start()
        assert parsed(ask(path)[2])["toehold_up"].samples[0].value == 1


def test_port_and_wrong_addresses(lab, tmp_path):
    with lab.server.start(argv(lab, "--listen", "127.0.0.1:9464")) as server:
        proc.wait_until(lambda: "metrics at" in server.text(), "it listens", proc=server)
        with lab.server.connect("127.0.0.1", 9464) as s:
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            with s.makefile("rb") as answer:
                assert answer.readline() == b"HTTP/1.1 200 OK\r\n"
                assert answer.read().endswith(b"# EOF\n")
        done = lab.server.run(argv(lab, "--listen", "127.0.0.1:9464"), check=False)
        assert done.returncode == 1
        assert "Address already in use" in done.stderr
    file = tmp_path / "precious"
    file.write_text("precious")
    wrong = ("nowhere", "localhost:x", "unix:", ":9", "127.0.0.1:0", "127.0.0.1:65536", "[::1:9")
    for at in wrong:
        done = lab.server.run(argv(lab, "--listen", at), check=False)
        assert done.returncode == USAGE, (at, done.stderr)
        assert "ADDRESS:PORT" in done.stderr
    done = lab.server.run(argv(lab, "--listen", f"unix:{tmp_path}/none/x"), check=False)
    assert done.returncode == 1
    assert "No such file or directory" in done.stderr
    assert lab.server.run(argv(lab, "--listen", f"unix:{file}"), check=False).returncode == 1
    assert file.read_text() == "precious"


def names_in(text: str) -> set[str]:
    return set(re.findall(r"\btoehold_\w+", text))


def test_dashboard_and_alerts_name_what_exists(lab):
    text = proc.run(argv(lab)).stdout
    exist = {s.name for family in parsed(text).values() for s in family.samples}
    exist |= set(re.findall(r"# TYPE (toehold_queue_pair_\w+) gauge", text))
    exist |= {f"{n}_total" for n in re.findall(r"# TYPE (toehold_queue_pair_\w+) counter", text)}
    dashboard = json.loads((DOCS / "grafana.json").read_text())
    used = set()
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            used |= names_in(target["expr"])
    alerts = (DOCS / "alerts.yml").read_text()
    expressions = re.findall(r"^ +expr: (.*)$", alerts, re.M)
    assert len(expressions) == alerts.count("- alert:") > 5
    for expression in expressions:
        used |= names_in(expression)
    assert len(used) > 20
    assert used <= exist, used - exist
