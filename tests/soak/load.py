# SPDX-License-Identifier: Apache-2.0
"""Clients of one server: threads that compare each answer, until the server has been reloaded.

    python3 -m tests.soak.load FOLDER PROTOCOL ADDRESS PORT --requests N --clients N [--gap]

Half of the requests are answered before the file FOLDER/half appears, as many again after
FOLDER/reloaded is there, any number in between. Then the counts are written to FOLDER/counts. The
reload counts as over when half of the last requests are answered: servers report it before its
last effect.

A connection that the server closes between two requests is what a reload does to idle ones: the
request is repeated on another connection and counted as closed. With --gap, connections that
are refused, or end unserved, while the server reloads are opened again and counted as refused.
Every other request without its answer is lost.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.soak import talks

# Requests on a connection, in turn.
KEEP = (1, 3, 1, 10, 1, 50)
REASONS = 10
PAUSE = 0.02


@dataclass
class Counts:
    answered: int = 0
    lost: int = 0
    corrupt: int = 0
    closed: int = 0
    refused: int = 0
    slowest: float = 0.0  # seconds
    reasons: list[str] = field(default_factory=list)


class Load:
    def __init__(self, folder: Path, talk: talks.Opener, requests: int, gap: bool):
        self.folder, self.talk, self.gap = folder, talk, gap
        self.half = requests // 2
        self.counts = Counts()
        self.lock = threading.Lock()
        self.after: int | None = None  # how many were answered when the reload was over

    def done(self) -> bool:
        with self.lock:
            if self.after is None:
                if (self.folder / "reloaded").exists():
                    self.after = self.counts.answered
                return False
            return self.counts.answered >= self.after + self.half or self.counts.lost > self.half

    def answered(self, seconds: float) -> None:
        with self.lock:
            self.counts.answered += 1
            self.counts.slowest = max(self.counts.slowest, seconds)
            if self.counts.answered == self.half:
                (self.folder / "half").touch()

    def failed(self, kind: str, reason: str) -> None:
        with self.lock:
            setattr(self.counts, kind, getattr(self.counts, kind) + 1)
            if kind in ("lost", "corrupt") and len(self.counts.reasons) < REASONS:
                when = "during the reload" if self._reloading() else "outside of the reload"
                self.counts.reasons.append(f"{kind} {when}: {reason}")
            if self.counts.lost > self.half:  # the server is dead: no reload will help
                (self.folder / "half").touch()

    def _reloading(self) -> bool:
        if self.after is not None:
            return self.counts.answered < self.after + self.half // 2
        return (self.folder / "half").exists()

    def run(self, number: int) -> None:
        rng = random.Random(number)
        keep = itertools.cycle(KEEP[number % len(KEEP) :] + KEEP[: number % len(KEEP)])
        pending: int | None = None
        while not self.done():
            pending = self.session(next(keep), rng, pending)

    def session(self, requests: int, rng: random.Random, pending: int | None) -> int | None:
        """A connection of so many requests. Returns the one to repeat on another connection."""
        number, served = pending, 0
        reloading = self.gap and self._reloading()
        began = time.monotonic()
        try:
            with self.talk() as talk:
                while served < requests and not (talk.over or (served and self.done())):
                    if number is None:
                        number = rng.randrange(talks.FILES)
                    body = talk.ask(number)
                    if body is not None and body != talks.content(self.folder, number):
                        self.failed("corrupt", talks.difference(self.folder, number, body))
                    self.answered(time.monotonic() - began)
                    began, number, served = time.monotonic(), None, served + 1
        except talks.Gone as e:
            if served:
                self.failed("closed", str(e))
            elif reloading or (self.gap and self._reloading()):
                self.failed("refused", str(e))
                time.sleep(PAUSE)
            else:
                self.failed("lost", f"{e} (first request of a connection)")
                time.sleep(PAUSE)
                return None
            return number
        except Exception as e:
            # Whatever a client library raises, the request was not answered.
            took = time.monotonic() - began
            self.failed("lost", f"{type(e).__name__}: {e} (request {served + 1}, {took:.1f} s)")
            time.sleep(PAUSE)
            return None
        return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("protocol", choices=talks.PROTOCOLS)
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--gap", action="store_true")
    options = parser.parse_args()
    talk = talks.opener(options.protocol, options.address, options.port, options.folder)
    load = Load(options.folder, talk, options.requests, options.gap)
    threads = [threading.Thread(target=load.run, args=(n,)) for n in range(options.clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (options.folder / "counts").write_text(json.dumps(asdict(load.counts)))


if __name__ == "__main__":
    main()
