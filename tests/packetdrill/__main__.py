# SPDX-License-Identifier: Apache-2.0
"""python3 -m tests.packetdrill [OPTION]... SCRIPT...: runs scripts in packetdrill's language."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from tests.packetdrill.api import run_file
from tests.packetdrill.config import Config, apply
from tests.packetdrill.core import Core
from tests.packetdrill.errors import ScriptError

PASSED_ON = [
    "ip_version",
    "bind_port",
    "connect_port",
    "remote_ip",
    "local_ip",
    "gateway_ip",
    "netmask_ip",
    "mtu",
    "mss",
    "init_scripts",
    "tolerance_usecs",
    "tolerance_percent",
    "tcp_ts_tick_usecs",
    "non_fatal",
    "so_flags",
    "code_sockopt",
]
PASSED_ON_FLAGS = ["tcp_ts_ecr_scaled", "strict_segments", "dry_run"]


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="python3 -m tests.packetdrill", description=__doc__.split(":")[1]
    )
    p.add_argument("--knobs", action="store_true", help="print what --so_flags takes, and end")
    p.add_argument("script", nargs="*", help="a .pkt file, or a folder of them")
    p.add_argument("--backend", choices=["core", "gateware", "linux"], default="core")
    p.add_argument("--json", action="store_true", help="a JSON line for each script")
    p.add_argument("-v", "--verbose", action="store_true", help="packets and calls as they come")
    p.add_argument("-D", "--define", action="append", default=[], metavar="SYMBOL=VALUE")
    for name in PASSED_ON:
        p.add_argument(f"--{name}", metavar="X")
    for name in PASSED_ON_FLAGS:
        p.add_argument(f"--{name}", action="store_true")
    return p


def configuration(options: argparse.Namespace) -> Config:
    config = Config()
    for name in PASSED_ON:
        if (value := getattr(options, name)) is not None:
            config = apply(config, name, value)
    for name in PASSED_ON_FLAGS:
        if getattr(options, name):
            config = apply(config, name, None)
    for definition in options.define:
        config = apply(config, "define", definition)
    return config


def print_knobs() -> None:
    for name, default, text in Core().knobs():
        print(f"{name:26}{default:14}{text}")


def files(names: list[str]) -> list[str]:
    out = []
    for name in names:
        path = Path(name)
        out += sorted(map(str, path.rglob("*.pkt"))) if path.is_dir() else [name]
    return out


def main() -> int:
    options = parser().parse_args()
    if options.knobs:
        print_knobs()
        return 0
    if not options.script:
        parser().error("which script?")
    try:
        config = configuration(options)
    except ScriptError as e:
        print(e, file=sys.stderr)
        return 2
    worst = 0
    for name in files(options.script):
        start = time.monotonic()
        result = run_file(name, options.backend, config, verbose=options.verbose)
        took = time.monotonic() - start
        if options.json:
            record = {"script": name, "result": result.kind, "message": result.message}
            print(json.dumps({**record, "seconds": round(took, 3)}))
        elif result.kind == "ok":
            print(f"{name}: ok")
        else:
            print(result.message, file=sys.stderr)
        worst = max(worst, {"ok": 0, "failed": 1}.get(result.kind, 2))
    return worst


if __name__ == "__main__":
    sys.exit(main())
