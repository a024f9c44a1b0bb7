# SPDX-License-Identifier: Apache-2.0
"""A Linux guest of QEMU that runs commands for a test: Debian's kernel (scripts/setup test puts it
into out/guest), busybox, and programs that the test names. Emulated by TCG: no KVM."""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.lab import paths, patience

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STORE = paths.OUT / "guest"
QEMU = "qemu-system-x86_64"
BUSYBOX = Path("/bin/busybox")
# Of a quiet machine. A boot takes some 5 seconds of CPU.
BOOT_SECONDS = 80
COMMAND_SECONDS = 40

# init: reads commands from the second serial line. It answers each with a line of exit code and
# lengths, then with the command's stdout and stderr.
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /tmp
for m in MODULES; do insmod /modules/$m.ko || echo "no $m"; done
exec </dev/ttyS1 >/dev/ttyS1
stty raw -echo
echo ready
while read -r line; do
    sh -c "$line" >/tmp/out 2>/tmp/err </dev/null
    echo $? $(wc -c </tmp/out) $(wc -c </tmp/err)
    cat /tmp/out /tmp/err
done
"""


def missing() -> str:
    """The reason why this machine can run no guest; "" if it can."""
    if not shutil.which(QEMU) or not BUSYBOX.exists():
        return f"{QEMU} or busybox-static is missing: scripts/setup test"
    if not list(STORE.glob("boot/vmlinuz-*")):
        return f"there is no kernel in {STORE}: scripts/setup test"
    return ""


def _libraries(program: Path) -> list[Path]:
    told = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [Path(p) for p in re.findall(r"(/\S+) \(0x", told)]


class _Archive:
    """An initramfs: a cpio archive ("newc")."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.count = 0
        self.folders: set[str] = set()

    def _entry(self, name: str, mode: int, content: bytes = b"", links: int = 1) -> None:
        self.count += 1
        fields = [self.count, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        self.data += b"070701" + b"".join(b"%08X" % f for f in fields)
        self.data += name.encode() + b"\0"
        self.data += bytes(-len(self.data) % 4) + content
        self.data += bytes(-len(self.data) % 4)

    def folder(self, name: str) -> None:
        if name and name not in self.folders:
            self.folder(os.path.dirname(name))
            self.folders.add(name)
            self._entry(name, 0o040755)

    def file(self, name: str, content: bytes) -> None:
        self.folder(os.path.dirname(name))
        self._entry(name, 0o100755, content)

    def link(self, name: str, target: str) -> None:
        self.folder(os.path.dirname(name))
        self._entry(name, 0o120777, target.encode())

    def end(self) -> bytes:
        self._entry("TRAILER!!!", 0)
        return bytes(self.data)


def _is_elf(path: Path) -> bool:
    with path.open("rb") as f:
        return f.read(4) == b"\x7fELF"


def _initial_files(
    programs: Sequence[Path], modules: Sequence[str], files: Mapping[str, Path | bytes | str]
) -> bytes:
    a = _Archive()
    for name in ("proc", "sys", "dev", "tmp", "run", "bin"):
        a.folder(name)
    a.file("init", INIT.replace("MODULES", " ".join(modules)).encode())
    a.file("bin/busybox", BUSYBOX.read_bytes())
    for module in modules:
        (path,) = STORE.glob(f"lib/modules/*/kernel/**/{module}.ko")
        a.file(f"modules/{module}.ko", path.read_bytes())
    more = [p for p in files.values() if isinstance(p, Path) and _is_elf(p)]
    libraries = {lib for p in (*programs, *more) for lib in _libraries(p)}
    for lib in sorted(libraries - {Path(f"/{name}") for name in files}):
        a.file(str(lib).lstrip("/"), lib.read_bytes())
    for name, content in files.items():
        if isinstance(content, str):
            a.link(name, content)
        else:
            a.file(name, content.read_bytes() if isinstance(content, Path) else content)
    for program in programs:
        a.file(f"bin/{program.name}", program.read_bytes())
    return a.end()


class Guest:
    """with Guest(programs, modules, devices) as g: g.run("command") -> CompletedProcess.

    modules   kernel modules, in loading order
    devices   options of QEMU; a socket is replaced by the number of its descriptor
    files     more files, by their path without the first slash: a path of this machine, content,
              or the target of a symbolic link (str)
    keep      further descriptors that the options name
    memory    in megabytes
    append    words for the kernel's command line
    """

    def __init__(
        self,
        programs: Sequence[Path],
        modules: Sequence[str],
        devices: Sequence[str | socket.socket],
        *,
        files: Mapping[str, Path | bytes | str] | None = None,
        keep: Sequence[int] = (),
        memory: int = 256,
        cpu: str = "qemu64",
        append: str = "",
    ) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="guest-"))
        initrd, self.console = self.folder / "initrd", self.folder / "console"
        initrd.write_bytes(_initial_files(programs, modules, files or {}))
        (kernel,) = STORE.glob("boot/vmlinuz-*")
        self.line, theirs = socket.socketpair()
        sockets = [theirs, *(d for d in devices if isinstance(d, socket.socket))]
        words = [str(d.fileno()) if isinstance(d, socket.socket) else d for d in devices]
        command = [QEMU, "-accel", "tcg", "-cpu", cpu, "-m", f"{memory}M"]
        command += ["-nodefaults", "-no-reboot"]
        command += ["-object", f"memory-backend-memfd,id=ram,size={memory}M,share=on"]
        command += ["-machine", "q35,memory-backend=ram", "-display", "none"]
        command += ["-kernel", str(kernel), "-initrd", str(initrd)]
        command += ["-append", f"console=ttyS0 intel_iommu=on no_timer_check panic=-1 {append}"]
        command += ["-chardev", f"socket,id=line,fd={theirs.fileno()}"]
        command += ["-serial", f"file:{self.console}", "-serial", "chardev:line"]
        options = "".join(w if w.endswith("=") else f"{w}\n" for w in words).split()
        self.process = subprocess.Popen(
            [*command, *options],
            pass_fds=[*(s.fileno() for s in sockets), *keep],
            stdin=subprocess.DEVNULL,
            stdout=(self.folder / "qemu").open("wb"),
            stderr=subprocess.STDOUT,
        )
        theirs.close()
        self.pending = b""
        try:
            said = self._line(BOOT_SECONDS)
            assert said == "ready", said
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Guest:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.line.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def told(self) -> str:
        """The last output of the kernel and of QEMU, for messages of failures."""
        text = ""
        for path in (self.console, self.folder / "qemu"):
            with contextlib.suppress(OSError):
                text += "\n".join(path.read_text(errors="replace").splitlines()[-25:]) + "\n"
        return text

    def _more(self, deadline: float) -> None:
        ready, _, _ = select.select([self.line], [], [], max(0, deadline - time.monotonic()))
        data = self.line.recv(65536) if ready else b""
        if not data:
            raise AssertionError(
                f"the guest {'has ended' if ready else 'does not answer'}:\n{self.told()}"
            )
        self.pending += data

    def _line(self, seconds: float) -> str:
        deadline = time.monotonic() + patience.seconds(seconds)
        while b"\n" not in self.pending:
            self._more(deadline)
        line, _, self.pending = self.pending.partition(b"\n")
        return line.decode().strip()

    def run(self, command: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        """Runs a shell command. code None: accepts any exit code."""
        self.line.sendall(command.encode() + b"\n")
        got, out, err = map(int, self._line(COMMAND_SECONDS).split())
        deadline = time.monotonic() + patience.seconds(COMMAND_SECONDS)
        while len(self.pending) < out + err:
            self._more(deadline)
        text = self.pending[: out + err]
        self.pending = self.pending[out + err :]
        done = subprocess.CompletedProcess(command, got, text[:out].decode(), text[out:].decode())
        assert code is None or got == code, (command, got, done.stdout, done.stderr)
        return done
