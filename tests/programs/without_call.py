# SPDX-License-Identifier: Apache-2.0
"""without_call.py NUMBER PROGRAM [ARGUMENT]...: the program on a kernel that lacks one system call.

A seccomp filter (Linux: Documentation/userspace-api/seccomp_filter.rst) answers it with ENOSYS.
"""

import ctypes
import errno
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # of classic BPF: ld [k], jeq #k, ret #k
ERRNO, ALLOW = 0x00050000, 0x7FFF0000


def main() -> None:
    number = int(sys.argv[1])
    steps = (
        (LOAD, 0, 0, 0),  # the number is the first word of struct seccomp_data
        (EQUAL, 0, 1, number),
        (RETURN, 0, 0, ERRNO | errno.ENOSYS),
        (RETURN, 0, 0, ALLOW),
    )
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    for call in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program)):
        if libc.prctl(*call) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
