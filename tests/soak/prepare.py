# SPDX-License-Identifier: Apache-2.0
"""What single programs need before they start, and what is compared after they have stopped."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from tests.lab import paths, proc
from tests.soak import talks
from tests.soak.program import Site

# npm's package `node`, where scripts/setup installs it.
NPM_NODE = "node of npm"
NEWEST_NODE = paths.OUT / "node/node_modules/node/bin/node"
MISSING = paths.OUT / "soak-missing"  # PACKAGE TAB REASON, by scripts/setup
PHP_FPM = str(max(Path("/usr/sbin").glob("php-fpm*"), default="php-fpm"))

RABBITMQ = {
    "HOME": "@folder@/state",
    "RABBITMQ_NODENAME": "soak@localhost",
    "RABBITMQ_CONFIG_FILE": "@folder@/rabbitmq.conf",
    "RABBITMQ_CONF_ENV_FILE": "@folder@/none",
    "RABBITMQ_ENABLED_PLUGINS_FILE": "@folder@/state/plugins",
    "RABBITMQ_MNESIA_BASE": "@folder@/state/data",
    "RABBITMQ_LOG_BASE": "@folder@/state/log",
    "RABBITMQ_PID_FILE": "@folder@/state/pid",
    "ERL_EPMD_ADDRESS": "127.0.0.1",
}


def certificate(site: Site) -> None:
    argv = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    argv += ["-subj", "/CN=soak.example.org", "-keyout", site.folder / "key.pem"]
    proc.run([*argv, "-out", site.folder / "cert.pem"])


def empty_folder(site: Site) -> None:
    (site.folder / "empty").mkdir()


def maildir(site: Site) -> None:
    talks.make_maildir(site.folder)


def database(site: Site) -> None:
    """MariaDB's tables, and what its first start has to execute."""
    state = site.folder / "state"
    argv = ["mariadb-install-db", "--no-defaults", f"--datadir={state}", "--user=mysql"]
    proc.run([*argv, "--skip-test-db", "--auth-root-authentication-method=normal"], timeout=120)
    files = [
        f"INSERT INTO soak.files VALUES ({n}, LOAD_FILE('{site.folder}/files/{n}'));"
        for n in range(talks.FILES)
    ]
    sql = [
        "CREATE DATABASE soak;",
        "CREATE TABLE soak.files (number INT PRIMARY KEY, body LONGBLOB NOT NULL);",
        *files,
        "CREATE USER soak@'%';",
        "GRANT ALL ON soak.* TO soak@'%';",
    ]
    (state / "init").write_text("\n".join([*sql, ""]))


def torrent(site: Site) -> None:
    """A torrent of all files, which are complete, where transmission-daemon looks for both."""
    config, pieces = site.folder / "config", 16384
    (config / "torrents").mkdir(parents=True)
    shutil.copy(site.folder / "settings.json", config)
    shutil.copytree(site.folder / "files", site.folder / "state/files")
    bodies = [talks.content(site.folder, n) for n in range(talks.FILES)]
    data = b"".join(bodies)
    sums = [hashlib.sha1(data[i : i + pieces]).digest() for i in range(0, len(data), pieces)]
    listed = [{"length": len(body), "path": [str(n)]} for n, body in enumerate(bodies)]
    info = {"files": listed, "name": "files", "piece length": pieces, "pieces": b"".join(sums)}
    (config / "torrents/files.torrent").write_bytes(_bencode({"info": info}))


def _bencode(value: object) -> bytes:
    match value:
        case int():
            return b"i%de" % value
        case bytes():
            return b"%d:%s" % (len(value), value)
        case str():
            return _bencode(value.encode())
        case list():
            return b"l" + b"".join(map(_bencode, value)) + b"e"
        case dict():
            return b"d" + b"".join(_bencode(k) + _bencode(value[k]) for k in sorted(value)) + b"e"
    raise TypeError(type(value))


def compare_queue(site: Site) -> list[str]:
    """Each message that exim has accepted is in its queue once, with the content that was sent."""
    queued: dict[str, list[bytes]] = {}
    for body in (site.folder / "state/input").rglob("*-D"):
        head = body.with_name(body.name.removesuffix("-D") + "-H").read_text(errors="replace")
        subject = head.split("Subject: ")[1].splitlines()[0]
        lines = body.read_bytes().split(b"\n", 1)[1]  # the first has the message's name
        queued.setdefault(subject, []).append(bytes.fromhex(lines.decode()))
    faults = []
    for line in (site.folder / "accepted").read_text().splitlines():
        serial, number = line.split()
        if queued.get(serial) != [talks.content(site.folder, int(number))]:
            found = [len(body) for body in queued.get(serial, [])]
            faults.append(f"message {serial}, file {number}: in the queue with {found} bytes")
    return faults


def missing(package: str) -> str:
    """Why a package is not installed; "" if it is."""
    if package == NPM_NODE:
        if NEWEST_NODE.exists():
            return ""
    else:
        argv = ["dpkg-query", "-W", "-f", "${db:Status-Status}\n", package]
        if "installed" in proc.run(argv, check=False).stdout.split():
            return ""
    why = {}
    if MISSING.exists():
        why = dict(line.split("\t", 1) for line in MISSING.read_text().splitlines())
    return f"{package} is not installed: {why.get(package, 'run scripts/setup soak')}"


def site_file(site: Site) -> None:
    """What clients need to know of the site."""
    (site.folder / "site").write_text(json.dumps({"peer": site.peer, "ip": site.ip}))
