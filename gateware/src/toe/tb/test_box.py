# SPDX-License-Identifier: Apache-2.0
"""The complete TOE at its ports, as in a card's shell. AXI4-Lite registers identify it. Two hosts
attach and use their rings, woken only by interrupts. Peers on the link open connections, exchange
data, and end them in all ways, over IPv4 and IPv6. Both ends check each byte, box_world.py checks
every bus in each cycle, and all sides have random delays. Resets by the pin and by the register
interrupt it; it must then work as before. With more connections than TCBs on chip, TCBs move to
their memory and back."""

import os

import cocotb
import pytest

from gateware.lib.bench import begin, finds, seeded, simulate
from gateware.src.toe.tb.box_ends import IP4, IP6, MAC, Host, Peer, answer, parsed, ping
from gateware.src.toe.tb.box_world import READY, RUN, World
from gateware.src.toe.tb.contract import AROUND, REASON

FLOW_BITS, HOT_BITS, QPS, BUF_BITS, BUILD = 6, 5, 2, 4, 0x0123456789ABCDEF
LISTS, TOP, MODULE = ["src/toe/toe_box.f"], "toe_box", "gateware.src.toe.tb.test_box"
PARAMETERS = {
    "FlowBits": FLOW_BITS, "HotBits": HOT_BITS, "Qps": QPS, "BufBits": BUF_BITS,
    "BuildId": f"64'h{BUILD:x}",
}  # fmt: skip
PORT = 80
SERVER_ERROR = 2  # SLVERR


class Lab:
    """A TOE, its hosts and its peers."""

    def __init__(self, dut, rng) -> None:
        self.dut, self.rng = dut, rng
        self.world = World(dut, rng)
        self.world.on_irq = lambda q: self.hosts[q].interrupt()
        self.begin()

    def begin(self) -> None:
        self.hosts: list[Host] = []
        self.peers: list[Peer] = []
        self.by_key: dict[tuple[bytes, int], Peer] = {}
        self.echo: bytes | None = None  # the expected reply
        self.pings = 0  # pings to send

    async def start(self, slots_logs: list[int]) -> None:
        """Writes the registers as a driver does; then hosts attach and listen."""
        world, rng = self.world, self.rng
        self.begin()
        if not await world.read(RUN):
            await self.run()
        first = 0
        for q, log in enumerate(slots_logs):
            host = Host(world, rng, q, slots_log=log, first=first)
            first += 1 << log
            await host.attach()
            self.hosts.append(host)
            host.say("LISTEN", flags="V6", aux=PORT + q, flow=PORT + q, arg1=100)
        await self.until(lambda: all(h.word(h.status) == 1 for h in self.hosts), "all listen")

    async def run(self) -> None:
        write, rng, world = self.world.write, self.rng, self.world
        await write(0x30, int.from_bytes(MAC[:4], "little"))
        await write(0x34, int.from_bytes(MAC[4:], "little"))
        await write(0x38, 1500)
        await write(0x40, int(IP4))
        await write(0x44, 24)
        for i in range(4):
            await write(0x50 + 4 * i, int.from_bytes(IP6.packed[4 * i : 4 * i + 4], "little"))
        await write(0x60, 64)
        for i in range(16):
            await write(0x110 + 4 * i, rng.getrandbits(32))
        await write(RUN, 1)
        while not await world.read(READY):
            pass
        for _ in range(2 << FLOW_BITS):
            await world.cycle()  # the TOE clears the timers' memory

    def comes(self, q: int, length: int, how: str, *, v6: bool) -> Peer:
        """Adds a peer that connects to the host's listener; how: which side ends it."""
        text = self.rng.randbytes(length)
        peer = Peer(self.world, self.rng, len(self.peers), PORT + q, v6=v6, text=text)
        peer.closing = how == "peer"
        peer.how = how
        self.peers.append(peer)
        self.by_key[peer.key] = peer
        if q < len(self.hosts):
            self.hosts[q].peers[peer.key] = peer
            self.hosts[q].ends[peer] = how
        peer.syn()
        return peer

    async def cycle(self) -> None:
        await self.world.cycle()
        for host in self.hosts:
            if host.woken or host.todo:
                await host.step()
        sent = self.world.link.sent
        while sent:
            frame = sent.popleft()
            if frame == self.echo:
                self.echo = None
                continue
            s = parsed(frame)
            self.by_key[s.target, s.dport].takes(s)
        able = [peer for peer in self.peers if len(peer.ip) == 4] if self.pings else []
        if self.echo is None and able and self.rng.random() < 0.01:
            asked, self.echo = ping(able[0], self.rng.randbytes(self.rng.randrange(18, 900)))
            self.world.link.waiting.append(asked)
            self.pings -= 1
        if self.world.cycles % 16 == 0:
            for peer in self.peers:
                peer.step()

    async def until(self, what, said: str, cycles: int = 30000) -> None:
        for _ in range(cycles):
            if what():
                return
            await self.cycle()
        raise AssertionError(f"{said}: not after {cycles} cycles")

    def finished(self, peer: Peer) -> bool:
        """Returns whether the connection has ended; received data are checked at the end of the
        test."""
        whole = bytes(peer.got) == answer(peer.text)
        if peer.how == "rst" and whole and not peer.reset:
            peer.abort()
        if peer.how == "host" and peer.ended:
            peer.closing = True
        if peer.how in ("abort", "refused", "rst"):
            return peer.reset
        return whole and peer.ended and peer.fin_acked

    def left(self) -> list[Peer]:
        """Returns the peers whose connections have not ended, after one step of each."""
        return [peer for peer in self.peers if not self.finished(peer)]

    async def all_end(self) -> None:
        await self.until(lambda: not self.left(), "all peers end")
        self.pings = 0
        for _ in range(3000):
            if self.echo:
                await self.cycle()
        if self.echo:
            assert await self.world.count("no_buffer"), "an echo is lost"
        for host in self.hosts:
            of = sum(p.dport == PORT + host.number for p in self.peers)
            await self.until(lambda h=host, of=of: len(h.done) == of and not h.todo, "hosts too")
            for flow in host.done:
                reason = {"abort": "ABORTED", "rst": "RESET"}.get(flow.peer.how, "OK")
                assert flow.over == REASON[reason], f"{flow.peer.how} ends with {flow.over}"
                assert flow.received == len(flow.peer.text)
        for peer in self.peers:
            assert answer(peer.text).startswith(bytes(peer.got)), "other bytes than were sent"

    async def counted(self) -> None:
        """Checks the counter registers against the observed events."""
        world = self.world
        for _ in range(200):
            await self.cycle()
        assert await world.count("packet_in") == world.link.frames_in
        assert await world.count("packet_out") == world.link.frames_out
        assert await world.count("msix") == world.messages > 0
        assert await world.count("host_write_error") == world.host.refused
        assert await world.count("tcb_write_error") == world.tcbs.refused == 0
        for name in ("host_read_error", "tcb_read_error", "qp_halted", "bad_tcp_sum", "bad_header"):
            assert await world.count(name) == 0, name

    async def leave(self) -> None:
        for host in self.hosts:
            await self.until(lambda h=host: h.word(h.status) == h.sw_head, "all is handled")
            for _ in range(100):
                await self.cycle()
            assert await host.state() >> 16 == 0, "a slot is held"
            await host.leave()
            assert await host.state() & 1 == 0
        self.hosts = []


async def lab(dut) -> Lab:
    rng = seeded()
    await begin(dut)
    found = Lab(dut, rng)
    await found.world.restart()
    return found


@cocotb.test()
async def registers_say_what_it_is(dut):
    """Also while the TOE does not run; accesses to unmapped addresses fail."""
    toe = await lab(dut)
    world = toe.world
    features = 1 << 1 | 1 << 2 | 1 << 7 | 1 << 10 | 1 << 11
    fixed = {0x00: 0x31454F54, 0x04: 1, 0x08: BUILD % AROUND, 0x0C: BUILD // AROUND}
    fixed |= {0x10: features, 0x14: QPS, 0x18: 1 << FLOW_BITS, 0x1C: 1 << FLOW_BITS, 0x20: 4096}
    fixed |= {0x28: 10**9, RUN: 0, READY: 0}
    for address, value in fixed.items():
        assert await world.read(address) == value, f"register {address:x}"
    await toe.start([5])
    for address, value in (fixed | {0x10: features | 1, RUN: 1, READY: 1}).items():
        assert await world.read(address) == value, f"register {address:x}, as it runs"
    for address in (0x0F8, 0x1C0, 0x10C8, 0x7FFF0):
        answer_, _ = await world.bus.access(world.cycle, address, None)
        assert answer_ == SERVER_ERROR, f"register {address:x} is there"


async def serve(toe: Lab, flows: int, most: int) -> None:
    """Runs two hosts, and peers that connect at random times and end in all ways."""
    rng = toe.rng
    await toe.start([FLOW_BITS - 1] * 2)
    toe.world.host.refuses, toe.pings = 0.02, 20
    ways = ["peer", "host", "abort", "rst"]
    for n in range(flows):
        length = rng.choice([1, 700, rng.randrange(1, most)])
        toe.comes(n % 2, length, ways[n // 2 % 4], v6=rng.random() < 0.5)
        for _ in range(rng.randrange(200)):
            await toe.cycle()
    toe.comes(5, 10, "refused", v6=rng.random() < 0.5)


@cocotb.test()
async def servers_answer(dut):
    """Also after resets during operation, by the pin and by the register."""
    toe = await lab(dut)
    flows = int(os.environ.get("TOE_BOX_FLOWS", "8"))
    for way in ("pin", "", "", "register", ""):
        await serve(toe, flows=flows, most=9000)
        if way:
            for _ in range(toe.rng.randrange(1500)):
                await toe.cycle()
        if way == "pin":
            await toe.world.restart()
        elif way == "register":
            await toe.world.stop()
            for host in toe.hosts:
                await host.configure(enable=False)
        else:
            await toe.all_end()
            await toe.counted()
            await toe.leave()


@cocotb.test()
async def more_flows_than_tcbs_on_chip(dut):
    """All connections are open at once and used repeatedly: most TCBs are evicted in between."""
    toe = await lab(dut)
    flows = (1 << HOT_BITS) + 12
    await toe.start([FLOW_BITS])
    for n in range(flows):
        toe.comes(0, 120, "wait", v6=n % 3 == 0)
        toe.peers[-1].hold = 40
    for part in (40, 80, 120):
        for peer in toe.peers:
            peer.hold = part
        await toe.until(
            lambda part=part: {len(p.got) for p in toe.peers} == {part}, f"{part} bytes"
        )
    assert await toe.hosts[0].state() >> 16 == flows
    for peer in toe.peers:
        peer.how = "peer"
        peer.closing = True
    await toe.all_end()
    evicted, fetched = await toe.world.count("evicted"), await toe.world.count("fetched")
    assert evicted > flows and 0 < fetched <= evicted, (evicted, fetched)
    assert toe.world.tcbs.writes % evicted == 0, "an eviction is not counted, or twice"
    await toe.counted()
    await toe.leave()


def test_box():
    simulate(LISTS, TOP, MODULE, parameters=PARAMETERS)


@pytest.mark.long
def test_box_many():
    simulate(LISTS, TOP, MODULE, parameters=PARAMETERS, env={"TOE_BOX_FLOWS": "48"})


FAULTS = {
    "an interrupt before what it tells of": (
        "src/toe/rtl/toe_msix.sv", "ripe[i] = wants_q[i] && !left[15];", "ripe[i] = wants_q[i];",
    ),
    "it runs before it is let": (
        "src/toe/rtl/toe_box.sv", "core_rst_nq <= rst_ni && run;", "core_rst_nq <= rst_ni;",
    ),
    "frames are counted that wait": (
        "src/toe/rtl/toe_box.sv", "m_axis_tvalid_o && m_axis_tready_i && m_axis_tlast_o;",
        "m_axis_tvalid_o && m_axis_tlast_o;",
    ),
    "the two errors of host memory are one": (
        "src/toe/rtl/toe_box.sv", ".write_error_o(box_counts.host_write_error)",
        ".write_error_o(box_counts.host_read_error)",
    ),
    "writes cross a page": (
        "src/toe/rtl/toe_axi.sv", "wire aw_crosses = aw_len_i > room(aw_addr_i);",
        "wire aw_crosses = 1'b0;",
    ),
    "a read is offered, and then another": (
        "src/toe/rtl/toe_axi.sv", "wire pick_tx = held_q ? held_tx_q : (tx_q",
        "wire pick_tx = (tx_q",
    ),
    "a TCB is fetched that is not in its memory yet": (
        "src/toe/rtl/fpc_tcbs.sv", "wire begins = want_i && !under_way && !is_saving && room;",
        "wire begins = want_i && !under_way && room;",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("why", FAULTS)
def test_finds(why):
    """The tests fail on a toe_box with this fault."""
    finds(FAULTS[why], LISTS, TOP, MODULE, parameters=PARAMETERS)
