# SPDX-License-Identifier: Apache-2.0
"""getaddrinfo() with AI_ADDRCONFIG where the kernel's own addresses are of fewer families than the
TOE's: what the program can reach is found."""

from __future__ import annotations

import ast

import pytest

from tests.lab import lab as labs
from tests.lab import proc

FIND = """
import socket
found = []
for family in socket.AF_UNSPEC, socket.AF_INET, socket.AF_INET6:
    for address in "10.77.0.2", "fd77::2":
        try:
            got = socket.getaddrinfo(address, 80, family, socket.SOCK_STREAM, 0, FLAGS)
            found.append((family.name, got[0][4][0]))
        except socket.gaierror:
            pass
print(sorted(found))
"""


def found(lab: labs.Lab, *, flags: str = "socket.AI_ADDRCONFIG") -> list:
    script = FIND.replace("FLAGS", flags)
    return ast.literal_eval(lab.run([labs.PYTHON, "-c", script]).stdout)


IP4 = [("AF_INET", "10.77.0.2"), ("AF_UNSPEC", "10.77.0.2")]
IP6 = [("AF_INET6", "fd77::2"), ("AF_UNSPEC", "fd77::2")]


@pytest.mark.toehold_only
@pytest.mark.shows("getaddrinfo AI_ADDRCONFIG")
@pytest.mark.parametrize("kernel", ["lo", "link-local"])
@pytest.mark.parametrize("toe", [4, 6])
def test_the_addresses_of_the_toe_count(make_lab, kernel, toe):
    lab = make_lab(args=["--ip6", "fd77::1/64"] if toe == 6 else [])
    if kernel == "link-local":
        link_local = ["fe80::77/64", "dev", lab.pair.server_if, "nodad"]
        lab.server.run(["ip", "-6", "address", "add", *link_local])
    # the kernel's link-local addresses are IPv6 for the C library
    with_ip6 = toe == 6 or kernel == "link-local"
    wanted = sorted(IP4 + IP6 if with_ip6 else IP4)
    if toe == 6:  # an address of IPv6 is the TOE's once duplicates have been looked for
        proc.wait_until(lambda: found(lab) == wanted, f"{wanted} is found", timeout=20)
    assert found(lab) == wanted


@pytest.mark.shows("getaddrinfo")
def test_without_the_flag_all_are_found(lab):
    assert found(lab, flags="0") == sorted(IP4 + IP6)
