# SPDX-License-Identifier: Apache-2.0
"""Both directions of a connection at once, each byte compared.

    transfer.py serve|client ADDRESS PORT BYTES SEED

Each end sends BYTES and checks the BYTES it receives; prints "ok" if all were correct.
"""

import random
import socket
import sys
import threading

BLOCK = 1_000_003  # a prime: no two buffers' worth of the stream are alike


def block(seed):
    """Two periods of a stream's bytes: any part of it, up to BLOCK long, is a slice of these."""
    data = random.Random(seed).randbytes(BLOCK)
    return memoryview(data + data)


def send(s, total, seed):
    data = block(seed)
    at = 0
    while at < total:
        count = min(200_000, total - at)
        s.sendall(data[at % BLOCK : at % BLOCK + count])
        at += count
    s.shutdown(socket.SHUT_WR)


def receive(s, total, seed):
    data = block(seed)
    buffer = bytearray(500_000)
    at = 0
    while count := s.recv_into(buffer):
        if buffer[:count] != data[at % BLOCK : at % BLOCK + count]:
            sys.exit(f"the bytes at {at} to {at + count} differ")
        at += count
    if at != total:
        sys.exit(f"{at} bytes instead of {total}")


role, address, port, total, seed = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
if role == "serve":
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.create_server((address, port), family=family)
    print("ready", flush=True)
    s, _ = listener.accept()
else:
    s = socket.create_connection((address, port))
mine, theirs = (seed, seed + 1) if role == "serve" else (seed + 1, seed)
sender = threading.Thread(target=send, args=[s, total, mine], daemon=True)
sender.start()
receive(s, total, theirs)
sender.join()
s.close()
print("ok", flush=True)
