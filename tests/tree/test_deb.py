# SPDX-License-Identifier: Apache-2.0
"""make deb: lintian has nothing to say, and what the packages have works when unpacked."""

import subprocess

import pytest

from tests.lab import debian

pytestmark = pytest.mark.long

FILES = {
    "toehold": [
        "etc/default/toed",
        "etc/toehold/toehold.toml",
        "lib/systemd/system/toed.service",
        "usr/bin/toed",
        "usr/bin/toehold",
        "usr/bin/toehold-bench",
        "usr/lib/sysusers.d/toehold.conf",
        "usr/libexec/toehold/toed-take-over",
        "usr/share/bash-completion/completions/toehold",
        "usr/share/man/man1/toed.1.gz",
        "usr/share/man/man1/toehold.1.gz",
        "usr/share/zsh/vendor-completions/_toehold",
    ],
    "libtoe1": [],
    "libtoe-dev": [
        "usr/include/toe/toe.h",
        "usr/share/toehold/core/toe_core.c",
        "usr/share/toehold/core/toe_core.h",
    ],
    "toehold-gateware": ["usr/share/toehold/gateware/toe/rtl/toe_core.sv"],
}


@pytest.fixture(scope="module")
def packages():
    return debian.packages()


@pytest.fixture(scope="module")
def root(packages, tmp_path_factory):
    """All of them unpacked into one folder."""
    root = tmp_path_factory.mktemp("root")
    for name in FILES:
        subprocess.run(["dpkg-deb", "-x", packages[name], root], check=True)
    return root


def test_each_package_has_its_files(packages, root):
    assert set(FILES) <= set(packages)
    missing = [f for files in FILES.values() for f in files if not (root / f).exists()]
    assert not missing


@pytest.mark.parametrize("program", ["toed", "toehold", "toehold-bench"])
def test_programs_run(root, program):
    done = subprocess.run([root / "usr/bin" / program, "--help"], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: {program.replace('-', ' ')}")


def test_a_program_is_built_with_libtoe_dev(root, tmp_path):
    (folder,) = root.glob("usr/lib/*/pkgconfig")
    env = {"PKG_CONFIG_PATH": str(folder), "PKG_CONFIG_SYSROOT_DIR": str(root)}
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "toe"],
        env={**env, "PATH": "/usr/bin"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    source = tmp_path / "version.c"
    source.write_text(
        "#include <stdio.h>\n#include <toe/toe.h>\nint main(void) { return toe_close(-1) != -1; }\n"
    )
    program = tmp_path / "version"
    subprocess.run(["cc", source, *flags, "-o", program], check=True)
    env = {"LD_LIBRARY_PATH": str(folder.parent)}
    assert subprocess.run([program], env=env).returncode == 0
