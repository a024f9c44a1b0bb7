# SPDX-License-Identifier: Apache-2.0
"""TCP of core/ over a simulated bottleneck: figures and plots (out/netsim/), no root needed."""

from __future__ import annotations

import sys

from bench import netsim_plots, report
from tests.lab import netsim, paths

# All congestion controls of the plots; those that core/ lacks are reported and left out.
CCS = ["cubic", "reno", "bbr", "bbr3", "dctcp"]


def links(rate: str, rtt_ms: float, *, queue: str = "16MB", fwd: str = "") -> list[str]:
    half = f"delay={rtt_ms / 2}ms"
    more = f",{fwd}" if fwd else ""
    return ["--fwd", f"rate={rate},queue={queue},{half}{more}", "--rev", half]


def flow(cc: str, more: str = "") -> list[str]:
    ecn = ",ecn=1" if cc == "dctcp" else ""
    return ["--flow", f"cc={cc}{ecn}" + (f",{more}" if more else "")]


def mbits(result: dict) -> list[float]:
    return [f["throughput"] / 1e6 for f in result["flows"]]


def against_loss(cc: str) -> list[dict]:
    """Return throughput at random loss, 1 Gbit/s and 50 ms, and by the response function."""
    rows = []
    for loss in (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2):
        result = netsim.run(
            *links("1gbit", 50, fwd=f"loss={loss}"),
            *flow(cc, "tx_buf=16MiB,rx_buf=16MiB"),
            *["--time", "60s", "--warmup", "10s"],
        )
        window = netsim.reno_window(loss) if cc == "reno" else netsim.cubic_window(loss, 0.05)
        theory = window * 1448 * 8 / 0.05 / 1e6 if cc in ("reno", "cubic") else None
        rows.append({"x": loss, "mbits": mbits(result)[0], "theory": theory})
    return rows


def against_rtt(cc: str) -> list[dict]:
    """Return the throughput of one flow on 100 Mbit/s with a buffer of one BDP."""
    rows = []
    for rtt in (2, 5, 10, 20, 50, 100, 200):
        queue = f"{int(100e6 / 8 * rtt / 1e3)}B"
        result = netsim.run(
            *links("100mbit", rtt, queue=queue),
            *flow(cc, "tx_buf=8MiB,rx_buf=8MiB"),
            *["--time", "40s", "--warmup", "10s"],
        )
        rows.append({"x": rtt, "mbits": mbits(result)[0], "theory": None})
    return rows


def against_buffer(cc: str) -> list[dict]:
    """Return throughput and queue length of one flow on 100 Mbit/s and 20 ms (a BDP is 250 kB)."""
    rows = []
    for part in (0.1, 0.2, 0.5, 1, 2, 4):
        result = netsim.run(
            *links("100mbit", 20, queue=f"{int(250e3 * part)}B"),
            *flow(cc),
            *["--time", "40s", "--warmup", "10s"],
        )
        queue_ms = result["fwd"]["mean_bytes"] * 8 / 100e6 * 1e3
        rows.append({"x": part, "mbits": mbits(result)[0], "theory": None, "queue_ms": queue_ms})
    return rows


def fairness(cc: str) -> list[dict]:
    """Return Jain's index of 2 to 50 flows on 100 Mbit/s and 20 ms, drop-tail of one BDP."""
    rows = []
    for flows in (2, 5, 10, 20, 50):
        result = netsim.run(
            *links("100mbit", 20, queue="250kB"),
            *flow(cc, f"n={flows},apart=37ms"),
            *["--time", "90s", "--warmup", "30s"],
        )
        rates = mbits(result)
        rows.append({"x": flows, "jain": netsim.jain(rates), "mbits": sum(rates)})
    return rows


def rtt_fairness(cc: str) -> list[dict]:
    """Return the share of a flow with a longer RTT next to one of 20 ms."""
    rows = []
    for times in (1, 2, 4, 8):
        result = netsim.run(
            *links("100mbit", 20, queue="250kB"),
            *flow(cc, "rtt=20ms"),
            *flow(cc, f"rtt={20 * times}ms"),
            *["--time", "120s", "--warmup", "30s"],
        )
        short, long = mbits(result)
        rows.append({"x": times, "share": long / (short + long)})
    return rows


LOSSES = {
    "one": ("100", 0),
    "two": ("100+103", 0),
    "ten": ("100-109", 0),
    "thirty-two": ("100-131", 0),
    "every other of 62": ("+".join(map(str, range(100, 162, 2))), 0),
    "and its retransmission": ("100x2", 0),
    "the last": ("399", 400),
    "the last three": ("397-399", 400),
    "the last ten": ("390-399", 400),
    "the last and its probe": ("399x2", 400),
}


def recovery(cc: str) -> list[dict]:
    """Return the round trips of 40 ms without in-order data, by lost segments."""
    rows = []
    for name, (drops, segments) in LOSSES.items():
        app = f"bytes={segments * 1448}B" if segments else "app=20mbit"
        result = netsim.run(
            *["--fwd", "rate=0,delay=20ms", "--rev", "delay=20ms"],
            *flow(cc, f"drop={drops},{app}"),
            *["--time", "20s"],
        )
        one = result["flows"][0]
        timeouts = one["sender"].get("tcp_timeouts", 0)
        rows.append({"x": name, "rtts": one["max_gap"] / 0.04, "timeouts": timeouts})
    return rows


def cubic_window() -> dict:
    """Return CUBIC's window after one loss, and that of the formula."""
    result = netsim.run(
        *["--fwd", "rate=0,delay=50ms", "--rev", "delay=50ms"],
        *flow("cubic", "drop=600,rx_buf=16MiB,tx_buf=16MiB"),
        *["--time", "15s", "--sample", "20ms"],
    )
    one = result["flows"][0]
    series = one["series"]
    lost = next(i for i, w in enumerate(series["ssthresh"]) if 0 < w < 1e9)
    w_epoch = series["ssthresh"][lost] / one["mss"]
    w_max = w_epoch / netsim.CUBIC_BETA
    windows = [w / one["mss"] for w in series["cwnd"]]
    settled = lost + 25

    def formula(epoch: float) -> list[float]:
        since = (max(t + 0.1 - epoch, 0) for t in series["t"])
        return [netsim.cubic_growth(t, w_max, w_epoch) for t in since]

    def off(epoch: float) -> float:
        pairs = zip(windows[settled:], formula(epoch)[settled:], strict=True)
        return max(abs(w / f - 1) for w, f in pairs)

    # The epoch begins with the first ACK after recovery.
    epoch = min((series["t"][lost] + late / 100 for late in range(40)), key=off)
    return {
        "t": series["t"][lost:],
        "cwnd": windows[lost:],
        "formula": formula(epoch)[lost:],
        "worst": off(epoch),
    }


def timeline(ccs: list[str]) -> dict:
    """Return windows, rates and the queue of two flows of each kind, the second 10 s later."""
    out = {}
    for cc in ccs:
        qdisc = "qdisc=step,step=60kB" if cc == "dctcp" else ""
        out[cc] = netsim.run(
            *links("50mbit", 40, queue="250kB", fwd=qdisc),
            *flow(cc, "n=2,apart=10s"),
            *["--time", "40s", "--sample", "100ms"],
        )
    return out


def goals(body: dict) -> list[report.Goal]:
    found = [report.Goal("CUBIC's window off the formula", body["cubic"]["worst"], "", 0.03)]
    for cc in ("cubic", "reno"):
        rows = body["loss"][cc]
        off = max(abs(row["mbits"] / row["theory"] - 1) for row in rows)
        found.append(report.Goal(f"{cc}: throughput off the response function", off, "", 0.45))
        least = min(row["jain"] for row in body["fairness"][cc])
        found.append(report.Goal(f"{cc}: Jain's index of 2 to 50 flows", least, "", 0.9, False))
        one = next(row for row in body["recovery"][cc] if row["x"] == "one")
        found.append(report.Goal(f"{cc}: one loss repaired", one["rtts"], "RTT", 1.3))
        full = next(row for row in body["buffer"][cc] if row["x"] == 1)
        found.append(report.Goal(f"{cc}: a BDP of buffer", full["mbits"], "Mbit/s", 88, False))
    return found


def main() -> int:
    ccs = [cc for cc in CCS if netsim.has_cc(cc)]
    for cc in CCS:
        if cc not in ccs:
            print(f"left out: core/ refuses cc={cc}")
    body: dict = {"congestion_controls": ccs}
    for name, measure in (
        ("loss", against_loss),
        ("rtt", against_rtt),
        ("buffer", against_buffer),
        ("fairness", fairness),
        ("rtt_fairness", rtt_fairness),
        ("recovery", recovery),
    ):
        print(f"{name} ...", flush=True)
        body[name] = {cc: measure(cc) for cc in ccs}
    body["cubic"] = cubic_window()
    met = goals(body)
    report.write(paths.OUT / "bench" / "netsim.json", body, met)
    plots = netsim_plots.draw(body, timeline(ccs), paths.OUT / "netsim")
    for goal in met:
        state = "met" if goal.met else "NOT MET"
        bound = "at most" if goal.at_most else "at least"
        print(f"{goal.name}: {goal.value:.3g} {goal.unit} ({bound} {goal.goal:g}): {state}")
    print(f"out/bench/netsim.json, {len(plots)} plots in out/netsim/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
