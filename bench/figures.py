# SPDX-License-Identifier: Apache-2.0
"""Puts the figures of out/bench/demo.json into README.md and draws docs/demo.svg from them.

    python3 -m bench.figures

The command, date, machine and commit that the figures come from are written with them.
"""

from __future__ import annotations

import json
import sys
import textwrap

from bench import demo, demo_plot
from tests.lab import paths

BEGIN = "<!-- figures: written by python3 -m bench.figures -->"
END = "<!-- end of figures -->"
WIDTH = 100
HEAD = (
    "| nginx on | requests/s | p50 us | p99 us | nginx CPU us | user + kernel | toed CPU us |",
    "|---|---:|---:|---:|---:|---:|---:|",
)


def wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def row(demo_: dict, case: str, system: str) -> str:
    f = demo_["cases"][case][system]
    user, kernel = f["cpu_user_us"], f["cpu_system_us"]
    toed = f"{demo_['toed_cpu_us'][case]:.1f}" if system == "toed" else "-"
    cells = [
        demo_["systems"][system],
        f"{f['requests_per_s']:,.0f}",
        f"{f['p50_us']:.0f}",
        f"{f['p99_us']:.0f}",
        f"{user + kernel:.2f}",
        f"{user:.2f} + {kernel:.2f}",
        toed,
    ]
    return f"| {' | '.join(cells)} |"


def markdown(demo_: dict) -> str:
    """Return the text between the marks: a table per case, then goals, source and advice."""
    machine, settings = demo_["machine"], demo_["settings"]
    lines = ["![CPU time of nginx per request](docs/demo.svg)", ""]
    for case in demo_["cases"]:
        lines += [f"{demo_['titles'][case]}, CPU times per request:", "", *HEAD]
        lines += [row(demo_, case, system) for system in demo_["cases"][case]]
        lines.append("")
    lines += ["| goal | at most | measured | met |", "|---|---:|---:|---|"]
    for goal in demo_["goals"]:
        met = "yes" if goal["met"] else "**no**"
        lines.append(f"| {goal['name']} | {goal['goal']:.2f} | {goal['value']:.2f} | {met} |")
    lines.append("")
    lines += wrapped(" ".join(demo.CHOICE))
    lines.append("")
    lines += wrapped(
        f"Medians of {settings['samples']} samples of {settings['seconds']} s by `make demo`, "
        f"{demo_['date'][:10]}, commit {demo_['commit']}, {demo_['netio']}, "
        f"{settings['connections']} keep-alive connections, 1 nginx worker; {machine['cores']} "
        f"cores of {machine['cpu']}, {machine['memory_gib']} GiB, {machine['kernel']}. "
        "nginx, toed and wrk share these cores; the ideal TOE has no network and no wrk."
    )
    return "\n".join(lines)


def main() -> int:
    source = paths.OUT / "bench" / "demo.json"
    if not source.exists():
        print("figures: there is no out/bench/demo.json: run make demo first", file=sys.stderr)
        return 1
    readme = paths.ROOT / "README.md"
    before, found, rest = readme.read_text().partition(BEGIN)
    _, found_end, after = rest.partition(END)
    if not found or not found_end:
        print(f"figures: {readme} lacks the marks {BEGIN} and {END}", file=sys.stderr)
        return 1
    body = json.loads(source.read_text())
    readme.write_text(f"{before}{BEGIN}\n{markdown(body)}\n{END}{after}")
    demo_plot.draw(body, paths.ROOT / "docs" / "demo.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
