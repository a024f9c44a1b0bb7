# SPDX-License-Identifier: Apache-2.0
"""The records of proofs: what they list is not proved again; what has changed is."""

import json
import shutil
import subprocess

import pytest

from gateware.lib import formal, proved
from tests.lab import paths

PROOF = "bits"
SOURCE = "core/src/base/bits.h"


def test_a_digest_depends_on_every_part():
    whole = ["a", "bc", "d"]
    others = [["a", "b", "cd"], ["a", "bc"], ["a", "bc", "e"], ["abcd"], []]
    assert proved.digest(whole) == proved.digest(list(whole))
    assert len({proved.digest(parts) for parts in [whole, *others]}) == 6


def test_a_record_is_read_as_written(tmp_path):
    path = tmp_path / "proved.txt"
    record = proved.Record(path)
    record.write({"b": proved.digest("x"), "a": proved.digest("y"), "old": "0" * 32}, ["a", "b"])
    assert [line.split()[1] for line in path.read_text().splitlines()] == ["a", "b"]
    again = proved.Record(path)
    assert again.has("b", proved.digest("x"))
    assert not again.has("b", proved.digest("y"))
    assert not again.has("c", proved.digest("x"))


def test_a_broken_record_is_an_error(tmp_path):
    path = tmp_path / "proved.txt"
    path.write_text("abc bits\n")
    with pytest.raises(ValueError, match=r"proved.txt:1: 'abc bits'"):
        proved.Record(path)


@pytest.fixture
def tree(tmp_path):
    """What a proof needs, and nothing proved."""
    for folder in ("core/include", "core/src", "device", "netio/include", "engine/src", "scripts"):
        shutil.copytree(paths.ROOT / folder, tmp_path / folder)
    for folder in ("tests/proofs", "gateware/lib"):
        shutil.copytree(paths.ROOT / folder, tmp_path / folder)
    (tmp_path / "tests" / "proofs" / "proved.txt").unlink(missing_ok=True)
    (tmp_path / "gateware" / "__init__.py").touch()
    table = tmp_path / "tests" / "proofs" / "proofs.toml"
    start = table.read_text().index(f"\n[{PROOF}]\n")
    table.write_text(table.read_text()[start:].split("\n\n[")[0] + "\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "cbmc").symlink_to(paths.ROOT / "out" / "cbmc")
    return tmp_path


def prove(tree, *options):
    """The result of the one proof."""
    out = tree / "results"
    out.unlink(missing_ok=True)
    command = [tree / "scripts" / "proofs", "--json", out, *options]
    subprocess.run(command, check=True, capture_output=True)
    return json.loads(out.read_text())


def test_only_what_has_changed_is_proved_again(tree):
    assert not prove(tree)["recorded"]
    assert not prove(tree, "--record")["recorded"]
    assert prove(tree)["recorded"]
    for words in (["--all"], ["--long"], [PROOF]):
        assert not prove(tree, *words)["recorded"], words
    source = tree / SOURCE
    source.write_text(source.read_text() + "\n/* a comment */\n")
    assert prove(tree)["recorded"]
    source.write_text(source.read_text() + "\nextern int more;\n")
    assert not prove(tree)["recorded"]


def test_the_digest_of_a_proof_of_the_gateware(monkeypatch, tmp_path):
    proofs = formal.load()
    proof = next(
        p for p in proofs.values() if p["mode"] == "prove" and "commands" not in p["files"]
    )
    fault = proof["faults"][0]
    tree = tmp_path / "gateware"
    for file in [*proof["files"], "requirements.txt"]:
        (tree / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(paths.ROOT / "gateware" / file, tree / file)
    monkeypatch.setattr(formal, "GATEWARE", tree)
    first = formal.digest_of(proof, None)
    assert first != formal.digest_of(proof, fault)
    assert first != formal.digest_of({**proof, "depth": proof["depth"] + 1}, None)
    source = tree / proof["files"][0]
    source.write_text(source.read_text() + "\n")
    assert first != formal.digest_of(proof, None)
