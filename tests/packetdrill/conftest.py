# SPDX-License-Identifier: Apache-2.0
"""Each script below this folder is a test: on core/, in virtual time."""

from __future__ import annotations

import atexit
from pathlib import Path

import pytest

from packetdrill.worker import Worker

HERE = Path(__file__).resolve().parent
_workers: dict[str, Worker] = {}


def worker(backend: str) -> Worker:
    if backend not in _workers:
        _workers[backend] = Worker(backend)
        atexit.register(_workers[backend].close)
    return _workers[backend]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == ".pkt":
        return ScriptFile.from_parent(parent, path=file_path)
    return None


class ScriptFile(pytest.File):
    def collect(self):
        yield ScriptItem.from_parent(self, name=self.path.stem)


class ScriptItem(pytest.Item):
    def runtest(self) -> None:
        path = self.path.relative_to(HERE.parents[1])
        result = worker("core").run(path)
        if result.kind != "ok":
            raise ScriptFailed(f"{result.kind}: {result.message}", result.log)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style=None) -> str:
        e = excinfo.value
        if isinstance(e, ScriptFailed):
            return "\n".join([*e.args[1][-20:], "", str(e.args[0])])
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, 0, f"packetdrill: {self.path.relative_to(HERE)}"


class ScriptFailed(Exception):
    pass
