# SPDX-License-Identifier: Apache-2.0
"""The frame of a bench: common options, and its steps from start to plots."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from bench import terminal
from tests.lab import netns, paths, proc


def number(text: str) -> int:
    """Parse a whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}': want a whole number from 1")
    return int(text)


def number_or_none(text: str) -> int:
    """Parse a whole number from 0."""
    return 0 if text == "0" else number(text)


def duration(text: str) -> float:
    """Parse seconds above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}': want seconds, more than 0")
    return value


def numbers(text: str) -> list[int]:
    """Parse whole numbers from 1, as in "1,32"."""
    values = [int(part) for part in text.split(",")]
    if min(values) < 1:
        raise ValueError(text)
    return values


def result(text: str) -> Path:
    """Parse the name of the file that a bench writes at its end: what it cannot write is an error
    before minutes of measuring."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"'{text}' is a directory: name a file in it")
    return path


def chosen(of: Mapping[str, object]) -> Callable[[str], list[str]]:
    """Return a parser of names of a table, as in "linux,toed_wire", or "none"."""

    def names(text: str) -> list[str]:
        if text == "none":
            return []
        if unknown := set(text.split(",")) - set(of):
            raise argparse.ArgumentTypeError(
                f"no system {', '.join(sorted(unknown))}; there are {', '.join(of)}"
            )
        return text.split(",")

    return names


def arguments(
    name: str, description: str, systems: Mapping[str, object], *, seconds: float, samples: int
) -> argparse.ArgumentParser:
    """Return a parser with the common options of the benches."""
    parser = argparse.ArgumentParser(
        prog=f"make bench NAME={name}",
        description=description,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--seconds", type=duration, default=seconds, help=f"a sample ({seconds:g})")
    parser.add_argument("--warmup", type=float, default=0.5, help="before it")
    parser.add_argument("--samples", type=number, default=samples, help=f"of each ({samples})")
    parser.add_argument(
        "--systems", type=chosen(systems), default=list(systems), help=",".join(systems)
    )
    parser.add_argument("--no-plots", action="store_true", help="without matplotlib")
    parser.add_argument("--plots-only", action="store_true", help="draw what --out holds")
    parser.add_argument("--out", type=result, default=paths.OUT / "bench" / f"{name}.json")
    return parser


def settings(options: argparse.Namespace) -> dict:
    """Return the options for the JSON, without those of output and plots."""
    left_out = ("no_plots", "plots_only", "out", "systems")
    return {name: value for name, value in vars(options).items() if name not in left_out}


def read(path: Path) -> dict:
    """Read what a bench has written. Raise OSError when there is no file."""
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        raise OSError(f"there is no {path}: measure first, without --plots-only") from None
    except ValueError as e:
        raise OSError(f"{path} is no JSON of a bench: {e}") from None


def carry_out(
    name: str,
    options: argparse.Namespace,
    run: Callable[[argparse.Namespace], None],
    *,
    root: bool = True,
) -> int:
    """Run run(), which writes options.out, and plot that file by load_plots.NAME()."""
    if not options.plots_only:
        if root and os.geteuid() != 0:
            terminal.say(f"{name}: it makes network namespaces: run it as root (sudo)")
            return 1
        if root:
            netns.end_on_signals()
        try:
            run(options)
        except (proc.Failed, OSError) as e:
            terminal.say(f"{name}: {e}")
            return 1
        except KeyboardInterrupt:
            terminal.say(f"{name}: interrupted; namespaces and processes are removed")
            return 130
        print(f"written: {os.path.relpath(options.out)}")
    if options.no_plots:
        return 0
    try:
        body = read(options.out)
    except OSError as e:
        terminal.say(f"{name}: {e}")
        return 1
    from bench import load_plots  # matplotlib: not needed to measure

    draw = getattr(load_plots, name)
    for path in draw(body, options.out.with_suffix("")):
        print(f"written: {os.path.relpath(path)}")
    return 0
