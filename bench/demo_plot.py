# SPDX-License-Identifier: Apache-2.0
"""The demo's picture: nginx's CPU time per request on each system, from the demo's JSON alone."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

# Text stays text, and the same JSON gives the same bytes.
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "toehold", "font.size": 10}
PARTS = {
    "cpu_user_us": ("nginx, user", "#1b6ca8"),
    "cpu_system_us": ("nginx, kernel", "#8fbfe0"),
    "toed_cpu_us": ("toed, on its own core", "#d9d9d9"),
}


def bars(body: dict, case: str) -> dict[str, dict[str, float]]:
    """Return microseconds by system and part, in the order of the picture."""
    found = {}
    for system, f in body["cases"][case].items():
        parts = {name: f[name] for name in ("cpu_user_us", "cpu_system_us")}
        parts["toed_cpu_us"] = body["toed_cpu_us"][case] if system == "toed" else 0.0
        found[system] = parts
    return found


def _panel(axis: plt.Axes, body: dict, case: str) -> None:
    found = bars(body, case)
    names = [body["systems"][system] for system in found]
    left = [0.0] * len(found)
    for part, (label, colour) in PARTS.items():
        width = [parts[part] for parts in found.values()]
        axis.barh(names, width, left=left, label=label, color=colour, edgecolor="white")
        left = [a + b for a, b in zip(left, width, strict=True)]
    for row, (system, parts) in enumerate(found.items()):
        nginx = parts["cpu_user_us"] + parts["cpu_system_us"]
        rate = body["cases"][case][system]["requests_per_s"] / 1000
        axis.text(left[row], row, f"  {nginx:.1f} us, {rate:,.0f}k req/s", va="center", fontsize=9)
    axis.set_xlim(0, max(left) * 1.45)
    axis.set_title(body["titles"][case], fontsize=11)
    axis.set_xlabel("us per request")
    axis.spines[["top", "right"]].set_visible(False)


def draw(body: dict, path: Path) -> None:
    """Write the picture as SVG: a panel per case, a bar per system."""
    machine = body["machine"]
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(1, len(body["cases"]), figsize=(10, 3.2), sharey=True)
        for axis, case in zip(axes, body["cases"], strict=True):
            _panel(axis, body, case)
        axes[0].invert_yaxis()  # and of the others, which share it
        figure.suptitle("CPU time of nginx per request", x=0.01, ha="left")
        figure.legend(
            *axes[0].get_legend_handles_labels(), loc="lower center", frameon=False, ncol=len(PARTS)
        )
        source = f"{body['date'][:10]}, {body['commit']}, {body['netio']}, {machine['cores']} cores"
        figure.text(0.995, 0.975, source, ha="right", va="top", fontsize=7, color="#555555")
        figure.tight_layout(rect=(0, 0.08, 1, 1))
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)
    # matplotlib ends the lines of its paths with a space.
    lines = path.read_text().splitlines()
    path.write_text("".join(f"{line.rstrip()}\n" for line in lines))
