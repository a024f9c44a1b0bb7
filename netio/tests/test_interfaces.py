# SPDX-License-Identifier: Apache-2.0
"""af_xdp and tap on real interfaces, in private namespaces. Needs root.

Usage: test_interfaces.py NETIO_ECHO-PROGRAM NETIO_IP6-PROGRAM LINUX_6_1. The first answers ARP and
ICMP echo for the TOE's address and sends UDP back; beside it the kernel must still get its own
packets."""

import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.lab.netns import PREFIX, Namespace, Pair

ECHO = IP6 = OLD_KERNEL = None
TOE = "10.77.0.1"
KERNEL = "10.77.0.9"
PEER = "10.77.0.2"
LIMIT = 60  # seconds to wait for what comes for certain


class Echo:
    """netio_echo in a namespace, ready to answer."""

    def __init__(self, ns, *specs, ip=TOE, env=None):
        self.specs = specs
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", ns.name, ECHO, ip, *specs],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(env or {})},
        )
        self.modes = [self._ready() for _ in specs]

    def _ready(self):
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            raise AssertionError(f"{self.specs}: {line}{self.process.stderr.read()}")
        return line[6:].strip()

    def stop(self):
        """Ends it politely; the counters of each interface."""
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=30)
        if self.process.returncode != 0:
            raise AssertionError(f"netio_echo: {self.process.returncode} {err}")
        return [
            {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", line)}
            for line in out.splitlines()
        ]

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *_exc):
        self.kill()


def refusal(ns, spec, ip=TOE, argv=()):
    """The sentence with which the program ends, which must be exactly one."""
    done = subprocess.run(
        ["ip", "netns", "exec", ns.name, *argv, ECHO, ip, spec],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1 and done.stdout == "", done
    assert done.stderr.count("\n") == 1, done
    return done.stderr


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ping(ns, address, size=56, count=3, limit=LIMIT):
    """How many of count echo requests are answered, with the right bytes, each within limit."""
    with ns.entered():
        s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    s.settimeout(limit)
    got = 0
    with s:
        for i in range(count):
            body = struct.pack("!HH", 0x7E57, i) + os.urandom(size)
            request = b"\x08\0" + struct.pack("!H", checksum(b"\x08\0\0\0" + body)) + body
            s.sendto(request, (address, 0))
            try:
                while True:
                    answer = s.recv(65535)[20:]
                    if answer[0] == 0 and answer[4:] == body:
                        assert checksum(answer) == 0
                        got += 1
                        break
            except TimeoutError:
                pass
    return got


def udp(ns, address, payloads, port=7):
    """Sends each datagram from one socket and waits for its echo."""
    with ns.socket(kind=socket.SOCK_DGRAM) as s:
        s.settimeout(LIMIT)
        s.connect((address, port))
        for payload in payloads:
            s.send(payload)
            assert s.recv(65535) == payload


def answered(sockets, seconds=0):
    """Those of the sockets that have received something."""
    poll = select.poll()
    for s in sockets:
        poll.register(s, select.POLLIN)
    return poll.poll(seconds * 1000)


def attached(ns, interface):
    """The mode of the interface's XDP program, as ip shows it; None if there is none."""
    out = ns.run(["ip", "-j", "link", "show", interface]).stdout
    return json.loads(out)[0].get("xdp", {}).get("mode")


def ask_once(ns, interface):
    """Makes the kernel send one ARP request for each neighbour, however long the answer takes."""
    for name in ("retrans_time_ms", "base_reachable_time_ms"):
        ns.run(["sysctl", "-q", "-w", f"net.ipv4.neigh.{interface}.{name}=600000"])


def send_frame(ns, interface, frame):
    with ns.entered():
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    with s:
        s.bind((interface, 0))
        s.send(frame)


def mac(ns, interface):
    out = ns.run(["ip", "-j", "link", "show", interface]).stdout
    return bytes.fromhex(json.loads(out)[0]["address"].replace(":", ""))


class AfXdp(unittest.TestCase):
    NATIVE, GENERIC = 1, 2  # as `ip -j link` numbers the modes

    def setUp(self):
        self.pair = Pair(kernel_ip=f"{KERNEL}/24")
        self.addCleanup(self.pair.delete)
        self.server, self.client = self.pair.server, self.pair.client
        ask_once(self.client, self.pair.client_if)

    def both_serve(self, spec, mode, text):
        with Echo(self.server, spec) as echo:
            self.assertEqual(attached(self.server, "srv0"), mode)
            self.assertEqual(echo.modes, [text])
            self.assertEqual(ping(self.client, TOE), 3)
            self.assertEqual(ping(self.client, TOE, size=1400), 3)
            self.assertEqual(ping(self.client, KERNEL), 3)
            udp(self.client, TOE, [bytes([i % 256]) * (1 + i * 7 % 1472) for i in range(500)])
            [counters] = echo.stop()
        # One ARP request, six echo requests, 500 datagrams; the kernel's are not among them.
        self.assertEqual(counters, {"rx": 507, "tx": 507, "rx_dropped": 0, "tx_dropped": 0})
        self.assertIsNone(attached(self.server, "srv0"))

    def test_native(self):
        self.both_serve("af_xdp:srv0", self.NATIVE, "af_xdp native copy")

    def test_generic(self):
        self.both_serve("af_xdp:srv0,mode=generic", self.GENERIC, "af_xdp generic copy")

    def set_mtu(self, mtu):
        for ns, interface in ((self.server, "srv0"), (self.client, "cli0")):
            ns.run(["ip", "link", "set", interface, "mtu", mtu])

    def test_large_mtu(self):
        self.set_mtu(3000)
        with Echo(self.server, "af_xdp:srv0"):
            self.assertEqual(ping(self.client, TOE, size=2900), 3)

    def frames_of_several_buffers(self, spec, mode):
        """Many more than the memory area holds, of every size about a buffer's end."""
        self.set_mtu(9000)
        sizes = [1, *range(3700, 4100, 4), *range(7600, 8100, 4), 8972] * 8
        with Echo(self.server, spec) as echo:
            self.assertEqual(echo.modes, [mode])
            self.assertEqual(ping(self.client, TOE, size=8900), 3)
            udp(self.client, TOE, [bytes([i % 256]) * n for i, n in enumerate(sizes)])
            [counters] = echo.stop()
        count = len(sizes) + 4  # one ARP request, three of ping's
        expected = {"rx": count, "tx": count, "rx_dropped": 0, "tx_dropped": 0}
        self.assertEqual(counters, expected)

    def test_jumbo_native(self):
        self.frames_of_several_buffers("af_xdp:srv0", "af_xdp native copy")

    def test_jumbo_generic(self):
        self.frames_of_several_buffers("af_xdp:srv0,mode=generic", "af_xdp generic copy")

    def test_more_than_the_mtu_is_dropped_and_counted(self):
        self.client.run(["ip", "link", "set", "cli0", "mtu", "9000"])
        self.server.run(["ip", "link", "set", "srv0", "mtu", "4000"])
        # veth drops frames over its own MTU, but accepts a larger one set after the open
        with Echo(self.server, "af_xdp:srv0") as echo:
            self.server.run(["ip", "link", "set", "srv0", "mtu", "9000"])
            self.assertEqual(ping(self.client, TOE, size=3900), 3)
            for size in (4000, 5000, 8900):
                with self.client.socket(kind=socket.SOCK_DGRAM) as s:
                    s.sendto(b"x" * size, (TOE, 7))
            self.assertEqual(ping(self.client, TOE, size=3900), 3)
            [counters] = echo.stop()
        self.assertEqual(counters, {"rx": 7, "tx": 7, "rx_dropped": 3, "tx_dropped": 0})

    def test_an_older_kernel(self):
        """Missing features are not used."""
        old = {"LD_PRELOAD": OLD_KERNEL, "ASAN_OPTIONS": "verify_asan_link_order=0"}
        self.set_mtu(9000)
        for env, mode in (
            (old, "af_xdp native copy (MTU 9000 taken as 3826)"),
            (
                {**old, "TOE_TEST_NO_FRAGS": "1"},
                "af_xdp generic (no native: Numerical result out of range) copy "
                "(MTU 9000 taken as 3826)",
            ),
        ):
            self.client.run(["ip", "neigh", "flush", "dev", "cli0"])
            with Echo(self.server, "af_xdp:srv0", env=env) as echo:
                self.assertEqual(echo.modes, [mode])
                self.assertEqual(ping(self.client, TOE, size=3700), 3)
                udp(self.client, TOE, [b"x" * (1 + i * 7 % 3772) for i in range(600)])
                with self.client.socket(kind=socket.SOCK_DGRAM) as s:
                    s.sendto(b"x" * 8000, (TOE, 7))  # ignored without harm
                self.assertEqual(ping(self.client, TOE), 3)
                [counters] = echo.stop()
            self.assertEqual(counters, {"rx": 607, "tx": 607, "rx_dropped": 1, "tx_dropped": 0})

    def test_checksums_that_the_peer_leaves_out(self):
        """Of UDP over IPv4; padded, and with a hole where the checksum of UDP is optional."""
        self.client.run(["ethtool", "-K", "cli0", "tx", "on"])
        for mode in ("native", "generic"):
            with Echo(self.server, f"af_xdp:srv0,mode={mode}"):
                udp(self.client, TOE, [b"y" * n for n in (1, 2, 3, 17, 18, 19, 600, 1471, 1472)])

    def test_kernel_keeps_its_sockets_and_its_arp(self):
        with self.server.socket(kind=socket.SOCK_DGRAM) as s:
            s.bind((KERNEL, 7))
            s.settimeout(LIMIT)
            with Echo(self.server, "af_xdp:srv0") as echo:
                with self.client.socket(kind=socket.SOCK_DGRAM) as c:
                    c.settimeout(LIMIT)
                    c.sendto(b"to the kernel", (KERNEL, 7))
                    data, peer = s.recvfrom(100)
                    s.sendto(data, peer)
                    self.assertEqual(c.recv(100), b"to the kernel")
                # The kernel sends its own solicitation for the peer, and gets the reply.
                self.assertEqual(ping(self.server, PEER), 3)
                # A question about neither of the two.
                self.assertEqual(ping_nobody(self.client, "10.77.0.77"), 0)
                [counters] = echo.stop()
        self.assertEqual(counters["rx"], 0)

    def test_fragments_and_other_protocols_are_the_toes(self):
        with Echo(self.server, "af_xdp:srv0") as echo:
            self.assertEqual(ping(self.client, TOE, count=1), 1)
            with self.client.socket(kind=socket.SOCK_DGRAM) as s:
                s.sendto(b"x" * 4000, (TOE, 7))  # three fragments
                # An answer to a socket that is closed by then would be answered by an error.
                s.settimeout(LIMIT)
                self.assertEqual(s.recv(5000), b"x" * 4000)
            with self.client.entered():
                raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, 253)
            with raw:
                raw.sendto(b"a protocol without a name", (TOE, 0))
            self.assertEqual(ping(self.client, TOE, count=1), 1)
            [counters] = echo.stop()
        self.assertEqual(counters["rx"], 1 + 1 + 3 + 1 + 1)

    def test_tagged_frames_are_the_kernels_without_a_vlan_the_toes(self):
        self.server.run(["ethtool", "-K", "srv0", "rxvlan", "off"])
        self.client.run(["ethtool", "-K", "cli0", "txvlan", "off"])
        header = mac(self.server, "srv0") + mac(self.client, "cli0")
        packet = struct.pack(
            "!BBHHHBBH4s4s",
            *(0x45, 0, 28, 0, 0, 64, 17, 0),
            *(socket.inet_aton(PEER), socket.inet_aton(TOE)),
        ) + struct.pack("!HHHH", 7, 7, 8, 0)
        with Echo(self.server, "af_xdp:srv0") as echo:
            send_frame(self.client, "cli0", header + b"\x81\0\0\x05\x08\0" + packet)
            send_frame(self.client, "cli0", header + b"\x81\0\xa0\x05\x08\0" + packet)
            send_frame(self.client, "cli0", header + b"\x81\0\0\0\x08\0" + packet)
            send_frame(self.client, "cli0", header + b"\x81\0\xa0\0\x08\0" + packet)
            send_frame(self.client, "cli0", header + b"\x81\0\0\0")  # no type behind the tag
            send_frame(self.client, "cli0", header + b"\x08\0" + packet)
            send_frame(self.client, "cli0", header + b"\x08\0")  # no payload after the header
            send_frame(self.client, "cli0", header + b"\x08\x06" + b"\0" * 20)  # cut short
            self.assertEqual(ping(self.client, TOE, count=1), 1)
            [counters] = echo.stop()
        # Two with a priority tag (VLAN ID 0), the untagged one, ARP, the echo request.
        self.assertEqual(counters["rx"], 2 + 1 + 1 + 1)

    def test_program_leaves_after_kill_and_a_restart_follows_at_once(self):
        for _ in range(3):
            with Echo(self.server, "af_xdp:srv0") as echo:
                self.assertEqual(ping(self.client, TOE, count=1), 1)
                echo.kill()
        wait_for(lambda: attached(self.server, "srv0") is None)
        self.assertEqual(ping(self.client, KERNEL), 3)

    def test_second_process_is_refused(self):
        with Echo(self.server, "af_xdp:srv0"):
            self.assertIn("srv0 already has an XDP program", refusal(self.server, "af_xdp:srv0"))
            self.assertEqual(ping(self.client, TOE), 3)

    def test_flood_is_answered_or_counted(self):
        with Echo(self.server, "af_xdp:srv0") as echo:
            self.assertEqual(ping(self.client, TOE, count=1), 1)
            with self.client.socket(kind=socket.SOCK_DGRAM) as s:
                for _ in range(20000):
                    s.sendto(b"x" * 64, (TOE, 7))
            # Frames that arrive while the flood fills the rings may be dropped like it.
            wait_for(lambda: ping(self.client, TOE, count=1, limit=1) == 1)
            self.assertEqual(ping(self.client, TOE), 3)
            [counters] = echo.stop()
        # Each once; the peer may send a few more neighbour solicitations.
        self.assertLessEqual(counters["rx"] + counters["rx_dropped"], 20005 + 50)
        self.assertGreater(counters["rx"], 5)

    def test_refusals_say_why(self):
        sentence = refusal(self.server, "af_xdp:srv0,queue=3")
        self.assertIn("srv0 has no queue 3: it has 1", sentence)
        self.assertIn("has no zero-copy", refusal(self.server, "af_xdp:srv0,copy=zero"))
        self.assertIsNone(attached(self.server, "srv0"))
        nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        sentence = refusal(self.server, "af_xdp:srv0", argv=nobody)
        self.assertIn("run as root", sentence)
        self.server.run(["ip", "link", "set", "srv0", "down"])
        self.assertIn("srv0 is down", refusal(self.server, "af_xdp:srv0"))

    def test_no_native_mode_falls_back_and_says_so(self):
        self.server.run(["ip", "link", "add", "br0", "type", "bridge"])
        self.server.run(["ip", "link", "set", "br0", "up"])
        with Echo(self.server, "af_xdp:br0") as echo:
            self.assertRegex(echo.modes[0], r"^af_xdp generic \(no native: .+\) copy$")
        self.assertIn("in native mode", refusal(self.server, "af_xdp:br0,mode=native"))


class AfXdpQueues(unittest.TestCase):
    def setUp(self):
        self.pair = Pair(kernel_ip=f"{KERNEL}/24", queues=2)
        self.addCleanup(self.pair.delete)
        self.server, self.client = self.pair.server, self.pair.client

    def ask(self):
        """A datagram of another flow: the sending veth spreads them over its queues."""
        s = self.client.socket(kind=socket.SOCK_DGRAM)
        self.addCleanup(s.close)
        s.connect((TOE, 7))
        s.send(b"hello")
        return s

    def test_two_queues_of_one_process(self):
        with Echo(self.server, "af_xdp:srv0,queue=0", "af_xdp:srv0,queue=1") as echo:
            for s in [self.ask() for _ in range(64)]:
                s.settimeout(LIMIT)
                self.assertEqual(s.recv(100), b"hello")
            first, second = echo.stop()
        self.assertGreater(first["rx"], 5)
        self.assertGreater(second["rx"], 5)
        self.assertIsNone(attached(self.server, "srv0"))

    def test_a_queue_without_a_socket_is_the_kernels(self):
        # The neighbour is static, because a solicitation could arrive at either queue.
        toe = ":".join(f"{b:02x}" for b in mac(self.server, "srv0"))
        self.client.run(["ip", "neigh", "add", TOE, "lladdr", toe, "dev", "cli0"])
        with Echo(self.server, "af_xdp:srv0,queue=1") as echo:
            asked = [self.ask() for _ in range(64)]
            # Once one more is answered, the queue has passed on those before it.
            wait_for(lambda: asked.append(self.ask()) or answered([asked[-1]], 0.1))
            [counters] = echo.stop()
        wait_for(lambda: len(answered(asked)) >= counters["rx"])
        self.assertEqual(len(answered(asked)), counters["rx"])
        self.assertTrue(0 < counters["rx"] < len(asked), counters)

    def test_the_same_queue_twice_is_refused(self):
        done = subprocess.run(
            ["ip", "netns", "exec", self.server.name, ECHO, TOE, "af_xdp:srv0", "af_xdp:srv0"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("queue 0 of srv0 is in use", done.stderr)


class AfXdpIp6(unittest.TestCase):
    """Queues of one interface, each with its own addresses."""

    A, B = "fd00::a", "fd00::b"

    def frame(self, dst, mac_of, body, next_header):
        header = struct.pack("!IHBB", 6 << 28, len(body), next_header, 255)
        addresses = socket.inet_pton(socket.AF_INET6, "fe80::1")
        addresses += socket.inet_pton(socket.AF_INET6, dst)
        return mac_of + b"\x02\0\0\0\0\x99\x86\xdd" + header + addresses + body

    def open(self, queues):
        self.queues = queues
        self.pair = Pair(queues=queues)
        self.addCleanup(self.pair.delete)

    def arrived(self):
        """How many frames the interface has handed to the program and the kernel."""
        ns, interface = self.pair.server, self.pair.server_if
        out = ns.run(["ip", "-j", "-s", "link", "show", interface]).stdout
        return json.loads(out)[0]["stats64"]["rx"]["packets"]

    def run_on(self, frames):
        """Sends the frames; returns the program's lines on the batches that it received."""
        spec = f"af_xdp:{self.pair.server_if}"
        process = subprocess.Popen(
            ["ip", "netns", "exec", self.pair.server.name, IP6, spec]
            + [self.A, self.B, str(self.queues)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            if (line := process.stdout.readline()) != "ready\n":
                out, err = process.communicate()
                self.fail(f"netio_ip6 ended with {process.returncode}: {line}{out}{err}")
            with self.pair.client.entered():
                s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            before = self.arrived()
            with s:
                s.bind((self.pair.client_if, 0))
                for frame in frames:
                    s.send(frame)
            wait_for(lambda: self.arrived() >= before + len(frames))
            out, err = process.communicate("go\n", timeout=30)
        self.assertEqual(process.returncode, 0, err)
        return [tuple(map(int, re.findall(r"\d+", line))) for line in out.splitlines()]

    def unicast(self, dst):
        return self.frame(dst, mac(self.pair.server, self.pair.server_if), b"\0" * 20, 17)

    def test_an_address_of_one_queue_stays_when_another_names_its_own(self):
        self.open(2)
        got = self.run_on([self.unicast(self.A), self.unicast(self.B)])
        self.assertEqual([sum(column) for column in zip(*got, strict=True)][1:], [1, 1])

    def test_advertisements_come_first_under_load(self):
        self.open(1)
        group = bytes.fromhex("333300000001")
        advert = self.frame("ff02::1", group, b"\x86" + b"\0" * 15, 58)
        got = self.run_on([self.unicast(self.A)] * 200 + [advert])
        self.assertEqual(sum(batch[1] for batch in got), 200)
        first = next(i for i, batch in enumerate(got) if batch[0])
        self.assertLess(first, 4, got)  # not when the 200 are done


class Tap(unittest.TestCase):
    def setUp(self):
        self.ns = Namespace.create(f"{PREFIX}-{os.getpid()}-tap")
        self.addCleanup(self.ns.delete)

    def exists(self):
        return bool(self.ns.run(["ip", "link", "show", "toe0"], check=False).returncode == 0)

    def test_made_brought_up_and_gone(self):
        with Echo(self.ns, f"tap:toe0,host={PEER}/24") as echo:
            self.assertEqual(echo.modes, ["tap"])
            self.assertEqual(ping(self.ns, TOE), 3)
            self.assertEqual(ping(self.ns, TOE, size=1400), 3)
            udp(self.ns, TOE, [bytes([i % 256]) * (1 + i * 7 % 1472) for i in range(500)])
            neighbour = json.loads(self.ns.run(["ip", "-j", "neigh", "show", TOE]).stdout)[0]
            toe = bytes.fromhex(neighbour["lladdr"].replace(":", ""))
            self.assertNotEqual(toe, mac(self.ns, "toe0"))
            self.assertEqual(toe[0] & 3, 2)  # locally administered, one station
            [counters] = echo.stop()
        self.assertGreaterEqual(counters["tx"], 507)
        self.assertFalse(self.exists())

    def test_an_existing_device_stays_with_its_mac(self):
        self.ns.run(["ip", "tuntap", "add", "dev", "toe0", "mode", "tap"])
        self.ns.run(["ip", "address", "add", f"{PEER}/24", "dev", "toe0"])
        for _ in range(2):
            with Echo(self.ns, "tap:toe0") as echo:
                self.assertEqual(ping(self.ns, TOE), 3)
                self.assertIn("in use by another process", refusal(self.ns, "tap:toe0"))
                echo.kill()
            self.assertTrue(self.exists())

    def test_two_queues_are_one_station(self):
        with Echo(self.ns, f"tap:toe0,host={PEER}/24", "tap:toe0") as echo:
            for _ in range(64):
                udp(self.ns, TOE, [b"hello"])
            first, second = echo.stop()
        self.assertGreaterEqual(first["tx"] + second["tx"], 64)
        self.assertFalse(self.exists())

    def test_refusals_say_why(self):
        self.ns.run(["ip", "link", "add", "toe0", "type", "bridge"])
        self.assertIn("is not a TAP device", refusal(self.ns, "tap:toe0"))
        for host in ("10.1.1.1", "10.1.1.1/33", "10.1.1/24", "10.1.1.1/", "x/24"):
            self.assertIn("write host=A.B.C.D/LEN", refusal(self.ns, f"tap:toe1,host={host}"))
        nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        self.assertIn("run as root", refusal(self.ns, "tap:toe1", argv=nobody))

    def test_through_the_impairing_wire(self):
        with Echo(self.ns, f"impair(delay=20ms,seed=5):tap:toe0,host={PEER}/24") as echo:
            self.assertRegex(echo.modes[0], r"^impair seed=5 over tap: delay=20ms")
            self.assertEqual(ping(self.ns, TOE), 3)


def ping_nobody(ns, address):
    """Resolves an unused address; the kernel gives up after its own timeout, or immediately."""
    ns.run(["ip", "neigh", "flush", "dev", "cli0"])
    with ns.socket(kind=socket.SOCK_DGRAM) as s:
        s.settimeout(0.3)
        s.connect((address, 7))
        try:
            s.send(b"x")
            s.recv(10)
            return 1
        except OSError:
            return 0


def wait_for(condition):
    for _ in range(600):
        if condition():
            return
        signal.sigtimedwait([], 0.05)
    raise AssertionError("waited in vain")


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("test_interfaces.py makes network namespaces: run it as root (sudo)")
    ECHO, IP6, OLD_KERNEL = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
