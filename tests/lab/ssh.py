# SPDX-License-Identifier: Apache-2.0
"""Debian's OpenSSH with keys and a configuration of its own."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

from tests.lab import netns, proc

PORT = 22

_SERVER = """
ListenAddress {address}
Port {port}
HostKey {folder}/host
PidFile none
AuthorizedKeysFile {folder}/user.pub
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
UseDNS no
MaxStartups 100
Subsystem sftp internal-sftp
"""

_CLIENT = """
IdentityFile {folder}/user
IdentitiesOnly yes
UserKnownHostsFile {folder}/known
GlobalKnownHostsFile none
StrictHostKeyChecking yes
User root
Port {port}
BatchMode yes
"""


def server(folder: Path, address: str, port: int = PORT) -> list[object]:
    """Writes what sshd and its clients need into folder. Returns sshd's command line."""
    for key in ("host", "user"):
        proc.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key])
    Path("/run/sshd").mkdir(exist_ok=True)  # that it shuts its unprivileged child into
    config = folder / "sshd_config"
    config.write_text(_SERVER.format(address=address, port=port, folder=folder))
    (folder / "ssh_config").write_text(_CLIENT.format(port=port, folder=folder))
    (folder / "known").write_text(f"{address} {(folder / 'host.pub').read_text()}")
    return ["/usr/sbin/sshd", "-D", "-e", "-f", config]


def client(folder: Path, *args: object, program: str = "ssh") -> list[object]:
    return [program, "-F", folder / "ssh_config", *args]


class Session:
    """A remote shell, line by line; `argv` starts it in a namespace."""

    def __init__(self, ns: netns.Namespace, argv: list[object]):
        self._p = subprocess.Popen(
            ["ip", "netns", "exec", ns.name, *map(str, argv)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_exc: object) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._p.stdin.close()
        self._p.kill()
        self._p.wait()
        self._p.stdout.close()

    def __call__(self, command: str) -> str:
        """The line that a command prints."""
        self._p.stdin.write(command + "\n")
        self._p.stdin.flush()
        return self._p.stdout.readline().rstrip("\n")

    def end(self) -> int:
        """Ends the shell. Returns the exit code of ssh."""
        self._p.stdin.close()
        return self._p.wait(20)
