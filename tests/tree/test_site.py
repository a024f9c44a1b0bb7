# SPDX-License-Identifier: Apache-2.0
"""The site of docs/, and the page of counters, which is generated from the sources."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import re
from types import ModuleType

import pytest

from tests.lab import paths, proc


def script(name: str) -> ModuleType:
    loader = importlib.machinery.SourceFileLoader(name, str(paths.ROOT / "scripts" / name))
    spec = importlib.util.spec_from_loader(name, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def counters() -> ModuleType:
    return script("counters")


def test_the_page_of_counters_is_current(counters):
    assert (paths.ROOT / counters.PAGE).read_text() == counters.page(paths.ROOT)


def test_the_page_has_every_counter_of_the_sources(counters):
    """Also if a list is not written as usual: each X( is an entry."""
    for _heading, file, name, _drops in counters.LISTS:
        text = (paths.ROOT / file).read_text()
        body = re.search(rf"#define {name}\(X\)(?:.*\\\n)*.*\n", text)[0]
        names = re.findall(r"X\(\s*(\w+),", body)
        assert [n for n, _ in counters.entries(text, name)] == names
        assert len(names) > 50


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        (
            '#define L(X) \\\n X(a, "one") \\\n X(b, "two " \\\n "\\"parts\\"")\n',
            [("a", "one"), ("b", 'two "parts"')],
        ),
        ("#define M(X)\n", []),
    ],
)
def test_entries_of_a_list(counters, text, entries):
    assert counters.entries(text, "L") == entries


def test_counters_that_the_runbook_names_exist(counters):
    page = counters.page(paths.ROOT)
    known = set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))
    runbook = (paths.ROOT / "docs" / "OPERATIONS.md").read_text()
    named = set(re.findall(r"`([a-z0-9]+_[a-z0-9_]+)`", runbook))
    assert len(named) > 30
    assert named - known == set()


def test_docs_refuses_unknown_words():
    done = proc.run([paths.ROOT / "scripts" / "docs", "--all"], check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: scripts/docs [FOLDER]" in done.stderr


@pytest.mark.long
def test_the_site_is_made_without_a_warning(tmp_path):
    done = proc.run([paths.ROOT / "scripts" / "docs", tmp_path / "site"], timeout=300)
    assert done.stderr == ""
    start = (tmp_path / "site" / "README.html").read_text()
    for page in (paths.ROOT / "docs").glob("*.md"):
        assert (tmp_path / "site" / f"{page.stem}.html").exists()
        assert f"{page.stem}.html" in start or page.stem == "README"
