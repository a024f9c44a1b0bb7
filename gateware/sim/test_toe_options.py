# SPDX-License-Identifier: Apache-2.0
"""The command line of toe_sim: wrong options are rejected with a one-line message that says why."""

import pytest

from gateware.lib import live
from tests.lab import proc

NETIF, IP = ["--netif", "pcap:out=/dev/null"], ["--ip", "10.0.0.1/24"]
ADDRESS = "want an address and prefix length"
UNICAST6 = "want a unicast address that is neither loopback nor link-local"
MAC = "want a unicast Ethernet address"
WITHIN = "--gateway: want another address within the prefix of --ip"

WRONG = {
    "": "--netif is missing",
    "--netif tap:no": "--ip is missing",
    "--ip 10.0.0.1/24": "--netif is missing",
    "--ip 10.0.0.1": ADDRESS,
    "--ip 10.0.0/24": ADDRESS,
    "--ip 10.0.0.1/33": "--ip 10.0.0.1/33: want a prefix length from 1 to 32",
    "--ip 10.0.0.1/24x": "--ip 10.0.0.1/24x: want a prefix length from 1 to 32",
    "--ip 10.0.0.1/0": "--ip 10.0.0.1/0: want a prefix length from 1 to 32",
    "--ip 224.0.0.1/24": "want a unicast address that is not loopback",
    "--ip 127.0.0.1/8": "want a unicast address that is not loopback",
    "--ip 0.1.2.3/8": "want a unicast address that is not loopback",
    "--netif tap:no --ip 10.0.0.0/24": "the network address of the prefix cannot be the TOE's",
    "--netif tap:no --ip 10.0.0.255/24": "the broadcast address of the prefix cannot be the TOE's",
    "+ --gateway 10.0.1.1": WITHIN,
    "+ --gateway 10.0.0.1": WITHIN,
    "+ --gateway router": "--gateway router: want an IPv4 address",
    "+ --ip6 fd77::1": ADDRESS,
    "+ --ip6 fd77::1/129": "--ip6 fd77::1/129: want a prefix length from 1 to 128",
    "+ --ip6 fe80::1/64": UNICAST6,
    "+ --ip6 ff02::1/64": UNICAST6,
    "+ --ip6 ::1/128": UNICAST6,
    "+ --ip6 ::/64": UNICAST6,
    "+ --ip6 ::ffff:10.0.0.1/64": UNICAST6,
    "+ --gateway6 fd77::2": "--gateway6: want --ip6 too",
    "+ --ip6 fd77::1/64 --gateway6 fd77::1": "--gateway6: want another address than that of --ip6",
    "+ --gateway6 10.0.0.1": "--gateway6 10.0.0.1: want a unicast IPv6 address",
    "+ --gateway6 ff02::2": "--gateway6 ff02::2: want a unicast IPv6 address",
    "+ --mac 02:00:00:00:00": MAC,
    "+ --mac 03:00:00:00:00:01": MAC,
    "+ --mac 02:00:00:00:00:01x": MAC,
    "+ --mac 02:00:00:00:00:100": MAC,
    "+ --mac 2:0:0:0:0:1": MAC,
    "+ --mtu 9000": "--mtu 9000: want a whole number from 576 to 1500",
    "+ --stall 91": "--stall 91: want a whole number from 0 to 90",
    "+ --delay 0": "--delay 0: want a whole number from 1 to 10000",
    "+ --seed -1": "--seed -1: want a whole number of up to 64 bits",
    "+ --seed +1": "--seed +1: want a whole number of up to 64 bits",
    "+ --cycles 18446744073709551616": "--cycles 18446744073709551616: want a whole number from 1",
    "+ --cycles many": "--cycles many: want a whole number from 1",
    "+ --time soon": "--time soon: wall or virtual",
    "+ --congestion vegas": "--congestion vegas: cubic or reno",
    "+ --fst x.fst": "--fst: this build has no waveforms",
    "+ --fst-from 7": "--fst-from, --fst-on and --fst-cycles are of --fst FILE",
    "+ --fst-on nothing": "--fst-on nothing: no such counter",
    "+ --fst-on packet_in": "--fst-from, --fst-on and --fst-cycles are of --fst FILE",
    "+ --nope": "there is no option '--nope'",
    "+ --see 1": "there is no option '--see'; write --seed in full",
    "+ -xy": "there is no option '-x'",
    "+ --mtu": "--mtu: want a value",
    "+ more": "'more': options only",
}


@pytest.mark.parametrize("words", WRONG)
def test_what_is_wrong_is_refused_in_a_line(words: str) -> None:
    argv = words.split()
    if words.startswith("+"):
        argv = [*NETIF, *IP, *argv[1:]]
    done = proc.run([live.build("toe_sim"), *argv], check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("toe_sim: ")
    assert done.stderr.count("\n") == 1
    assert WRONG[words] in done.stderr


def test_a_netif_that_does_not_open(tmp_path) -> None:
    for netif in ("bogus", "packet:nope0", f"pcap:in={tmp_path}/none"):
        argv = ["--netif", netif, *IP, "--socket", tmp_path / "s"]
        done = proc.run([live.build("toe_sim"), *argv], check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"toe_sim: {netif}: ")
        assert not (tmp_path / "s").exists()


def test_what_cannot_be_replaced_by_its_socket_stays(tmp_path) -> None:
    there = tmp_path / "s"
    there.mkdir()
    done = proc.run([live.build("toe_sim"), *NETIF, *IP, "--socket", there], check=False)
    assert done.returncode == 1
    assert f"--socket {there}: cannot take the place of what is there: Is a dir" in done.stderr
    assert there.is_dir()
    file = tmp_path / "precious"
    file.write_text("precious")
    done = proc.run([live.build("toe_sim"), *NETIF, *IP, "--socket", file], check=False)
    assert done.returncode == 1
    assert f"--socket {file}: cannot take the place of what is there: " in done.stderr
    assert file.read_text() == "precious"


def test_help() -> None:
    done = proc.run([live.build("toe_sim"), "--help"])
    assert done.stdout.startswith("usage: toe_sim --netif SPEC --ip ADDRESS/LENGTH")
