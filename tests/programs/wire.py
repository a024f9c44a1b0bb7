# SPDX-License-Identifier: Apache-2.0
"""A wire between two interfaces that delays, drops, doubles, overtakes and holds up frames.

usage: wire.py NEAR FAR [--delay-ms N] [--drop N] [--double N] [--overtake N] [--slow N:MS]

Each of these except the delay applies to every N-th IP frame from NEAR to FAR, counted from 1. ARP
and IPv6 neighbour discovery pass unchanged. At SIGTERM it prints its counters as JSON.
"""

import argparse
import heapq
import itertools
import json
import os
import select
import signal
import socket
import sys
import time

ETH_P_ALL = 3
PACKET_OUTGOING = 4


def interface(name):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    s.bind((name, ETH_P_ALL))
    s.setblocking(False)
    return s


def is_traffic(frame):
    kind = frame[12:14]
    if kind == b"\x86\xdd":
        return not (frame[20] == 58 and 133 <= frame[54] <= 137)
    return kind == b"\x08\x00"


class Wire:
    def __init__(self, args):
        self.args = args
        self.near, self.far = interface(args.near), interface(args.far)
        self.queue, self.order = [], itertools.count()
        self.seen = 0
        self.held = None  # (due, frame) until another has overtaken it
        self.done = dict.fromkeys(("passed", "dropped", "doubled", "overtaken", "slowed"), 0)

    def put(self, to, frame, due):
        heapq.heappush(self.queue, (due, next(self.order), to, frame))

    def every(self, n, name):
        if n and self.seen % n == 0:
            self.done[name] += 1
            return True
        return False

    def outwards(self, frame, due):
        self.seen += 1
        if self.every(self.args.drop, "dropped"):
            return
        if self.every(self.args.slow[0], "slowed"):
            due += self.args.slow[1] / 1000
        if self.every(self.args.overtake, "overtaken"):
            self.held = frame
            return
        self.done["passed"] += 1
        self.put(self.far, frame, due)
        if self.held:
            self.put(self.far, self.held, due)
            self.held = None
        if self.every(self.args.double, "doubled"):
            self.put(self.far, frame, due)

    def take(self, source):
        while True:
            try:
                frame, where = source.recvfrom(65536)
            except BlockingIOError:
                return
            if where[2] == PACKET_OUTGOING:
                continue
            due = time.monotonic() + self.args.delay_ms / 1000
            if source is self.near and is_traffic(frame):
                self.outwards(frame, due)
            else:
                self.put(self.near if source is self.far else self.far, frame, due)

    def run(self):
        while True:
            wait = max(0, self.queue[0][0] - time.monotonic()) if self.queue else None
            for source in select.select([self.near, self.far], [], [], wait)[0]:
                self.take(source)
            while self.queue and self.queue[0][0] <= time.monotonic():
                _, _, to, frame = heapq.heappop(self.queue)
                to.send(frame)


def number_and_ms(text):
    n, ms = text.split(":")
    return int(n), float(ms)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("near")
    p.add_argument("far")
    p.add_argument("--delay-ms", type=float, default=0)
    for name in ("--drop", "--double", "--overtake"):
        p.add_argument(name, type=int, default=0)
    p.add_argument("--slow", type=number_and_ms, default=(0, 0))
    wire = Wire(p.parse_args())

    def tell(*_):
        print(json.dumps(wire.done), flush=True)
        sys.exit(0)

    signal.signal(signal.SIGTERM, tell)
    # veth queues a frame at the CPU that sends it: from two CPUs they may arrive in another order
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print("wire", flush=True)
    wire.run()


main()
