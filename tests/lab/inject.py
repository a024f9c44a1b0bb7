# SPDX-License-Identifier: Apache-2.0
"""System calls made inside another process, as code of an intruder would make them (x86-64).

The thread is stopped by ptrace(2), makes the call in the vDSO, and continues as if nothing had
happened.
"""

from __future__ import annotations

import ctypes
import os
import re
from pathlib import Path

_ATTACH, _DETACH, _STEP, _GETREGS, _SETREGS = 16, 17, 9, 12, 13
_SYSCALL = b"\x0f\x05"  # the instruction
_WALL = 0x40000000  # threads too

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.restype = ctypes.c_long
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


class _Registers(ctypes.Structure):
    """struct user_regs_struct of x86-64."""

    _fields_ = [
        (name, ctypes.c_uint64)
        for name in (
            *("r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8"),
            *("rax", "rcx", "rdx", "rsi", "rdi", "orig_rax", "rip", "cs", "eflags", "rsp", "ss"),
            *("fs_base", "gs_base", "ds", "es", "fs", "gs"),
        )
    ]


def _ptrace(request: int, tid: int, data: object = None) -> None:
    if _libc.ptrace(request, tid, None, data) == -1:
        e = ctypes.get_errno()
        raise OSError(e, f"ptrace({request}): {os.strerror(e)}")


def _wait_stopped(tid: int) -> None:
    _, status = os.waitpid(tid, _WALL)
    if not os.WIFSTOPPED(status):
        raise RuntimeError(f"thread {tid} has ended: status {status:#x}")


def _syscall_instruction(tid: int) -> int:
    """An address of the vDSO at which the instruction stands."""
    found = re.search(
        r"^([0-9a-f]+)-([0-9a-f]+) r-xp .*\[vdso\]", Path(f"/proc/{tid}/maps").read_text(), re.M
    )
    start, end = (int(n, 16) for n in found.groups())
    with Path(f"/proc/{tid}/mem").open("rb", buffering=0) as memory:
        memory.seek(start)
        code = memory.read(end - start)
    return start + code.index(_SYSCALL)


def call(tid: int, number: int, *args: int) -> int:
    """Makes the system call in the thread. Returns what it returns: a negative errno on failure."""
    _ptrace(_ATTACH, tid)
    try:
        _wait_stopped(tid)
        before, now = _Registers(), _Registers()
        _ptrace(_GETREGS, tid, ctypes.byref(before))
        ctypes.pointer(now)[0] = before
        now.rip, now.rax = _syscall_instruction(tid), number
        now.orig_rax = ctypes.c_uint64(-1).value  # the interrupted call is not restarted here
        for name, arg in zip(("rdi", "rsi", "rdx", "r10", "r8", "r9"), args, strict=False):
            setattr(now, name, arg)
        _ptrace(_SETREGS, tid, ctypes.byref(now))
        _ptrace(_STEP, tid)
        _wait_stopped(tid)
        _ptrace(_GETREGS, tid, ctypes.byref(now))
        _ptrace(_SETREGS, tid, ctypes.byref(before))
        return ctypes.c_int64(now.rax).value
    finally:
        _ptrace(_DETACH, tid)
