# SPDX-License-Identifier: Apache-2.0
"""Web protocols by nginx: TLS, HTTP/2, gRPC, and a proxy before another TOE's server."""

from __future__ import annotations

import hashlib
import http.client
import re
import ssl
from pathlib import Path

import pytest

from tests.lab import lab as labs
from tests.lab import netns, nginx, proc

MB = 1_000_000
TLS = 443

_TLS_SERVER = """
    }}
    server {{
        listen {ip}:443 ssl http2;
        ssl_certificate {folder}/cert.pem;
        ssl_certificate_key {folder}/key.pem;
        ssl_session_cache shared:sessions:1m;
        ssl_protocols TLSv1.2 TLSv1.3;
        location = /hello {{ return 200 "hello\\n"; }}
        location = /resumed {{ return 200 "$ssl_session_reused $ssl_protocol"; }}
        location / {{ root {folder}/files; dav_methods PUT; }}
        {more}
"""


def make_certificate(folder: Path, name: str) -> Path:
    argv = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-days", 2]
    argv += ["-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj", f"/CN={name}"]
    argv += ["-addext", f"subjectAltName=IP:{name}"]
    proc.run([*argv, "-keyout", folder / "key.pem", "-out", folder / "cert.pem"])
    return folder / "cert.pem"


def start(lab: labs.Lab, folder: Path, *, more: str = "", **options: object) -> proc.Proc:
    """nginx with an additional TLS server."""
    make_certificate(folder, lab.ip)
    tls = _TLS_SERVER.format(ip=lab.ip, folder=folder, more=more)
    return nginx.start(lab, folder, more=tls, **options)


class Tls:
    """HTTP/1.1 over TLS of one version; sessions may be resumed."""

    def __init__(self, lab: labs.Lab, folder: Path, version: ssl.TLSVersion):
        self.lab = lab
        self.context = ssl.create_default_context(cafile=str(folder / "cert.pem"))
        self.context.minimum_version = self.context.maximum_version = version

    def connect(self, session: ssl.SSLSession | None = None) -> http.client.HTTPConnection:
        raw = self.lab.connect(TLS, timeout=60)
        web = http.client.HTTPConnection(self.lab.ip, TLS)
        web.sock = self.context.wrap_socket(raw, server_hostname=self.lab.ip, session=session)
        return web


def fetch(web: http.client.HTTPConnection, path: str, **options: object) -> bytes:
    web.request(options.pop("method", "GET"), path, **options)
    response = web.getresponse()
    body = response.read()
    assert response.status in (200, 201), (response.status, body[:200])
    return body


VERSIONS = pytest.mark.parametrize(
    "version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["TLS-1.2", "TLS-1.3"]
)


@pytest.mark.sanitize
@VERSIONS
def test_tls(lab, tmp_path, version):
    """Kept connections, a resumed session, 10 MB each way."""
    with start(lab, tmp_path, workers=2):
        digest = nginx.make_file(tmp_path / "files/large", 10 * MB)
        body = (tmp_path / "files/large").read_bytes()
        tls = Tls(lab, tmp_path, version)
        web = tls.connect()
        for _ in range(50):
            assert fetch(web, "/hello") == b"hello\n"
        assert fetch(web, "/resumed").startswith(b". TLSv1")
        assert hashlib.sha256(fetch(web, "/large")).hexdigest() == digest
        fetch(web, "/uploaded", method="PUT", body=body)
        assert (tmp_path / "files/uploaded").read_bytes() == body
        again = tls.connect(web.sock.session)
        assert again.sock.session_reused
        assert fetch(again, "/resumed").startswith(b"r TLSv1")
        for one in (web, again):
            one.close()


def test_tls_load(lab, tmp_path):
    """A handshake for each request, and kept connections."""
    with start(lab, tmp_path, workers=2):
        for header in ([], ["-H", "Connection: close"]):
            argv = ["wrk", "-t1", "-c16", "-d1s", *nginx.PATIENT, *header]
            argv.append(f"https://{lab.ip}/hello")
            out = lab.client.run(argv).stdout
            assert "Socket errors" not in out, out
            assert "Non-2xx" not in out, out
            assert int(re.search(r"(\d+) requests in", out)[1]) > 16


@pytest.mark.sanitize
def test_http2(lab, tmp_path):
    """Many streams of one connection: small responses and 5 MB files in parallel."""
    with start(lab, tmp_path):
        digest = nginx.make_file(tmp_path / "files/large", 5 * MB)
        url = f"https://{lab.ip}"
        curl = ["curl", "-sS", "--http2", "--cacert", tmp_path / "cert.pem", "-Z"]
        form = "%{http_version} %{http_code} %{num_connects}\\n"
        out = ["-o", tmp_path / "got#1", "-w", form]
        said = lab.client.run([*curl, *out, f"{url}/large?[1-10]"]).stdout.splitlines()
        assert all(line.startswith("2 200 ") for line in said), said
        assert sum(int(line.split()[2]) for line in said) == 1, said
        for n in range(1, 11):
            assert hashlib.sha256((tmp_path / f"got{n}").read_bytes()).hexdigest() == digest
        h2load = ["h2load", "-n", 3000, "-c", 8, "-m", 20, f"{url}/hello"]
        said = lab.client.run(h2load).stdout
        assert "3000 total, 3000 started, 3000 done, 3000 succeeded, 0 failed" in said, said


def test_http2_client(lab, tmp_path):
    """curl under the TOE, nginx on the peer."""
    make_certificate(tmp_path, lab.peer_ip)
    more = _TLS_SERVER.format(ip=lab.peer_ip, folder=tmp_path, more="")
    with nginx.start_on_peer(lab, tmp_path, more=more):
        digest = nginx.make_file(tmp_path / "files/large", 5 * MB)
        curl = ["curl", "-sS", "--http2", "--cacert", tmp_path / "cert.pem", "-Z"]
        out = ["-o", tmp_path / "got#1", "-w", "%{http_version} %{http_code}\\n"]
        said = lab.run([*curl, *out, f"https://{lab.peer_ip}/large?[1-10]"]).stdout
        assert said.splitlines() == ["2 200"] * 10
        for n in range(1, 11):
            assert hashlib.sha256((tmp_path / f"got{n}").read_bytes()).hexdigest() == digest


# ---- gRPC

GRPC = 50051


@pytest.mark.parametrize("side", ["server", "client"])
def test_grpc(lab, side):
    """Unary calls, server streams, bidirectional streams; gRPC's own sockets and poller."""
    if side == "server":
        with lab.script("grpc_echo.py", "serve", f"{lab.ip}:{GRPC}", says="ready"):
            argv = [labs.PYTHON, labs.PROGRAMS / "grpc_echo.py", "client", f"{lab.ip}:{GRPC}"]
            assert '"calls": 203' in lab.client.run(argv).stdout
    else:
        with lab.peer_script("grpc_echo.py", "serve", f"{lab.peer_ip}:{GRPC}", says="ready"):
            said = lab.case("grpc_echo.py", "client", f"{lab.peer_ip}:{GRPC}")
            assert said == {"calls": 203}


@pytest.mark.parametrize("backend", ["same TOE", "peer"])
def test_grpc_pass(lab, tmp_path, backend):
    """nginx between client and server, HTTP/2 on both sides."""
    address = f"{lab.ip if backend == 'same TOE' else lab.peer_ip}:{GRPC}"
    start_script = lab.script if backend == "same TOE" else lab.peer_script
    front = f"}} server {{ listen {lab.ip}:{GRPC + 1} http2; "
    front += f"client_max_body_size 0; location / {{ grpc_pass grpc://{address}; }}"
    with (
        start_script("grpc_echo.py", "serve", address, says="ready"),
        nginx.start(lab, tmp_path, more=front),
    ):
        argv = [labs.PYTHON, labs.PROGRAMS / "grpc_echo.py", "client", f"{lab.ip}:{GRPC + 1}"]
        assert '"calls": 203' in lab.client.run(argv).stdout


# ---- a proxy before the server of another TOE


@pytest.fixture
def two_toes():
    """Two labs of one network: the TOE of each reaches the other's."""
    with netns.Hub() as hub, labs.Lab(hub=hub) as front, labs.Lab(hub=hub, host=3) as back:
        yield front, back


@pytest.mark.parametrize("keep", [True, False], ids=["kept", "closed"])
def test_proxy_to_another_toe(two_toes, tmp_path, keep):
    """Client, nginx on one TOE, nginx on another: many requests, 10 MB each way."""
    front, back = two_toes
    (tmp_path / "front").mkdir()
    (tmp_path / "back").mkdir()
    more = f"""}} upstream back {{ server {back.ip}:80; {"keepalive 16;" if keep else ""} }}
    server {{
        listen {front.ip}:81;
        location / {{
            proxy_pass http://back;
            proxy_http_version 1.1;
            proxy_set_header Connection "{"" if keep else "close"}";
            proxy_request_buffering off;
        }}
    """
    with nginx.start(back, tmp_path / "back"), nginx.start(front, tmp_path / "front", more=more):
        files = tmp_path / "back/files"
        digest = nginx.make_file(files / "large", 10 * MB)
        with nginx.Http(front, 81) as web:
            for _ in range(50):
                assert web.get("/hello") == b"hello\n"
            assert web.digest("/large") == digest
            body = (files / "large").read_bytes()
            response = web.start("PUT", "/uploaded", body=body)
            assert response.status == 201
            response.read()
            assert (files / "uploaded").read_bytes() == body
        argv = ["wrk", "-t1", "-c16", "-d1s", *nginx.PATIENT, f"http://{front.ip}:81/hello"]
        out = front.client.run(argv).stdout
        assert "Socket errors" not in out, out
        assert "Non-2xx" not in out, out
    for lab in two_toes:
        lab.wait_idle()
        assert labs.LINUX or lab.counter("tcp_rx") > 1000
