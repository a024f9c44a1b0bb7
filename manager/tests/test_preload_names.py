# SPDX-License-Identifier: Apache-2.0
"""Checks that libtoe_preload.so interposes every name by which supported programs reach a socket.

Usage: test_preload_names.py LIBRARY MAP PRELOAD.md
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import unittest

# Every function of the C library that accepts, creates or copies a socket or an epoll instance. If
# a program uses such a name, the library must interpose it, or PRELOAD.md must list it as passed
# on, with the reason.
UNIVERSE = set(
    re.findall(
        r"\w+",
        """
    socket socketpair bind listen accept accept4 connect shutdown getsockname getpeername getsockopt
    setsockopt sockatmark isfdtype send sendto sendmsg sendmmsg recv recvfrom recvmsg recvmmsg
    read readv write writev pread pread64 preadv preadv64 preadv2 preadv64v2
    pwrite pwrite64 pwritev pwritev64 pwritev2 pwritev64v2 sendfile sendfile64 splice tee vmsplice
    copy_file_range close close_range closefrom dup dup2 dup3 fcntl fcntl64 ioctl poll ppoll
    select pselect epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
    fdopen freopen freopen64 fclose fileno fileno_unlocked dprintf vdprintf
    execl execle execlp execv execve execveat execvp execvpe fexecve
    fork vfork posix_spawn posix_spawnp daemon syscall bindresvport rcmd
    aio_read aio_write lio_listio eventfd_read eventfd_write
    __read_chk __recv_chk __recvfrom_chk __poll_chk __ppoll_chk __pread_chk __pread64_chk
    __fdelt_chk __dprintf_chk __vdprintf_chk
    __read __write __close __connect __send __recv __socket __sendmmsg __fcntl __poll __select
    __dup2 __libc_fcntl64 __fork __vfork __libc_fork
    """,
    )
)

PROGRAMS = [
    "nginx",
    "redis-server",
    "redis-benchmark",
    "iperf3",
    "curl",
    "memcached",
    "haproxy",
    "/usr/bin/python3",
]
LIBRARIES = [
    "libiperf.so.*",
    "libcurl.so.4",
    "libcurl-gnutls.so.4",
    "libevent-2.1.so.*",
    "libhiredis.so.*",
    "libssl.so.*",
    "libcrypto.so.*",
    "libnghttp2.so.*",
    "libssh2.so.*",
]

LIBRARY = MAP = PAGE = None


def names(path, *options):
    out = subprocess.run(["nm", "-D", *options, path], check=True, capture_output=True, text=True)
    return {line.split()[-1].split("@")[0] for line in out.stdout.splitlines() if line.split()}


def objects():
    for program in PROGRAMS:
        path = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        if path:
            with open(path, "rb") as f:
                if f.read(4) == b"\x7fELF":
                    yield path
    for pattern in LIBRARIES:
        yield from glob.glob("/usr/lib/*-linux-gnu*/" + pattern)
    yield from glob.glob("/usr/lib/python3*/lib-dynload/_socket*.so")
    yield from glob.glob("/usr/lib/python3*/lib-dynload/_ssl*.so")


class Names(unittest.TestCase):
    def setUp(self):
        self.taken = names(LIBRARY, "--defined-only", "--extern-only")
        with open(PAGE, encoding="utf-8") as f:
            text = f.read().split("## Passed on", 1)[1].split("\n## ", 1)[0]
        rows = [line for line in text.splitlines() if line.startswith("| `")]
        self.passed = {n for row in rows for n in re.findall(r"`(\w+)`", row.split("|")[1])}

    def test_only_the_names_of_the_map_are_visible(self):
        with open(MAP, encoding="utf-8") as f:
            wanted = set(re.findall(r"^\s+(\w+);", f.read(), re.M))
        self.assertEqual(self.taken, wanted)

    def test_every_name_taken_is_one_of_libc(self):
        with open("/proc/self/maps", encoding="ascii") as maps:
            libc = re.search(r"(/\S*/libc[.-]\S*)", maps.read()).group(1)
        # epoll_pwait2, close_range and closefrom are younger than the oldest C library supported.
        young = {"epoll_pwait2", "close_range", "closefrom"}
        liburing = {n for n in self.taken if n.startswith("io_uring_")}
        self.assertLessEqual(self.taken - young - liburing, names(libc, "--defined-only"))

    def test_nothing_is_both_taken_and_passed_on(self):
        self.assertEqual(self.taken & self.passed, set())

    def test_the_universe_is_accounted_for(self):
        self.assertEqual(UNIVERSE - self.taken - self.passed, set())

    def test_supported_programs(self):
        seen = 0
        for path in objects():
            with self.subTest(path=path):
                used = names(path, "--undefined-only") & UNIVERSE
                self.assertEqual(used - self.taken - self.passed, set())
                seen += 1
        self.assertGreater(seen, 0)


if __name__ == "__main__":
    LIBRARY, MAP, PAGE = sys.argv[1:4]
    del sys.argv[1:4]
    unittest.main()
