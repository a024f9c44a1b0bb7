# SPDX-License-Identifier: Apache-2.0
"""Exit codes, options and checks of the program `toehold`. Usage: test_cli.py TOEHOLD-PROGRAM."""

import contextlib
import json
import os
import re
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

TOEHOLD = None
MAGIC = 0x31454F54
VERSION = 1
QUERY = 2

ANSWER = {
    "version": "0.1.0",
    "uptime_s": 12,
    "address": "192.0.2.1/24",
    "engines": [
        {
            "id": 0,
            "netio": {"mode": "shm", "rx_frames": 7},
            "counters": {"segments_received": 42},
            "usage": {"flows": 3},
            "queue_pairs": [
                {
                    "id": 5,
                    "pid": 77,
                    "name": "server",
                    "slots": 4096,
                    "slots_used": 3,
                    "listeners": 1,
                    "sw_commands": 10,
                    "hw_commands": 11,
                    "errors": 0,
                }
            ],
        }
    ],
}


class Daemon:
    """Answers queries as toed does; closes a connection without a query."""

    def __init__(self, path, answer):
        self.answer = answer
        self.hellos = []
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.bind(path)
        self.socket.listen(8)
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        while True:
            try:
                peer, _ = self.socket.accept()
            except OSError:
                return
            with peer:
                hello = peer.recv(4096)
                if hello:
                    self.hellos.append(hello)
                    said = self.answer
                    if callable(said):  # of the number of the request, from 0
                        said = said(len(self.hellos) - 1)
                    if said:
                        peer.send(said)

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        os.chmod(self.dir, 0o755)
        self.addCleanup(shutil.rmtree, self.dir)
        self.socket = os.path.join(self.dir, "toed.sock")
        with open("/proc/self/maps", encoding="ascii") as maps:
            self.library = re.search(r"(/\S*/libc[.-]\S*)", maps.read()).group(1)

    def daemon(self, answer=json.dumps(ANSWER).encode()):
        d = Daemon(self.socket, answer)
        self.addCleanup(d.close)
        return d

    def toehold(self, *args, env=None, **kw):
        full = {k: v for k, v in os.environ.items() if not k.startswith("TOEHOLD_")}
        full.pop("LD_PRELOAD", None)
        full["TOEHOLD_PRELOAD"] = self.library
        full["TOEHOLD_SOCKET"] = self.socket
        full["TOEHOLD_CONFIG"] = ""  # no files of settings
        for name, value in (env or {}).items():
            if value is None:
                full.pop(name, None)
            else:
                full[name] = value
        return subprocess.run([TOEHOLD, *args], env=full, capture_output=True, text=True, **kw)

    def file(self, name, content, mode=0o755):
        path = os.path.join(self.dir, name)
        with open(path, "wb") as f:
            f.write(content)
        os.chmod(path, mode)
        return path


class Usage(Case):
    def test_wrong_usage_is_2_and_goes_to_stderr(self):
        for args in (
            [],
            ["fly"],
            ["run"],
            ["run", "--"],
            ["run", "--no-such", "true"],
            ["run", "--socket"],
            ["run", "--socket", "", "true"],
            ["run", "--busy-poll-us", "x", "true"],
            ["run", "--busy-poll-us", "-1", "true"],
            ["run", "--busy-poll-us", " 1", "true"],
            ["run", "--busy-poll-us", "1000001", "true"],
            ["run", "--require=yes", "true"],
            ["stats", "--no-such"],
            ["stats", "more"],
            ["stats", "--socket"],
        ):
            with self.subTest(args=args):
                r = self.toehold(*args)
                self.assertEqual(r.returncode, 2, r.stderr)
                self.assertEqual(r.stdout, "")
                self.assertIn("toehold: ", r.stderr)
                self.assertLessEqual(r.stderr.count("\n"), 2)  # a typo costs no page

    def test_names_of_options_are_written_in_full(self):
        for args, name in (
            (["rtt", "--time", "2"], "timeout-ms"),
            (["stats", "--js"], "json"),
            (["run", "--req", "true"], "require"),
            (["reg", "list", "--js"], "json"),
        ):
            with self.subTest(args=args):
                r = self.toehold(*args)
                self.assertEqual((r.returncode, r.stdout), (2, ""))
                self.assertIn(f"write --{name} in full", r.stderr)

    def test_dry_run(self):
        """What --dry-run prints executes the command in the same way."""
        self.daemon()
        words = [
            "run",
            "--require",
            "--busy-poll-us",
            "7",
            "--",
            "sh",
            "-c",
            "echo $1 '$x' $0",
            "it's",
        ]
        r = self.toehold(words[0], "-n", *words[1:])
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        library = os.path.realpath(self.library)
        self.assertTrue(r.stdout.startswith(f"LD_PRELOAD={library} TOEHOLD_SOCKET={self.socket} "))
        self.assertIn(" TOEHOLD_REQUIRE=1 TOEHOLD_BUSY_POLL_US=7 ", r.stdout)
        by_hand = subprocess.run(["sh", "-c", r.stdout], capture_output=True, text=True)
        self.assertEqual(by_hand.stdout, self.toehold(*words).stdout)
        self.assertEqual(by_hand.stdout, "$x it's\n")

    def test_dry_run_without_toed(self):
        r = self.toehold("run", "--dry-run", "true")
        self.assertEqual((r.returncode, r.stdout), (0, shutil.which("true") + "\n"))
        self.assertIn("no toed answers", r.stderr)
        r = self.toehold("run", "--dry-run", "--require", "true")
        self.assertEqual((r.returncode, r.stdout), (4, ""))

    def test_help_and_version_go_to_stdout(self):
        for args in (["--help"], ["-h"], ["help"]):
            r = self.toehold(*args)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            self.assertIn("usage: toehold VERB", r.stdout)
        for verb in ("run", "doctor", "flows", "stats", "metrics", "offload", "reg", "rtt"):
            r = self.toehold("help", verb)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            self.assertTrue(r.stdout.startswith(f"usage: toehold {verb} "), r.stdout)
            self.assertEqual(r.stdout, self.toehold(verb, "-h").stdout)
        self.assertIn("tcpdump", self.toehold("run", "--help").stdout)
        self.assertIn("toehold capture", self.toehold("run", "--help").stdout)
        for args in (["help", "fly"], ["help", "run", "more"]):
            r = self.toehold(*args)
            self.assertEqual((r.returncode, r.stdout), (2, ""))
        for option in ("--version", "-V"):
            r = self.toehold(option)
            self.assertEqual(r.returncode, 0)
            self.assertRegex(r.stdout, r"^toehold \d+\.\d+\.\d+ ")


class Settings(Case):
    def test_a_wrong_variable_is_3_and_is_named_with_its_value(self):
        self.daemon()
        for name, value in (
            ("TOEHOLD_SLOTS", "0"),
            ("TOEHOLD_SLOTS", "3"),
            ("TOEHOLD_SLOTS", "2097152"),
            ("TOEHOLD_TX_SIZE", "64k"),
            ("TOEHOLD_TX_SIZE", "512"),
            ("TOEHOLD_RX_SIZE", "65537"),
            ("TOEHOLD_RX_SIZE", "99999999999999999999999"),
            ("TOEHOLD_BUSY_POLL_US", ""),
            ("TOEHOLD_IRQ_COUNT", "-1"),
            ("TOEHOLD_IRQ_USEC", "1e3"),
            ("TOEHOLD_HOLD_MIN", "-1"),
            ("TOEHOLD_ZEROCOPY_MIN", "0"),
            ("TOEHOLD_INLINE_BATCH", "on"),
            ("TOEHOLD_IO_URING", "allow"),
            ("TOEHOLD_REQUIRE", "yes"),
            ("TOEHOLD_REPORT", "2"),
            ("TOEHOLD_REPORT", "01"),
            ("TOEHOLD_SOCKET", "/" + "x" * 200),
            ("TOEHOLD_PRELOAD", "/nonexistent/lib.so"),
        ):
            with self.subTest(name=name, value=value):
                r = self.toehold("run", "true", env={name: value})
                self.assertEqual(r.returncode, 3, r.stderr)
                self.assertIn(f"{name}={value}", r.stderr)

    def test_the_ends_of_ranges_are_taken(self):
        self.daemon()
        for name, values in {
            "TOEHOLD_SLOTS": (1, 1048576),
            "TOEHOLD_TX_SIZE": (1024, 16777216),
            "TOEHOLD_RX_SIZE": (1024, 16777216),
            "TOEHOLD_BUSY_POLL_US": (0, 1000000),
            "TOEHOLD_IRQ_COUNT": (0, 65536),
            "TOEHOLD_IRQ_USEC": (0, 1000000),
            "TOEHOLD_HOLD_MIN": (0, 2**32 - 1),
            "TOEHOLD_ZEROCOPY_MIN": (1, 2**32 - 1),
            "TOEHOLD_INLINE_BATCH": (0, 1),
            "TOEHOLD_IO_URING": (0, 1),
            "TOEHOLD_REPORT": (0, 1),
        }.items():
            for value in values:
                with self.subTest(name=name, value=value):
                    r = self.toehold("run", "true", env={name: str(value)})
                    self.assertEqual(r.returncode, 0, r.stderr)

    def test_a_library_path_that_ld_preload_cannot_carry_is_3(self):
        self.daemon()
        path = os.path.join(self.dir, "a b.so")
        os.symlink(self.library, path)
        real = self.file("c d.so", b"")
        r = self.toehold("run", "true", env={"TOEHOLD_PRELOAD": real})
        self.assertEqual(r.returncode, 3)
        self.assertIn("blank", r.stderr)

    def test_the_command_gets_the_settings(self):
        self.daemon()
        r = self.toehold(
            "run",
            "--require",
            "--report",
            "--busy-poll-us",
            "50",
            "--socket",
            self.socket,
            "--",
            "env",
            env={"TOEHOLD_SOCKET": None, "LD_PRELOAD": "libm.so.6"},
        )
        self.assertEqual(r.returncode, 0, r.stderr)
        got = dict(line.split("=", 1) for line in r.stdout.splitlines() if "=" in line)
        self.assertEqual(got["TOEHOLD_SOCKET"], self.socket)
        self.assertEqual(got["TOEHOLD_REQUIRE"], "1")
        self.assertEqual(got["TOEHOLD_REPORT"], "1")
        self.assertEqual(got["TOEHOLD_BUSY_POLL_US"], "50")
        self.assertEqual(got["LD_PRELOAD"], os.path.realpath(self.library) + ":libm.so.6")

    def test_nothing_is_set_that_was_not_asked(self):
        self.daemon()
        r = self.toehold("run", "env")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        for name in ("REQUIRE", "REPORT", "BUSY_POLL_US"):
            self.assertNotIn("TOEHOLD_" + name, r.stdout)
        self.assertIn("LD_PRELOAD=" + os.path.realpath(self.library) + "\n", r.stdout)


class Sanitized(Case):
    """Programs built with AddressSanitizer, whose runtime wants to be the first library."""

    def build(self, *args):
        source = self.file(
            "main.c",
            b"""
#include <stdio.h>
#include <stdlib.h>
int main(void) { const char *v = getenv("ASAN_OPTIONS"); puts(v ? v : "none"); return 0; }
""",
        )
        path = os.path.join(self.dir, "program")
        subprocess.run(["cc", "-o", path, source, *args], check=True)
        return path

    def test_the_runtime_accepts_the_preloaded_library(self):
        self.daemon()
        path = self.build("-fsanitize=address")
        for given, got in (
            (None, "verify_asan_link_order=0"),
            ("", "verify_asan_link_order=0"),
            ("detect_leaks=0", "detect_leaks=0:verify_asan_link_order=0"),
            ("verify_asan_link_order=0", "verify_asan_link_order=0"),
        ):
            with self.subTest(given=given):
                r = self.toehold("run", "--require", path, env={"ASAN_OPTIONS": given})
                self.assertEqual((r.returncode, r.stdout), (0, got + "\n"), r.stderr)

    def test_a_static_runtime_needs_no_option(self):
        self.daemon()
        path = self.build("-fsanitize=address", "-static-libasan")
        r = self.toehold("run", "--require", path, env={"ASAN_OPTIONS": None})
        self.assertEqual(r.returncode, 0, r.stderr)

    def test_a_choice_of_the_user_stays(self):
        self.daemon()
        path = self.build("-fsanitize=address")
        r = self.toehold("run", path, env={"ASAN_OPTIONS": "verify_asan_link_order=1"})
        self.assertNotEqual(r.returncode, 0)
        self.assertIn("ASan runtime does not come first", r.stderr)

    def test_other_programs_get_no_option(self):
        self.daemon()
        r = self.toehold("run", self.build(), env={"ASAN_OPTIONS": None})
        self.assertEqual((r.returncode, r.stdout), (0, "none\n"), r.stderr)


class Run(Case):
    def test_exit_code_is_the_commands(self):
        self.daemon()
        for code in (0, 1, 2, 5, 42, 255):
            r = self.toehold("run", "sh", "-c", f"exit {code}")
            self.assertEqual(r.returncode, code)
        r = self.toehold("run", "sh", "-c", "kill -TERM $$")
        self.assertEqual(r.returncode, -15)

    def test_options_of_the_command_are_its_own(self):
        self.daemon()
        r = self.toehold("run", "echo", "--require", "--socket")
        self.assertEqual((r.returncode, r.stdout), (0, "--require --socket\n"))

    def test_not_found_is_127(self):
        for name in ("no-such-command-anywhere", "/nonexistent/x", "/etc/passwd/x", ""):
            r = self.toehold("run", name)
            self.assertEqual(r.returncode, 127, r.stderr)
            self.assertIn("not found", r.stderr)

    def test_not_executable_is_126(self):
        plain = self.file("plain", b"#!/bin/sh\n", 0o644)
        for name in (plain, self.dir):
            r = self.toehold("run", name)
            self.assertEqual(r.returncode, 126, r.stderr)
        r = self.toehold("run", "plain", env={"PATH": self.dir})
        self.assertEqual(r.returncode, 126, r.stderr)
        lost = self.file("lost", b"#!/nonexistent/interpreter\n")
        r = self.toehold("run", lost)
        self.assertIn(r.returncode, (126, 127))

    def test_a_later_directory_of_path_is_taken(self):
        self.daemon()
        self.file("true", b"", 0o644)
        r = self.toehold("run", "true", env={"PATH": self.dir + ":/usr/bin:/bin"})
        self.assertEqual(r.returncode, 0, r.stderr)

    def test_a_script_without_an_interpreter_runs_in_a_shell(self):
        self.daemon()
        path = self.file("script", b"echo $1-$2; exit 9\n")
        r = self.toehold("run", path, "a", "b c")
        self.assertEqual((r.returncode, r.stdout), (9, "a-b c\n"))

    def test_no_daemon_is_said_once_and_the_command_runs(self):
        r = self.toehold("run", "env")
        self.assertEqual(r.returncode, 0)
        self.assertEqual(len(r.stderr.splitlines()), 1)
        self.assertIn(self.socket, r.stderr)
        self.assertIn("kernel", r.stderr)
        self.assertNotIn("\nLD_PRELOAD=", r.stdout)

    def test_no_daemon_under_require_is_4(self):
        for args, env in ((["--require"], {}), ([], {"TOEHOLD_REQUIRE": "1"})):
            r = self.toehold("run", *args, "echo", "ran", env=env)
            self.assertEqual((r.returncode, r.stdout), (4, ""))
            self.assertIn(self.socket, r.stderr)

    def test_a_socket_nobody_serves_is_no_daemon(self):
        dead = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        dead.bind(self.socket)
        dead.close()
        self.assertEqual(self.toehold("run", "--require", "true").returncode, 4)


HYBRID = ("--engine", "hybrid", "--netif", "tap:t0", "--ip", "192.0.2.1/24")


class Gateware(Case):
    ASK = ("run", "--engine", "gateware", "--netif", "tap:t0", "--ip", "192.0.2.1/24")

    def simulation(self, does):
        """Replaces toe_sim: a script that records its arguments."""
        text = f'#!/bin/sh\necho "$@" >{self.dir}/arguments\n{does}\n'
        return {"TOEHOLD_TOE_SIM": self.file("toe_sim", text.encode())}

    def arguments(self):
        with open(os.path.join(self.dir, "arguments"), encoding="ascii") as f:
            return f.read().split()

    def test_it_is_started_and_ends_after_the_command(self):
        self.daemon()
        life = 'while [ "$1" != --life ]; do shift; done; cat "/dev/fd/$2"'
        env = self.simulation(f'echo "toe_sim: ready"; {life}; >{self.dir}/over')
        more = ["--mtu", "1400", "--ip6", "fd77::1/64", "--gateway6", "fd77::2"]
        r = self.toehold(*self.ASK, *more, "--", "sh", "-c", "exit 7", env=env)
        self.assertEqual((r.returncode, r.stderr), (7, ""))
        options = self.arguments()
        pairs = [
            ("--netif", "tap:t0"),
            ("--ip", "192.0.2.1/24"),
            *zip(more[::2], more[1::2], strict=True),
        ]
        for name, value in pairs:
            self.assertEqual(options[options.index(name) + 1], value)
        self.assertEqual(options[options.index("--socket") + 1], self.socket)
        for _ in range(5000):
            if os.path.exists(os.path.join(self.dir, "over")):
                break
            time.sleep(0.02)
        else:
            self.fail("still running after the command ended")

    def test_the_command_is_told_of_a_toed(self):
        self.daemon()
        env = {**self.simulation('echo "toe_sim: ready"'), "TOEHOLD_ENGINE": "gateware"}
        r = self.toehold(*self.ASK, "env", env=env)
        self.assertEqual(r.returncode, 0, r.stderr)
        for line in ("TOEHOLD_ENGINE=toed", f"TOEHOLD_SOCKET={self.socket}", "TOEHOLD_SLOTS=256"):
            self.assertIn(line, r.stdout.splitlines())

    def test_one_that_does_not_start_is_1_and_nothing_runs(self):
        for does in ("echo no such interface >&2; exit 1", "exit 0"):
            r = self.toehold(*self.ASK, "echo", "ran", env=self.simulation(does))
            self.assertEqual((r.returncode, r.stdout), (1, ""))
            self.assertIn("the simulated TOE did not start", r.stderr)

    def test_one_that_is_not_there_is_3(self):
        r = self.toehold(*self.ASK, "true", env={"TOEHOLD_TOE_SIM": "/nonexistent/toe_sim"})
        self.assertEqual(r.returncode, 3)
        self.assertIn("/nonexistent/toe_sim", r.stderr)
        lost = os.path.join(self.dir, "toehold")
        shutil.copy(TOEHOLD, lost)
        r = subprocess.run([lost, *self.ASK, "true"], capture_output=True, text=True)
        self.assertEqual(r.returncode, 3)
        self.assertIn("scripts/gateware sim toe_sim", r.stderr)

    def test_the_hybrid_is_another_simulation(self):
        self.daemon()
        for words, variable, program in (
            ((), "TOEHOLD_HYB_TOE_SIM", "hyb_toe_sim"),
            (("--hybrid", "software"), "TOEHOLD_HYB_TOE_SIM", "hyb_toe_sim"),
            (
                ("--hybrid", "prototype"),
                "TOEHOLD_HYB_TOE_SIM_PROTOTYPE",
                "hyb_toe_sim_prototype",
            ),
            (("--hybrid", "complete"), "TOEHOLD_HYB_TOE_SIM_COMPLETE", "hyb_toe_sim_complete"),
        ):
            text = f'#!/bin/sh\necho {program} "$@" >{self.dir}/arguments\necho ready\n'
            env = {variable: self.file(program, text.encode())}
            r = self.toehold("run", *HYBRID, *words, "env", env=env)
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertIn("TOEHOLD_SLOTS=16", r.stdout.splitlines())
            self.assertEqual(self.arguments()[0], program)
            self.assertNotIn("--hybrid", self.arguments())
        r = self.toehold("run", *HYBRID, "true", env={"TOEHOLD_HYB_TOE_SIM": "/nonexistent/x"})
        self.assertEqual(r.returncode, 3)

    def test_wrong_usage(self):
        for args, word in (
            (["--engine", "gateware", "true"], "--netif"),
            (["--engine", "gateware", "--netif", "tap:t0", "true"], "--ip"),
            ([*self.ASK[1:], "--ttl", "3", "true"], "--ttl"),
            (["--engine", "hardware", "true"], "gateware or hybrid"),
            (["--engine", "hybrid", "true"], "--netif"),
            ([*HYBRID, "--hybrid", "paper", "true"], "not built yet; software, prototype and"),
            ([*HYBRID, "--hybrid", "wood", "true"], "want software, prototype or complete"),
            ([*HYBRID, "--hybrid", "Complete", "true"], "want software, prototype or complete"),
            ([*HYBRID, "--hybrid", "", "true"], "want software, prototype or complete"),
            ([*self.ASK[1:], "--hybrid", "complete", "true"], "--engine hybrid"),
            ([*self.ASK[1:], "--hybrid", "prototype", "true"], "--engine hybrid"),
            ([*self.ASK[1:], "--hybrid", "software", "true"], "--engine hybrid"),
        ):
            r = self.toehold("run", *args)
            self.assertEqual(r.returncode, 2, r.stderr)
            self.assertIn(word, r.stderr)


class Bypass(Case):
    def setUp(self):
        super().setUp()
        self.daemon()
        with open(os.path.realpath(shutil.which("true")), "rb") as f:
            self.image = bytearray(f.read())

    def headers(self):
        """(offset of the program header, type, file offset of the segment)"""
        (phoff,) = struct.unpack_from("<Q", self.image, 32)
        size, count = struct.unpack_from("<HH", self.image, 54)
        for at in range(phoff, phoff + size * count, size):
            kind, _, offset = struct.unpack_from("<IIQ", self.image, at)
            yield at, kind, offset

    def refused(self, path, word, run=True, **kw):
        r = self.toehold("run", "--require", path, **kw)
        self.assertEqual(r.returncode, 5, r.stderr)
        self.assertIn(word, r.stderr)
        self.assertEqual(len(r.stderr.splitlines()), 1)
        if run:
            r = self.toehold("run", path, **kw)
            self.assertEqual(r.returncode, 0)
            self.assertIn(word, r.stderr)
            self.assertIn("bypasses the TOE", r.stderr)

    def test_static(self):
        for at, kind, _ in self.headers():
            if kind == 3:  # PT_INTERP
                struct.pack_into("<I", self.image, at, 0)
        self.refused(self.file("static", self.image), "statically linked", run=False)

    def test_go(self):
        done = False
        for _, kind, offset in self.headers():
            if kind == 4 and self.image[offset + 12 : offset + 16] == b"GNU\0":  # PT_NOTE
                self.image[offset + 12 : offset + 16] = b"Go\0\0"
                done = True
        self.assertTrue(done)
        self.refused(self.file("golang", self.image), "Go program")

    def test_other_architecture(self):
        struct.pack_into("<H", self.image, 18, 243 if self.image[18] != 243 else 62)
        self.refused(self.file("foreign", self.image), "architecture", run=False)

    def test_cut_short(self):
        self.refused(self.file("short", self.image[:100]), "cut short", run=False)

    def test_every_cut_of_the_headers_ends_in_an_answer(self):
        for size in range(1, 1200, 37):
            path = self.file("cut", self.image[:size])
            # A shell would run a file that is too short for a program, redirections included.
            r = self.toehold("run", "--require", path, cwd=self.dir)
            self.assertIn(r.returncode, (0, 5, 2, 126, 127, -11, -9), (size, r.stderr))

    def test_the_interpreter_of_a_script_counts(self):
        self.test_go()
        inner = os.path.join(self.dir, "golang")
        path = self.file("script", b"#! " + inner.encode() + b" -x\n")
        outer = self.file("outer", b"#!" + path.encode())
        self.refused(path, "Go program")
        self.refused(outer, "Go program")

    def test_set_user_id(self):
        if os.getuid() != 0 or os.statvfs(self.dir).f_flag & os.ST_NOSUID:
            self.skipTest("needs root and a file system without nosuid")
        path = self.file("suid", self.image)
        os.chown(path, 65534, 65534)
        os.chmod(path, stat.S_ISUID | 0o755)
        self.refused(path, "set-user-ID")
        os.chown(path, 0, 65534)
        os.chmod(path, stat.S_ISGID | 0o755)
        self.refused(path, "set-group-ID")
        os.chown(path, 0, 0)
        os.chmod(path, stat.S_ISUID | 0o755)
        self.assertEqual(self.toehold("run", "--require", path).returncode, 0)

    def test_file_capabilities(self):
        path = self.file("caps", self.image)
        try:
            os.setxattr(
                path, "security.capability", struct.pack("<5I", 0x02000001, 1 << 10, 0, 0, 0)
            )
        except OSError as e:
            self.skipTest(f"cannot set capabilities: {e}")
        tool = os.path.join(self.dir, "toehold")
        shutil.copy(TOEHOLD, tool)
        os.chmod(self.socket, 0o777)
        env = {"TOEHOLD_PRELOAD": self.library, "TOEHOLD_SOCKET": self.socket, "PATH": "/bin"}
        r = subprocess.run(
            [tool, "run", "--require", path],
            env=env,
            user=65534,
            group=65534,
            capture_output=True,
            text=True,
        )
        self.assertEqual(r.returncode, 5, r.stderr)
        self.assertIn("file capabilities", r.stderr)


class Stats(Case):
    def test_json_is_what_toed_said(self):
        d = self.daemon()
        r = self.toehold("stats", "--json", "--socket", self.socket, env={"TOEHOLD_SOCKET": "/x"})
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        total = {"netio": {"rx_frames": 7}, "usage": {"flows": 3}}
        total["counters"] = {"segments_received": 42}
        self.assertEqual(json.loads(r.stdout), dict(ANSWER, total=total, schema_version=1))
        magic, version, kind = struct.unpack_from("<III", d.hellos[0])
        self.assertEqual((magic, version, kind), (MAGIC, VERSION, QUERY))

    def test_table(self):
        self.daemon()
        r = self.toehold("stats")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        for word in ("192.0.2.1/24", "engine 0", "rx_frames", "segments_received", "server", "77"):
            self.assertIn(word, r.stdout)
        self.assertNotIn("\033", r.stdout)

    def test_zeros_are_left_out_without_all_and_units_are_explained(self):
        answer = json.loads(json.dumps(ANSWER))
        answer["schema_version"] = 7
        answer["engines"][0]["counters"]["never"] = 0
        answer["help"] = {"counters": {"never": {"unit": "frames", "help": "what never happens"}}}
        self.daemon(json.dumps(answer).encode())
        text = self.toehold("stats").stdout
        self.assertNotIn("never", text)
        self.assertIn("1 figures that are zero are left out", text)
        text = self.toehold("stats", "--all").stdout
        self.assertRegex(text, r"  never +0  frames what never happens\n")
        self.assertEqual(json.loads(self.toehold("stats", "--json").stdout)["schema_version"], 7)

    def test_changes_have_deltas_and_rates(self):
        """An answer that changes: what grows has a rate, an amount at present has none."""
        answer = json.loads(json.dumps(ANSWER))
        d = self.daemon()

        def step(i):
            figures = answer["engines"][0]
            figures["counters"] = {"segments_received": 42 + 10 * i, "still": 5}
            figures["usage"] = {"flows": 3 - i}
            return json.dumps(answer).encode()

        d.answer = step
        r = self.toehold("stats", "--every", "1", "--count", "2", "--json")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        lines = [json.loads(line) for line in r.stdout.splitlines()]
        self.assertEqual(len(lines), 2)
        for i, line in enumerate(lines):
            self.assertEqual(line["schema_version"], 1)
            counters = line["changes"]["counters"]
            self.assertEqual(set(counters), {"segments_received"})
            c = counters["segments_received"]
            self.assertEqual((c["value"], c["delta"]), (52 + 10 * i, 10))
            self.assertAlmostEqual(c["rate"], 10 / line["interval_s"], places=3)
            self.assertEqual(line["changes"]["usage"]["flows"], {"value": 2 - i, "delta": -1})
            self.assertNotIn("netio", line["changes"])
        text = self.toehold("stats", "--every", "1", "--count", "1", "--all").stdout
        self.assertRegex(text, r"segments_received +\d+ +\+10 ")
        self.assertRegex(text, r"still +5 +\+0 +0\.0")
        r = self.toehold("stats", "--count", "1")
        self.assertEqual((r.returncode, r.stdout), (2, ""))
        self.assertIn("--count needs --every", r.stderr)

    def test_colour_on_a_terminal_unless_no_color(self):
        self.daemon()
        for env, coloured in (
            ({}, True),
            ({"NO_COLOR": "1"}, False),
            ({"NO_COLOR": ""}, True),
            ({"TERM": "dumb"}, False),
        ):
            master, slave = os.openpty()
            full = {"TERM": "xterm", "TOEHOLD_SOCKET": self.socket, **env}
            subprocess.run([TOEHOLD, "stats"], env=full, stdout=slave, check=True)
            os.close(slave)
            text = b""
            with contextlib.suppress(OSError):  # EIO: the end; the terminal gives it in parts
                while more := os.read(master, 65536):
                    text += more
            text = text.decode()
            os.close(master)
            self.assertEqual("\033[" in text, coloured, env)

    def test_a_large_answer_is_whole(self):
        answer = dict(ANSWER, engines=ANSWER["engines"] * 200)
        self.daemon(json.dumps(answer).encode())
        r = self.toehold("stats", "--json")
        said = json.loads(r.stdout)
        self.assertEqual(said.pop("total")["usage"], {"flows": 600})
        self.assertEqual(said.pop("schema_version"), 1)
        self.assertEqual(said, answer)

    def test_what_several_engines_count_is_added_up(self):
        other = {
            "id": 1,
            "counters": {"segments_received": 2**40, "of_one": 5},
            "usage": {"flows": 9},
        }
        self.daemon(json.dumps(dict(ANSWER, engines=[*ANSWER["engines"], other])).encode())
        total = json.loads(self.toehold("stats", "--json").stdout)["total"]
        self.assertEqual(total["counters"], {"segments_received": 2**40 + 42, "of_one": 5})
        self.assertEqual(total["usage"], {"flows": 12})
        self.assertEqual(total["netio"], {"rx_frames": 7})  # texts are not
        text = self.toehold("stats").stdout
        self.assertLess(text.index("all 2 engines"), text.index("engine 0"))
        self.assertRegex(text[: text.index("engine 0")], r"flows +12\n")

    def test_one_engine_has_no_total_in_the_table(self):
        self.daemon()
        self.assertNotIn("all 1", self.toehold("stats").stdout)

    def test_no_daemon_is_4(self):
        r = self.toehold("stats")
        self.assertEqual((r.returncode, r.stdout), (4, ""))
        self.assertIn(self.socket, r.stderr)
        r = self.toehold("stats", "--socket", "/" + "x" * 200)
        self.assertEqual(r.returncode, 4)

    def test_a_bad_answer_is_1(self):
        for answer in (b"", b"{", b"[1]", b"\xff\xfe", b'{"engines": 3, "address": [}'):
            with self.subTest(answer=answer):
                d = Daemon(self.socket, answer)
                r = self.toehold("stats")
                d.close()
                os.unlink(self.socket)
                self.assertEqual((r.returncode, r.stdout), (1, ""))
                self.assertIn("toehold: ", r.stderr)

    def test_values_of_other_types_do_no_harm(self):
        self.daemon(b'{"engines": [3, {"queue_pairs": [1, {"name": 4}], "netio": [], "usage": 1}]}')
        r = self.toehold("stats")
        self.assertEqual(r.returncode, 0, r.stderr)


if __name__ == "__main__":
    TOEHOLD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
