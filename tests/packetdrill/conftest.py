# SPDX-License-Identifier: Apache-2.0
"""Each script below this folder is a test: on core/, in virtual time; some over IPv6 too."""

from __future__ import annotations

import atexit
from pathlib import Path

import pytest

from tests.packetdrill.worker import Worker

HERE = Path(__file__).resolve().parent
# Folders whose scripts apply to both families. Over IPv6 the MTU is larger by the difference of the
# headers, so that segments have the same size.
BOTH = ("states", "options", "close", "connect", "urgent", "poll", "epoll", "calls")
# ... except these, which apply only to IPv4 (the MSS when none, or an invalid one, is advertised).
IPV4_ONLY = ("options/mss_none.pkt", "options/mss_zero.pkt")
OVER_IPV6 = [("ip_version", "ipv6"), ("mtu", "1520")]
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
        own = str(self.path.relative_to(HERE)) in IPV4_ONLY
        if self.path.parent.name in BOTH and not own:
            yield ScriptItem.from_parent(self, name=f"{self.path.stem}-ipv6", options=OVER_IPV6)


class ScriptItem(pytest.Item):
    def __init__(self, *, options: list[tuple[str, str]] | None = None, **kwargs) -> None:
        super().__init__(**kwargs)
        self.options = options or []

    def runtest(self) -> None:
        path = self.path.relative_to(HERE.parents[1])
        result = worker("core").run(path, self.options)
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
