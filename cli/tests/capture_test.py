# SPDX-License-Identifier: Apache-2.0
"""`toehold capture` on a TOE that lies: each value of the shared memory (toe/capture.h) is checked.
Usage: capture_test.py TOEHOLD-PROGRAM."""

import array
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

TOEHOLD = None
MAGIC, VERSION = 0x31454F54, 1
PAGE = os.sysconf("SC_PAGESIZE")
HEADER = struct.Struct("<4I4QqI6s2s16s104s4x")
RECORD = struct.Struct("<2I2Q6I2HI")
REASONS_AT, RINGS_AT = 192, 320
F_ADD_SEALS, SHRINK = 1033, 2
FRAME = bytes(12) + b"\x08\x06" + bytes(46)
FAILURE = 1


class Toe:
    """Answers one request with a memory; keeps the connection until close()."""

    def __init__(self, path, memory=None, *, sealed=True, answer=None):
        self.fds = [] if memory is None else [os.memfd_create("toe", os.MFD_ALLOW_SEALING)]
        for fd in self.fds:
            os.write(fd, memory)
            if sealed:
                fcntl.fcntl(fd, F_ADD_SEALS, SHRINK)
        self.answer = struct.pack("<6I144s", MAGIC, VERSION, 0, 0, 1, 1500, b"")
        if answer is not None:
            self.answer = answer
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.bind(path)
        self.socket.listen(1)
        self.asked = b""
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        try:
            peer, _ = self.socket.accept()
        except OSError:
            return
        with peer:
            self.asked = peer.recv(4096)
            if self.answer:
                rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", self.fds))
                peer.sendmsg([self.answer], [rights] if self.fds else [])
                peer.recv(1)  # the end of the connection

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()
        for fd in self.fds:
            os.close(fd)


def record(**other):
    r = {"size": 120, "flags": 0, "time": 5, "cycle": 0, "len": 60, "cap": 60, "qp": 3, "slot": 4}
    r |= {"ring": 7, "serial": 9, "reason": 1, "gso": 0, "pad": 0, **other}
    return RECORD.pack(*r.values()) + FRAME + bytes(4)


def memory(records=None, *, head=None, size=3 * PAGE, **other):
    """A memory with one ring of a page; other: fields of the header."""
    records = record() if records is None else records
    h = {"magic": 0x50414354, "version": 2, "engines": 1, "reasons": 1}
    h |= {"reasons_at": REASONS_AT, "rings_at": RINGS_AT, "data_at": PAGE, "ring_size": PAGE}
    h |= {"epoch": 1, "snaplen": 256, "mac": b"", "pad": b"", "toe": b"toed", "netif": b"tap:x"}
    h |= other
    m = bytearray(size)
    m[: HEADER.size] = HEADER.pack(*h.values())
    m[REASONS_AT : REASONS_AT + 128] = struct.pack("<32s96s", b"bad_sum", b"sum wrong")
    m[RINGS_AT : RINGS_AT + 8] = struct.pack("<Q", len(records) if head is None else head)
    m[PAGE : PAGE + len(records)] = records
    return bytes(m)


class Capture(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="toehold-")
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "toe.sock")

    def capture(self, *toe, words=("-c", "1"), **options):
        toe = Toe(self.path, *toe, **options)
        try:
            return subprocess.run(
                [TOEHOLD, "capture", "--socket", self.path, *words],
                capture_output=True,
                text=True,
                timeout=120,
                env={**os.environ, "TZ": "UTC"},
            )
        finally:
            toe.close()
            os.unlink(self.path)
            self.asked = toe.asked

    def test_a_sound_memory(self):
        done = self.capture(memory())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            done.stdout,
            "00:00:00.000000006 in    ARP, length 60, dropped: sum wrong (bad_sum), flow 0.7.9\n",
        )
        self.assertIn("capturing on toed, tap:x, 1 engine", done.stderr)
        self.assertEqual(self.asked[40:].split(b"\0")[0], b"256 8")

    def test_a_cycle_of_hardware(self):
        done = self.capture(memory(record(cycle=123, qp=0xFFFFFFFF)))
        self.assertTrue(done.stdout.endswith("(bad_sum), cycle 123\n"), done.stdout)
        done = self.capture(memory(record(cycle=1 << 40)), words=("-c", "1", "--json"))
        self.assertEqual(json.loads(done.stdout)["cycle"], 1 << 40)
        done = self.capture(memory(), words=("-c", "1", "--json"))
        self.assertNotIn("cycle", json.loads(done.stdout))

    def test_quiet(self):
        done = self.capture(memory(), words=("-q", "-c", "1"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("ARP", done.stdout)
        done = self.capture(memory(magic=1), words=("--quiet", "-c", "1"))
        self.assertIn("cannot use the memory", done.stderr)

    def test_texts_for_a_terminal(self):
        done = self.capture(memory(toe=b"\x1b[2Jtoed\xff", netif=b"x" * 104))
        self.assertIn("capturing on ?[2Jtoed?, " + "x" * 103 + ", 1 engine", done.stderr)
        self.assertEqual(done.returncode, 0)

    def test_records_that_are_void_are_skipped(self):
        done = self.capture(memory(record(flags=4) + record(ring=8)))
        self.assertIn("flow 0.8.9", done.stdout)
        self.assertIn("1 frames seen", done.stderr)

    def test_a_flow_without_an_id(self):
        """The TOE keeps events of so many flows; of others there are queue pair and slot."""
        done = self.capture(memory(record(serial=0)))
        self.assertIn("(bad_sum), qp 3 slot 4\n", done.stdout)
        done = self.capture(memory(record(serial=0)), words=("-c", "1", "--json"))
        self.assertNotIn("flow", json.loads(done.stdout))
        done = self.capture(memory(), words=("-c", "1", "--json"))
        got = json.loads(done.stdout)
        self.assertEqual((got["flow"], got["qp"], got["slot"]), ("0.7.9", 3, 4))
        done = self.capture(memory(record(qp=0xFFFFFFFF)))
        self.assertTrue(done.stdout.endswith("(bad_sum)\n"), done.stdout)

    def test_the_size_that_is_requested(self):
        self.capture(memory(), words=("-c", "1", "-w", "/dev/null", "-B", "64", "-s", "9000"))
        self.assertEqual(self.asked[40:].split(b"\0")[0], b"9000 64")

    def test_broken_records(self):
        for name, m in {
            "size 0": memory(record(size=0)),
            "size below the header": memory(record(size=48)),
            "odd size": memory(record(size=117)),
            "size beyond the head": memory(record(size=128)),
            "size huge": memory(record(size=0xFFFFFFF8)),
            "more bytes than the record": memory(record(cap=72, len=72)),
            "more bytes than the frame": memory(record(cap=60, len=59)),
            "cap huge": memory(record(cap=0xFFFFFFFF, len=0xFFFFFFFF)),
            "reason beyond the table": memory(record(reason=2)),
            "head within a record header": memory(head=8),
            "head beyond the ring": memory(head=PAGE + 8),
            "head huge": memory(head=1 << 63),
        }.items():
            with self.subTest(name):
                done = self.capture(m)
                self.assertEqual((done.returncode, done.stdout), (FAILURE, ""), done.stderr)
                self.assertIn("the records of the TOE's engine 0 are broken", done.stderr)

    def test_broken_headers(self):
        for name, m in {
            "magic": memory(magic=1),
            "version": memory(version=1),
            "no engine": memory(engines=0),
            "engines beyond the memory": memory(engines=3),
            "engines huge": memory(engines=0xFFFFFFFF),
            "reasons beyond the memory": memory(reasons=4000),
            "reasons huge": memory(reasons=0xFFFFFFFF),
            "reasons_at huge": memory(reasons_at=(1 << 64) - 64),
            "rings_at beyond": memory(rings_at=PAGE),
            "rings_at odd": memory(rings_at=321),
            "data_at odd": memory(data_at=PAGE + 8),
            "data_at beyond": memory(data_at=3 * PAGE),
            "ring_size no power": memory(ring_size=3 * PAGE),
            "ring_size 0": memory(ring_size=0),
            "ring_size huge": memory(ring_size=1 << 63),
            "ring_size beyond": memory(ring_size=4 * PAGE),
            "snaplen": memory(snaplen=1 << 30),
            "short": memory()[:100],
        }.items():
            with self.subTest(name):
                done = self.capture(m)
                self.assertEqual((done.returncode, done.stdout), (FAILURE, ""), done.stderr)
                self.assertIn("cannot use the memory of the TOE", done.stderr)

    def test_a_memory_that_may_shrink(self):
        done = self.capture(memory(), sealed=False)
        self.assertEqual(done.returncode, FAILURE)
        self.assertIn("cannot use the memory of the TOE", done.stderr)

    def test_other_answers(self):
        refusal = struct.pack("<6I16s128s", MAGIC, VERSION, 22, 0, 1, 0, b"", b"n" * 128)
        for answer, said in (
            (b"", "this TOE cannot capture"),
            (b"x", "this TOE cannot capture"),
            (refusal, "the TOE refuses: nnn"),
            (None, "this TOE cannot capture"),  # a welcome without a memory
        ):
            with self.subTest(answer):
                done = self.capture(answer=answer)
                self.assertEqual((done.returncode, done.stdout), (FAILURE, ""), done.stderr)
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    TOEHOLD = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
