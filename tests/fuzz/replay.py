#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one fuzz target on its seeds, on earlier findings, and on mutated copies of both.

    tests/fuzz/replay.py PROGRAM TARGET [CHANGES]

TOE_FUZZ_SEED selects the mutations; the same seed gives the same ones.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import seeds  # noqa: E402

# Number of mutated copies of each file, so that a target takes about a second.
CHANGES = {
    "frame": 100,
    "hello": 8,
    "image": 8,
    "pair": 8,
    "pcap": 300,
    "rings": 40,
    "talk": 20,
    "toe": 60,
    "wire": 300,
}


def main() -> int:
    program, target = str(Path(sys.argv[1]).resolve()), sys.argv[2]
    changes = sys.argv[3] if len(sys.argv) > 3 else str(CHANGES.get(target, 500))
    seed = os.environ.get("TOE_FUZZ_SEED", "1")
    print(f"TOE_FUZZ_SEED={seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="toe-fuzz-") as folder:
        files = seeds.write(Path(folder), target) + sorted((HERE / "found" / target).glob("*"))
        done = subprocess.run([program, "--changes", changes, "--seed", seed, *files], cwd=folder)
        if done.returncode:
            finding = Path(folder) / "finding"
            print(f"{target}: exit {done.returncode}; the input, in hexadecimal:")
            print(finding.read_bytes().hex() if finding.exists() else "not kept")
        return 1 if done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
