# SPDX-License-Identifier: Apache-2.0
"""Debian's nginx with a configuration of its own, and an HTTP client over a given socket."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import random
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from tests.lab import lab as labs
from tests.lab import proc

_CONFIG = """
user {user};
daemon {daemon};
worker_processes {workers};
pid {folder}/nginx.pid;
error_log stderr notice;
events {{ worker_connections {connections}; }}
http {{
    access_log off;
    sendfile {sendfile};
    keepalive_requests 1000000;
    keepalive_timeout 900s;
    client_header_timeout 900s;
    client_max_body_size 0;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    default_type application/octet-stream;
    server {{
        listen {listen};
        location = /hello {{ return 200 "hello\\n"; }}
        location = /pid {{ return 200 "$pid"; }}
        location / {{ root {folder}/files; dav_methods PUT DELETE; }}
        {more}
    }}
}}
"""

# Options of wrk, which counts an answer after 2 s as a failure by default.
PATIENT = ("--timeout", "60s")


def configuration(
    folder: Path,
    listen: str,
    *,
    workers: int = 1,
    sendfile: bool = True,
    connections: int = 2048,
    user: str = "root",
    daemon: bool = False,
    more: str = "",
) -> list[str]:
    """Writes a configuration that serves the files of folder. Returns nginx's command line."""
    (folder / "files").mkdir(exist_ok=True)
    folder.chmod(0o755)
    config = folder / "nginx.conf"
    config.write_text(
        _CONFIG.format(
            folder=folder,
            listen=listen,
            workers=workers,
            sendfile="on" if sendfile else "off",
            connections=connections,
            user=user,
            daemon="on" if daemon else "off",
            more=more,
        )
    )
    # The absolute path: nginx executes itself by argv[0].
    return [shutil.which("nginx"), "-e", "stderr", "-p", str(folder), "-c", str(config)]


def start(
    lab: labs.Lab, folder: Path, *, port: int = 80, env: dict | None = None, **options: object
) -> proc.Proc:
    """nginx under test, all its workers running."""
    argv = configuration(folder, f"{lab.ip}:{port}", **options)
    server = lab.app(argv, env=env)
    workers = options.get("workers", 1)
    proc.wait_until(lambda: len(server.children()) == workers, "nginx's workers", proc=server)
    if lab.toed:
        # An earlier connection would belong to the master, which releases its slot only at its next
        # socket call: perhaps never.
        proc.wait_until(
            lambda: set(server.children()) <= lab.listening(), "nginx's workers listen", proc=server
        )
    proc.wait_port(lab.client, lab.ip, port, proc=server)
    return server


def start_on_peer(lab: labs.Lab, folder: Path, *, port: int = 80, **options: object) -> proc.Proc:
    """nginx on the Linux peer."""
    argv = configuration(folder, f"{lab.peer_ip}:{port}", **options)
    return lab.peer(argv, port=port)


def make_file(path: Path, size: int, seed: int = labs.SEED) -> str:
    """A file of pseudo-random bytes; its SHA-256."""
    data = random.Random(seed).randbytes(size)
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()


class Http:
    """HTTP/1.1 over one connection from the peer to the address under test.

    A timeout is reported with the request, the connection and the state of both ends.
    """

    def __init__(self, lab: labs.Lab, port: int = 80, *, timeout: float = 60):
        self._lab, self._answers = lab, 0
        self.sock: socket.socket = lab.connect(port, timeout=timeout)
        self._name = f"from port {self.sock.getsockname()[1]} to port {port}"
        self._c = http.client.HTTPConnection(lab.ip, port)
        self._c.sock = self.sock

    def __enter__(self) -> Http:
        return self

    def __exit__(self, *_exc: object) -> None:
        self._c.close()
        self.sock.close()

    @contextlib.contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        began = time.monotonic()
        which = f"{what} {self._name}, after {self._answers} answers"
        try:
            yield
        except TimeoutError as e:
            raise TimeoutError(
                f"{which}: {e}, {time.monotonic() - began:.1f} s after it began\n"
                f"{self._lab.report()}"
            ) from None
        except ConnectionError as e:
            if e.strerror:
                e.strerror += f" ({which})"
            raise

    def start(self, method: str, path: str, **options: object) -> http.client.HTTPResponse:
        with self._explained(f"{method} {path}"):
            self._c.request(method, path, **options)
            return self._c.getresponse()

    def get(self, path: str, **headers: str) -> bytes:
        """The body of a GET that must succeed."""
        response = self.start("GET", path, headers=headers)
        with self._explained(f"the body of GET {path}"):
            body = response.read()
        assert response.status == 200, (response.status, body[:200])
        self._answers += 1
        return body

    def digest(self, path: str) -> str:
        """The SHA-256 of a GET's body."""
        response = self.start("GET", path)
        assert response.status == 200
        digest = hashlib.sha256()
        with self._explained(f"the body of GET {path}"):
            while chunk := response.read(1 << 20):
                digest.update(chunk)
        self._answers += 1
        return digest.hexdigest()


def get(lab: labs.Lab, path: str, port: int = 80) -> bytes:
    """A GET over a connection of its own that the server closes."""
    with Http(lab, port) as http_:
        return http_.get(path, Connection="close")
