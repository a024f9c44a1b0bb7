# SPDX-License-Identifier: Apache-2.0
"""A TOE in a VLAN (--vlan): data both ways with a Linux peer in it, and what is refused."""

from __future__ import annotations

import contextlib
import select
import socket
import struct

import pytest
import test_backends
import test_dpdk
import test_inline
import test_ip6
import test_offload
import test_toed

from tests.lab import frames, nginx, paths, proc, vlan

MB = 1_000_000
ARGS = ("--vlan", vlan.ID)
TPID, SERVICE = 0x8100, 0x88A8
TAG = struct.pack("!HH", TPID, vlan.ID)

pytestmark = pytest.mark.toehold_only


def in_vlan(make_lab, *args, offload=True, **options):
    """A lab whose toed and Linux peer are in VLAN 100."""
    lab = make_lab(args=[*ARGS, *args], **options)
    state = "on" if offload else "off"
    lab.client.run(["ethtool", "-K", lab.pair.client_if, "tx", state, "tso", state])
    vlan.join(lab.pair)
    return lab


# ---- data: nginx serves and takes files of 2 MB


@pytest.mark.sanitize
def test_each_offload_over_tap(make_lab, tmp_path):
    lab = in_vlan(make_lab, mode="tap")
    with nginx.start(lab, tmp_path):
        test_offload.each_over_tap(lab, tmp_path)
    lab.client.ping(lab.ip, "-s", 4000)  # fragments
    lab.wait_idle()


@pytest.mark.sanitize
@pytest.mark.parametrize("mode", ["native", "generic"])
@pytest.mark.parametrize("offload", [True, False])
@pytest.mark.parametrize("mtu", [1500, 9000])
def test_af_xdp(make_lab, tmp_path, mode, offload, mtu):
    """9000 and generic: frames of several buffers, and segments that the peer has not cut."""
    netif = f"af_xdp:{{}},mode={mode}"
    lab = in_vlan(make_lab, netif=netif, mtu=mtu, offload=offload)
    with nginx.start(lab, tmp_path):
        test_offload.both_ways(lab, tmp_path, "on")
        lab.client.run(["ethtool", "-K", lab.pair.client_if, "tx", "off", "tso", "off"])
        for word, (active, _requested, _fixed) in test_offload.state(lab.toed).items():
            if active:
                test_offload.offload(lab.toed, word, "off")
        test_offload.both_ways(lab, tmp_path, "off")
    lab.client.ping(lab.ip, "-s", 20000)
    for name in ("ip4_bad_checksum", "tcp_bad_checksum", "vlan_untagged", "vlan_other"):
        assert lab.counter(name) == 0
    lab.wait_idle()


def test_two_engines(make_lab, tmp_path):
    lab = in_vlan(make_lab, engines=2)
    with nginx.start(lab, tmp_path, workers=2):
        for n in range(8):
            test_offload.both_ways(lab, tmp_path, n, MB // 4)
    assert lab.counter("handover_sent") > 0
    lab.wait_idle()


@pytest.mark.parametrize("engine", ["inline", "thread"])
def test_engine_within_the_program(tmp_path, engine):
    with test_inline.Inline(engine) as lab:
        vlan.join(lab.pair)
        argv = nginx.configuration(tmp_path, f"{lab.ip}:80")
        with lab.app(argv, port=80, more=ARGS):
            test_offload.both_ways(lab, tmp_path, engine)


@pytest.mark.sanitize
def test_wire_between_two_toeds(tmp_path):
    capture = tmp_path / "capture"
    with test_backends.two_toeds(tmp_path, args=ARGS, capture=capture) as (server, client):
        argv = nginx.configuration(tmp_path, f"{server.ip}:80")
        with server.app(argv) as web:
            digest = nginx.make_file(tmp_path / "files/large", 5 * MB)
            proc.wait_until(lambda: server.usage("listeners") > 0, "nginx listens", proc=web)
            got = tmp_path / "got"
            curl = ["curl", "-sS", "--max-time", 60, "-o", got, f"http://{server.ip}/large"]
            client.pair.server.run(client.wrapped(curl))
            assert nginx.hashlib.sha256(got.read_bytes()).hexdigest() == digest
            curl = ["curl", "-sS", "--max-time", 60, "-T", got, f"http://{server.ip}/up"]
            client.pair.server.run(client.wrapped(curl))
            data = (tmp_path / "files/up").read_bytes()
            assert nginx.hashlib.sha256(data).hexdigest() == digest
        for end in (server, client):
            assert end.counter("tx_tso") + end.counter("rx_large") > 0
            proc.wait_until(lambda end=end: end.usage("flows") == 0, "no flow", timeout=30)
    sent = list(captured(capture))
    assert len(sent) > 100
    assert all(frame[12:16] == TAG for frame in sent)


def captured(path):
    """The frames of a pcap file."""
    data, at = path.read_bytes(), 24
    while at < len(data):
        (length,) = struct.unpack_from("=I", data, at + 8)
        yield data[at + 16 : at + 16 + length]
        at += 16 + length


@pytest.mark.skipif(test_dpdk.missing() is not None, reason=test_dpdk.missing() or "")
@pytest.mark.parametrize("port", ["net_tap0,args=iface=dpdk0,mtu=1482", "net_af_packet0"])
def test_dpdk_ports(make_lab, tmp_path, port):
    tap = port.startswith("net_tap")
    netif = f"dpdk:{port}" if tap else f"dpdk:{port},args=iface={{}}"
    lab = in_vlan(make_lab, *(("--mtu", 1482) if tap else ()), netif=netif, offload=False)
    if tap:
        test_dpdk.bridge(lab, "dpdk0")
    with nginx.start(lab, tmp_path):
        test_offload.both_ways(lab, tmp_path, "dpdk")
    assert lab.counter("tcp_bad_checksum") == 0
    lab.wait_idle()


# ---- sizes


def test_full_segments_have_1518_bytes(make_lab, tmp_path):
    """The MTU is the interface's: a tag comes on top of it, in both directions."""
    capture = tmp_path / "capture"
    lab = in_vlan(make_lab, "--offload", "tso=off,gso=off,lro=off", tee=capture, offload=False)
    with nginx.start(lab, tmp_path):
        test_offload.both_ways(lab, tmp_path, "full")
    lab.close()
    mac = lab_mac(captured(capture))
    longest = {True: 0, False: 0}
    for frame in captured(capture):
        if frame[12:16] == TAG:
            ours = frame[6:12] == mac
            longest[ours] = max(longest[ours], len(frame))
    assert longest == {True: 1518, False: 1518}


@pytest.mark.parametrize("mode", ["tap", "af_xdp"])
@pytest.mark.parametrize("tag", [(0x81000000,), (0x8100A064,)])
def test_full_frames_may_have_a_tag(make_lab, mode, tag):
    """An echo request of 1500 bytes with a tag, of VLAN 100 or with a priority alone."""
    member = tag[0] & 0xFFF == vlan.ID
    lab = make_lab(mode=mode, args=ARGS if member else ())
    if member:
        vlan.join(lab.pair)
    lab.client.run(["ethtool", "-K", lab.pair.client_if, "txvlan", "off"])
    toe = bytes.fromhex(resolve(lab).replace(":", ""))
    echo = struct.pack("!BBHHH", 8, 0, 0, 0x7645, 1) + bytes(1500 - 28)
    echo = echo[:2] + struct.pack("!H", frames.checksum(echo)) + echo[4:]
    packet = frames.ipv4(lab.peer_ip, lab.ip, 1, echo)
    with raw(lab) as s:
        s.send(toe + s.getsockname()[4] + tags(*tag) + b"\x08\0" + packet)
        while select.select([s], [], [], 5)[0]:
            frame = s.recv(2048)
            if frame[12:14] == b"\x08\0" and frame[34] == 0:
                assert frame[14 + 28 :] == echo[8:]
                return
    raise AssertionError("no answer")


def resolve(lab):
    """The TOE's Ethernet address, as the peer's kernel knows it after a ping."""
    lab.client.ping(lab.ip)
    return lab.client.run(["ip", "neigh", "show", lab.ip]).stdout.split("lladdr ")[1].split()[0]


def lab_mac(sent):
    """The source of the first frame that announces 10.77.0.1 by ARP."""
    for frame in sent:
        if frame[16:18] == b"\x08\x06" and frame[32:36] == socket.inet_aton("10.77.0.1"):
            return frame[6:12]
    raise AssertionError("no ARP of the TOE's")


# ---- IPv6


@pytest.mark.sanitize
@pytest.mark.parametrize("mode", ["tap", "af_xdp"])
def test_ip6_in_a_vlan(make_lab, tmp_path, mode):
    own = test_ip6.OWN
    lab = in_vlan(make_lab, "--ip6", f"{own}/64", mode=mode)
    test_ip6.add_peer(lab)
    test_ip6.wait_answers(lab, own)
    lab.client.run(["ping", "-6", "-c", 1, "-s", 4000, "-W", 5, "-q", own])
    digest = "none"
    with lab.app(nginx.configuration(tmp_path, f"[{own}]:80")) as server:
        proc.wait_port(lab.client, own, 80, proc=server, timeout=20)
        digest = nginx.make_file(tmp_path / "files/large", 2 * MB)
        got = tmp_path / "got"
        lab.client.run(["curl", "-sS", "-o", got, f"http://[{own}]/large"])
        lab.client.run(["curl", "-sS", "-T", got, f"http://[{own}]/up"])
        data = (tmp_path / "files/up").read_bytes()
        assert nginx.hashlib.sha256(data).hexdigest() == digest
    lab.wait_idle()


def advertisement(lab, prefix):
    """A router advertisement of prefix::/64, behind the Ethernet addresses."""
    addresses = [socket.inet_pton(socket.AF_INET6, a) for a in ("fe80::77", "ff02::1")]
    net = socket.inet_pton(socket.AF_INET6, f"{prefix}::")
    option = struct.pack("!BBBBIII", 3, 4, 64, 0xC0, 86400, 14400, 0) + net
    body = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, 1800, 0, 0) + option
    pseudo = b"".join(addresses) + struct.pack("!II", len(body), 58)
    body = body[:2] + struct.pack("!H", frames.checksum(pseudo + body)) + body[4:]
    head = struct.pack("!IHBB", 0x60000000, len(body), 58, 255) + b"".join(addresses)
    return struct.pack("!H", 0x86DD) + head + body


@contextlib.contextmanager
def raw(lab):
    """A packet socket on the client's interface whose frames no program of tc tags."""
    with lab.client.entered():
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    with s:
        s.setsockopt(263, 20, 1)  # SOL_PACKET, PACKET_QDISC_BYPASS
        s.bind((lab.pair.client_if, 0))
        yield s


def tags(*words):
    return b"".join(struct.pack("!I", word) for word in words)


@pytest.mark.parametrize("mode", ["tap", "af_xdp"])
@pytest.mark.parametrize("member", [True, False])
def test_router_advertisements_of_its_own_link_only(make_lab, mode, member):
    """With af_xdp they come by another way, on which the kernel removes tags."""
    lab = make_lab(mode=mode, args=["--ip6-auto", *(ARGS if member else ())])
    lab.client.run(["ethtool", "-K", lab.pair.client_if, "txvlan", "off"])
    if lab.pair.tap_if:
        lab.client.run(["ethtool", "-K", lab.pair.client_if, "tx", "off"])
    ours, other = (tags(0x81000064), tags()) if member else (tags(), tags(0x81000064))
    with raw(lab) as s:
        mac = s.getsockname()[4]

        def send(tag, prefix):
            s.send(bytes.fromhex("333300000001") + mac + tag + advertisement(lab, prefix))

        def addresses():
            own = lab.toed.stats()["engines"][0]["ip6"]
            return {a.split(":")[0] for a in own} - {"fe80"}

        for tag, prefix in (
            (other, "fd01"),
            (tags(0x81000065), "fd02"),
            (tags(0x88A80064), "fd03"),
        ):
            send(tag, prefix)
        send(ours, "fd04")
        proc.wait_until(lambda: "fd04" in addresses(), "an address of its own link", timeout=20)
        assert addresses() == {"fd04"}


# ---- what is refused


def question(lab, mac, tag):
    """An ARP request for the TOE's address, from 10.77.0.9."""
    target = socket.inet_aton(lab.ip)
    arp = struct.pack("!HHHBBH", 0x0806, 1, 0x0800, 6, 4, 1)
    arp += mac + socket.inet_aton("10.77.0.9") + bytes(6) + target
    return b"\xff" * 6 + mac + tag + arp + bytes(18)


def answers(s, until, timeout=5):
    """The tags of the first `until` ARP replies."""
    seen = []
    while select.select([s], [], [], proc.seconds(timeout))[0]:
        data, ancillary, _, _ = s.recvmsg(2048, 256)
        tag = b""
        for level, kind, value in ancillary:  # SOL_PACKET, PACKET_AUXDATA: struct tpacket_auxdata
            if (level, kind) == (263, 8) and struct.unpack("=I", value[:4])[0] & 0x10:
                tci, tpid = struct.unpack("=HH", value[16:20])
                tag = struct.pack("!HH", tpid, tci)
        if data[12:14] == b"\x08\x06" and data[20:22] == b"\0\2":
            seen.append(tag)
            if len(seen) == until:
                return seen
    raise AssertionError(f"{len(seen)} answers in place of {until}")


# Tags, whether a TOE in VLAN 100 and one in no VLAN answers, and the counters if not.
TAGS = [
    ((), False, True, ("vlan_untagged", None)),
    ((0x81000000,), False, True, ("vlan_untagged", None)),
    ((0x81000064,), True, False, (None, "vlan_other")),
    ((0x8100A064,), True, False, (None, "vlan_other")),
    ((0x81000065,), False, False, ("vlan_other", "vlan_other")),
    ((0x81000FFF,), False, False, ("vlan_other", "vlan_other")),
    ((0x88A80064,), False, False, ("vlan_stacked", "vlan_stacked")),
    ((0x88A80005, 0x81000064), False, False, ("vlan_stacked", "vlan_stacked")),
    ((0x81000064, 0x81000064), False, False, ("vlan_stacked", "vlan_other")),
]


@pytest.mark.sanitize
@pytest.mark.parametrize("mode", ["tap", "af_xdp"])
@pytest.mark.parametrize("member", [True, False])
def test_other_frames_get_no_answer(make_lab, mode, member):
    lab = make_lab(mode=mode, args=ARGS if member else ())
    lab.client.run(["ethtool", "-K", lab.pair.client_if, "txvlan", "off"])
    with raw(lab) as s:
        s.setsockopt(263, 8, 1)  # PACKET_AUXDATA
        mac = s.getsockname()[4]
        due, counted = [], {}
        for tag, in_it, without, names in TAGS:
            s.send(question(lab, mac, tags(*tag)))
            if in_it if member else without:
                due.append(TAG if member else b"")
            elif mode == "tap":  # to af_xdp's user they do not come: they are the kernel's
                name = names[not member]
                counted[name] = counted.get(name, 0) + 1
        s.send(question(lab, mac, TAG if member else b""))
        due.append(TAG if member else b"")
        assert answers(s, len(due)) == due
        for name in ("vlan_other", "vlan_stacked"):
            assert lab.counter(name) == counted.get(name, 0), name
        # A kernel behind a TAP device may send something too, which is untagged.
        due = counted.get("vlan_untagged", 0)
        assert lab.counter("vlan_untagged") >= due
        assert due or not lab.counter("vlan_untagged")


@pytest.mark.parametrize("value", ["0", "4095", "x", "", "-1", "1.5", "99999999999999999999"])
def test_wrong_values(lab, value):
    want = f"--vlan {value}: want a whole number from 1 to 4094"
    for argv in (["--vlan", value], [f"--vlan={value}"]):
        done = test_toed.toed(lab, *test_toed.GOOD, *argv)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"toed: {want}\n")
    argv = [paths.built("toehold"), "run", "--engine", "inline", "--netif", "tap:toe9"]
    argv += ["--ip", "10.78.0.1/24", "--vlan", value, "--", "true"]
    done = lab.server.run(argv, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert (f"--vlan {value}" if value else "--vlan: the value is empty") in done.stderr
    assert done.stderr.count("\n") == 1


def test_not_with_a_shared_address(lab):
    done = test_toed.toed(lab, "--netif", "af_xdp:srv0", "--ip", "shared", *ARGS)
    assert done.returncode == 2
    assert "--vlan 100: want an address of the TOE's own" in done.stderr


def test_it_is_shown_and_kept_by_an_upgrade(make_lab, tmp_path):
    lab = in_vlan(make_lab)
    assert lab.toed.stats()["address"] == "10.77.0.1/24 in VLAN 100"
    with nginx.start(lab, tmp_path):
        with nginx.Http(lab) as http:
            assert http.get("/hello") == b"hello\n"
            lab.toed.take_over()
            assert http.get("/hello") == b"hello\n"
        code, said = lab.toed.refused_take_over("--vlan", 101)
        assert code == 3
        assert "10.77.0.1/24 in VLAN 101 here and 10.77.0.1/24 in VLAN 100 in the running" in said
        test_offload.both_ways(lab, tmp_path, "after")
    lab.wait_idle()
