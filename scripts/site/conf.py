# SPDX-License-Identifier: Apache-2.0
"""Sphinx: the pages of docs/ as a site (make docs). The pages stay plain Markdown: their lists of
links become the site's contents here."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

project = "Toehold"
author = "Toehold developers"
version = release = re.search(
    r"^ *version: '(.*)',$", (ROOT / "meson.build").read_text(), re.MULTILINE
)[1]
html_title = f"{project} {version}"

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "README"
myst_heading_anchors = 4
highlight_language = "text"

html_theme = "furo"
html_copy_source = False

LINK = re.compile(r"\[([^\]]+)\]\(([^)\s#]+)(#[^)\s]*)?\)")
SECTION = re.compile(r"^(For [\w ]+):$", re.MULTILINE)


def without_links_out(folder, text):
    """A link to a file that is not on the site becomes its name."""

    def plain(link):
        target = (folder / link[2]).resolve()
        on_site = DOCS in target.parents and target.is_file()
        if "://" in link[2] or on_site or not target.exists():
            return link[0]
        return f"{link[1]} (`{target.relative_to(ROOT)}`)"

    return LINK.sub(plain, text)


def contents(docname, text):
    """A toctree for each section of a page that lists others."""
    parts = ["", *SECTION.split(text)] if SECTION.search(text) else ["", "", text]
    listed = {docname}
    trees = []
    for caption, part in zip(parts[0::2], parts[1::2], strict=False):
        pages = [link[1][:-3] for link in re.findall(LINK, part) if link[1].endswith(".md")]
        new = [p for p in dict.fromkeys(pages) if not p.startswith("..") and p not in listed]
        listed.update(new)
        if new:
            head = "```{toctree}\n:hidden:\n" + (f":caption: {caption}\n" if caption else "")
            trees.append("\n".join([head, *new, "```\n"]))
    return text + "\n" + "\n".join(trees)


def read(_app, docname, source):
    folder = (DOCS / docname).parent
    text = without_links_out(folder, source[0])
    if docname == "README":
        text = contents(docname, text)
    elif docname == "gateware/README":
        text += "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"
    elif docname.startswith("registers/"):  # generated; GATEWARE.md links it
        text = f"---\norphan: true\n---\n{text}"
    source[0] = text


def setup(app):
    app.connect("source-read", read)
