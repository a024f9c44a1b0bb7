# SPDX-License-Identifier: Apache-2.0
"""Each block of code in the documents is run here, by another test, or marked why not."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.lab import netns, paths, proc
from tests.lab.blocks import Block, blocks, of_pages

BLOCKS = of_pages(paths.ROOT)
COMMANDS = [b for b in BLOCKS if b.kind in ("run", "tested by", "not run")]
VERB = re.compile(r"(?:^|[\s/;&|])toehold ([a-z]+)")


def test_each_block_has_a_mark():
    assert len(BLOCKS) > 40
    assert [str(b) for b in BLOCKS if not b.kind] == []


def test_a_reason_is_one():
    short = [str(b) for b in BLOCKS if b.kind == "not run" and len(b.detail.split()) < 3]
    assert short == []


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.kind == "tested by"], ids=str)
def test_the_named_tests_use_the_verbs(block):
    """A mark names existing files, and these contain each verb of toehold in the block."""
    files = [paths.ROOT / name for name in block.detail.split(", ")]
    assert [f for f in files if not f.is_file()] == []
    text = "".join(f.read_text() for f in files)
    verbs = {m[1] for line in block.commands() for m in VERB.finditer(line)}
    assert {v for v in verbs if not re.search(rf"\b{v}\b", text)} == set()


@pytest.fixture(scope="module")
def described() -> dict[str, set[str]]:
    """The options of each verb of toehold."""
    said = json.loads(proc.run([paths.built("toehold"), "--describe"]).stdout)
    return {
        verb["name"]: {option["name"] for option in verb["command"]["options"]}
        for verb in said["verbs"]
        if "command" in verb
    }


def wrong_words(line: str, described: dict[str, set[str]], root: Path) -> list[str]:
    """Unknown verbs, options, scripts and goals of make in a command line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|()<>")
    lexer.whitespace_split = True
    words = list(lexer)
    wrong = []
    for n, word in enumerate(words):
        rest = words[n + 1 :]
        if word.startswith(("scripts/", "tests/")) and not (root / word).exists():
            wrong.append(word)
        if word == "make" and rest and f"\n{rest[0]}:" not in (root / "Makefile").read_text():
            wrong.append(f"make {rest[0]}")
        if word not in ("toehold", "build/cli/toehold") or not rest or rest[0][0] in "-;&|":
            continue
        if rest[0] in ("bench", "help"):  # have no table of options
            continue
        if rest[0] not in described:
            wrong.append(f"toehold {rest[0]}")
            continue
        own = rest[1 : rest.index("--")] if "--" in rest else rest[1:]
        known = described[rest[0]] | {"help"}
        options = [w[2:].split("=")[0] for w in own if re.match(r"--[a-z]", w)]
        wrong += [f"toehold {rest[0]} --{o}" for o in options if o not in known]
    return wrong


def test_verbs_options_scripts_and_goals_exist(described):
    assert "run" in described
    found = {
        str(b): wrong
        for b in COMMANDS
        if (wrong := [w for c in b.commands() for w in wrong_words(c, described, paths.ROOT)])
    }
    assert found == {}


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("toehold run --require -- nginx --unknown", []),
        ("toehold run --requires -- nginx", ["toehold run --requires"]),
        ("build/cli/toehold rum", ["toehold rum"]),
        ("scripts/built x", ["scripts/built"]),
        ("make demo; make lunch", ["make lunch"]),
    ],
)
def test_wrong_words_are_found(described, line, wrong):
    assert wrong_words(line, described, paths.ROOT) == wrong


def test_blocks_are_found():
    text = (
        "<!-- run -->\n\n    a \\\n      b  # why\n\n    c\n\ntext\n\n```\n# d &\nout\n```\n"
        "- list\n\n      no block\n\n<!-- not run: an example -->\n```\ne\n```\n"
    )
    one, two, three = blocks("page", text)
    assert (one.kind, one.steps()) == ("run", [("a b", []), ("c", [])])
    assert (two.kind, two.line, two.steps()) == ("", 10, [("d &", ["out"])])
    assert (three.kind, three.detail) == ("not run", "an example")


# ---- running


def plain(line: str) -> str:
    """A line of output whatever its numbers and its spaces are."""
    return " ".join(re.sub(r"(?<![.\d])\d+(?![.\d])", "0", line).split())


def pattern(line: str) -> str:
    """Matches such a line of a page; "..." matches anything."""
    return re.escape(plain(line)).replace(r"\.\.\.", ".*")


# nginx's default page, whatever other servers have put there.
SITE = "mount --bind {0}/site /var/www/html"


def run_block(block: Block, ns: netns.Namespace, folder: Path) -> None:
    """Runs its commands in turn, those that end with "&" beside the others. The output that the
    page has after a command must come."""
    env = {"TOEHOLD_SOCKET": str(folder / "toed.sock")}
    running: list[proc.Proc] = []

    def printed(expected: list[str]) -> bool:
        lines = [plain(line) for shell in running for line in shell.text().splitlines()]
        return all(any(re.fullmatch(e, line) for line in lines) for e in expected)

    try:
        for command, output in block.steps():
            line = f"exec {command[:-1]}" if command[-1] == "&" else command
            argv = ["unshare", "--mount", "/bin/sh", "-c", f"{SITE.format(folder)}; {line}"]
            running.append(proc.Proc(argv, ns=ns, env=env, cwd=paths.ROOT))
            shell = running[-1]
            if command[-1] != "&":
                assert shell.wait(300) == 0, f"{command}{shell.tail()}"
            expected = [pattern(line) for line in output]
            what = f"the page's output of {command}"
            proc.wait_until(lambda e=expected: printed(e), what, timeout=30)
    finally:
        for shell in reversed(running):
            shell.stop()


@pytest.mark.long
@pytest.mark.parametrize("block", [b for b in BLOCKS if b.kind == "run"], ids=str)
def test_commands_run(block, tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("<title>Welcome to nginx!</title>\n")
    for folder in (site, *site.parents):
        if folder == tmp_path or folder.name.startswith(("popen-", "pytest-")):
            folder.chmod(0o755)  # pytest's are for their owner alone
    with netns.Pair(tap=True) as pair:
        run_block(block, pair.server, tmp_path)
