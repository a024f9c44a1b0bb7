# SPDX-License-Identifier: Apache-2.0
"""The record of proofs: for each, a digest of all that its result depends on, as it was when the
proof passed. A proof whose digest the record has would only be repeated.

The record is a text file in the repository, one line per proof: digest, two spaces, name.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path


def digest(parts: Iterable[str]) -> str:
    """Parts are kept apart: what moves from one to the next changes the digest."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode()
        whole.update(b"%d:" % len(data) + data)
    return whole.hexdigest()[:32]


class Record:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.digests: dict[str, str] = {}
        if path.exists():
            for number, line in enumerate(path.read_text().splitlines(), 1):
                words = line.split()
                if len(words) != 2 or len(words[0]) != 32:
                    raise ValueError(f"{path}:{number}: '{line}' is not a digest and a name")
                self.digests[words[1]] = words[0]

    def has(self, name: str, now: str) -> bool:
        return self.digests.get(name) == now

    def write(self, passed: dict[str, str], names: Iterable[str]) -> None:
        """Adds what passed; drops proofs that are not among names any more."""
        kept = {**self.digests, **passed}
        lines = [f"{kept[name]}  {name}\n" for name in sorted(set(names) & set(kept))]
        self.path.write_text("".join(lines))
