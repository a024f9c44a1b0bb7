# SPDX-License-Identifier: Apache-2.0
"""Echo servers of the usual kinds: KIND ADDRESS PORT.

threads   a thread for each connection
forking   a process for each connection, forked after accept()
prefork   four processes forked after listen(), each in a blocking accept(); a connection first
          receives the process id
epoll1    four processes forked after listen(), each with its own epoll instance
shared    two threads that accept from one listener
"""

import os
import select
import signal
import socket
import sys
import threading

signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
kind, address, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
listener = socket.create_server((address, port), backlog=1000)


def echo(s):
    with s:
        try:
            while data := s.recv(65536):
                s.sendall(data)
        except ConnectionError:
            pass


def accept_and(serve):
    while True:
        s, _ = listener.accept()
        serve(s)


def tell_and_echo(s):
    with s:
        s.sendall(b"%d\n" % os.getpid())
        echo(s)


def serve_forking(s):
    if os.fork() == 0:
        listener.close()
        echo(s)
        os._exit(0)
    s.close()


def epoll_loop():
    listener.setblocking(False)
    sockets = {}
    with select.epoll() as ep:
        ep.register(listener, select.EPOLLIN)
        while True:
            for fd, _ in ep.poll():
                if fd == listener.fileno():
                    try:
                        s, _ = listener.accept()
                    except BlockingIOError:
                        continue
                    s.sendall(b"%d\n" % os.getpid())
                    sockets[s.fileno()] = s
                    ep.register(s, select.EPOLLIN)
                    continue
                s = sockets[fd]
                try:
                    data = s.recv(65536)
                except ConnectionError:
                    data = b""
                if data:
                    s.sendall(data)
                else:
                    ep.unregister(fd)
                    sockets.pop(fd).close()


def prefork(work):
    children = []
    for _ in range(4):
        pid = os.fork()
        if pid == 0:
            work()
            os._exit(1)
        children.append(pid)

    def stop(*_):
        for child in children:
            os.kill(child, signal.SIGTERM)
        sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    print("ready", flush=True)
    for _ in children:
        os.wait()
    sys.exit(1)


if kind == "prefork":
    prefork(lambda: accept_and(tell_and_echo))
elif kind == "epoll1":
    prefork(epoll_loop)
elif kind == "threads":
    print("ready", flush=True)
    accept_and(lambda s: threading.Thread(target=echo, args=[s], daemon=True).start())
elif kind == "shared":
    thread = lambda s: threading.Thread(target=echo, args=[s], daemon=True).start()  # noqa: E731
    threading.Thread(target=accept_and, args=[thread], daemon=True).start()
    print("ready", flush=True)
    accept_and(thread)
elif kind == "forking":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    accept_and(serve_forking)
else:
    sys.exit(f"unknown kind {kind}")
