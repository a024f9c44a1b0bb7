# SPDX-License-Identifier: Apache-2.0
"""Runs the network simulator of core/sim; the formulas that its figures are compared with."""

from __future__ import annotations

import json
import subprocess

from tests.lab import paths, proc


def command(*arguments: str) -> list[str]:
    return [str(paths.built("netsim")), *arguments]


def run(*arguments: str, limit: float = 120) -> dict:
    """Runs a scenario. Failed when netsim rejects it or does not end."""
    done = subprocess.run(
        command(*arguments, "--json", "-"), capture_output=True, text=True, timeout=limit
    )
    if done.returncode != 0:
        raise proc.Failed(f"netsim {' '.join(arguments)}: {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def has_cc(name: str) -> bool:
    """Whether core/ has this congestion control. Only an explicit rejection counts as no."""
    done = subprocess.run(
        command("--flow", f"cc={name},bytes=1", "--time", "1ms"), capture_output=True, text=True
    )
    if done.returncode == 3 and f"no congestion control '{name}'" in done.stderr:
        return False
    if done.returncode != 0:
        raise proc.Failed(f"netsim --flow cc={name}: {done.returncode}: {done.stderr}")
    return True


# ---- theory: windows in segments, times in seconds ----

CUBIC_C = 0.4
CUBIC_BETA = 0.7


def reno_window(p: float) -> float:
    """The mean window of Reno at loss rate p (Mathis et al. 1997; RFC 9438 (5) with alpha 1)."""
    return (1.5 / p) ** 0.5


def cubic_window(p: float, rtt: float) -> float:
    """The mean window of CUBIC at loss rate p: RFC 9438 5.1 (5), Reno's where that is more."""
    c, beta = CUBIC_C, CUBIC_BETA
    cubic = (c * (3 + beta) / (4 * (1 - beta))) ** 0.25 * rtt**0.75 / p**0.75
    return max(cubic, reno_window(p))


def cubic_growth(t: float, w_max: float, w_epoch: float) -> float:
    """W_cubic(t), t seconds into a congestion avoidance epoch: RFC 9438 (1) and (2)."""
    k = ((w_max - w_epoch) / CUBIC_C) ** (1 / 3)
    return CUBIC_C * (t - k) ** 3 + w_max


def jain(shares: list[float]) -> float:
    """Jain's fairness index: 1 when all shares are equal, 1/n when one flow has everything."""
    square = sum(x * x for x in shares)
    return sum(shares) ** 2 / (len(shares) * square) if square else 0.0
