# SPDX-License-Identifier: Apache-2.0
"""Debian's nginx with a private configuration, on Linux TCP or on Toehold."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import cpu
from tests.lab import ideal, paths, proc
from tests.lab.netns import Namespace, Pair
from tests.lab.toed import Toed

BODY = ("0123456789abcdef" * 16)[:255] + "\n"  # 256 bytes

# The path of each case on the server.
CASES = {"return200": "/return200", "file256": "/file256.txt"}

_CONFIG = """
daemon off;
user root;  # to read the tree wherever it is
worker_processes {workers};
error_log stderr warn;
pid {folder}/nginx.pid;
events {{
    worker_connections 16384;
}}
http {{
    access_log off;
    sendfile on;
    keepalive_requests 1000000000;
    keepalive_timeout 600s;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen {address}:80;
        default_type text/plain;
        root {root};
        location = /return200 {{
            return 200 "{body}";
        }}
    }}
}}
"""


def write_config(folder: Path, address: str, *, workers: int = 1, root: Path | None = None) -> Path:
    """Write nginx.conf and the served files into folder, which is emptied first. root: a folder of
    files to serve instead."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "www").mkdir(parents=True)
    (folder / "www" / "file256.txt").write_text(BODY)
    conf = folder / "nginx.conf"
    values = {"address": address, "workers": workers, "body": BODY, "root": root or folder / "www"}
    conf.write_text(_CONFIG.format(folder=folder, **values).lstrip())
    return conf


def command(
    folder: Path, address: str, *, workers: int = 1, root: Path | None = None
) -> list[object]:
    """Return the command of nginx in the foreground; writes its configuration into folder."""
    conf = write_config(folder, address, workers=workers, root=root)
    # -e: also for errors before the configuration is read.
    return ["/usr/sbin/nginx", "-e", "stderr", "-p", folder, "-c", conf]


class Nginx:
    """Run nginx and wait for its first answer; on toed when one is given, else on Linux.

    wrap    changes nginx's command: another TOE, one core.
    name    of its folder, when several run on the same system.
    root    of the files served; None: those of CASES.
    """

    def __init__(
        self,
        pair: Pair,
        *,
        toed: Toed | None = None,
        workers: int = 1,
        wrap: Callable[[Sequence[object]], Sequence[object]] = list,
        name: str | None = None,
        root: Path | None = None,
    ):
        self.client: Namespace = pair.client
        self.base = f"http://{pair.server_ip}"
        folder = paths.OUT / "nginx" / (name or ("toehold" if toed else "linux"))
        argv = command(folder, pair.server_ip, workers=workers, root=root)
        argv = wrap(toed.wrapped(argv) if toed else argv)
        self.proc = pair.server.start(argv, log=folder / "nginx.log", name="nginx")
        try:
            proc.wait_port(pair.client, pair.server_ip, 80, proc=self.proc)
            for path in CASES.values() if not root else [CASES["return200"]]:
                self.verify(path)
        except BaseException:
            self.proc.stop()
            raise

    def __enter__(self) -> Nginx:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.proc.stop()

    def url(self, case: str) -> str:
        return self.base + CASES[case]

    def verify(self, path: str) -> None:
        """Fetch path twice on one connection; raise Failed unless both are 200 with the right
        body.
        """
        url = self.base + path
        got = self.client.run(
            ["curl", "-sS", "--max-time", "10", "-w", "%{http_code} %{num_connects}\\n", url, url]
        ).stdout
        if got != f"{BODY}200 1\n{BODY}200 0\n":
            raise proc.Failed(f"{url} did not answer as configured:\n{got}")

    def workers(self) -> list[int]:
        return self.proc.children()

    def cpu(self) -> cpu.CpuTime:
        """Return the CPU time of the workers; the master only supervises them."""
        return cpu.of_all(self.workers())


class OverIdeal:
    """One run of nginx over the ideal TOE (bench/ideal/), which requests the path of case.

    toe_prefix, nginx_prefix    prefixes of the two commands: to pin each to a core.
    """

    def __init__(
        self,
        folder: Path,
        case: str,
        *,
        toe_prefix: Sequence[object] = (),
        nginx_prefix: Sequence[object] = (),
    ):
        self.folder, self.case = folder, case
        self.toe_prefix, self.nginx_prefix = toe_prefix, nginx_prefix

    def __call__(
        self,
        args: Sequence[object],
        during: Callable[[ideal.Ideal, int], object],
        *,
        timeout: float,
        under: Callable[[Sequence[object]], Sequence[object]] = list,
    ) -> tuple[dict, object]:
        """Run toe-ideal with args; return its result, and that of during(toe, worker).

        If the latter is a function, it is called with the worker's process id at the end of the
        measurement, and its result is returned. under changes nginx's command: under valgrind.
        """
        argv = under(command(self.folder, ideal.IP))
        with (
            ideal.Ideal("--get", CASES[self.case], *args, prefix=self.toe_prefix) as toe,
            toe.app(argv, prefix=self.nginx_prefix) as server,
        ):
            proc.wait_until(server.children, "nginx's worker", proc=server)
            worker = server.children()[0]
            given = during(toe, worker)
            code, found = toe.result(timeout)
            whole = code == 0 and found["answer_bytes"] > len(BODY)
            if not whole or found["status"] != 200:
                raise proc.Failed(f"toe-ideal ended with {code}{toe.proc.tail()}{server.tail()}")
            given = given(worker) if callable(given) else given
            server.stop(20)
            return found, given
