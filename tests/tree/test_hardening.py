# SPDX-License-Identifier: Apache-2.0
"""How what is installed was built (docs/SECURITY.md, "How it is built"): read from the files, as
hardening-check does, and from the compiler's command lines, as blhc does."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.lab import paths

PROGRAMS = {"engine/toed", "cli/toehold", "bench/load/toehold-bench"}
LIBRARIES = {"manager/libtoe.so.1", "manager/libtoe_preload.so", "engine/libtoe_inline.so"}
INSTALLED = sorted(PROGRAMS | LIBRARIES)
FLAGS = {"-fstack-clash-protection", "-fcf-protection=return"}
# The data path has the weaker protector, as the other costs more than 1 % of its instructions.
DATA_PATH = ("core/src/", "engine/src/")
# Sources of what is installed; of tests only their programs' own count.
PRODUCT = ("core/src/", "device/src/", "netio/src/", "engine/src/", "manager/src/", "cli/")


def option(name: str) -> object:
    """A meson option of the build under test."""
    text = (paths.build_dir("toed") / "meson-info" / "intro-buildoptions.json").read_text()
    return next(o["value"] for o in json.loads(text) if o["name"] == name)


@pytest.fixture(autouse=True)
def _hardened():
    if not option("hardening"):
        pytest.skip("built with -Dhardening=false")


def readelf(name: str, *what: str) -> str:
    path = paths.build_dir("toed") / name
    assert path.exists(), f"{path} is not built: run `make build`"
    command = ["readelf", "--wide", *what, path]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", INSTALLED)
def test_position_independent(name):
    assert re.search(r"Type:\s+DYN", readelf(name, "--file-header"))
    dynamic = readelf(name, "--dynamic")
    assert "TEXTREL" not in dynamic
    if name in PROGRAMS:
        assert re.search(r"FLAGS_1.*\bPIE\b", dynamic)


@pytest.mark.parametrize("name", INSTALLED)
def test_relocations_are_read_only(name):
    assert "GNU_RELRO" in readelf(name, "--program-headers")
    assert re.search(r"FLAGS_1.*\bNOW\b", readelf(name, "--dynamic"))


@pytest.mark.parametrize("name", INSTALLED)
def test_no_memory_is_writable_and_executable(name):
    headers = readelf(name, "--program-headers")
    assert re.search(r"GNU_STACK\s+\S+\s+\S+\s+\S+\s+\S+\s+\S+\s+RW\s", headers)
    assert not re.search(r"LOAD\s.*\sRWE\s", headers)


@pytest.fixture(scope="module")
def start_files_have_cet(tmp_path_factory) -> bool:
    """Whether a program can be marked at all: the linker wants it of the C library's files too."""
    folder = tmp_path_factory.mktemp("cet")
    (folder / "x.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-fcf-protection", folder / "x.c", "-o", folder / "x"], check=True)
    notes = subprocess.run(["readelf", "--notes", folder / "x"], capture_output=True, text=True)
    return "SHSTK" in notes.stdout


@pytest.mark.parametrize("name", INSTALLED)
def test_control_flow_is_checked(name, start_files_have_cet):
    if not start_files_have_cet:
        pytest.skip("this system's C library has no CET")
    assert re.search(r"x86 feature:.*SHSTK", readelf(name, "--notes"))


@pytest.mark.parametrize("name", INSTALLED)
def test_stacks_are_protected(name):
    assert "__stack_chk_fail" in readelf(name, "--dyn-syms")


@pytest.mark.parametrize("name", INSTALLED)
def test_functions_of_the_c_library_check_sizes(name):
    imported = set(re.findall(r"UND (\w+)_chk@", readelf(name, "--dyn-syms")))
    assert imported & {"__memcpy", "__snprintf", "__vsnprintf", "__fprintf"}, imported


def commands() -> dict[str, list[str]]:
    """How each source of the product is compiled, the first way if there are several."""
    build = paths.build_dir("toed")
    found: dict[str, list[str]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = (Path(entry["directory"]) / entry["file"]).resolve()
        if source.is_relative_to(paths.ROOT) and ".p/" in entry["output"]:
            name = str(source.relative_to(paths.ROOT))
            if name.startswith(PRODUCT) and "/tests/" not in name:
                found.setdefault(name, shlex.split(entry["command"]))
    return found


def test_every_source_is_compiled_with_the_flags():
    found = commands()
    assert len(found) > 250
    lacking = {name: FLAGS - set(words) for name, words in found.items() if FLAGS - set(words)}
    assert not lacking


def test_the_protector_is_the_strong_one_but_for_the_data_path():
    for name, words in commands().items():
        last = [word for word in words if word.startswith("-fstack-protector")][-1]
        allowed = {"-fstack-protector-strong"}
        if name.startswith(DATA_PATH):
            allowed.add("-fstack-protector")
        assert last in allowed, name


def test_fortify_is_on_but_for_preloaded_names():
    """The preload library defines what the C library's headers would replace."""
    without = []
    for name, words in commands().items():
        levels = [word for word in words if "_FORTIFY_SOURCE" in word]
        assert levels, f"{name}: no level"
        if levels[-1] == "-U_FORTIFY_SOURCE":
            without.append(name)
        else:
            assert levels[-1] in ("-D_FORTIFY_SOURCE=3", "-D_FORTIFY_SOURCE=2")
    assert without
    assert all(name.startswith("manager/src/preload/") for name in without), without
