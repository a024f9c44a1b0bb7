# SPDX-License-Identifier: Apache-2.0
"""toe_sim for Linux programs, with a Linux peer."""

import json
import re
import signal
import struct
from pathlib import Path

from gateware.lib import live
from gateware.lib.tools import ROOT
from tests.lab import netns, proc

PYTHON = "/usr/bin/python3"
TOEHOLD = ROOT / "build" / "cli" / "toehold"
PORT = 5000

# Reads all data, then sends its digest and as many bytes.
ECHO = """
import hashlib, random, socket, sys
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("0.0.0.0", int(sys.argv[1])))
s.listen(64)
print("listening", flush=True)
while True:
    c, _ = s.accept()
    digest, n = hashlib.sha256(), 0
    while got := c.recv(65536):
        digest.update(got)
        n += len(got)
    c.sendall(digest.digest() + random.Random(n).randbytes(n))
    c.close()
"""

# Its peer: exits with 0 when every byte is right. It hears nothing until the echo has all its data.
TALK = """
import hashlib, os, random, socket, sys
n = int(sys.argv[3])
data = os.urandom(n)
s = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=60)
s.settimeout(float(sys.argv[4]) if sys.argv[4:] else 60)
import threading
got = []
def take():
    while part := s.recv(1 << 16):
        got.append(part)
reader = threading.Thread(target=take)
reader.start()
s.sendall(data)
s.shutdown(socket.SHUT_WR)
reader.join()
want = hashlib.sha256(data).digest() + random.Random(n).randbytes(n)
sys.exit(0 if b"".join(got) == want else f"{len(b''.join(got))} bytes, not those that were sent")
"""

# Echoes data on any number of concurrent connections.
MANY = """
import selectors, socket, sys
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("0.0.0.0", int(sys.argv[1])))
s.listen(512)
all = selectors.DefaultSelector()
all.register(s, selectors.EVENT_READ)
print("listening", flush=True)
while True:
    for key, _ in all.select():
        if key.fileobj is s:
            all.register(s.accept()[0], selectors.EVENT_READ)
        elif data := key.fileobj.recv(65536):
            key.fileobj.sendall(data)
        else:
            all.unregister(key.fileobj)
            key.fileobj.close()
"""


def write_pcap(path: Path, packets: list[tuple[int, bytes]]) -> None:
    """Writes a pcap file of Ethernet frames with nanosecond timestamps."""
    out = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)]
    for ns, data in packets:
        seconds, rest = divmod(ns, 10**9)
        out.append(struct.pack("<IIII", seconds, rest, len(data), len(data)) + data)
    path.write_bytes(b"".join(out))


class Toe:
    """toe_sim for an address in one network namespace, and Linux in the other."""

    def __init__(
        self, folder: Path, impair: str | None, *more: object, program: str = "toe_sim"
    ) -> None:
        self.pair = netns.Pair(kernel_ip=None, tap=True)
        try:
            self.ip, self.peer_ip = self.pair.server_ip, self.pair.client_ip
            self.server, self.client = self.pair.server, self.pair.client
            self.socket = folder / "toe.sock"
            port = f"impair({impair}):tap:tap0" if impair else "tap:tap0"
            argv = [live.build(program), "--netif", port, "--ip", f"{self.ip}/24"]
            self.regs = folder / "regs.sock"
            argv += ["--socket", self.socket, "--regs", self.regs, "--seed", "1", *more]
            self.sim = self.server.start(argv)
            proc.wait_until(lambda: "ready" in self.sim.text(), "toe_sim is not ready", timeout=30)
        except BaseException:
            self.pair.delete()
            raise

    def env(self, slots: int = 64) -> dict[str, str]:
        return {
            "TOEHOLD_SOCKET": str(self.socket),
            "TOEHOLD_SLOTS": str(slots),
            "TOEHOLD_TX_SIZE": "65536",
            "TOEHOLD_RX_SIZE": "65536",
            "LD_PRELOAD": str(ROOT / "build" / "manager" / "libtoe_preload.so"),
        }

    def echo(self, port: int = PORT) -> proc.Proc:
        p = self.server.start([PYTHON, "-c", ECHO, port], env=self.env())
        proc.wait_until(lambda: "listening" in p.text(), "it does not listen", timeout=30)
        return p

    def talk(self, n: int, port: int = PORT, timeout: float = 300) -> None:
        self.client.run([PYTHON, "-c", TALK, self.ip, port, n, timeout], timeout=timeout)

    def toehold(self, *words: object) -> str:
        return self.server.run([TOEHOLD, *words]).stdout

    def stats(self) -> dict:
        return json.loads(self.toehold("stats", "--json", "--socket", self.socket))

    def close(self) -> dict[str, int]:
        """Stops toe_sim and returns its counters."""
        try:
            self.sim.send_signal(signal.SIGTERM)
            assert self.sim.wait(20) == 0, self.sim.tail()
            said = self.sim.text()
        finally:
            self.sim.stop()
            self.pair.delete()
        counts = {name: int(n) for name, n in re.findall(r"^  (\w+) (\d+)$", said, re.M)}
        counts["strayed"] = int(re.search(r"(\d+) strayed", said)[1])
        counts["unlawful"] = int(re.search(r"(\d+) unlawful", said)[1])
        return counts
