# SPDX-License-Identifier: Apache-2.0
"""Offloads: each on and off, against Linux over TAP and between two toeds over a wire. What is sent
and received is right either way, and what passes shows who did the work."""

from __future__ import annotations

import hashlib
import json
import struct

import lab as labs
import nginx
import pytest
import test_backends

from harness import paths, proc

MB = 1_000_000
SIZE = 3 * MB

pytestmark = pytest.mark.toehold_only


def offload(toed, *words, check=True):
    """`toehold offload`, with changes or without."""
    argv = [paths.built("toehold"), "offload", "--socket", toed.socket, *words]
    return proc.run(argv, check=check)


def state(toed):
    """What each of them is, by its short word."""
    listed = json.loads(offload(toed, "--json").stdout)
    return {f["word"]: (f["active"], f["requested"], f["fixed"]) for f in listed}


def both_ways(lab, tmp_path, tag):
    """20 MB to the peer and 20 MB from it, whole."""
    digest = nginx.make_file(tmp_path / "files/large", SIZE)
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
    "no-tso-gso": ("tso gso", ("rx_large", "csum_left"), ("tx_tso", "gso_cut")),
    "no-lro": ("lro", ("tx_tso", "gro_merged"), ("rx_large", "gso_cut")),
    "no-lro-gro": ("lro gro", ("tx_tso",), ("rx_large", "gro_merged")),
    "no-tx": ("tx", ("gso_cut", "rx_large"), ("tx_tso", "csum_left")),
    "no-sg": ("sg", ("gso_cut", "csum_left"), ("tx_tso",)),
    "no-rx": ("rx", ("gro_merged",), ("rx_large",)),
    "none": ("rx tx sg tso gso lro gro", (), ("tx_tso", "gso_cut", "csum_left", "rx_large")),
}


@pytest.mark.sanitize
def test_each_over_tap_switched_while_it_runs(make_lab, tmp_path):
    lab = make_lab(mode="tap")
    lab.client.run(["ethtool", "-K", lab.pair.client_if, "tx", "on", "tso", "on"])
    with nginx.start(lab, tmp_path):
        for tag, (off, moved, still) in TAP.items():
            words = [w for name in off.split() for w in (name, "off")]
            every = [w for name in "rx tx sg tso gso lro gro".split() for w in (name, "on")]
            offload(lab.toed, *every)
            offload(lab.toed, *words)
            before = {name: lab.toed.counter(name) for name in moved + still}
            both_ways(lab, tmp_path, tag)
            for name in moved:
                assert lab.toed.counter(name) > before[name], (tag, name)
            for name in still:
                assert lab.toed.counter(name) == before[name], (tag, name)
            assert lab.toed.counter("ip4_bad_checksum") == 0, tag
            assert lab.toed.counter("tcp_bad_checksum") == 0, tag
    lab.wait_idle()
