# SPDX-License-Identifier: Apache-2.0
"""scripts/: what they say when something is wrong."""

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
