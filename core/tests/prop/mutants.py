#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that prop finds bugs: breaks a copy of core/ in one place at a time.

    core/tests/prop/mutants.py [--runs N] [--only NAME]

Each fault must break an invariant within N scripts (of either mode) and be shrunk. A fault whose
text is no longer in the source is reported. Fewer than ten applicable faults, or one not found, is
a failure. The tree itself is not changed."""

import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

CORE = Path(__file__).resolve().parents[2]
PROP = CORE / "tests" / "prop"
SHARED = [CORE / "tests" / name for name in ("flat.c", "frames.c", "memimage.c")]
CFLAGS = ["-O1", "-g", "-w"]


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    old: str
    new: str


MUTANTS = [
    Mutant(
        "window_beyond",
        "tcp_out.c",
        "edge = t->snd_una + t->snd_wnd;",
        "edge = t->snd_una + t->snd_wnd + 3000;",
    ),
    Mutant(
        "window_over_buffer",
        "tcp_out.c",
        "limit = t->rcv_read + size,",
        "limit = t->rcv_read + 2 * size,",
    ),
    Mutant(
        "window_of_old_ack",
        "tcp_ack.c",
        "    else if (!acked)\n        return;",
        "    else\n        return;",
    ),
    Mutant(
        "ack_of_unsent",
        "tcp_ack.c",
        "TOEC_SEQ_GT(g->ack, t->snd_max) ||",
        "TOEC_SEQ_GT(g->ack, t->snd_max + 5000000u) ||",
    ),
    Mutant("fin_counts_as_byte", "tcp_ack.c", "        data--;", "        ;"),
    Mutant("bytes_one_off", "tcp_text.c", "g->seq - t->irs - 1, g->pkt", "g->seq - t->irs, g->pkt"),
    Mutant(
        "data_beyond_fin",
        "tcp_text.c",
        "(t->flags & TOEC_F_OOO) && !fin)",
        "(t->flags & TOEC_F_OOO))",
    ),
    Mutant("gap_swallowed", "tcp_sack.c", "to = t->ooo[i].end;", "to = t->ooo[i].end + 1;"),
    Mutant(
        "ack_of_unreceived",
        "tcp_emit.c",
        "seq, t->rcv_nxt, hlen,",
        "seq, t->rcv_nxt + t->n_ooo, hlen,",
    ),
    Mutant(
        "clock_backwards",
        "tcp_emit.c",
        "toec_opt_ts(h + hlen, toec_ticks(now) + t->ts_off",
        "toec_opt_ts(h + hlen, t->ts_off - toec_ticks(now)",
    ),
    Mutant("segments_too_long", "tcp_emit.c", "o.gso_size = t->mss;", "o.gso_size = t->mss + 8;"),
    Mutant(
        "reset_in_window",
        "tcp_in.c",
        "if (g->seq != t->rcv_nxt) {",
        "if (g->seq - t->rcv_nxt > 4000000u) {",
    ),
    Mutant("no_paws", "tcp_in.c", "if (!TOEC_SEQ_LT(g->tsval, t->ts_recent))", "if (t->ts_recent)"),
    Mutant(
        "no_persist_timer",
        "tcp_timer.c",
        "t->flags |= TOEC_F_RTX | TOEC_F_PERSIST;\n    toec_due(s, t, t->rtx_at, now);",
        "t->flags |= TOEC_F_RTX | TOEC_F_PERSIST;",
    ),
    Mutant("tcb_leaks", "tcp.c", "toec_pool_put(&s->tcp->flows, t);", ";"),
    Mutant("time_wait_leaks", "tcp_tw.c", "toec_pool_put(&s->tcp->tws, w);", ";"),
    Mutant("read_twice", "tcp_user.c", "t->rcv_read += n;", "t->rcv_read += n + (n > 4000);"),
    Mutant("ect_unasked", "tcp_ecn.c", "!(t->ecn.flags & TOEC_ECN_PLAIN))", "1)"),
    Mutant("counter_forgotten", "stack.c", "TOEC_COUNT(s, rx_frames);", ";"),
]


def compile_one(source: Path, out: Path, home: Path | None = None) -> None:
    """home: the folder of the original, where its includes are looked for."""
    subprocess.run(
        [
            "cc",
            *CFLAGS,
            "-std=gnu11",
            f"-I{CORE / 'include'}",
            f"-I{home or source.parent}",
            f"-I{PROP}",
            "-c",
            str(source),
            "-o",
            str(out),
        ],
        check=True,
    )


def link(objects: list[Path], out: Path) -> None:
    subprocess.run(["cc", *map(str, objects), "-o", str(out)], check=True)


def attempt(binary: Path, runs: int) -> str:
    """The first failure and its size after shrinking; empty if nothing failed."""
    for mode in ("pair", "peer"):
        done = subprocess.run(
            [str(binary), "--mode", mode, "--runs", str(runs)],
            capture_output=True,
            text=True,
            timeout=1800,
        )
        if done.returncode == 0:
            continue
        found = re.search(r"FAILED: mode \w+ seed (\d+): ([^:]+):", done.stdout)
        shrunk = re.search(r"shrunk from (\d+) events to (\d+)", done.stdout)
        if not found or not shrunk:
            return ""
        return (
            f"{found[2]:20} seed {found[1]:>5} of {mode}, "
            f"{shrunk[1]:>3} events shrunk to {shrunk[2]}"
        )
    return ""


def try_mutant(mutant: Mutant, base: dict[str, Path], work: Path, runs: int) -> str | None:
    """None: its text is not in the source."""
    (original,) = (CORE / "src").rglob(mutant.file)
    text = original.read_text()
    if mutant.old not in text:
        return None
    folder = work / mutant.name
    folder.mkdir()
    source = folder / mutant.file
    source.write_text(text.replace(mutant.old, mutant.new))
    compile_one(source, folder / "mutant.o", original.parent)
    objects = [o for name, o in base.items() if name != mutant.file]
    link([*objects, folder / "mutant.o"], folder / "prop")
    return attempt(folder / "prop", runs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--only", help="one mutant by its name")
    options = parser.parse_args()
    found, missed, stale = [], [], []
    with tempfile.TemporaryDirectory(prefix="toe-mutants-") as name:
        work = Path(name)
        sources = [*sorted((CORE / "src").rglob("*.c")), *sorted(PROP.glob("*.c")), *SHARED]
        base = {source.name: work / f"{source.stem}.o" for source in sources}
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda s: compile_one(s, base[s.name]), sources))
        link(list(base.values()), work / "prop")
        if said := attempt(work / "prop", 500):
            print(f"core/ as it is fails already: {said}")
            return 1
        for mutant in MUTANTS:
            if options.only not in (None, mutant.name):
                continue
            result = try_mutant(mutant, base, work, options.runs)
            kind = stale if result is None else found if result else missed
            kind.append(mutant.name)
            said = (
                "its text is no longer in the source" if result is None else result or "NOT FOUND"
            )
            print(f"{mutant.name:24} {said}", flush=True)
    print(f"{len(found)} found, {len(missed)} not found, {len(stale)} not tried")
    return 1 if missed or (len(found) < 10 and not options.only) else 0


if __name__ == "__main__":
    sys.exit(main())
