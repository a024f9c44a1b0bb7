# SPDX-License-Identifier: Apache-2.0
"""Random starts and ends of connections: toe_conn's handling of packets without a flow, commands
and messages of FPCs, compared with a model of listeners, slots, the flow table and neighbours
(conn_world). All sides withhold ready and answer late; queue pairs detach and attach.
test_listeners tests the choice of listeners, test_tw the answers of TIME-WAIT."""

import cocotb
import pytest

from gateware.lib.bench import begin, finds, reset, seeded, simulate
from gateware.src.toe.tb.conn_world import FLOW_BITS, FPCS, GATEWAY, OWN, QPS, Bench
from gateware.src.toe.tb.contract import TOE

LISTS, TOP, MODULE = ["src/toe/toe_conn.f"], "toe_conn", "gateware.src.toe.tb.test_conn"
PARAMETERS = {"Qps": QPS, "FlowBits": FLOW_BITS, "Fpcs": FPCS}


@cocotb.test()
async def connections_begin_and_end(dut):
    rng = seeded()
    await begin(dut)
    own = {"mac": 0x020000000001, "ip4": OWN, "ip4_prefix": 24, "ip4_gateway": GATEWAY}
    own |= {"mtu": 1500, "secret": rng.getrandbits(128)}
    dut.own_i.value = TOE.pack("own_t", own)
    bench = Bench(dut, rng)
    for _ in range(2):
        bench.begin()
        bench.places = 0
        for name in (
            "qp",
            "command_valid",
            "miss_valid",
            "message_valid",
            "answer_valid",
            "detach",
        ):
            getattr(dut, f"{name}_i").value = 0
        await reset(dut)
        for n in range(26000):
            if n % 200 == 0:
                bench.odds = rng.choice([0.2, 0.6, 1])
            await bench.cycle()
        bench.more, bench.odds = False, 1
        for _ in range(1500):
            await bench.cycle()
        left = {n: [e for e in q if e[0] != "maybe"] for n, q in bench.due.items() if n != "free"}
        assert not any(left.values()) and not bench.due["free"], (left, bench.due["free"])
        assert bench.dones == 0, "a command is never done"
        for name, value in bench.counters.items():
            # test_tw checks the counts of packets in TIME-WAIT.
            more = bench.said[name] - value
            assert 0 <= more <= bench.count["time-wait"], f"{name}: {more} more than {value}"
        assert not any(f["to_reset"] for f in bench.flows.values()), "a half-open flow stays"
        used = dut.used_o.value.to_unsigned()
        for qp in bench.qps:
            held = sum(f["qp"] == qp.index for f in bench.flows.values())
            assert not qp.on or used >> 16 * qp.index & 0xFFFF == held, "slots in use"
    print(dict(bench.count), dict(bench.counters))
    names = ("passive", "active", "LISTEN", "UNLISTEN", "CONNECT", "refused", "time-wait", "purged")
    assert min(bench.count[n] for n in (*names, "left", "given up")) > 1, bench.count


def test_conn():
    simulate(LISTS, TOP, MODULE, parameters=PARAMETERS)


RTL = "src/toe/rtl/"
FAULTS = {
    "the backlog is never given back": (
        RTL + "toe_conn.sv",
        "MsgBacklog && work.message.backlog && msg_listener_ok;",
        "MsgBacklog && work.message.free && msg_listener_ok;",
    ),
    "a flow of who listened before is taken from who listens now": (
        RTL + "toe_conn.sv", "work.message.kind == CnAccepted) || unheld),",
        "work.message.kind == CnAccepted)),",
    ),
    "a RST to what has no ACK": (
        RTL + "conn_say.sv", "+ 32'(seg.flags.syn) + 32'(seg.flags.fin);", "+ 32'(seg.flags.syn);",
    ),
    "what lies beyond the gateway is asked for itself": (
        RTL + "conn_route.sv", "hop_q <= on_link_q ? to_q2 :", "hop_q <= 1'b1 ? to_q2 :",
    ),
    "one FPC is not heard": (
        RTL + "conn_turn.sv", "= idle_i && any && int'(source) == f;",
        "= idle_i && any && int'(source) == f && f == 0;",
    ),
    "a queue pair is gone before its last slot has come back": (
        RTL + "conn_steps.sv", "purges_q == '0 && step_q == Idle) begin", "purges_q == '0) begin",
    ),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("why", FAULTS)
def test_finds(why):
    """The tests fail on a toe_conn with this fault."""
    finds(FAULTS[why], LISTS, TOP, MODULE, parameters=PARAMETERS)
