# SPDX-License-Identifier: Apache-2.0
"""scripts/: their error messages."""

import os
import shutil
import stat

import pytest

from tests.lab import paths, proc


@pytest.fixture
def bare(tmp_path_factory):
    """A copy of scripts/, and of what they import, on a machine without packages; a function that
    runs it as a user."""
    folder = tmp_path_factory.mktemp("bare")
    shutil.copytree(paths.ROOT / "scripts", folder / "scripts")
    shutil.copytree(paths.ROOT / "tests" / "lab", folder / "tests" / "lab")
    query = folder / "bin" / "dpkg-query"
    query.parent.mkdir()
    query.write_text("#!/bin/sh\nexit 1\n")
    query.chmod(query.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    # pytest's folders are for their owner alone.
    for up in [folder, *folder.parents]:
        if up.name.startswith(("bare", "popen-", "pytest-")):
            up.chmod(0o755)

    def run(*argv: str):
        path = f"{query.parent}:{os.environ['PATH']}"
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *argv]
        return proc.run(command, cwd=folder, env={"PATH": path}, check=False)

    return run


def test_setup_without_root_says_what_it_would_install(bare):
    done = bare("scripts/setup", "demo")
    assert done.returncode == 1
    assert "run as root (sudo scripts/setup demo) to install:" in done.stderr
    assert "nginx" in done.stderr
    assert "valgrind" not in done.stderr


def test_setup_refuses_a_group_it_does_not_know(bare):
    done = bare("scripts/setup", "everything")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no group 'everything'" in done.stderr


def test_tests_without_root_say_so(bare):
    done = bare("/usr/bin/python3", "scripts/test")
    assert done.returncode == 1
    assert "run them as root" in done.stderr


def test_build_refuses_a_folder_it_does_not_know(bare):
    done = bare("scripts/build", "somewhere")
    assert done.returncode == 2
    assert "usage: scripts/build" in done.stderr


def test_bench_lists_what_there_is():
    done = proc.run(["scripts/bench"], cwd=paths.ROOT)
    assert "demo" in done.stdout
    refused = proc.run(["scripts/bench", "nothing"], cwd=paths.ROOT, check=False)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "no bench 'nothing'" in refused.stderr


@pytest.fixture
def prose(tmp_path):
    """A function that runs scripts/prose on one file: what it found."""

    def check(name: str, text: str) -> list[str]:
        (tmp_path / name).write_text(text)
        done = proc.run([paths.ROOT / "scripts" / "prose", tmp_path / name], check=False)
        assert (done.returncode, done.stderr) == (1 if done.stdout else 0, "")
        return [line.split(":", 1)[1] for line in done.stdout.splitlines()]

    return check


LONG = "word " * 21


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (LONG, True),
        (f"- {LONG}", True),
        (f"[{LONG}](x.md)", False),
        (f"- ![{LONG}](x.png)", False),
        (f"See [{LONG}](x.md)", True),
        (f"| {LONG} |", False),
        ("x" * 101, False),
        (f"\n    {LONG}", False),
        (f"```\n{LONG}\n```", False),
        (f"<!-- {LONG} -->", False),
    ],
)
def test_prose_finds_long_lines_of_pages(prose, line, found):
    assert bool(prose("page.md", f"# Page\n\n{line}\n\nend\n")) == found


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.md", "A host\nthat is told.", 2),
        ("a.md", "It goes\non after that.", 1),
        ("a.md", "| Nobody |", 1),
        ("a.md", "`told` and [a page](told.md)", None),
        ("a.md", "Untold, a teller, the upper layer", None),
        ("a.c", 'int told; /* the peer\n * is told */ char *s = "// told";', 2),
        ("a.h", "int told; // never", None),
        ("a.sv", "logic told; // is told", 1),
        ("a.py", '"""Told."""\ntold = "told"\n', 1),
        ("a.py", 'def told():\n    """A.\n\n    told\n    """\n', 4),
        ("a.py", 'x = ("told", 1)\ny = x  # as ever\n', 2),
        ("a.py", '"""Runs `tell()` and\n`told`."""\n', None),
        ("a.c", "/* `as\n * told` */", 2),
        ("script", "#!/usr/bin/env python3\n# told\n", 2),
    ],
)
def test_prose_finds_house_words_where_people_read(prose, name, text, line):
    found = prose(name, text)
    assert [int(f.split(":")[0]) for f in found] == ([line] if line else [])


def test_prose_names_the_word_and_what_to_write(prose):
    (found,) = prose("a.md", "The engine is told.\n")
    assert found.startswith("1: 'told': write report")


def test_prose_refuses_what_it_cannot_read(tmp_path):
    (tmp_path / "shell").write_text("#!/bin/sh\n")
    for name, reason in (
        ("no.md", "no such file"),
        ("no", "no such file"),
        ("a.txt", "not one of"),
        ("shell", "nor a Python script"),
    ):
        done = proc.run([paths.ROOT / "scripts" / "prose", tmp_path / name], check=False)
        assert done.returncode == 2 and reason in done.stderr


def test_prose_leaves_out_generated_pages():
    listed = proc.run([paths.ROOT / "scripts" / "prose", "--files"]).stdout.splitlines()
    assert {"README.md", "docs/ARCHITECTURE.md", "bench/figures.py"} <= set(listed)
    assert not {"docs/RFC.md", "docs/COMPATIBILITY.md"} & set(listed)


def test_prose_wraps_what_is_too_long(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        f"# {LONG}\n\n- a {LONG}\n  `code span` end\n- short\nlines\n\n| {LONG} |\n\n    {LONG}\n"
    )
    done = proc.run([paths.ROOT / "scripts" / "prose", "--wrap", page], check=False)
    assert "1: 107 columns" in done.stdout
    heading, _, *item, last, short, lines, _, row, _, code, _ = page.read_text().split("\n")
    assert (heading, short, lines) == (f"# {LONG}", "- short", "lines")
    assert (row, code) == (f"| {LONG} |", f"    {LONG}")
    assert [line[:4] for line in item] == ["- a "] and last.startswith("  word")
    assert last.endswith("`code span` end")
    assert max(map(len, [*item, last])) <= 100


LENGTHS = """
most = 3
files = ["*.c"]
[[exception]]
file = "{file}"
lines = {lines}
why = "a reason"
"""


@pytest.mark.parametrize(
    ("lines", "allowed", "said"),
    [
        (3, None, None),
        (4, None, "4 lines, and it may have 3"),
        (4, 4, None),
        (5, 4, "5 lines, and it may have 4"),
        (3, 4, "it needs no exception"),
    ],
)
def test_lengths_of_files(tmp_path, lines, allowed, said):
    long, table = tmp_path / "long.c", tmp_path / "table"
    long.write_text("\n" * lines)
    table.write_text(LENGTHS.format(file=long if allowed else "other.c", lines=allowed or 9))
    argv = [paths.ROOT / "scripts" / "lengths", "--table", table]
    done = proc.run([*argv, long], check=False)
    assert done.returncode == (1 if said else 0)
    assert said in done.stdout if said else not done.stdout


def test_lengths_needs_a_table_with_reasons_and_files_that_exist(tmp_path):
    table = tmp_path / "table"
    for text, said in (
        ("most = ", "table"),
        ("most = 'x'\n", "most: want a number of lines"),
        ("most = 3\n[[exception]]\nfile = 'a'\nlines = 4\n", "want file, lines and why"),
    ):
        table.write_text(text)
        argv = [paths.ROOT / "scripts" / "lengths", "--table", table]
        done = proc.run(argv, check=False)
        assert (done.returncode, done.stdout) == (2, "") and said in done.stderr
    argv = [paths.ROOT / "scripts" / "lengths", tmp_path / "none.c"]
    done = proc.run(argv, check=False)
    assert done.returncode == 2 and "No such file" in done.stderr


def test_lengths_finds_exceptions_for_no_file(tmp_path):
    table = tmp_path / "table"
    table.write_text(LENGTHS.replace("most = 3", "most = 100000").format(file="gone.c", lines=9))
    done = proc.run([paths.ROOT / "scripts" / "lengths", "--table", table], check=False)
    assert (done.returncode, done.stdout) == (
        1,
        "gone.c: an exception in docs/lengths.toml for no file\n",
    )
