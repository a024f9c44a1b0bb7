# SPDX-License-Identifier: Apache-2.0
"""The user who owns the directory of a socket, and replaces whatever appears in it.

usage: link_swapper.py USER DIRECTORY TARGET

Becomes that user, then without end: each entry of DIRECTORY that is no link becomes a symbolic link
to TARGET. Prints "ready" at the beginning, and "replaced" after the first entry.
"""

import os
import sys
from pathlib import Path


def swap(path: Path, target: Path, serial: int) -> bool:
    """Replaces path by a link at once. Returns whether it existed."""
    link = path.with_name(f".link-{serial}")
    try:
        os.symlink(target, link)
        os.rename(path, path.with_name(f".old-{serial}"))
        os.rename(link, path)
    except OSError:
        link.unlink(missing_ok=True)
        return False
    return True


def main() -> None:
    user, folder, target = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    print("ready", flush=True)
    serial, reported = 0, False
    while True:
        for name in os.listdir(folder):
            if name.startswith((".link-", ".old-")) or (folder / name).is_symlink():
                continue
            serial += 1
            if swap(folder / name, target, serial) and not reported:
                print("replaced", flush=True)
                reported = True


main()
