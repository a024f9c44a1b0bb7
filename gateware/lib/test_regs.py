# SPDX-License-Identifier: Apache-2.0
"""Register blocks are generated once, by the first user."""

import subprocess
import sys
from pathlib import Path

from gateware.lib.regs import BLOCKS
from gateware.lib.tools import environment

GENERATE = """
import sys
from pathlib import Path
from gateware.lib import regs
regs.REGS = Path(sys.argv[1])
sys.stdin.read(1)
print(regs.generate(sys.argv[2]))
"""


def test_several_at_once(tmp_path: Path) -> None:
    block, module = next(iter(BLOCKS.items()))
    command = [sys.executable, "-c", GENERATE, str(tmp_path / "regs"), block]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    asked = [subprocess.Popen(command, env=environment(), text=True, **pipes) for _ in range(3)]
    for process in asked:
        process.stdin.write("\n")
        process.stdin.flush()
    for process in asked:
        said, complaint = process.communicate(timeout=120)
        assert process.returncode == 0, complaint
        folder = Path(said.strip())
        assert (folder / f"{module}.sv").read_text().rstrip().endswith("endmodule")
        assert (folder / "source").exists()
