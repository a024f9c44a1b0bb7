# SPDX-License-Identifier: Apache-2.0
"""docs/DOCTOR.md lists the findings of cli/doctor/, each once."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_findings_are_documented():
    sources = "".join(p.read_text() for p in (ROOT / "cli/doctor").glob("*.c"))
    ids = set(re.findall(r'"([a-z]+\.[a-z_]{2,})"', sources)) - {"toed.service"}
    listed = re.findall(
        r"^\| ([a-z]+\.[a-z_]+) \|", (ROOT / "docs/DOCTOR.md").read_text(), re.MULTILINE
    )
    assert len(ids) > 40
    assert sorted(listed) == sorted(ids)
