# SPDX-License-Identifier: Apache-2.0
"""The gateware TOE in virtual time, tested by the scripts that test core/. Each difference has a
line in tests/packetdrill/gateware-differences and a reason in docs/gateware-differences.md."""

import os
import subprocess
from pathlib import Path

import pytest

from gateware.lib import differences, virtual
from tests.lab.paths import ROOT
from tests.packetdrill.api import Result
from tests.packetdrill.judge import SCRIPTS
from tests.packetdrill.worker import Worker


def test_scripts_differ_from_core_where_it_is_said() -> None:
    virtual.library()
    with Worker("gateware") as worker:
        paths = sorted(SCRIPTS.rglob("*.pkt"))
        results = {str(p.relative_to(SCRIPTS)): worker.run(p) for p in paths}
    known = differences.expected()
    found = differences.complaints(results, known)
    assert not found, "\n\n".join(found)
    assert len(results) > 2 * len(known)


def test_scripts_over_ipv6() -> None:
    """Runs the scripts that core/ passes over IPv6 too, with an MTU that gives the scripts' MSS.
    Unlike with IPv4, neighbours are not resolved beforehand."""
    virtual.library()
    options = [("ip_version", "ipv6"), ("mtu", "1520")]
    differs = differences.expected()
    failed, passed = [], 0
    with Worker("core") as core, Worker("gateware") as gateware:
        for path in sorted(SCRIPTS.rglob("*.pkt")):
            if str(path.relative_to(SCRIPTS)) in differs:
                continue
            if core.run(path, options).kind == "ok":
                result = gateware.run(path, options)
                passed += result.kind == "ok"
                if result.kind != "ok":
                    failed.append(result.message)
    assert not failed, "\n\n".join(failed)
    assert passed > 250


def test_each_name_is_explained() -> None:
    used = {name for _, name in differences.expected().values()}
    told = differences.names()
    assert sorted(used) == sorted(told)


def test_complaints_name_what_is_new_and_what_has_gone() -> None:
    known = {"a/b.pkt": (7, "no-such-thing"), "a/gone.pkt": (3, "no-such-thing")}
    same = Result("failed", "tests/a/b.pkt:7: none was sent")
    other = Result("failed", "tests/a/b.pkt:9: none was sent")
    assert len(differences.complaints({"a/b.pkt": same}, known)) == 1  # only a/gone.pkt
    del known["a/gone.pkt"]
    assert differences.complaints({"a/b.pkt": same}, known) == []
    assert "at another now" in differences.complaints({"a/b.pkt": other}, known)[0]
    assert "passes now" in differences.complaints({"a/b.pkt": Result("ok")}, known)[0]
    assert "does not have" in differences.complaints({"a/b.pkt": same}, {})[0]


def test_table_is_read(tmp_path: Path) -> None:
    table = tmp_path / "t"
    table.write_text("# x\n\na/b.pkt:7 no-x\n")
    assert differences.expected(table) == {"a/b.pkt": (7, "no-x")}
    table.write_text("a/b.pkt no-x\n")
    with pytest.raises(ValueError, match="SCRIPT:LINE NAME"):
        differences.expected(table)


@pytest.mark.parametrize("mode", ["peer", "pair"])
@pytest.mark.parametrize(
    "runs", [60, pytest.param(5000, marks=pytest.mark.long)], ids=["short", "long"]
)
def test_property_tests_of_core(mode: str, runs: int) -> None:
    """Runs core/tests/prop on the gateware: random scripts, and invariants after each event."""
    seed = int(os.environ.get("TOE_TEST_SEED", "1"), 0)
    argv = [virtual.prop(), "--mode", mode, "--seed", str(seed), "--runs", str(runs)]
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert f"{runs} runs" in done.stdout


def test_scripts_that_were_once_wrong() -> None:
    """Runs each of core/tests/prop/scripts on the gateware."""
    scripts = sorted((ROOT / "core" / "tests" / "prop" / "scripts").glob("*.prop"))
    assert scripts
    for script in scripts:
        done = subprocess.run(
            [virtual.prop(), "--replay", script], capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, f"{script.name}: {done.stdout[-4000:]}{done.stderr[-2000:]}"
