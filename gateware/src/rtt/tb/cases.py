# SPDX-License-Identifier: Apache-2.0
"""The cases that test_rtt.py runs on the complete module (each is a cocotb test)."""

import os
import random
import struct

import cocotb

from . import frames
from .bench import Bench
from .model import ANY, ICMP, TAG, TCP, UDP, Config

START = int(os.environ.get("RTT_START", "0"), 0)


async def bench(dut, config: Config, **options) -> Bench:
    b = Bench(dut, config, start=START, **options)
    await b.start()
    return b


@cocotb.test()
async def describes_itself(dut):
    b = await bench(dut, Config())
    assert (await b.read("BLOCK.TYPE")).to_bytes(4, "little") == b"RTTM"
    assert await b.read("BLOCK.VERSION") == 0x10000
    assert await b.read("BLOCK.SIZE") == 0x4000
    assert await b.read("BLOCK.NEXT") == 0
    assert await b.read("CLOCK_HZ") == 250_000_000
    await b.write("SCRATCH", 0x12345678)
    assert await b.read("SCRATCH") == 0x12345678


@cocotb.test()
async def any_packet_one_at_a_time(dut):
    """S5's use case: any packet is looped back; with sizes, loss, and a wrap of the counter."""
    b = await bench(dut, Config(mode=ANY, looped=True, hist_base=90))
    b.tx.idle = b.tx.stall = b.rx.stall = 0.3
    for n in range(60):
        delay = b.rng.randrange(95, 110)
        frame = bytes(b.rng.randrange(256) for _ in range(b.rng.choice((60, 64, 65, 128, 300))))
        b.on_left = lambda at, f, d=delay, n=n: n % 7 and b.rx.send(f, at + d)
        b.tx.send(frame)
        await b.drain(5)
    want = await b.check()
    assert want.counts["REPLACED"] == 9


@cocotb.test()
async def udp_port_pair(dut):
    """Answers match by port pair with swapped addresses; other ports and protocols do not count."""
    b = await bench(dut, Config(mode=UDP, local_port=5000, remote_port=7))
    for n in range(40):
        six, vlans, options = n % 2 == 1, n % 3, 0 if n % 2 else n % 5
        probe = frames.udp(b"x" * (n * 7), six=six, vlans=vlans, options=options)
        answer = frames.udp(b"y" * n, six=six, back=True, vlans=vlans)
        b.on_left = lambda at, f, a=answer: b.rx.send(a, at + 97)
        b.tx.send(probe)
        await b.drain(1)
        b.on_left = None
        b.tx.send(frames.udp(b"", sport=5001))
        b.tx.send(frames.tcp("PA", 1, 1, 10))
        b.rx.send(frames.udp(b"", dport=9, back=True))
    want = await b.check()
    assert want.counts["COUNT"] == 40


@cocotb.test()
async def icmp_echo(dut):
    """Several in flight; answers out of order, duplicated, and without a probe."""
    b = await bench(dut, Config(mode=ICMP))
    b.tx.idle = b.rx.idle = b.rx.stall = 0.2
    order = list(range(120))
    b.rng.shuffle(order)
    for n in range(120):
        b.tx.send(frames.echo(77, n, six=n % 2 == 1, vlans=n % 3))
    await b.drain(10)
    for n in order:
        b.rx.send(frames.echo(77, n, six=n % 2 == 1, back=True))
        if n % 10 == 0:
            b.rx.send(frames.echo(77, n, six=n % 2 == 1, back=True))
        if n % 10 == 1:
            b.rx.send(frames.echo(78, n, back=True))
            b.rx.send(frames.echo(77, n, six=n % 2 == 1))  # a received request is no answer
    want = await b.check()
    assert want.counts["COUNT"] == 120
    assert want.counts["DUPLICATES"] == 12
    assert want.counts["UNMATCHED"] == 12
    assert want.counts["REORDERED"] > 20


@cocotb.test()
async def tag_back_to_back(dut):
    """Frames of 64 bytes in every cycle in both directions: all stamps are present and right."""
    b = await bench(dut, Config(mode=TAG, looped=True, tag_offset=3))
    b.on_left = lambda at, f: b.rx.send(f, at + 100)
    for n in range(2000):
        b.tx.send(frames.udp(b"abc" + struct.pack(">I", n) + b"z" * 11))
    want = await b.check(ring=False)
    assert want.counts["COUNT"] == want.counts["PROBES"] == 2000
    assert set(want.samples) == {100}
    assert await b.read("S_RING_DROPPED") == 2000 - 512


@cocotb.test()
async def tag_jitter_loss_duplicates(dut):
    b = await bench(dut, Config(mode=TAG, looped=True, hist_base=80), seed=3)
    rng = random.Random(5)
    arrivals = []

    def path(at, f):
        if rng.random() < 0.1:
            return
        for _ in range(2 if rng.random() < 0.1 else 1):
            arrivals.append((at + 100 + int(rng.expovariate(1 / 60)), f))

    b.on_left = path
    b.tx.idle = 0.4
    for n in range(400):
        frame = frames.udp(struct.pack(">I", n * 7) + b"p" * rng.randrange(60), vlans=n % 3)
        b.tx.send(frame if n % 9 else b"\xff" * 70)
    await b.drain(1000)
    for at, f in sorted(arrivals, key=lambda a: a[0]):
        b.rx.send(f, at)
    want = await b.check()
    assert want.counts["DUPLICATES"] > 10
    assert want.counts["REORDERED"] > 10


@cocotb.test()
async def sent_twice_tells_no_time(dut):
    """Karn: a probe sent twice before its answer gives no sample; the next one does."""
    b = await bench(dut, Config(mode=ICMP))
    for n in range(3):
        b.tx.send(frames.echo(1, 5))
        await b.drain(n)
    b.rx.send(frames.echo(1, 5, back=True))
    b.tx.send(frames.echo(1, 6))
    await b.drain(50)
    b.rx.send(frames.echo(1, 6, back=True))
    want = await b.check()
    assert want.counts["RESENT"] == 2
    assert want.counts["AMBIGUOUS"] == want.counts["COUNT"] == 1


@cocotb.test()
async def lost_after_timeout(dut):
    b = await bench(dut, Config(mode=ICMP))
    await b.write("TIMEOUT", 500)
    for n in range(20):
        b.tx.send(frames.echo(1, n))
    await b.drain(30)
    for n in range(0, 20, 2):
        b.rx.send(frames.echo(1, n, back=True))
    await b.drain(1024 + 600)  # the duration of a scan of all slots
    b.model.expire_all()
    b.rx.send(frames.echo(1, 1, back=True))  # too late
    want = await b.check()
    assert want.counts["LOST"] == 10
    assert want.counts["DUPLICATES"] == 1


@cocotb.test()
async def tcp_handshake_data_and_delayed_acks(dut):
    b = await bench(dut, Config(mode=TCP, remote_port=80))
    isn = 0xFFFFF000  # sequence numbers wrap
    b.tx.send(frames.tcp("S", isn, 0))
    await b.drain(90)
    b.rx.send(frames.tcp("SA", 500, isn + 1, back=True))
    await b.drain(5)
    seq = isn + 1
    for n in range(20):  # two segments, one acknowledgement
        b.tx.send(frames.tcp("A", seq, 501, 1448))
        b.tx.send(frames.tcp("PA", seq + 1448, 501, 1000 + n))
        seq += 2448 + n
        await b.drain(60 + n)
        b.rx.send(frames.tcp("A", 501, seq, back=True))
    b.tx.send(frames.tcp("A", seq, 501))  # no payload: no probe
    b.tx.send(frames.tcp("FA", seq, 501))
    await b.drain(33)
    b.rx.send(frames.tcp("FA", 501, seq + 1, back=True))
    await b.drain(50)
    await b.write("TIMEOUT", 1)
    await b.drain(1024 + 100)
    b.model.expire_all()
    want = await b.check()
    assert want.counts["COUNT"] == 22
    assert want.counts["COVERED"] == 20
    assert "LOST" not in want.counts


@cocotb.test()
async def tcp_retransmissions_and_flows(dut):
    """Four connections with losses; retransmissions are resegmented. No sample is ambiguous."""
    b = await bench(dut, Config(mode=TCP), seed=11)
    rng = random.Random(17)
    una = {port: rng.randrange(1 << 32) for port in range(40000, 40004)}
    for _ in range(80):
        port = rng.choice(list(una))
        six = port % 2 == 1
        sizes = [rng.randrange(1, 200) for _ in range(rng.randrange(1, 4))]
        seq = una[port]
        for size in sizes:
            b.tx.send(frames.tcp("A", seq, 9, size, six=six, port=port))
            seq += size
        await b.drain(rng.randrange(40, 80))
        if rng.random() < 0.4:  # lost: retransmit all in one segment, perhaps with one more byte
            more = rng.randrange(2)
            size = sum(sizes) + more
            b.tx.send(frames.tcp("A", una[port], 9, size, six=six, port=port))
            seq += more
            await b.drain(rng.randrange(40, 80))
        b.rx.send(frames.tcp("A", 9, seq, back=True, six=six, port=port))
        if rng.random() < 0.3:
            b.rx.send(frames.tcp("A", 9, seq, back=True, six=six, port=port))
        una[port] = seq & 0xFFFFFFFF
    want = await b.check()
    assert want.counts["RESENT"] > 15
    assert want.counts["COUNT"] > 30


@cocotb.test()
async def snapshots_while_traffic_runs(dut):
    """Each sample is in exactly one snapshot; sums, counters and histogram are of one instant."""
    b = await bench(dut, Config(mode=TAG, looped=True), seed=23)
    rng = random.Random(29)
    b.on_left = lambda at, f: b.rx.send(f, at + 90 + rng.randrange(20))
    b.tx.idle = 0.1
    for n in range(6000):
        b.tx.send(frames.udp(struct.pack(">I", n)))
    total = {"COUNT": 0, "SUM": 0, "PROBES": 0}
    in_flight = 0
    end = None
    while not b.tx.empty():
        await b.snapshot()
        count = await b.read("S_COUNT")
        squares = [await b.read(f"S_SUMSQ_{w}") for w in ("LO", "MID", "HI")]
        bins = {x: n for x in range(60, 512) if (n := await b.read("HIST", x))}
        assert sum(bins.values()) == count
        assert sum(x * n for x, n in bins.items()) == await b.read64("S_SUM")
        assert sum(x * x * n for x, n in bins.items()) == squares[1] << 32 | squares[0]
        probes = await b.read("S_PROBES")
        now_in_flight = await b.read("S_IN_FLIGHT")
        assert in_flight + probes - count == now_in_flight
        in_flight = now_in_flight
        if end is not None:
            assert await b.read64("S_BEGIN") == end
        end = await b.read64("S_END")
        total["COUNT"] += count
        total["SUM"] += await b.read64("S_SUM")
        total["PROBES"] += probes
    await b.drain()
    await b.snapshot()
    total["COUNT"] += await b.read("S_COUNT")
    total["PROBES"] += await b.read("S_PROBES")
    total["SUM"] += await b.read64("S_SUM")
    want = b.model.snapshot()
    assert total == {
        "COUNT": want.counts["COUNT"],
        "SUM": sum(want.samples),
        "PROBES": want.counts["PROBES"],
    }
    assert total["COUNT"] == 6000


@cocotb.test()
async def flush_forgets(dut):
    b = await bench(dut, Config(mode=ICMP))
    for n in range(10):
        b.tx.send(frames.echo(1, n))
    await b.drain()
    await b.write("COMMAND", 2)
    await b.until_clear("STATUS", 2)
    b.model.flush()
    for n in range(10):
        b.rx.send(frames.echo(1, n, back=True))
    want = await b.check()
    assert want.counts["UNMATCHED"] == 10


@cocotb.test()
async def random_bytes_do_no_harm(dut):
    """Truncated headers, fragments, wrong lengths: the model and the module agree on each."""
    for_mode = [UDP, ICMP, TAG, TCP]
    b = await bench(dut, Config(mode=TAG, looped=True), seed=31)
    rng = b.rng
    seeds = [
        frames.udp(b"abcdefgh" * 6), frames.udp(b"abcdefgh" * 6, six=True, vlans=1),
        frames.echo(1, 2), frames.echo(1, 2, six=True),
        frames.tcp("PA", 1, 2, 40, vlans=2), frames.tcp("S", 1, 2, six=True),
        frames.udp(b"abcdefgh" * 3, options=9),
    ]  # fmt: skip
    for mode in for_mode:
        await b.drain()
        b.config.mode = mode
        b.config.tag_offset = rng.randrange(65)
        await b.write("TAG_OFFSET", b.config.tag_offset)
        await b.enable()
        await b.write("COMMAND", 2)
        await b.until_clear("STATUS", 2)
        b.model.flush()
        for _ in range(150):
            f = bytearray(rng.choice(seeds))
            for _ in range(rng.randrange(3)):
                f[rng.randrange(12, len(f))] = rng.choice((0, 1, 5, 0x45, 0x46, 0x60, 0x81, 255))
            cut = bytes(f[: rng.randrange(14, len(f) + 1)] if rng.random() < 0.3 else f)
            b.tx.send(cut)
            b.rx.send(cut, b.cycle + 200)
    await b.check()
