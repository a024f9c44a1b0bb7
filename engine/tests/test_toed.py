#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""toed as a process: command line, socket, attach refusals, statistics, its end.

usage: test_toed.py TOED [unittest arguments]
Runs on a wire in shared memory, so it needs neither privileges nor interfaces.
"""

import array
import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TOED = sys.argv.pop(1)
os.environ["TOEHOLD_CONFIG"] = ""  # no files of settings
MAGIC, VERSION = 0x31454F54, 1
HELLO = struct.Struct("<4I6I32s")
WELCOME = struct.Struct("<6I6s4sBB4s128s")
SEALS = 0x0002 | 0x0004 | 0x0001  # SHRINK, GROW, SEAL
CONFIG = (256, 1024, 16, 16384, 16384, 0)
AREA = 2 * 4096 + 256 * 16 + 1024 * 16 + 4096 + 16 * 32768
LIBC = ctypes.CDLL(None, use_errno=True)


def eventfd():
    return LIBC.eventfd(0, os.O_NONBLOCK | os.O_CLOEXEC)


def memfd(size=AREA, seals=SEALS):
    fd = os.memfd_create("area", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


def run(*args):
    return subprocess.run([TOED, *args], capture_output=True, text=True, timeout=20, check=False)


class CommandLine(unittest.TestCase):
    def test_help_and_version_go_to_standard_output(self):
        for option, text in (
            ("--help", "--netif SPEC"),
            ("-h", "--netif SPEC"),
            ("--version", "toed 0."),
            ("-V", "toed 0."),
        ):
            r = run(option)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            self.assertIn(text, r.stdout)

    def test_usage_errors_name_the_value_and_exit_2(self):
        good = ["--netif", "wire:/nowhere/w", "--ip", "10.0.0.1/24"]
        for args, word in (
            ([], "--netif"),
            (["--netif", "wire:/x"], "--ip"),
            ([*good, "--ip", "10.0.0.1"], "10.0.0.1"),
            ([*good, "--ip", "10.0.0.256/24"], "10.0.0.256"),
            ([*good, "--ip", "10.0.0.1/33"], "33"),
            ([*good, "--ip", "127.0.0.1/8"], "127.0.0.1"),
            ([*good, "--ip", "224.0.0.1/8"], "224.0.0.1"),
            ([*good, "--gateway", "x"], "--gateway"),
            ([*good, "--gateway", "10.0.0.1"], "--gateway"),
            ([*good, "--gateway", "10.0.1.1"], "--gateway"),
            ([*good, "--ip", "10.0.0.0/24"], "network"),
            ([*good, "--ip", "10.0.0.255/24"], "broadcast"),
            ([*good, "--mac", "02:00:00:00:00"], "02:00:00:00:00"),
            ([*good, "--mac", "01:00:00:00:00:00"], "01:00"),
            ([*good, "--mac", "00:00:00:00:00:00"], "a unicast Ethernet address"),
            ([*good, "--mac", " 2:00:00:00:00:01"], "a unicast Ethernet address"),
            ([*good, "--mac", "02:-1:00:00:00:01"], "a unicast Ethernet address"),
            ([*good, "--mac", "02:0x:00:00:00:01"], "a unicast Ethernet address"),
            ([*good, "--mac", "2:0:0:0:0:1"], "a unicast Ethernet address"),
            ([*good, "--mac", "02:00:00:00:00:001"], "a unicast Ethernet address"),
            ([*good, "--mac", "02:00:00:00:00:01 "], "a unicast Ethernet address"),
            ([*good, "--mac", ""], "a unicast Ethernet address"),
            ([*good, "--engines", "0"], "--engines"),
            ([*good, "--engines", "-1"], "-1"),
            ([*good, "--spin-us", "1e3"], "1e3"),
            ([*good, "--cpu", "x"], "x"),
            ([*good, "--cpu", ""], "--cpu"),
            ([*good, "--cpu", "0,"], "--cpu"),
            ([*good, "--cpu", "1024"], "1024"),
            ([*good, "--cpu", "0,1"], "2 CPUs for 1 engine"),
            ([*good, "--cpu", ",".join("0" * 65)], "more than 64"),
            ([*good, "--vlan", "0"], "--vlan 0"),
            ([*good, "--vlan", "4095"], "--vlan 4095"),
            ([*good, "--vlan", ""], "--vlan "),
            ([*good, "--mtu", "100"], "100"),
            ([*good, "--ttl", "0"], "--ttl"),
            ([*good, "--ttl", "256"], "256"),
            ([*good, "--max-flows", "99999999999999999999"], "--max-flows"),
            ([*good, "--seed", "xyz"], "xyz"),
            ([*good, "--seed", "0" * 65], "--seed"),
            ([*good, "--frobnicate"], "frobnicate"),
            ([*good, "stray"], "stray"),
        ):
            r = run(*args)
            self.assertEqual(r.returncode, 2, args)
            self.assertIn(word, r.stderr, args)
            self.assertEqual(r.stdout, "")

    def test_what_cannot_be_had_exits_3_with_a_reason(self):
        with tempfile.TemporaryDirectory() as d:
            Path(f"{d}/file").write_text("precious")
            good = ["--netif", f"wire:{d}/w", "--ip", "10.0.0.1/24", "--socket", f"{d}/s"]
            for args, word in (
                (["--netif", "bogus:x"], "bogus"),
                (["--netif", f"wire:{d}/no/such/w"], "no/such"),
                (["--engines", "2"], "queue"),
                (["--mtu", "9000"], "9000"),
                (["--group", "no-such-group"], "no-such-group"),
                (["--socket", f"{d}/no/such/dir/s"], "no/such"),
                (["--socket", f"{d}/file"], "no socket"),
                (["--socket", f"{d}/" + "s" * 200], "longer"),
            ):
                r = run(*good, *args)
                self.assertEqual(r.returncode, 3, (args, r.stderr))
                self.assertIn(word, r.stderr, args)
            self.assertFalse(os.path.exists(f"{d}/s"))
            self.assertEqual(Path(f"{d}/file").read_text(), "precious")


class Attached(unittest.TestCase):
    """One toed on its own wire."""

    options = ()

    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.path = f"{self.dir.name}/run/toed.sock"
        self.toed = self.start()
        self.addCleanup(self.end)

    def start(self):
        args = [TOED, "--netif", f"wire:{self.dir.name}/w", "--ip", "10.0.0.1/24"]
        args += ["--socket", self.path, "--max-qps", "2", *self.options]
        p = subprocess.Popen(args, stderr=subprocess.PIPE, text=True)
        for line in p.stderr:
            if " ready" in line:
                return p
        raise AssertionError(f"toed ended with {p.wait()}")

    def end(self):
        self.toed.kill()
        self.toed.wait()
        self.toed.stderr.close()

    def connect(self):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.settimeout(100)
        s.connect(self.path)
        self.addCleanup(s.close)
        return s

    def say(self, s, fds, data=None, kind=1):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        s.sendmsg([data or HELLO.pack(MAGIC, VERSION, kind, 0, *CONFIG, b"test")], rights)
        for fd in set(fds):
            os.close(fd)

    def hello(self, fds, magic=MAGIC, version=VERSION, kind=1, engine=0, config=CONFIG, raw=None):
        s = self.connect()
        data = raw or HELLO.pack(magic, version, kind, engine, *config, b"test\xff")
        self.say(s, fds, data)
        data, anc, _, _ = s.recvmsg(WELCOME.size, socket.CMSG_SPACE(4 * 4))
        got = array.array("i")
        for _, _, c in anc:
            got.frombytes(c[: len(c) - len(c) % 4])
        for fd in got:
            self.addCleanup(os.close, fd)
        self.assertEqual(len(data), WELCOME.size)
        fields = WELCOME.unpack(data)
        return s, fields[2], fields[-1].rstrip(b"\0").decode(), list(got), fields

    def stats(self):
        s = self.connect()
        s.send(HELLO.pack(MAGIC, VERSION, 2, 0, *CONFIG, b"query"))
        return json.loads(s.recv(1 << 20))

    def wait_for(self, what):
        end = time.monotonic() + 100
        while not what():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    def qps(self):
        return self.stats()["engines"][0]["queue_pairs"]

    def test_an_attach_is_welcomed_with_registers_and_doorbell(self):
        _, reason, message, fds, w = self.hello([memfd(), eventfd()])
        self.assertEqual((reason, message, len(fds)), (0, "", 2))
        self.assertEqual(w[7], bytes((10, 0, 0, 1)))
        page = os.pread(fds[0], 4096, 0)
        self.assertEqual(page[:4], b"TOE1")
        self.assertEqual(len(page), 4096)
        with self.assertRaises(OSError):
            os.pwrite(fds[0], b"x", 0)
        (qp,) = self.qps()
        self.assertEqual((qp["name"], qp["pid"], qp["slots"]), ("test?", os.getpid(), 16))

    def test_registers_are_given_to_who_does_not_attach(self):
        s, reason, message, fds, _ = self.hello([], kind=4)
        self.assertEqual((reason, message, len(fds)), (0, "", 1))
        self.assertEqual(os.pread(fds[0], 4096, 0)[:4], b"TOE1")
        with self.assertRaises(OSError):
            os.pwrite(fds[0], b"x", 0)
        self.assertEqual(s.recv(1), b"")
        self.assertEqual(self.qps(), [])

    def test_bad_hellos_are_refused_in_words(self):
        for args, word in (
            ({"fds": [], "raw": b"x"}, "hello"),
            ({"fds": [], "magic": 1}, "hello"),
            ({"fds": [], "version": 2}, "version"),
            ({"fds": [], "kind": 7}, "yet to come"),
            ({"fds": [], "kind": 9}, "such a capture"),
            ({"fds": [], "kind": 99}, "neither"),
            ({"fds": []}, "0 descriptors"),
            ({"fds": [memfd()]}, "1 descriptors"),
            ({"fds": [memfd(), eventfd(), eventfd()]}, "3 descriptors"),
            ({"fds": [memfd(), eventfd()], "engine": 1}, "engine 1"),
            ({"fds": [memfd(seals=0), eventfd()]}, "sealed"),
            ({"fds": [memfd(size=4096), eventfd()]}, "4096 bytes"),
            ({"fds": [eventfd(), memfd()]}, "memfd"),
            ({"fds": [memfd(), memfd()]}, "eventfd"),
            ({"fds": [memfd(), eventfd()], "config": (3, *CONFIG[1:])}, "out of range"),
        ):
            s, reason, message, fds, _ = self.hello(**args)
            self.assertNotEqual(reason, 0, args)
            self.assertIn(word, message)
            self.assertEqual(fds, [])
            self.assertEqual(s.recv(1), b"")
        self.assertEqual(self.qps(), [])

    def test_the_number_of_queue_pairs_is_limited_and_comes_back(self):
        one = self.hello([memfd(), eventfd()])
        self.assertEqual(self.hello([memfd(), eventfd()])[1], 0)
        _, reason, message, _, _ = self.hello([memfd(), eventfd()])
        self.assertEqual(reason, 105)
        self.assertIn("--max-qps", message)
        one[0].close()
        self.wait_for(lambda: len(self.qps()) == 1)
        self.assertEqual(self.hello([memfd(), eventfd()])[1], 0)

    def test_a_queue_pair_ends_with_the_process_that_made_it(self):
        r, w = os.pipe()
        child = os.fork()
        if child == 0:
            s = self.hello([memfd(), eventfd()])[0]
            if os.fork() == 0:  # holds the connection open until it is stopped
                os.close(w)
                os.read(r, 1)
                os._exit(0)
            os._exit(0 if s else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.wait_for(lambda: self.qps() == [])
        os.close(r)
        os.close(w)

    def test_a_queue_pair_ends_with_the_process_that_it_has_moved_to(self):
        s = self.hello([memfd(), eventfd()])[0]
        with subprocess.Popen(["sleep", "60"]) as heir:
            self.say(s, [os.pidfd_open(heir.pid)], kind=7)
            self.assertEqual(len(self.qps()), 1)
            heir.kill()
            heir.wait()
            self.wait_for(lambda: self.qps() == [])
        self.assertEqual(s.recv(1), b"")

    def test_a_queue_pair_moves_to_processes_alone(self):
        for fds in ([], [eventfd()], [os.pidfd_open(os.getpid()), eventfd()]):
            s = self.hello([memfd(), eventfd()])[0]
            self.say(s, fds, kind=7)
            self.assertEqual(s.recv(1), b"")
            self.wait_for(lambda: self.qps() == [])

    def test_a_second_message_ends_the_queue_pair(self):
        s = self.hello([memfd(), eventfd()])[0]
        s.send(b"more")
        self.assertEqual(s.recv(1), b"")
        self.wait_for(lambda: self.qps() == [])

    def test_many_silent_connections_do_not_shut_others_out_for_long(self):
        silent = [self.connect() for _ in range(80)]
        gone = select.select(silent, [], [], 20)[0]
        self.assertTrue(gone)  # those beyond the limit end at once
        for s in silent:
            s.close()
        self.wait_for(self.answers)

    def answers(self):
        try:
            return self.stats()["version"] != ""
        except (OSError, ValueError):
            return False

    def test_statistics_name_what_the_tools_print(self):
        j = self.stats()
        self.assertEqual(j["address"], "10.0.0.1/24")
        (e,) = j["engines"]
        self.assertEqual(
            set(e), {"id", "netio", "offload", "ip6", "counters", "usage", "queue_pairs"}
        )
        for name in ("rx_frames", "cmd_bad_flow", "qp_halted", "no_slot", "hw_ring_full"):
            self.assertIn(name, e["counters"])
        self.assertIn("mode", e["netio"])
        self.assertEqual(e["usage"]["flows"], 0)

    def test_an_engine_runs_on_the_cpu_that_was_named(self):
        cpu = max(os.sched_getaffinity(0))
        self.end()
        self.toed = subprocess.Popen(
            [TOED, "--netif", f"wire:{self.dir.name}/c", "--ip", "10.0.0.1/24", "--socket"]
            + [f"{self.dir.name}/cpu.sock", "--cpu", str(cpu)],
            stderr=subprocess.PIPE,
            text=True,
        )
        said = ""
        for line in self.toed.stderr:
            said += line
            if " ready" in line:
                break
        self.assertIn(f"engine 0: CPU {cpu}", said)
        where = {}
        for task in Path(f"/proc/{self.toed.pid}/task").iterdir():
            name = (task / "comm").read_text().strip()
            where[name] = os.sched_getaffinity(int(task.name))
        self.assertEqual(where["toed-engine0"], {cpu})
        self.assertEqual(where["toed"], os.sched_getaffinity(0))  # control may write anywhere

    def test_a_cpu_that_is_not_there_is_told(self):
        args = ["--netif", f"wire:{self.dir.name}/v", "--ip", "10.0.0.2/24"]
        r = run(*args, "--socket", f"{self.dir.name}/s", "--cpu", "1023")
        self.assertEqual(r.returncode, 3)
        self.assertIn("--cpu 1023: this machine has no such CPU", r.stderr)

    def test_sigterm_ends_connections_and_takes_the_socket_away(self):
        mode = os.stat(self.path)
        self.assertTrue(stat.S_ISSOCK(mode.st_mode))
        self.assertEqual(stat.S_IMODE(mode.st_mode), 0o660)
        s = self.hello([memfd(), eventfd()])[0]
        self.toed.send_signal(signal.SIGTERM)
        self.assertEqual(s.recv(1), b"")
        self.assertEqual(self.toed.wait(20), 0)
        self.assertFalse(os.path.exists(self.path))

    def test_sighup_ends_nothing_and_names_the_take_over(self):
        s = self.hello([memfd(), eventfd()])[0]
        self.toed.send_signal(signal.SIGHUP)
        for line in self.toed.stderr:
            if "SIGHUP" in line:
                break
        self.assertIn("--take-over", line)
        self.assertEqual(len(self.qps()), 1)
        s.settimeout(0)
        self.assertRaises(BlockingIOError, s.recv, 1)  # still attached

    def test_a_dead_ones_socket_is_replaced_a_live_ones_is_not(self):
        r = run("--netif", f"wire:{self.dir.name}/v", "--ip", "10.0.0.2/24", "--socket", self.path)
        self.assertEqual(r.returncode, 3)
        self.assertIn("another toed listens there", r.stderr)
        self.toed.kill()
        self.toed.wait()
        self.toed.stderr.close()
        self.assertTrue(os.path.exists(self.path))
        self.toed = self.start()
        self.assertEqual(self.stats()["engines"][0]["id"], 0)


class LittleMemory(Attached):
    options = ("--max-memory", "1")

    def test_memory_is_limited_and_comes_back(self):
        first = self.hello([memfd(), eventfd()])
        self.assertEqual(first[1], 0)
        _, reason, message, _, _ = self.hello([memfd(), eventfd()])
        self.assertEqual(reason, 105)
        self.assertIn("--max-memory", message)
        first[0].close()
        self.wait_for(lambda: self.hello([memfd(), eventfd()])[1] == 0)


class TakenOver(Attached):
    """By another one: docs/UPGRADE.md. Real traffic: tests/system/test_upgrade.py."""

    options = ("--max-qps", "200")

    def take_over(self, *options):
        old = self.toed
        self.options = ("--max-qps", "200", "--take-over", *options)
        self.toed = self.start()
        self.assertEqual(old.wait(20), 0)
        old.stderr.close()

    def test_many_queue_pairs_and_those_who_say_nothing_go_over(self):
        """More descriptors than fit one message."""
        attached = [self.hello([memfd(), eventfd()]) for _ in range(150)]
        silent = self.connect()
        before = self.qps()
        self.take_over()
        self.assertEqual(self.qps(), before)
        self.take_over()
        self.assertEqual(self.qps(), before)
        silent.send(HELLO.pack(MAGIC, VERSION, 2, 0, *CONFIG, b"query"))
        self.assertEqual(len(json.loads(silent.recv(1 << 20))["engines"][0]["queue_pairs"]), 150)
        for s, *_ in attached[:100]:
            s.close()
        self.wait_for(lambda: len(self.qps()) == 50)
        _, reason, _, _, fields = self.hello([memfd(), eventfd()])
        self.assertEqual((reason, fields[3]), (0, 150))  # numbers continue

    def test_limits_hold_for_what_came_over(self):
        for _ in range(2):
            self.hello([memfd(), eventfd()])
        self.take_over("--max-memory", "1")
        _, reason, message, _, _ = self.hello([memfd(), eventfd()])
        self.assertEqual(reason, 105)
        self.assertIn("--max-memory", message)

    def test_too_few_queue_pairs_are_refused(self):
        for _ in range(3):
            self.hello([memfd(), eventfd()])
        args = ["--netif", f"wire:{self.dir.name}/w", "--ip", "10.0.0.1/24"]
        r = run(*args, "--socket", self.path, "--max-qps", "2", "--take-over")
        self.assertEqual(r.returncode, 1)
        self.assertIn("give --max-qps as it was, or more", r.stderr)
        self.assertEqual(len(self.qps()), 3)

    def test_the_socket_goes_away_with_the_last_one(self):
        self.take_over()
        self.toed.send_signal(signal.SIGTERM)
        self.assertEqual(self.toed.wait(20), 0)
        self.assertFalse(os.path.exists(self.path))


# class Attached tests what these inherit
for _kind in (LittleMemory, TakenOver):
    for _name in [n for n in dir(Attached) if n.startswith("test_")]:
        setattr(_kind, _name, None)
del _kind

if __name__ == "__main__":
    unittest.main(verbosity=2)
