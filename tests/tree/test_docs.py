# SPDX-License-Identifier: Apache-2.0
"""What the documents name exists: files, links, options, variables, functions, benches."""

import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILE = r"[\w*][\w./*-]*\.(?:c|h|py|md|json|csv|rdl|pkt|prop|map|ini|toml|build|S|ld|sh)"
# A file, or a folder; not a part of an address or of an #include.
NAMED = re.compile(rf"(?<![\w./:@<-])({FILE}|(?:[\w-]+/)+)(?![\w/*-])")

# Made by the build or a command, or another project's.
ELSEWHERE = [
    "*toe_core.*",
    "*toe_easy.*",
    "out/*",
    "bench/x.py",
    "set_sysctls.py",
    "defaults.sh",
]


def listed(*patterns: str) -> list[str]:
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [n for n in done.stdout.splitlines() if (ROOT / n).exists()]


def tree() -> set[str]:
    """Every file, and every folder with its slash."""
    files = listed()
    return {*files, *(f"{p}/" for n in files for p in Path(n).parents if p != Path())}


TREE = tree()
PAGES = listed("*.md")


def elsewhere(name: str) -> bool:
    return any(fnmatch(name, e) for e in ELSEWHERE)


def there(name: str) -> bool:
    return name in TREE or ("*" in name and any(fnmatch(n, name) for n in TREE))


def lost_in(row: str) -> list[str]:
    """Missing files of a table's row. A name without a folder is in that of the previous one."""
    lost = []
    for cell in row.split("|"):
        folder = ""
        for name in NAMED.findall(cell):
            own = "/" in name and not name.startswith("toe/")  # toe/x.h: as in #include
            if own:
                folder = name if name.endswith("/") else name.rsplit("/", 1)[0] + "/"
            places = [folder + place for place in ("", "src/", "src/*/", "include/toe/")]
            places = [""] if own else [*places, "docs/", "*/include/"]
            if not elsewhere(name) and not any(there(place + name) for place in places):
                lost.append(name if own else folder + name)
    return lost


def test_fidelity_names_what_is_there():
    rows = [
        line
        for line in (ROOT / "docs" / "FIDELITY.md").read_text().splitlines()
        if line.startswith("| S")
    ]
    assert len(rows) > 30
    assert {row.split("|")[1].strip(): lost for row in rows if (lost := lost_in(row))} == {}


@pytest.mark.parametrize(
    ("row", "lost"),
    [
        ("| core/tests/test_stack.c, test_arp.c; tests/tree/test_rfc.py |", []),
        ("| core/tests/test_stack.c, test_rfc.py |", ["core/tests/test_rfc.py"]),
        ("| core/ (`tcp.c`, `what.c`) | core/tests/test_tcp_*.c |", ["core/what.c"]),
        ("| nowhere/ | core/tests/nothing_*.c |", ["nowhere/", "core/tests/nothing_*.c"]),
    ],
)
def test_what_is_not_there_is_found(row, lost):
    assert lost_in(row) == lost


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    links = [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    near = (ROOT / page).parent
    assert [n for n in links if n and "://" not in n and not (near / n).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_quoted_files_are_there(page):
    """`file.c` is the end of some path of the tree."""
    lost = []
    for quoted in re.findall(r"`([^`\n]+)`", (ROOT / page).read_text()):
        if not re.fullmatch(FILE, quoted) or elsewhere(quoted):
            continue
        if not any(fnmatch(f"/{n}", f"*/{quoted}") for n in TREE):
            lost.append(quoted)
    assert lost == []


# Options of systemd-nspawn and others that the documents alone name.
FOREIGN = {"as-pid2", "drop-capability", "network-interface", "private-network", "private-users"}
FOREIGN |= {"cap-drop", "rootfs", "security-opt"}
OPTION = r"(?<![\w-])--([a-z][a-z0-9-]+)"
NAME = r"\b(TOEHOLD_[A-Z0-9_]+|(?:toe|toec|toedev|netio|engine)_[a-z0-9_]+)\b(?!\.)"
BENCH = r"\bmake bench NAME=(?!x\b)(\w+)"


@pytest.fixture(scope="module")
def words():
    """All names in the sources, without the documents."""
    found = set()
    for name in listed():
        if (
            not name.endswith(".md")
            and not name.startswith("docs/")
            and name != "tests/tree/test_docs.py"
        ):
            text = (ROOT / name).read_text(errors="replace")
            found.update(re.findall(r"\w+", text))
            found.update(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)+", text))
    return found


@pytest.mark.parametrize("page", [p for p in PAGES if p != "docs/RFC.md"])
def test_names_are_known(page, words):
    """Options, variables, functions and benches that a document names."""
    text = (ROOT / page).read_text()
    assert {*re.findall(OPTION, text), *re.findall(NAME, text)} - words - FOREIGN == set()
    assert [name for name in re.findall(BENCH, text) if f"bench/{name}.py" not in TREE] == []


# ---- the gateware's pages ----

RTL = ROOT / "gateware" / "src" / "toe" / "rtl"
MODULE = r"^module (\w+)(.*?)^\);"
EVERYWHERE = {"clk_i", "rst_ni"}


def modules() -> dict[str, tuple[set[str], set[str], str]]:
    """Parameters and ports of each module of the TOE, and its text."""
    found = {}
    for source in sorted(RTL.glob("*.sv")):
        text = re.sub(r"//.*", "", source.read_text())
        for name, head in re.findall(MODULE, text, re.MULTILINE | re.DOTALL):
            parameters = set(re.findall(r"^\s*parameter\b[^=\n]*?(\w+) =", head, re.MULTILINE))
            ports = re.findall(r"^\s*(?:in|out)put\b[^\n,]*?(\w+_n?[io])\b,?$", head.rstrip(), re.M)
            ports += re.findall(r"^\s*(?:in|out)put\b.*?(\w+_n?[io]),", head, re.MULTILINE)
            found[name] = parameters, set(ports) - EVERYWHERE, text
    return found


def sections() -> dict[str, str]:
    """The text under the heading that names a module, from its page."""
    found = {}
    for page in sorted((ROOT / "docs" / "gateware").glob("*.md")):
        for part in re.split(r"^# ", page.read_text(), flags=re.MULTILINE)[1:]:
            heading, _, text = part.partition("\n")
            if name := re.fullmatch(r"`(\w+)`", heading):
                assert name[1] not in found, f"{name[1]} has two pages"
                found[name[1]] = text
    return found


RTL_MODULES, RTL_PAGES = modules(), sections()


def test_each_module_has_its_page():
    assert len(RTL_MODULES) > 40
    assert RTL_PAGES.keys() == RTL_MODULES.keys()


@pytest.mark.parametrize("module", RTL_MODULES)
def test_a_page_has_ports_parameters_and_counters(module):
    """Lists all existing ones, and no removed ones."""
    parameters, ports, text = RTL_MODULES[module]
    said = set(re.findall(r"`([\w*]+)`", RTL_PAGES[module]))
    assert {p for p in ports if not any(fnmatch(p, s) for s in said)} == set()
    assert parameters - set(re.findall(r"\w+", RTL_PAGES[module])) == set()
    edges = {s for s in said if re.fullmatch(r"[a-z0-9_]+(_i|_o|_\*)", s)}
    others = {p for _, all_ports, _ in RTL_MODULES.values() for p in all_ports}
    assert {s for s in edges if not any(fnmatch(p, s) for p in ports)} - others == set()
    if module.startswith("fpc_"):
        assert set(re.findall(r"\bcounts\.(\w+) =", text)) - said == set()


def test_the_pages_name_every_counter():
    packages = "".join((RTL / n).read_text() for n in ("toe_pkg.sv", "fpc_pkg.sv"))
    bodies = re.findall(r"typedef struct packed \{([^}]*)\} \w+_counts_t;", packages)
    names = {n for body in bodies for n in re.findall(r"^\s*logic\s+(\w+);", body, re.MULTILINE)}
    assert len(names) > 30
    text = "".join(p.read_text() for p in (ROOT / "docs" / "gateware").glob("*.md"))
    assert names - set(re.findall(r"`(\w+)`", text)) == set()


def test_types_of_the_pages_are_there():
    source = "".join(p.read_text() for p in RTL.glob("*.sv"))
    text = "".join(p.read_text() for p in (ROOT / "docs" / "gateware").glob("*.md"))
    types = set(re.findall(r"`(\w+_[te])`", text))
    assert len(types) > 20
    assert types - set(re.findall(r"\b(\w+_[te]);", source)) == set()
