# SPDX-License-Identifier: Apache-2.0
"""Simulation: pytest runs gateware/src/*/tb and gateware/sim, in the tools' own Python."""

import os

from .tools import BIN, GATEWARE, OUT, ROOT, run


def main(argv: list[str]) -> int:
    long = "--long" in argv
    argv = [a for a in argv if a != "--long"]
    OUT.mkdir(parents=True, exist_ok=True)
    chosen = [a for a in argv if (ROOT / a.partition("::")[0]).exists()]
    where = [] if chosen else [GATEWARE]
    workers = ["-n", str(os.cpu_count())]
    command = [BIN / "python", "-B", "-m", "pytest", "-q", "-c", GATEWARE / "pytest.ini"]
    command += ["--rootdir", ROOT, "-p", "no:cacheprovider", *workers, "--dist", "worksteal"]
    return run([*command, *([] if long else ["-m", "not long"]), *where, *argv]).returncode
