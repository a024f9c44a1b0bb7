# SPDX-License-Identifier: Apache-2.0
"""One cell of the laboratory (cards.py): an engine over one back end on one card, its transfers
with each offload, and what becomes of it when the link, the MTU or the card goes."""

from __future__ import annotations

import json
import re

from tests.lab import cards, proc
from tests.lab.cards import CARDS, Rack

MB = 1_000_000
JUMBO_ON = ("af_xdp-generic", "tap", "dpdk")
OFFLOADS = ("rx", "tx", "sg", "tso", "gro", "lro")


class Refused(Exception):
    """The back end does not run on this card: toed's or the kernel's reason."""


def begin(rack: Rack, card: str, back_end: str, *, mtu: int = 1500, env: str = "") -> None:
    """Plugs the card and starts nginx on it. Refused if toed or the card does not take that."""
    rack.plug(CARDS[card])
    queues = CARDS[card].queues if back_end == "af_xdp-native" else 1
    if queues > 1:  # with all of them in use, virtio_net opens none that cannot send
        rack.run(f"ethtool -L {rack.interface} combined {queues}")
    try:
        netif = rack.netif(back_end, mtu)
    except AssertionError as e:
        raise Refused(e.args[0][3].strip()) from e  # stderr of the guest's command
    if back_end == "inline":
        rack.start_nginx("--engine inline", f"--netif {netif}", f"--ip {cards.IP}/24")
        return
    if not rack.start_toed(netif, f"--engines {queues}", env=env):
        raise Refused(rack.log("toed").strip().splitlines()[-1].removeprefix("toed: "))
    if back_end == "tap":
        rack.bridge()
    rack.start_nginx()


def end(rack: Rack) -> None:
    """Leaves the guest as before begin(), whatever happened."""
    rack.run("killall -9 nginx", None)  # its workers too
    rack.stop("toed", "KILL")
    if rack.card:
        rack.pull()
    rack.run(f"ip link del br0; ip link del toe0; rm -f {cards.SOCKET} /tmp/toed.pid", None)


def state(rack: Rack) -> dict[str, str]:
    """Each offload of toed on this back end: native, software, or refused with the reason."""
    listed = {f["word"]: f for f in json.loads(rack.toehold("offload", "--json")[0])}
    result = {}
    for word in OFFLOADS:
        if listed[word]["active"]:
            result[word] = "software" if word == "gro" else "native"
        elif listed[word]["fixed"]:
            _, said = rack.toehold("offload", word, "on", code=3)
            result[word] = f"refused: {said.strip().removeprefix('toehold: ')}"
        else:
            result[word] = "off"
    return result


def own(rack: Rack) -> dict[str, str]:
    """Each offload of the card under its kernel driver: on, off, fixed."""
    names = {
        "rx-checksumming": "rx",
        "tx-checksumming": "tx",
        "scatter-gather": "sg",
        "tcp-segmentation-offload": "tso",
        "generic-receive-offload": "gro",
        "large-receive-offload": "lro",
    }
    lines = rack.run(f"ethtool -k {rack.interface}").stdout.splitlines()
    seen = dict(line.split(": ", 1) for line in lines if ": " in line)
    return {word: seen[name].strip() for name, word in names.items()}


def each_offload(rack: Rack, size: int) -> list[str]:
    """Transfers with everything on, then with each offload off, of toed and of the card's driver.
    Returns what was switched."""
    done = ["all on"]
    rack.transfer(size)
    for word, how in state(rack).items():
        if how.startswith(("native", "software")):
            rack.toehold("offload", word, "off")
            rack.transfer(size)
            rack.toehold("offload", word, "on")
            done.append(f"{word} off")
    for word, how in own(rack).items() if rack.interface else ():
        if how == "on":
            rack.run(f"ethtool -K {rack.interface} {word} off")
            rack.transfer(size)
            rack.run(f"ethtool -K {rack.interface} {word} on")
            done.append(f"card's {word} off")
    return done


def link_down_and_up(rack: Rack) -> str:
    """A connection lives through a cable that is pulled out and in again."""
    with rack.connect() as s:
        rack.set_link(up=False)
        rack.carrier(up=False)
        rack.set_link(up=True)
        rack.carrier(up=True)
        s.sendall(b"GET /hello HTTP/1.0\r\n\r\n")
        s.settimeout(proc.seconds(60))
        assert b"hello" in b"".join(iter(lambda: s.recv(4096), b""))
    return "connections last" + ("" if rack.card.sees_link else "; unnoticed")


def mtu_change(rack: Rack, size: int) -> str:
    """Transfers at a smaller MTU of both ends and, after it, of the old one."""
    for mtu in (1200, 1500):
        rack.set_mtu(mtu)
        rack.transfer(size)
    return "follows"


def jumbo(rack: Rack, card: str, back_end: str, size: int) -> str:
    """Transfers at MTU 9000 of both ends. The MTU that toed uses, or why there is none."""
    try:
        begin(rack, card, back_end, mtu=9000)
        rack.transfer(size)
        return re.search(r"MTU (\d+),", rack.log("toed"))[1]
    except Refused as e:
        return f"refused: {e}"
    finally:
        end(rack)


def throttling(rack: Rack, card: str, size: int) -> str:
    """Transfers with the card's interrupts delayed and not. What delays them, or why nothing."""
    try:
        begin(rack, card, "af_xdp-generic")
        for delay in (200, 0):
            done = rack.run(f"ethtool -C {rack.interface} rx-usecs {delay}", None)
            if done.returncode:
                return f"refused: {done.stderr.strip().splitlines()[-1]}"
            rack.transfer(size)
        return "native"
    finally:
        end(rack)


def spread(rack: Rack, card: str, size: int) -> str:
    """Connections over two queues. What spreads them, or why nothing."""
    try:
        rack.plug(CARDS[card])
        done = rack.run(f"ethtool -L {rack.interface} combined 2", None)
        if done.returncode:
            return f"refused: {done.stderr.strip().splitlines()[-1]}"
        if not rack.start_toed(rack.netif("af_xdp-generic"), "--engines 2"):
            raise Refused(rack.log("toed"))
        rack.start_nginx()
        for _ in range(30):
            rack.get("/hello")
        rack.transfer(size)
        engines = json.loads(rack.toehold("stats", "--json")[0])["engines"]
        frames = [e["netio"]["rx_frames"] for e in engines]
        return "native" if all(frames) else f"one queue has all frames: {frames}"
    finally:
        end(rack)


def further(rack: Rack, card: str, size: int) -> dict:
    """What is no offload of toed: jumbo frames, delayed interrupts, several queues."""
    result = {f"jumbo {b}": jumbo(rack, card, b, size) for b in JUMBO_ON}
    return result | {"throttling": throttling(rack, card, size), "rss": spread(rack, card, size)}


def pulled_out(rack: Rack) -> str:
    """The card goes while a connection is open: toed must end, with the reason."""
    with rack.connect():
        rack.pull()
        rack.until("! kill -0 $(cat /tmp/toed.pid) 2>/dev/null", "toed ends")
    reasons = [line for line in rack.log("toed").splitlines() if " gone" in line]
    assert reasons, rack.log("toed")
    return f"toed ends: {reasons[-1].removeprefix('toed: ')}"


def cell(rack: Rack, card: str, back_end: str, size: int) -> dict:
    """Everything above in one cell, toed's engine. What it shows, for docs/CARDS.md."""
    try:
        begin(rack, card, back_end)
        if back_end == "inline":
            return of_inline(rack, size)
        result = {"toed": state(rack)}
        if rack.interface:
            result["card"] = own(rack)
        engines = json.loads(rack.toehold("stats", "--json")[0])["engines"]
        result["mode"], result["engines"] = engines[0]["netio"]["mode"], len(engines)
        result["switched"] = each_offload(rack, size)
        result["link"] = link_down_and_up(rack)
        result["mtu"] = mtu_change(rack, size) if rack.interface else "fixed at the start"
        result["pulled"] = pulled_out(rack) if back_end != "tap" else pulled_from_bridge(rack)
        return result
    except Refused as e:
        return {"refused": str(e)}
    finally:
        end(rack)


def of_inline(rack: Rack, size: int) -> dict:
    """The same of an engine in nginx, whose offloads are not switched while it runs."""
    rack.transfer(size)
    result = {"switched": ["all on"], "link": link_down_and_up(rack), "mtu": "fixed at the start"}
    with rack.connect():
        rack.pull()
        assert rack.runs("nginx"), rack.log("nginx")
    return result | {"pulled": "unnoticed: nginx runs without frames"}


def pulled_from_bridge(rack: Rack) -> str:
    """toed's own interface stays when the card behind the bridge goes."""
    rack.pull()
    assert rack.runs("toed"), rack.log("toed")
    rack.toehold("stats", "--json")
    return "toed serves on: its TAP interface stays"
