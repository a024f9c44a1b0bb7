# SPDX-License-Identifier: Apache-2.0
"""The terminal: results to standard output, progress and messages to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def _colour(stream) -> bool:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain


def _painted(text: str, code: str) -> str:
    return f"\033[{code}m{text}\033[0m" if _colour(sys.stdout) else text


def bold(text: str) -> str:
    return _painted(text, "1")


def good(text: str) -> str:
    return _painted(text, "32")


def bad(text: str) -> str:
    return _painted(text, "31")


def say(text: str) -> None:
    """Print a message on its own line."""
    clear = "\r\033[K" if sys.stderr.isatty() else ""
    print(f"{clear}{text}", file=sys.stderr, flush=True)


def progress(text: str) -> None:
    """Print progress: one line that is overwritten on a terminal, else a line each."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    else:
        say(text)


def end_progress() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table: minimal columns, the first aligned left, numbers right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        first = cells[0].ljust(widths[0])
        return "  ".join([first, *(c.rjust(w) for c, w in zip(cells[1:], widths[1:], strict=True))])

    return "\n".join([bold(line(head)), *map(line, rows)])
