# SPDX-License-Identifier: Apache-2.0
"""Blocks of code in Markdown pages, and the marks before them that say how each is tested."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MARK = re.compile(r"<!-- (run|tested by|not run|no commands)(?:: (.+))? -->")
PROMPT = re.compile(r"[#$] (?=\S)")


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    body: tuple[str, ...]
    kind: str  # of the mark: "" without one
    detail: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    def steps(self) -> list[tuple[str, list[str]]]:
        """Its commands, each with the output that follows it in a transcript."""
        lines = re.sub(r" *\\\n *", " ", "\n".join(self.body)).splitlines()
        prompted = any(PROMPT.match(line) for line in lines)
        steps: list[tuple[str, list[str]]] = []
        for line in lines:
            if not line or (not prompted and line.startswith(("#", " "))):
                continue
            if prompted and not PROMPT.match(line):
                if steps:
                    steps[-1][1].append(line)
                continue
            command = line[2:] if prompted else line
            steps.append((re.sub(r"\s+#\s.*", "", command).strip(), []))
        return steps

    def commands(self) -> list[str]:
        return [command for command, _ in self.steps()]


def _end_of_fence(lines: list[str], start: int) -> int:
    fence = re.match(r"`{3,}", lines[start])[0]
    return next(n for n in range(start + 1, len(lines)) if lines[n].startswith(fence))


def _end_of_indent(lines: list[str], start: int) -> int:
    """The line behind an indented block; empty lines within it are its own."""
    end = start
    for n in range(start, len(lines)):
        if lines[n].startswith("    "):
            end = n + 1
        elif lines[n]:
            break
    return end


def blocks(page: str, text: str) -> Iterator[Block]:
    lines = text.splitlines()
    mark: re.Match[str] | None = None
    in_list = False
    n = 0
    while n < len(lines):
        line = lines[n]
        fenced = line.startswith("```")
        indented = line.startswith("    ") and not in_list and (n == 0 or not lines[n - 1])
        if fenced or indented:
            end = _end_of_fence(lines, n) if fenced else _end_of_indent(lines, n)
            body = lines[n + 1 : end] if fenced else [b[4:] for b in lines[n:end]]
            kind, detail = (mark[1], mark[2] or "") if mark else ("", "")
            yield Block(page, n + 1, tuple(body), kind, detail)
            n = end + fenced
            mark = None
            continue
        if line:
            mark = MARK.fullmatch(line)
            in_list = bool(re.match(r"(?:[-*]|\d+\.) ", line)) or (in_list and line[0] == " ")
        n += 1


def of_pages(root: Path) -> list[Block]:
    """Those of the pages that users read."""
    pages = ["README.md", "CONTRIBUTING.md", "packaging/README.md"]
    pages += sorted(f"docs/{p.name}" for p in (root / "docs").glob("*.md"))
    return [b for page in pages for b in blocks(page, (root / page).read_text())]
