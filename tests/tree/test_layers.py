# SPDX-License-Identifier: Apache-2.0
"""scripts/layers: what points up is found, in each way that a file can use another."""

import json
import subprocess

import pytest

from tests.lab import paths

TABLE = """
product = ["low", "high"]
[library]
jansson = ["jansson.h"]
libc = []
[room."low"]
what = "below"
uses = []
acyclic = true
libraries = ["libc"]
[room."high"]
what = "above"
uses = ["low"]
libraries = ["libc"]
"""
PAGE = """# Architecture
<!-- layers: written by scripts/layers write -->
<!-- end of layers -->
"""
GOOD = {
    "low/sum.h": "int sum(int a);\n",
    "low/sum.c": '#include "sum.h"\nint sum(int a) { return a; }\n',
    "high/main.h": "int top(void);\n",
    "high/main.c": '#include "main.h"\n#include "sum.h"\nint top(void) { return sum(1); }\n',
    "low/gate.sv": "module gate; endmodule\n",
    "high/chip.sv": "module chip; gate g(); endmodule\n",
    "low/tool.py": "X = 1\n",
    "high/use.py": "from low.tool import X\n",
}


class Tree:
    def __init__(self, root):
        self.root = root
        self.files = dict(GOOD)
        self.table = TABLE

    def run(self, action="check"):
        git = ["git", "-C", self.root]
        subprocess.run([*git, "init", "-q"], check=True)
        (self.root / "docs").mkdir(exist_ok=True)
        (self.root / "docs" / "layers.toml").write_text(self.table)
        page = self.root / "docs" / "ARCHITECTURE.md"
        if not page.exists():
            page.write_text(PAGE)
        for name, text in self.files.items():
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_text(text)
        self.compile()
        layers = [paths.ROOT / "scripts" / "layers", action, "--root", self.root]
        return subprocess.run(layers, capture_output=True, text=True)

    def compile(self):
        build, commands = self.root / "build", []
        build.mkdir(exist_ok=True)
        for name in self.files:
            if name.endswith(".c"):
                out = name.replace("/", "_") + ".o"
                command = f"cc -I../low -I../high -o {out} -c ../{name}"
                commands.append(
                    {
                        "directory": str(build),
                        "command": command,
                        "file": f"../{name}",
                        "output": out,
                    }
                )
                subprocess.run(command.split(), cwd=build, check=True)
        (build / "compile_commands.json").write_text(json.dumps(commands))
        (self.root / ".gitignore").write_text("/build/\n")

    def faults(self):
        assert self.run("write").returncode == 0
        done = self.run()
        assert done.stderr == ""
        assert done.returncode == (1 if done.stdout else 0)
        return done.stdout.splitlines()


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def test_a_tree_that_points_down_is_clean(tree):
    assert tree.faults() == []
    page = (tree.root / "docs" / "ARCHITECTURE.md").read_text()
    assert page.index("[ high/ ]") < page.index("[ low/ ]")
    assert "| high/ | above | low, libc |" in page


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("low/sum.c", '#include "main.h"\nint sum(int a) { return a; }\n', "includes high/main.h"),
        (
            "low/sum.c",
            "int top(void);\nint sum(int a) { return a + top(); }\n",
            "refers to top of high/main.c",
        ),
        ("low/tool.py", "from high import use\n", "imports high/use.py"),
        ("low/tool.py", "import high.use\n", "imports high/use.py"),
        ("low/gate.sv", "module gate; chip c(); endmodule\n", "names high/chip.sv"),
    ],
)
def test_what_points_up_is_found(tree, name, text, fault):
    tree.files[name] = text
    assert tree.faults() == [f"{name}: {fault}: low may not use high"]


def test_a_comment_names_no_module(tree):
    tree.files["low/gate.sv"] = "// as chip has it\nmodule gate; /* chip */ endmodule\n"
    assert tree.faults() == []


def test_a_door_is_the_way_up(tree):
    tree.files["low/sum.c"] = '#include "main.h"\nint sum(int a) { return a + top(); }\n'
    tree.table += 'doors = ["high/main.h"]\n'
    assert tree.faults() == []


def test_a_door_opens_only_for_what_it_declares(tree):
    tree.files["low/sum.c"] = "int side(void);\nint sum(int a) { return a + side(); }\n"
    tree.files["high/side.c"] = "int side(void);\nint side(void) { return 1; }\n"
    tree.table += 'doors = ["high/main.h"]\n'
    assert tree.faults() == [
        "low/sum.c: refers to side of high/side.c: low may not use high",
    ]


def test_a_port_is_supplied_from_above(tree):
    tree.files["low/port.h"] = "int top(void);\n"
    tree.files["low/sum.c"] = '#include "port.h"\nint sum(int a) { return a + top(); }\n'
    tree.table = tree.table.replace("acyclic = true", 'ports = ["low/port.h"]')
    assert tree.faults() == []


def test_an_exception_has_a_reason_and_is_needed(tree):
    exception = """
[[exception]]
from = "low/sum.c"
to = "high/main.h"
why = "a test"
"""
    tree.table += exception
    unneeded = "docs/layers.toml: the exception low/sum.c -> high/main.h is not needed any more"
    assert tree.faults() == [unneeded]
    tree.files["low/sum.c"] = '#include "main.h"\nint sum(int a) { return a; }\n'
    assert tree.faults() == []


def test_a_circle_of_files(tree):
    tree.files["low/a.h"] = "int a(void);\n"
    tree.files["low/b.h"] = "int b(void);\n"
    tree.files["low/a.c"] = '#include "a.h"\n#include "b.h"\nint a(void) { return b(); }\n'
    tree.files["low/b.c"] = '#include "b.h"\n#include "a.h"\nint b(void) { return a(); }\n'
    (fault,) = tree.faults()
    assert fault.startswith("files in a circle: low/")


def test_a_library_that_is_not_allowed(tree):
    tree.files["low/sum.c"] = "#include <jansson.h>\nint sum(int a) { return a; }\n"
    assert tree.faults() == [
        "low/sum.c: includes <jansson.h> of jansson, which low may not use",
    ]


def test_the_c_library_is_one_too(tree):
    tree.files["low/sum.c"] = "#include <stdio.h>\nint sum(int a) { return a; }\n"
    tree.table = tree.table.replace('acyclic = true\nlibraries = ["libc"]', "acyclic = true")
    assert tree.faults() == ["low/sum.c: includes <stdio.h>, and low may not use the C library"]


def test_a_file_without_a_room(tree):
    tree.files["other/x.py"] = "X = 1\n"
    assert tree.faults() == ["other/x.py: lies in no room of docs/layers.toml"]


def test_a_stale_page(tree):
    done = tree.run()
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "docs/ARCHITECTURE.md is not that of docs/layers.toml: run scripts/layers write"
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("uses = []", 'uses = ["high"]', "rooms use each other in a circle"),
        ("uses = []", 'uses = ["nowhere"]', "low uses nowhere, which is no room"),
        ("acyclic = true", 'doors = ["low/no.h"]', "low/no.h of low does not exist"),
        ('libraries = ["libc"]', 'libraries = ["glib"]', "uses glib, which is no library"),
        ("uses = []", "uses = ", "Invalid value"),
    ],
)
def test_a_wrong_table(tree, old, new, message):
    tree.table = tree.table.replace(old, new)
    done = tree.run()
    assert done.returncode == 2
    assert message in done.stderr


def test_the_tree_itself():
    done = subprocess.run(
        [paths.ROOT / "scripts" / "layers", "check"], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
