# SPDX-License-Identifier: Apache-2.0
"""The rights that toed keeps while it serves (docs/SECURITY.md, "Rights of toed"): user,
capabilities, no new privileges, system calls; of every thread, by /proc/PID/task/*/status."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

import pytest

from tests.lab import inject, paths, proc
from tests.lab.robot import PORT, Robot

pytestmark = pytest.mark.toehold_only

NOBODY, NOGROUP = 65534, 65534
RUN_AS = ["--run-as", "nobody:nogroup"]

# What toed needs on each back end: arguments of Lab, the row of the table.
BACK_ENDS = {
    "tap": {"mode": "tap"},
    "af_xdp": {},
    "af_xdp, --ip shared": {"shared": True},
}

CAPABILITIES = {  # linux/capability.h
    "CAP_DAC_READ_SEARCH": 2,
    "CAP_NET_BIND_SERVICE": 10,
    "CAP_NET_ADMIN": 12,
    "CAP_NET_RAW": 13,
    "CAP_IPC_LOCK": 14,
    "CAP_SYS_PTRACE": 19,
    "CAP_PERFMON": 38,
    "CAP_BPF": 39,
}


def documented(back_end: str) -> int:
    """The capabilities that the table of docs/SECURITY.md names, as a mask."""
    text = (paths.ROOT / "docs/SECURITY.md").read_text()
    row = re.search(rf"^\| `{re.escape(back_end)}` \| ([^|]*) \|", text, re.M)
    assert row, f"docs/SECURITY.md has no row for {back_end}"
    names = re.findall(r"CAP_\w+", row[1])
    return sum(1 << CAPABILITIES[name] for name in names)


def threads(pid: int) -> dict[int, dict[str, str]]:
    """The status of each thread."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        text = (task / "status").read_text()
        found[int(task.name)] = {
            key: value.strip() for key, value in (line.split(":", 1) for line in text.splitlines())
        }
    return found


def differences(pid: int, wanted: dict[str, str]) -> list[str]:
    """What the threads' status has instead of the wanted values."""
    found = threads(pid)
    assert len(found) >= 2, "engines have threads"
    return [
        f"thread {tid} ({status['Name']}): {key} {status[key]}, not {value}"
        for tid, status in found.items()
        for key, value in wanted.items()
        if status[key].split() != value.split()
    ]


def check(toed, wanted: dict[str, str]) -> None:
    """Every thread of a toed that is ready has these values. The thread that made the socket has
    been joined by then, but the kernel may still list it."""
    proc.wait_until(lambda: "ready:" in toed.proc.text(), "toed is ready", proc=toed.proc)
    last: list[str] = []

    def agree() -> bool:
        last[:] = differences(toed.proc.pid, wanted)
        return not last

    try:
        proc.wait_until(agree, "the rights of all threads", proc=toed.proc)
    except proc.Failed:
        pytest.fail("\n".join(last))


def rights(user: int, group: int, back_end: str) -> dict[str, str]:
    """The lines of /proc/PID/status that the table means."""
    capabilities, none = f"{documented(back_end):016x}", f"{0:016x}"
    return {
        "Uid": f"{user} " * 4,
        "Gid": f"{group} " * 4,
        **({"Groups": str(group)} if user else {}),
        **dict.fromkeys(("CapPrm", "CapEff", "CapBnd"), capabilities),
        **dict.fromkeys(("CapInh", "CapAmb"), none),
        "NoNewPrivs": "1",
        "Seccomp": "2",
    }


def echo(lab, port: int = PORT) -> None:
    """A connection both ways, of a program that attaches now."""
    with Robot(lab) as robot:
        robot.listen(lab.ip, port)
        with lab.connect(port) as peer:
            robot.accept()
            peer.sendall(b"to the program")
            assert robot("s.recv(100)") == b"to the program"
            robot("s.sendall(b'to the peer')")
            assert peer.recv(100) == b"to the peer"


@pytest.mark.sanitize
@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("run_as", [True, False], ids=["run-as", "root"])
def test_rights(make_lab, back_end, run_as):
    lab = make_lab(**BACK_ENDS[back_end], args=RUN_AS if run_as else [])
    user, group = (NOBODY, NOGROUP) if run_as else (0, 0)
    check(lab.toed, rights(user, group, back_end))
    said = re.search(r"rights: user (\d+), (.*); system calls filtered", lab.toed.proc.text())
    assert int(said[1]) == user
    names = said[2].upper().split()
    assert sum(1 << CAPABILITIES[name] for name in names) == documented(back_end)
    echo(lab)
    names = {status["Name"] for status in threads(lab.toed.proc.pid).values()}
    assert len(names) > 1, f"threads keep names of their own: {names}"


@pytest.mark.sanitize
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_take_over(make_lab, back_end):
    """The new toed has the same rights; after a failed one, the old one opens the interface again
    with those that it kept."""
    lab = make_lab(**BACK_ENDS[back_end], args=RUN_AS)
    with Robot(lab) as robot:
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            robot.accept()
            code, said = lab.toed.refused_take_over("--max-flows", "0x1")
            assert code == 2, said
            code, said = lab.toed.refused_take_over("--cpu", "999")
            assert code == 3, said
            peer.sendall(b"the old one serves")
            assert robot("s.recv(100)") == b"the old one serves"
            lab.toed.take_over()
            peer.sendall(b"the new one serves")
            assert robot("s.recv(100)") == b"the new one serves"
    check(lab.toed, rights(NOBODY, NOGROUP, back_end))
    lab.toed.take_over()  # from a toed that itself took over
    echo(lab, PORT + 1)


def test_a_program_of_another_user_shares_a_port(make_lab):
    """SYS_PTRACE and DAC_READ_SEARCH are there for this: the socket that holds the port in the
    kernel belongs to another user's program."""
    lab = make_lab(shared=True, args=[*RUN_AS, "--group", "daemon"])
    user = "import os; os.setgroups([1]); os.setgid(1); os.setuid(1)"
    with Robot(lab, env={"TOEHOLD_LOG": "warn"}) as robot:
        robot(f"{user}\nNone")
        robot.listen(lab.ip, PORT)
        with lab.connect(PORT) as peer:
            robot.accept()
            peer.sendall(b"heard")
            assert robot("s.recv(10)") == b"heard"
    with Robot(lab) as robot:  # a privileged port, for root
        robot.listen(lab.ip, 81)
        with lab.connect(81) as peer:
            robot.accept()
            peer.sendall(b"heard")
            assert robot("s.recv(10)") == b"heard"


def test_its_user_may_not_remove_the_socket(make_lab):
    """The folder is root's: the file stays, toed logs it, and the next start replaces it."""
    lab = make_lab(mode="tap", args=RUN_AS)
    folder = lab.toed.socket.parent
    assert folder.stat().st_uid == 0
    assert stat.S_ISSOCK(lab.toed.socket.stat().st_mode)
    lab.toed.stop()
    said = lab.toed.proc.text()
    assert f"cannot remove {lab.toed.socket}: Permission denied" in said
    assert "the next toed replaces it" in said
    assert stat.S_ISSOCK(lab.toed.socket.stat().st_mode)
    lab.toed.start()
    echo(lab)
    os.chown(folder, NOBODY, -1)
    lab.toed.stop()
    assert not lab.toed.socket.exists()
    lab.toed.start()


# ---- system calls

EXECVE, PTRACE, MOUNT, KILL, UNSHARE, SETUID, CHMOD, RENAME, SOCKET, MPROTECT, CLONE3 = (
    *(59, 101, 165, 62, 272, 105, 90, 82, 41, 10, 435),
)
FORBIDDEN = {  # with arguments that would get another error, or succeed, without the filter
    "execve": (EXECVE, 0, 0, 0),
    "execve of i386 by x32": (0x40000000 | 520, 0, 0, 0),
    "ptrace": (PTRACE, 1, 0, 0, 0),
    "mount": (MOUNT, 0, 0, 0, 0, 0),
    "kill": (KILL, 0x7FFFFFF0, 0),
    "unshare": (UNSHARE, 0),
    "setuid": (SETUID, NOBODY),
    "chmod": (CHMOD, 0, 0),
    "rename": (RENAME, 0, 0),
    "socket(AF_PACKET)": (SOCKET, 17, 3, 0),
    "mprotect(PROT_EXEC)": (MPROTECT, 0, 0, 5),
}


def main_and_engine(pid: int) -> list[int]:
    return [pid, *sorted(tid for tid in threads(pid) if tid != pid)[:1]]


def test_forbidden_calls_are_refused(make_lab):
    lab = make_lab(mode="tap", args=RUN_AS)
    check(lab.toed, rights(NOBODY, NOGROUP, "tap"))
    pid = lab.toed.proc.pid
    got = {
        (name, tid): inject.call(tid, *what)
        for tid in main_and_engine(pid)
        for name, what in FORBIDDEN.items()
    }
    assert set(got.values()) == {-errno.EPERM}, got
    assert inject.call(pid, CLONE3, 0, 0) == -errno.ENOSYS
    assert inject.call(pid, 39) == pid  # getpid(2)
    echo(lab)


def test_without_a_sandbox(make_lab):
    lab = make_lab(mode="tap", args=["--no-sandbox"])
    pid = lab.toed.proc.pid
    assert "warning: --no-sandbox: toed keeps all rights and system calls" in lab.toed.proc.text()
    own = threads(os.getpid())[os.getpid()]
    check(lab.toed, {key: own[key] for key in ("Uid", "Seccomp", "NoNewPrivs", "CapEff", "CapBnd")})
    assert inject.call(pid, EXECVE, 0, 0, 0) == -errno.EFAULT
    echo(lab)


def test_run_as_without_a_sandbox(make_lab):
    lab = make_lab(mode="tap", args=[*RUN_AS, "--no-sandbox"])
    assert "warning: --no-sandbox: toed keeps all system calls" in lab.toed.proc.text()
    own = threads(os.getpid())[os.getpid()]
    check(lab.toed, {**rights(NOBODY, NOGROUP, "tap"), "Seccomp": own["Seccomp"]})


# ---- messages


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--run-as", "no-such-user"], 3, "there is no user 'no-such-user'"),
        (["--run-as", "nobody:no-such-group"], 3, "there is no group 'no-such-group'"),
        (["--run-as", "54321"], 3, "name its group too, as USER:GROUP"),
        (["--run-as", ""], 2, "--run-as : want USER or USER:GROUP, names or numbers"),
        (["--run-as", "nobody:"], 2, "--run-as nobody:: want USER or USER:GROUP"),
        (["--run-as", ":nogroup"], 2, "--run-as :nogroup: want USER or USER:GROUP"),
        (["--run-as", "x" * 64], 2, "want USER or USER:GROUP"),
        (["--no-sandbox=1"], 2, "--no-sandbox takes no value"),
    ],
)
def test_wrong_users(tmp_path, args, code, said):
    done = proc.run(
        [paths.built("toed"), "--netif", f"wire:{tmp_path}/w,side=a", "--ip", "10.0.0.1/24"]
        + ["--socket", tmp_path / "s", *args],
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


def test_only_root_changes_the_user(tmp_path):
    tmp_path.chmod(0o777)
    done = proc.run(
        ["setpriv", "--reuid", NOBODY, "--regid", NOGROUP, "--clear-groups"]
        + [paths.built("toed"), "--netif", f"wire:{tmp_path}/w,side=a", "--ip", "10.0.0.1/24"]
        + ["--socket", tmp_path / "s", "--run-as", "daemon"],
        check=False,
    )
    assert done.returncode == 3
    assert "may not change its user: start toed as root (CAP_SETUID and CAP_SETGID)" in done.stderr
