# SPDX-License-Identifier: Apache-2.0
"""Offloads: each on and off, against Linux over TAP and between two toeds over a wire. Data is
correct either way, and the captured frames show which side did the work."""

from __future__ import annotations

import hashlib
import json
import re

import pytest
import test_backends

from tests.lab import nginx, paths, proc

MB = 1_000_000
SIZE = 2 * MB

pytestmark = pytest.mark.toehold_only


def offload(toed, *words, check=True):
    """`toehold offload`, with changes or without."""
    argv = [paths.built("toehold"), "offload", "--socket", toed.socket, *words]
    return proc.run(argv, check=check)


def state(toed):
    """The state of each offload, by its short name."""
    listed = json.loads(offload(toed, "--json").stdout)
    return {f["word"]: (f["active"], f["requested"], f["fixed"]) for f in listed}


def counters(toed):
    """All of them, of its one engine."""
    return toed.stats()["engines"][0]["counters"]


def both_ways(lab, tmp_path, tag, size=SIZE):
    """A file to the peer and back from it, whole."""
    digest = nginx.make_file(tmp_path / "files/large", size)
    with nginx.Http(lab) as http:
        assert http.digest("/large") == digest
    sent = tmp_path / "files/large"
    url = f"http://{lab.ip}/up-{tag}"
    lab.client.run(["curl", "-sS", "--max-time", 60, "-T", sent, url])
    data = (tmp_path / f"files/up-{tag}").read_bytes()
    assert hashlib.sha256(data).hexdigest() == digest


# What is switched off, the counters that must then move and those that must not.
TAP = {
    "all": ("", ("tx_tso", "rx_large", "csum_left"), ("gso_cut",)),
    "no-tso": ("tso", ("gso_cut", "rx_large", "csum_left"), ("tx_tso",)),
    "no-lro": ("tso gso lro", ("csum_left", "gro_merged"), ("tx_tso", "gso_cut", "rx_large")),
    "no-gro": ("lro gro", ("tx_tso",), ("rx_large", "gro_merged")),
    "no-tx": ("tx", ("gso_cut", "rx_large"), ("tx_tso", "csum_left")),
    "no-sg": ("sg", ("gso_cut", "csum_left"), ("tx_tso",)),
    "no-rx": ("rx", ("gro_merged",), ("rx_large",)),
    "none": ("rx tx sg tso gso lro gro", (), ("tx_tso", "gso_cut", "csum_left", "rx_large")),
}


def each_over_tap(lab, tmp_path):
    """Switches each offload off, with data both ways to nginx."""
    for tag, (off, moved, still) in TAP.items():
        words = []
        for name in ["rx", "tx", "sg", "tso", "gso", "lro", "gro"]:
            words += [name, "off" if name in off.split() else "on"]
        offload(lab.toed, *words)
        before = counters(lab.toed)
        both_ways(lab, tmp_path, tag, 20 * MB if tag == "all" else SIZE)
        after = counters(lab.toed)
        for name in moved:
            assert after[name] > before[name], (tag, name)
        for name in still:
            assert after[name] == before[name], (tag, name)
        assert (after["ip4_bad_checksum"], after["tcp_bad_checksum"]) == (0, 0), tag


@pytest.mark.sanitize
def test_each_over_tap_switched_while_it_runs(make_lab, tmp_path):
    lab = make_lab(mode="tap")
    lab.client.run(["ethtool", "-K", lab.pair.client_if, "tx", "on", "tso", "on"])
    with nginx.start(lab, tmp_path):
        each_over_tap(lab, tmp_path)
    lab.wait_idle()


def switch(lab, names, off):
    """Switches these offloads on, except those in `off`."""
    words = []
    for name in names:
        words += [name, "off" if name in off else "on"]
    offload(lab.toed, *words)


def csum_errors(ns):
    """Of TCP, as the namespace's kernel counts them."""
    out = ns.run(["nstat", "-asz", "TcpInCsumErrors"]).stdout
    return int(re.search(r"TcpInCsumErrors +(\d+)", out)[1])


@pytest.mark.sanitize
@pytest.mark.parametrize("off", ["tso", "tso gso"])
def test_payload_by_reference_in_frames_of_one_segment(make_lab, tmp_path, off):
    """Frames of 9,000 bytes, if the back end gathers them from several buffers; segmented by toed
    or not."""
    lab = make_lab(mode="tap", mtu=9000)
    switch(lab, ["tso", "gso"], off.split())
    with nginx.start(lab, tmp_path):
        both_ways(lab, tmp_path, "referred")
        after = counters(lab.toed)
    assert after["tx_sg"] > 0
    assert (after["gso_cut"] > 0) == (off == "tso")
    assert (after["tcp_bad_checksum"], after["tx_too_big"]) == (0, 0)
    assert csum_errors(lab.client) == 0


# mode, MTU; the offered offloads; and as for TAP above.
AF_XDP = {
    "native": ("native", 1500, "rx tx", "", ("csum_left",), ("tx_sg", "rx_large")),
    "native-none": ("native", 1500, "rx tx", "rx tx", (), ("csum_left", "tx_sg", "rx_large")),
    "jumbo": ("native", 9000, "rx tx sg", "", ("csum_left", "tx_sg"), ("rx_large",)),
    "jumbo-no-gso": ("native", 9000, "rx tx sg gso", "gso", ("tx_sg",), ("gso_cut",)),
    "jumbo-no-sg": ("native", 9000, "rx tx sg", "sg", ("csum_left",), ("tx_sg",)),
    "jumbo-no-tx": ("native", 9000, "rx tx sg", "tx", ("gso_cut",), ("csum_left", "tx_sg")),
    "generic": ("generic", 1500, "rx tx lro", "", ("csum_left", "rx_large"), ("tx_sg",)),
    "generic-none": ("generic", 1500, "rx tx", "rx tx", (), ("csum_left", "rx_large")),
    "generic-jumbo": ("generic", 9000, "rx tx sg lro", "", ("tx_sg", "rx_large"), ()),
}


@pytest.mark.sanitize
@pytest.mark.parametrize("case", AF_XDP)
def test_each_over_af_xdp(make_lab, tmp_path, case):
    """The peer leaves checksums out, and, where it may, sends segments uncut."""
    mode, mtu, names, off, moved, still = AF_XDP[case]
    lab = make_lab(netif=f"af_xdp:{{}},mode={mode}", mtu=mtu)
    uncut = "on" if "rx_large" in moved else "off"
    lab.client.run(["ethtool", "-K", lab.pair.client_if, "tx", "on", "tso", uncut])
    offered = {word for word, (_, _, fixed) in state(lab.toed).items() if not fixed}
    assert offered - {"gso", "gro"} >= set(names.split()) - {"gso"}
    switch(lab, names.split(), off.split())
    with nginx.start(lab, tmp_path):
        both_ways(lab, tmp_path, case, 10 * MB)
        after = counters(lab.toed)
        for name in moved:
            assert after[name] > 0, name
        for name in still:
            assert after[name] == 0, name
        assert (after["ip4_bad_checksum"], after["tcp_bad_checksum"]) == (0, 0)
        assert after["tx_too_big"] == 0
    assert csum_errors(lab.client) == 0
    lab.wait_idle()


def test_af_xdp_switched_while_it_runs(make_lab, tmp_path):
    """Each in the middle of transfers, jumbo and generic, where there is the most of them."""
    lab = make_lab(netif="af_xdp:{},mode=generic", mtu=9000)
    lab.client.run(["ethtool", "-K", lab.pair.client_if, "tx", "on", "tso", "off"])
    with nginx.start(lab, tmp_path):
        digest = nginx.make_file(tmp_path / "files/large", 40 * MB)
        got = tmp_path / "got"
        url = f"http://{lab.ip}/large"
        with lab.client.start(["curl", "-sS", "--limit-rate", "60M", "-o", got, url]) as running:
            for _ in range(3):
                for word in ("tx", "sg", "rx", "lro", "gso"):
                    offload(lab.toed, word, "off")
                    offload(lab.toed, word, "on")
            assert running.wait(60) == 0
        assert hashlib.sha256(got.read_bytes()).hexdigest() == digest
    assert lab.toed.counter("tcp_bad_checksum") == 0
    assert csum_errors(lab.client) == 0


def test_checksums_that_the_sending_device_cannot_make(make_lab, tmp_path):
    """Then the kernel does, and merges frames of several buffers into one."""
    lab = make_lab(mtu=9000)
    lab.server.run(["ethtool", "-K", lab.pair.server_if, "tx", "off", "sg", "off"])
    with nginx.start(lab, tmp_path):
        both_ways(lab, tmp_path, "made")
        after = counters(lab.toed)
    assert after["csum_left"] > 0 and after["tx_sg"] > 0
    assert csum_errors(lab.client) == 0


def test_af_xdp_of_an_older_kernel(make_lab, tmp_path):
    """Neither metadata nor frames of several buffers: fixed, and done without."""
    env = {
        "LD_PRELOAD": str(paths.built("linux_6_1.so")),
        "ASAN_OPTIONS": "verify_asan_link_order=0",
    }
    lab = make_lab(mtu=9000, env=env, args=["--mtu", 3826])
    now = state(lab.toed)
    assert {word for word in ("tx", "sg", "lro") if now[word][2]} == {"tx", "sg", "lro"}
    assert not now["rx"][2]
    with nginx.start(lab, tmp_path):
        both_ways(lab, tmp_path, "old")
        after = counters(lab.toed)
        assert (after["csum_left"], after["tx_sg"], after["tcp_bad_checksum"]) == (0, 0, 0)


def test_names_and_refusals(make_lab, tmp_path):
    """Offloads that the back end lacks are fixed; unknown names are usage errors."""
    lab = make_lab()  # af_xdp
    now = state(lab.toed)
    assert set(now) == {"rx", "tx", "sg", "tso", "gso", "gro", "lro", "rxhash"}
    assert now["tso"] == (False, True, True)
    assert now["gso"] == (True, True, False)
    listed = offload(lab.toed).stdout.splitlines()
    assert "tcp-segmentation-offload: off [fixed]" in listed
    assert "generic-receive-offload: on" in listed
    for words, code, said in (
        (["tso", "on"], 3, "cannot change tcp-segmentation-offload: off [fixed]"),
        (["gro", "off", "tso", "on"], 3, "off [fixed]"),
        (["tso"], 2, "want on or off"),
        (["tso", "yes"], 2, "want on or off"),
        (["usot", "on"], 3, "unknown offload usot"),
    ):
        done = offload(lab.toed, *words, check=False)
        assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert state(lab.toed)["gro"] == (True, True, False)  # a failed request has no effect
    for words, code, said in (
        (["--dry-run"], 2, "--dry-run needs a change"),
        (["--dry-run", "tso", "on"], 3, "off [fixed]"),
    ):
        done = offload(lab.toed, *words, check=False)
        assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    would = offload(lab.toed, "--dry-run", "gro", "off", "gso", "on").stdout.splitlines()
    assert would == [
        "generic-receive-offload: on -> off",
        "generic-segmentation-offload: on -> on",
    ]
    [one] = json.loads(offload(lab.toed, "gro", "off", "-n", "-j").stdout)
    assert one == {"name": "generic-receive-offload", "before": "on", "value": "off"}
    assert state(lab.toed)["gro"] == (True, True, False)
    assert offload(lab.toed, "generic-receive-offload", "off").stdout == ""
    assert state(lab.toed)["gro"] == (False, False, False)
    with nginx.start(lab, tmp_path):
        both_ways(lab, tmp_path, "af_xdp")
        assert lab.toed.counter("gro_merged") == 0
        assert lab.toed.counter("gso_cut") > 0
        offload(lab.toed, "gro", "on", "gso", "off")
        cut = lab.toed.counter("gso_cut")
        both_ways(lab, tmp_path, "again")
        assert lab.toed.counter("gro_merged") > 0
        assert lab.toed.counter("gso_cut") == cut


def refused(*args):
    done = proc.run([paths.built("toed"), "--ip", "10.9.0.1/24", *args], check=False)
    return done.returncode, done.stderr


def test_refusals_at_the_start(tmp_path):
    wire = ["--netif", f"wire:{tmp_path}/w", "--socket", tmp_path / "s"]
    assert refused(*wire, "--offload", "rxhash=on") == (
        3,
        "toed: --offload: cannot change receive-hashing: off [fixed], the interface does not have "
        "it\n",
    )
    for text, said in (
        ("tso", "write tso=on or tso=off"),
        ("tso=", "write tso=on"),
        ("tso=1", "write tso=on"),
        ("", "there is no offload ''"),
        ("gso=on,,tso=on", "there is no offload ''"),
        ("usot=on", "there is no offload 'usot'"),
    ):
        code, err = refused(*wire, "--offload", text)
        assert (code, said in err) == (2, True), err


def frames(capture, ip):
    """Lengths of the TCP frames from an address in a capture, and the number of wrong checksums."""
    out = proc.run(["tcpdump", "-nn", "-e", "-vv", "-r", capture, f"tcp and src {ip}"]).stdout
    lengths = [int(n) for n in re.findall(r"IPv4 \(0x0800\), length (\d+):", out)]
    return lengths, out.count("(incorrect")


@pytest.mark.parametrize("off", ["", "tso", "tx", "tso tx gso"])
def test_what_passes_a_wire(tmp_path, off):
    """The receiver's capture shows the size of frames, and which side computes checksums."""
    args = ["--offload", ",".join(f"{word}=off" for word in off.split())] if off else []
    capture = tmp_path / "received.pcap"
    with test_backends.two_toeds(tmp_path, server_args=args, capture=capture) as (server, client):
        argv = nginx.configuration(tmp_path, f"{server.ip}:80")
        with server.app(argv) as web:
            digest = nginx.make_file(tmp_path / "files/large", SIZE)
            proc.wait_until(
                lambda: server.usage("listeners") > 0, "nginx listens", proc=web, timeout=20
            )
            got = tmp_path / "got"
            curl = ["curl", "-sS", "--max-time", 60, "-o", got, f"http://{server.ip}/large"]
            client.pair.server.run(client.wrapped(curl))
            assert hashlib.sha256(got.read_bytes()).hexdigest() == digest
        counted = {name: server.counter(name) for name in ("tx_tso", "gso_cut", "csum_left")}
        ip = server.ip
    lengths, wrong = frames(capture, ip)
    assert (max(lengths) > 1514) == (off == "")
    assert (counted["tx_tso"] > 0) == (off == "")
    assert (counted["gso_cut"] > 0) == (off in ("tso", "tx"))
    assert (counted["csum_left"] > 0) == ("tx" not in off)
    assert (wrong == 0) == ("tx" in off), wrong


def test_a_wire_whose_ends_change_their_minds(tmp_path):
    """Each end announces what it accepts: the other follows while data flows."""
    with test_backends.two_toeds(tmp_path) as (server, client):
        argv = nginx.configuration(tmp_path, f"{server.ip}:80")
        with server.app(argv) as web:
            digest = nginx.make_file(tmp_path / "files/large", 10 * SIZE)
            proc.wait_until(
                lambda: server.usage("listeners") > 0, "nginx listens", proc=web, timeout=20
            )
            got = tmp_path / "got"
            curl = ["curl", "-sS", "--limit-rate", "40M", "-o", got, f"http://{server.ip}/large"]
            with client.pair.server.start(client.wrapped(curl)) as running:
                for _ in range(3):
                    for word in ("lro", "rx"):
                        offload(client, word, "off")
                        offload(client, word, "on")
                        offload(server, "tso", "off")
                        offload(server, "tso", "on")
                assert running.wait(60) == 0
            assert hashlib.sha256(got.read_bytes()).hexdigest() == digest
        assert client.counter("tcp_bad_checksum") == 0
        offload(client, "lro", "off")
        before = server.counter("tx_tso")
        with server.app(argv) as web:
            proc.wait_until(
                lambda: server.usage("listeners") > 0, "nginx listens", proc=web, timeout=20
            )
            client.pair.server.run(client.wrapped(curl))
        assert server.counter("tx_tso") == before
        assert server.counter("gso_cut") > 0
