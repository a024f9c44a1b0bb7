# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterator
from pathlib import Path

import pytest

from .toe_lab import Toe


@pytest.fixture
def toe(tmp_path: Path) -> Iterator[Toe]:
    t = Toe(tmp_path, None)
    try:
        yield t
    finally:
        counts = t.close()
        assert counts["strayed"] == counts["unlawful"] == 0
