# SPDX-License-Identifier: Apache-2.0
"""bench gateware: how it evaluates cycles. (toe_bench itself: gateware/sim/test_toe_bench.py)"""

from bench import gateware, gateware_plots


def stream(cycles: int, packets: int, payload: int, **more: object) -> dict:
    marks = [[1000, 50, 50 * payload], [1000 + cycles, 50 + packets, (50 + packets) * payload]]
    sample = {"case": "receive", "payload": payload, "flows": 64, "delay": 200}
    return {"fpcs": 1, **sample, "marks": marks, "counters": {}, **more}


def frames(dropped: int, **more: object) -> dict:
    sample = {"case": "frames", "flows": 64, "interval_ps": 0, "offered": 1000, "cycles": 1000}
    return {"fpcs": 2, **sample, "dropped": dropped, "counters": {}, **more}


def latency(rows: list[list[int]], delay: int = 1) -> dict:
    sample = {"case": "latency", "payload": 128, "delay": delay, "cycles": rows}
    return {"fpcs": 1, **sample, "counters": {}}


def test_a_link_of_100_gbit_is_seen_as_one():
    """1500 bytes of IPv4 use 1538 of the link: 8.127 M/s."""
    assert gateware.on_wire(1) == gateware.on_wire(6) == 84
    assert gateware.on_wire(1460) == 1538
    row = gateware.rates(stream(30760, 1000, 1460, counters={"no_buffer": 3}))
    assert (row["mpps"], row["gbps"], row["wire_gbps"]) == (8.13, 94.93, 100.0)
    assert row["dropped"] == 3


def test_frames_count_when_they_are_taken():
    row = gateware.taken(frames(250))
    assert (row["per_cycle"], row["mpps"]) == (0.75, 187.5)


def test_the_longest_counts():
    row = gateware.delays(latency([[44, 54, 37], [45, 52, 36]]))
    assert (row["placed_cycles"], row["told_ns"], row["sent_ns"]) == (45, 216, 148)


def test_what_was_fetched_was_not_on_chip():
    sample = frames(500, tcbs=32, delay=200, fetched=50)
    row = gateware.found_on_chip(sample)
    assert (row["hit_percent"], row["per_cycle"], row["tcbs"]) == (90.0, 0.5, 32)
    found = gateware.derive([sample, {**latency([[40, 60, 40]]), "tcbs": 32, "flows": 64}])
    assert (found["frames"], found["latency"]) == ([], [])  # these have no goal
    assert gateware.goals(found) == []
    said = gateware.table(found)
    assert "64 flows, 32 TCBs on chip, memory after 200 cycles: 90.0 % on chip" in said
    assert (
        "64 flows in turn, 32 TCBs on chip, memory after 1 cycles: 128 bytes notified after 240"
        in said
    )


def test_goals_are_met_or_not():
    samples = [
        stream(4000, 1000, 128),  # 62.5 M/s
        stream(5000, 1000, 128, case="send"),
        stream(9000, 1000, 64),  # no goal
        frames(0),
        frames(900, fpcs=1),
        frames(900, interval_ps=6720),  # no goal either
        frames(900, flows=1),
        latency([[201, 300, 76]]),
        latency([[900, 900, 900]], delay=200),
    ]
    judged = gateware.goals(gateware.derive(samples))
    assert [(g.value, g.goal, g.met) for g in judged] == [
        (250.0, 148.8, True),
        (25.0, 148.8, False),
        (103.0, 100, True),
        (82.4, 100, False),
        (201, 200, False),
        (1504, 1500, False),
    ]
    assert all(g.name.endswith("128 bytes, memory after 1 cycle") for g in judged[-2:])
    assert "64-byte frames, 64 flows, 2 FPCs" in gateware.table(gateware.derive(samples))


def test_the_plot_is_made_of_the_json(tmp_path):
    samples = [stream(4000, 1000, n) for n in (64, 128)]
    body = {"figures": gateware.derive(samples), "cycle_ns": 4, "commit": "c"}
    path = gateware_plots.draw(body, tmp_path / "plot.png")
    assert path.read_bytes()[:4] == b"\x89PNG"
