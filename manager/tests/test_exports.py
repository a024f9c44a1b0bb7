# SPDX-License-Identifier: Apache-2.0
"""Checks that libtoe.so exports what its public header declares, and nothing else.

Usage: test_exports.py LIBRARY HEADER
"""

import re
import subprocess
import sys
from pathlib import Path


def declared(header: Path) -> set[str]:
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    text = re.sub(r"^#(?:\\\n|[^\n])*", "", text, flags=re.M)
    return set(re.findall(r"\b(toe_\w+)\s*\(", text))


def main() -> int:
    library, header = sys.argv[1:]
    command = ["llvm-nm", "--dynamic", "--defined-only", "--just-symbol-name", library]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    found = {name.partition("@")[0] for name in lines}
    wanted = declared(Path(header))
    wrong = [f"exports {name}, which {header} does not declare" for name in found - wanted]
    wrong += [f"does not export {name}" for name in wanted - found]
    print("\n".join(sorted(wrong)))
    return 1 if wrong or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
