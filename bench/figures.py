# SPDX-License-Identifier: Apache-2.0
"""Puts the figures of out/demo.json into README.md, between its two marks.

    python3 -m bench.figures

The command, the date, the machine and the commit they come from are written with them.
"""

from __future__ import annotations

import json
import sys

from tests.lab import paths

BEGIN = "<!-- figures: written by python3 -m bench.figures -->"
END = "<!-- end of figures -->"
TITLES = {"return200": "`return 200`, 256 bytes", "file256": "256-byte file"}
SYSTEMS = {"linux": "Linux TCP", "toehold": "Toehold"}


def markdown(demo: dict) -> str:
    machine = demo["machine"]
    settings = demo["settings"]
    lines = [
        f"`make demo`, {demo['date'][:10]}, commit {demo['commit']}, {demo['netio']}, "
        f"{settings['connections']} keep-alive connections, 1 nginx worker; "
        f"{machine['cores']} cores of {machine['cpu']}, {machine['memory_gib']} GiB, "
        f"{machine['kernel']}. "
        f"Medians of {settings['samples']} samples of {settings['seconds']} s:",
        "",
        "| | requests/s | p50 us | p99 us | nginx CPU us/request | user + system "
        "| toed CPU us/request |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for case, by_system in demo["cases"].items():
        for system, f in by_system.items():
            user, kernel = f["cpu_user_us"], f["cpu_system_us"]
            toed = f"{demo['toed_cpu_us'][case]:.1f}" if system == "toehold" else "-"
            lines.append(
                f"| {TITLES[case]}, {SYSTEMS[system]} | {f['requests_per_s']:,.0f} | "
                f"{f['p50_us']:.0f} | {f['p99_us']:.0f} | {user + kernel:.2f} | "
                f"{user:.2f} + {kernel:.2f} | {toed} |"
            )
    lines.append("")
    for goal in demo["goals"]:
        met = "met" if goal["met"] else "**not met**"
        lines.append(
            f"- {goal['name']}: {goal['value']:.2f}, goal at most {goal['goal']:.2f}: {met}"
        )
    return "\n".join(lines)


def main() -> int:
    source = paths.OUT / "demo.json"
    if not source.exists():
        print("figures: there is no out/demo.json: run make demo first", file=sys.stderr)
        return 1
    readme = paths.ROOT / "README.md"
    before, found, rest = readme.read_text().partition(BEGIN)
    _, found_end, after = rest.partition(END)
    if not found or not found_end:
        print(f"figures: {readme} lacks the marks {BEGIN} and {END}", file=sys.stderr)
        return 1
    table = markdown(json.loads(source.read_text()))
    readme.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
