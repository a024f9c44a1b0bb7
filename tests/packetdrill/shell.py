# SPDX-License-Identifier: Apache-2.0
"""Interprets command lines of scripts. Back ends other than Linux have no shell: lines that set
sysctls set knobs, lines about the machine are ignored, any other line is an error. The Linux back
end runs all lines."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from tests.packetdrill.errors import NotSupported

if TYPE_CHECKING:
    from tests.packetdrill.run import Run

# Scripts of google/packetdrill and of Linux's selftests: they set what is the default here, or
# restore it.
DEFAULTS = re.compile(r"^(\.|source|sh|bash)?\s*[\w./]*(defaults|sysctl_restore)[\w_]*(\.sh)?\b")


def settings(words: list[str]) -> list[tuple[str, str]] | None:
    """Returns name and value of each setting in a sysctl line, or None for any other line."""
    if words[0].endswith("sysctl"):
        found = [w for w in words[1:] if not w.startswith("-")]
        text = " ".join(found)
        pairs = re.findall(r"([\w./]+)\s*=\s*(.*?)(?=\s+[\w.]+\s*=|$)", text)
        return [(name.replace("/", "."), value.strip()) for name, value in pairs] or None
    if words[0].endswith("set_sysctls.py"):
        pairs = [w.split("=", 1) for w in words[1:] if "=" in w]
        return [(n.removeprefix("/proc/sys/").replace("/", "."), v) for n, v in pairs]
    if words[0] == "echo" and ">" in words:
        path = words[words.index(">") + 1]
        if path.startswith("/proc/sys/"):
            value = " ".join(words[1 : words.index(">")])
            return [(path.removeprefix("/proc/sys/").replace("/", "."), value)]
    return None


def obey(run: Run, text: str) -> None:
    """Interprets a line without a shell. Raises NotSupported if it has no meaning here."""
    for line in re.split(r"[\n;]|&&", text):
        line = line.split("#")[0].strip()
        if not line or line in ("true", ":") or DEFAULTS.match(line):
            continue
        pairs = settings(shlex.split(line.replace(">", " > ")))
        if pairs is None and not run.backend.command(line):
            raise NotSupported(f"there is no shell on this back end: `{line}`")
        for name, value in pairs or []:
            run.backend.sysctl(name, value)
