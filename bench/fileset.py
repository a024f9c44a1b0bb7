# SPDX-License-Identifier: Apache-2.0
"""Files of a web server and the order in which they are requested, as in SPECweb99.

A directory has four classes of nine files each: 0.1 to 0.9 KB, 1 to 9, 10 to 90 and 100 to 900 KB.
Classes are requested in 35, 50, 14 and 1 percent of cases, the files of a class and the directories
by Zipf's law with exponent 1. Contents and order depend on the seed alone.
"""

from __future__ import annotations

import itertools
import os
import random
from pathlib import Path

UNIT = 102  # bytes: the smallest file is 0.1 KB
FILES = 9
CLASSES = (0.35, 0.50, 0.14, 0.01)
# The ranks of the files of a class, most requested first.
BY_RANK = (4, 3, 5, 2, 6, 1, 7, 8, 0)
DIRECTORY = sum(UNIT * 10**c * (n + 1) for c in range(len(CLASSES)) for n in range(FILES))


def size(of_class: int, number: int) -> int:
    """Return the bytes of a file: number 0 to 8 of a class."""
    return UNIT * 10**of_class * (number + 1)


def name(directory: int, of_class: int, number: int) -> str:
    return f"dir{directory:05}/class{of_class}_{number}"


def weights(count: int) -> list[float]:
    """Return Zipf's weights of so many ranks."""
    return list(itertools.accumulate(1 / rank for rank in range(1, count + 1)))


def order(directories: int, requests: int, seed: int) -> list[str]:
    """Return the paths of so many requests."""
    choose = random.Random(seed)
    classes = list(itertools.accumulate(CLASSES))
    found = zip(
        choose.choices(range(directories), cum_weights=weights(directories), k=requests),
        choose.choices(range(len(CLASSES)), cum_weights=classes, k=requests),
        choose.choices(BY_RANK, cum_weights=weights(FILES), k=requests),
        strict=True,
    )
    return [f"/{name(*which)}" for which in found]


def create(folder: Path, directories: int, seed: int) -> None:
    """Write the files of so many directories, and leave nothing of them in the page cache."""
    content = random.Random(seed)
    for directory in range(directories):
        (folder / f"dir{directory:05}").mkdir(parents=True)
        for of_class, number in itertools.product(range(len(CLASSES)), range(FILES)):
            path = folder / name(directory, of_class, number)
            path.write_bytes(content.randbytes(size(of_class, number)))
            evict(path)


def evict(path: Path) -> None:
    """Have the kernel write a file and drop it from the page cache."""
    with path.open("rb") as f:
        os.fdatasync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
