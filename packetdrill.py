# SPDX-License-Identifier: Apache-2.0
"""The old name of tests.packetdrill, kept for one release (CHANGELOG.md).

`python3 -m packetdrill SCRIPT` and `from packetdrill.core import Core` work as before. New code
uses tests.packetdrill.
"""

import runpy
import sys

import tests.packetdrill

if __name__ == "__main__":
    runpy.run_module("tests.packetdrill", run_name="__main__", alter_sys=True)
else:
    # Submodules are found through the package's own search path.
    sys.modules[__name__] = tests.packetdrill
