# SPDX-License-Identifier: Apache-2.0
"""toed over DPDK drivers that need no card and no hugepages: net_tap and net_af_packet with a
Linux peer behind a veth, net_memif between two toeds."""

from __future__ import annotations

import contextlib
import types

import pytest
import test_offload

from tests.apps import test_iperf3
from tests.lab import netns, nginx, paths, proc, toed

MB = 1_000_000


def missing():
    """Why there is nothing to test; None when there is."""
    module = paths.build_dir("toed") / "netio/libtoe_dpdk.so"
    return None if module.exists() else f"{module} was not built: libdpdk-dev is not installed"


pytestmark = [
    pytest.mark.toehold_only,
    pytest.mark.skipif(missing() is not None, reason=missing() or ""),
]


def bridge(lab, interface):
    """The kernel's side of a TAP device joined to the link to the peer."""
    for argv in (
        ["ip", "link", "add", "br0", "type", "bridge"],
        ["ip", "link", "set", lab.pair.server_if, "master", "br0", "up"],
        ["ip", "link", "set", interface, "master", "br0", "up"],
        ["ip", "link", "set", "br0", "up"],
    ):
        lab.server.run(argv)


def serve(lab, tmp_path):
    """Pages, 5 MB both ways, iperf3 both ways."""
    with nginx.start(lab, tmp_path):
        for _ in range(50):
            assert nginx.get(lab, "/hello") == b"hello\n"
        test_offload.both_ways(lab, tmp_path, "dpdk")
    with lab.app([*test_iperf3.SERVER, "-B", lab.ip]) as server:
        for n, reverse in enumerate(([], ["-R"]), 1):
            test_iperf3.await_test(server, n)
            argv = ["iperf3", "-c", lab.ip, "-p", test_iperf3.PORT, "-J"]
            argv += [*test_iperf3.AMOUNT, *reverse]
            test_iperf3.transferred(lab.client.run(argv).stdout)
    lab.wait_idle()


@pytest.mark.sanitize
def test_net_tap(make_lab, tmp_path):
    # net_tap wants room for the Ethernet header in the MTU of the segments it cuts
    netif = "dpdk:net_tap0,args=iface=dpdk0,mtu=1486"
    lab = make_lab(netif=netif, args=["--mtu", 1486])
    bridge(lab, "dpdk0")
    active = test_offload.state(lab.toed)
    assert active["tso"] == (True, True, False)
    assert active["lro"] == (False, True, True)
    serve(lab, tmp_path)
    assert lab.toed.counter("tx_tso") > 0
    done = test_offload.offload(lab.toed, "tso", "off", "tx", "off", "rx", "off", "gro", "off")
    assert done.stdout == ""
    before = lab.toed.counter("tx_tso")
    with nginx.start(lab, tmp_path):
        test_offload.both_ways(lab, tmp_path, "software")
    assert lab.toed.counter("tx_tso") == before
    assert lab.toed.counter("tcp_bad_checksum") == 0


@pytest.mark.sanitize
def test_net_af_packet(make_lab, tmp_path):
    lab = make_lab(netif="dpdk:net_af_packet0,args=iface={}")
    assert test_offload.state(lab.toed)["tso"] == (False, True, True)
    serve(lab, tmp_path)
    assert lab.toed.counter("gso_cut") > 0


@contextlib.contextmanager
def memif_pair(tmp_path):
    with netns.Pair() as pair, contextlib.ExitStack() as stack:
        ends = []
        sides = ((pair.server, pair.server_ip, "server"), (pair.client, pair.client_ip, "client"))
        for ns, ip, role in sides:
            args = f"role={role};socket={tmp_path}/memif.sock;socket-abstract=no"
            where = types.SimpleNamespace(
                server=ns, server_ip=ip, prefix_len=pair.prefix_len, mtu=1500, server_if=None
            )
            netif = f"dpdk:net_memif0,args={args}"
            ends.append(stack.enter_context(toed.Toed(where, netif=netif)))
        yield ends


@pytest.mark.sanitize
def test_net_memif_between_two_toeds(tmp_path):
    with memif_pair(tmp_path) as (server, client):
        argv = nginx.configuration(tmp_path, f"{server.ip}:80")
        with server.app(argv) as web:
            digest = nginx.make_file(tmp_path / "files/large", 5 * MB)
            proc.wait_until(
                lambda: server.usage("listeners") > 0, "nginx listens", proc=web, timeout=20
            )
            got = tmp_path / "got"
            curl = ["curl", "-sS", "--max-time", 60, "-o", got, f"http://{server.ip}/large"]
            client.pair.server.run(client.wrapped(curl))
            assert nginx.hashlib.sha256(got.read_bytes()).hexdigest() == digest
        proc.wait_until(lambda: server.usage("flows") == 0, "no flow", timeout=30)


def refused(*args):
    done = proc.run([paths.built("toed"), "--ip", "10.9.0.1/24", *args], check=False)
    return done.returncode, done.stderr


def test_what_cannot_be_is_said():
    for spec, word in (
        ("dpdk:", "name a port"),
        ("dpdk:net_tap0,queues=0", "from 1 to 64"),
        ("dpdk:net_nothing0", "there is no port net_nothing0"),
        ("dpdk:net_null0,queue=1", "no queue 1"),
        ("dpdk:net_null0,args=nonsense=1", "cannot be made"),
        ("dpdk:net_null0,queues=65", "from 1 to 64"),
        ("dpdk:net_null0,speed=1", "unknown option 'speed'"),
        ("dpdk:net_ring0", "no Ethernet address: --mac gives it one"),
    ):
        code, said = refused("--netif", spec)
        assert code == 3, said
        assert word in said, said
