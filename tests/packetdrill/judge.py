# SPDX-License-Identifier: Apache-2.0
"""Linux as the reference: runs scripts that pass on core/ against Linux's TCP, several at a time.
Where Linux differs, a line of tests/packetdrill/linux-differences must give the reason.

    python3 -m tests.packetdrill.judge [SCRIPT]...      prints what differs, for that file
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.packetdrill.api import Result
from tests.packetdrill.errors import ScriptError
from tests.packetdrill.linux import LACKS
from tests.packetdrill.parser import parse
from tests.packetdrill.script import ABSOLUTE, ABSOLUTE_RANGE, ANY, Call
from tests.packetdrill.worker import ROOT, Worker

SCRIPTS = ROOT / "tests" / "packetdrill"
TABLE = SCRIPTS / "linux-differences"
AT_ONCE = 12
# Seconds of real time; longer scripts are not judged.
LONGEST = 12.0
# Attempts. A script that fails by its times alone is repeated at once; then every unexplained
# failure is repeated with no other script running, as the machine may have been busy.
TRIES = 3
TRIES_ALONE = 12  # ... of one that fails by its times; others end after TRIES


def duration(path: Path) -> float:
    """Returns the minimum duration in seconds; events at any time (*) do not count."""
    at = 0
    for e in parse(path.read_text(), str(path)).events:
        if e.time_type in (ABSOLUTE, ABSOLUTE_RANGE):
            at = max(at, e.time)
        elif e.time_type != ANY:
            at += e.time
        if isinstance(e.action, Call) and e.action.end is not None:
            at = max(at, e.action.end if e.time_type == ABSOLUTE else at - e.time + e.action.end)
    return at / 1e6


def about_time(message: str) -> bool:
    return "timing error" in message or "none was sent" in message


def differences(table: Path = TABLE) -> dict[str, str]:
    """Returns the reason for each script, named by its path below the folder of the table."""
    out = {}
    for number, line in enumerate(table.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, _, reason = line.partition(" ")
        if len(reason.strip()) < 15:
            raise ScriptError(f"{table}:{number}: {name} has no reason that explains it")
        if name in out:
            raise ScriptError(f"{table}:{number}: {name} is listed twice")
        out[name] = reason.strip()
    return out


def judge(
    paths: Iterable[Path], explained: Iterable[str] = (), backend: str = "linux"
) -> dict[Path, Result]:
    """Runs all scripts that are short enough; explained: those known to differ."""
    chosen = [p for p in paths if duration(p) <= LONGEST]
    idle: SimpleQueue[Worker] = SimpleQueue()
    workers = [Worker(backend) for _ in range(min(AT_ONCE, len(chosen) or 1))]
    for w in workers:
        idle.put(w)

    def one(path: Path) -> Result:
        worker = idle.get()
        try:
            for _ in range(TRIES):
                result = worker.run(path)
                if result.kind == "ok" or not about_time(result.message):
                    break
            return result
        finally:
            idle.put(worker)

    def known(path: Path) -> bool:
        return LACKS in results[path].message or any(path.match(name) for name in explained)

    try:
        with ThreadPoolExecutor(len(workers)) as pool:
            results = dict(zip(chosen, pool.map(one, chosen), strict=True))
        for path in chosen:
            for n in range(TRIES_ALONE):
                result = results[path]
                if result.kind == "ok" or known(path):
                    break
                if n >= TRIES and not about_time(result.message):
                    break
                results[path] = workers[0].run(path)
        return results
    finally:
        for w in workers:
            w.close()


def complaints(
    results: dict[Path, Result], explained: dict[str, str], folder: Path = SCRIPTS
) -> list[str]:
    """Returns the errors of the table: differences without a line, lines without a difference."""
    out = []
    names = {str(p.relative_to(folder)): r for p, r in results.items()}
    for name, result in names.items():
        if LACKS in result.message:
            continue
        if result.kind != "ok" and name not in explained:
            out.append(
                f"{name}: Linux differs, and {TABLE.name} gives no reason:\n{result.message}"
            )
        if result.kind == "ok" and name in explained:
            out.append(f"{name}: listed in {TABLE.name}, but Linux passes it")
    for name in explained:
        if not (folder / name).exists():
            out.append(f"{name}: listed in {TABLE.name}, but the script does not exist")
    return out


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m tests.packetdrill.judge", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument("script", nargs="*", type=Path, help="a file; all when none is named")
    asked = parser.parse_args().script
    if lost := [str(p) for p in asked if not p.is_file()]:
        parser.error(f"no such file: {', '.join(lost)}")
    paths = [p.resolve() for p in asked] or sorted(SCRIPTS.rglob("*.pkt"))
    explained = differences()
    results = judge(paths, explained)
    found = complaints(results, explained)
    print("\n\n".join(found))
    results = {p: r for p, r in results.items() if LACKS not in r.message}
    differ = sum(r.kind != "ok" for r in results.values())
    print(
        f"\n{len(results)} of {len(paths)} scripts judged (the rest last longer than "
        f"{LONGEST:.0f} s or want what this machine lacks), {differ} differ, "
        f"{len(found)} to examine"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
