# SPDX-License-Identifier: Apache-2.0
"""Several processes with engines of their own on one address: workers(N) (docs/INLINE.md)."""

from __future__ import annotations

import os
import signal

import pytest
from test_inline import Inline

from tests.lab import nginx, proc

pytestmark = pytest.mark.toehold_only


class Workers(Inline):
    """Programs whose processes share one interface."""

    def options(self) -> list[object]:
        netif = f"workers(8):af_xdp:{self.pair.server_if}"
        return ["--netif", netif, "--ip", f"{self.ip}/24"]


@pytest.fixture(scope="module")
def lab():
    with Workers() as lab:
        yield lab


def pid(lab) -> int:
    """The worker that a new connection reaches."""
    return int(nginx.get(lab, "/pid"))

@pytest.mark.parametrize("user", ["root", "www-data"])
@pytest.mark.parametrize("listen", ["", " reuseport"])
def test_nginx(lab, tmp_path, user, listen):
    argv = nginx.configuration(tmp_path, f"{lab.ip}:80{listen}", workers=2, user=user)
    with lab.app(argv, port=80) as server:
        import subprocess
        seen = set()
        proc.wait_until(lambda: seen.add(pid(lab)) or len(seen) == 2, "both workers serve")
        print(seen, server.children())
        for i in sorted(server.children()):
            print(subprocess.run(f"/work/wt/workers/build/cli/toehold stats --json --socket /run/toehold/inline-{i}.sock | grep -i mode", shell=True, capture_output=True, text=True).stdout)
        os.kill(sorted(seen)[0], signal.SIGKILL)
        import time; time.sleep(1); print(server.text()[-3000:] if hasattr(server,"text") else "")
        for _ in range(20):
            print(pid(lab))
        for i in sorted(server.children()):
            print(subprocess.run(f"/work/wt/workers/build/cli/toehold stats --json --socket /run/toehold/inline-{i}.sock | grep -i mode", shell=True, capture_output=True, text=True).stdout)
        assert server.stop() == 0
