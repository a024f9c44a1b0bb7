# SPDX-License-Identifier: Apache-2.0
"""scripts/mutate: which faults it makes, and which it chooses."""

import pytest

from tests.lab import paths, proc
from tests.mutants import find


def changed(body: str) -> set[tuple[str, str]]:
    """Kind and text of each mutant of a function that has this body."""
    source = f"int f(int a, int b)\n{{\n{body}\n}}\n"
    made = find.mutants(source, "f.c")
    head, tail = source.split(body)
    return {(m.kind, m.apply(source).removeprefix(head).removesuffix(tail)) for m in made}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a = b;", {("removed", "{}")}),
        ("a++;", {("removed", "{}")}),
        ("f(a, b);", {("removed", "{}")}),
        ("*g(a) = b;", {("removed", "{}")}),
        ("return a;", {("result", "return 0;")}),
        ("return 0;", {("result", "return 1;")}),
        ("return a ? a : b;", {("result", "return 0;")}),
        ("return;", set()),
        ("int c = a;", set()),
        ("struct s *c = g(a);", set()),
        ("long_type *c = g(a);", set()),
        ("int c = 2;", {("constant", "int c = 3;"), ("constant", "int c = 1;")}),
        ("int c = 0;", {("constant", "int c = 1;")}),
        ("int c = 0x10u;", {("constant", "int c = 0x11u;"), ("constant", "int c = 0xfu;")}),
        ("c = 1;", {("removed", "{}"), ("constant", "c = 0;")}),
        ("g(-1);", {("removed", "{}"), ("constant", "g(-0);")}),
        ("g(a - 1);", {("removed", "{}"), ("constant", "g(a - 2);"), ("constant", "g(a - 0);")}),
        ("double c = 1.5;", set()),
        (
            "if (a < b)\n    return;",
            {
                ("condition", "if (!(a < b))\n    return;"),
                ("relation", "if (a <= b)\n    return;"),
            },
        ),
        (
            "if (a && b)\n    a = b;\nelse\n    g();",
            {
                ("condition", "if (!(a && b))\n    a = b;\nelse\n    g();"),
                ("logic", "if (a || b)\n    a = b;\nelse\n    g();"),
                ("removed", "if (a && b)\n    {}\nelse\n    g();"),
                ("removed", "if (a && b)\n    a = b;\nelse\n    {}"),
            },
        ),
        (
            "for (; a != b; a++)\n    g();",
            {
                ("relation", "for (; a == b; a++)\n    g();"),
                ("removed", "for (; a != b; a++)\n    {}"),
            },
        ),
        (
            "switch (a) {\ncase A:\n    b = a;\n    break;\ndefault:\n    g();\n}",
            {
                ("removed", "switch (a) {\ncase A:\n    {}\n    break;\ndefault:\n    g();\n}"),
                ("removed", "switch (a) {\ncase A:\n    b = a;\n    break;\ndefault:\n    {}\n}"),
            },
        ),
        ("b = TOEC_SEQ_GT(a, b);", {("removed", "{}"), ("relation", "b = TOEC_SEQ_GE(a, b);")}),
        ("/* a < 1 */ g(\"b == 1\", '1'); // a && b", {("removed", "/* a < 1 */ {} // a && b")}),
        ("#if A == 1 && \\\n    B < 2\n#endif", set()),
    ],
)
def test_each_change_of_a_function(body, expected):
    assert changed(body) == expected


def test_what_is_outside_functions_stays():
    source = "static const int a[2] = {1, 2};\nenum { A = 1 };\nstruct s { int b[2]; };\n"
    assert find.mutants(source, "a.c") == []


def test_a_change_keeps_its_id_where_other_lines_and_comments_change():
    before = find.mutants("int f(int a)\n{\n    return a; /* why */\n}\n", "f.c")
    after = find.mutants("/* new */\nint g;\nint f(int a)\n{\n    return a;\n}\n", "f.c")
    assert [m.id for m in before] == [m.id for m in after]
    assert [m.line for m in after] == [5]


def listed(*options: str) -> list[str]:
    done = proc.run(["scripts/mutate", "--list", *options], cwd=paths.ROOT)
    return done.stdout.splitlines()


def test_the_seed_chooses():
    first = listed("--count", "20", "--seed", "5", "--files", "*/tcp_ack.c")
    assert first == listed("--count", "20", "--seed", "5", "--files", "*/tcp_ack.c")
    assert first[0].startswith("20 of ")
    assert first[0].endswith("seed 5")
    assert len(first) == 21
    assert all("core/src/tcp/tcp_ack.c:" in line for line in first[1:])
    assert first[1:] != listed("--count", "20", "--seed", "6", "--files", "*/tcp_ack.c")[1:]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--one", "nothing"], "no mutant nothing"),
        (["--files", "x.c"], "x.c names no source"),
        (["--jobs", "0"], "--jobs 1 or more"),
    ],
)
def test_wrong_options_are_refused(options, reason):
    refused = proc.run(["scripts/mutate", *options], cwd=paths.ROOT, check=False)
    assert refused.returncode == 2
    assert reason in refused.stderr
