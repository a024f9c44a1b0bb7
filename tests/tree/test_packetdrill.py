# SPDX-License-Identifier: Apache-2.0
"""The runner of packetdrill scripts itself: it detects errors and reports them as packetdrill does.
Each case is a script that passes and one change that makes it fail."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.packetdrill.errors import ScriptError
from tests.packetdrill.parser import parse
from tests.packetdrill.worker import PYTHON, ROOT, Worker

GOOD = """\
 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+.1 < S 0:0(0) win 32792 <mss 1000,sackOK,TS val 700 ecr 0,nop,wscale 7>
+0 > S. 0:0(0) ack 1 win 65535 <mss 1460,sackOK,TS val 100 ecr 700,nop,wscale 8>
+.1 < . 1:1(0) ack 1 win 257 <nop,nop,TS val 800 ecr 100>
+0 accept(3, ..., ...) = 4
+0...0.1 read(4, ..., 1000) = 10
+.1 < P. 1:11(10) ack 1 win 257 <nop,nop,TS val 900 ecr 100>
+0~+.04 > . 1:1(0) ack 11 <nop,nop,TS val 101 ecr 900>
+0 write(4, ..., 100) = 100
+0 > P. 1:101(100) ack 11 <nop,nop,TS val 102 ecr 900>
+0 poll([{fd=4, events=POLLIN|POLLOUT, revents=POLLOUT}], 1, 0) = 1
+0 epoll_create(1) = 5
+0 epoll_ctl(5, EPOLL_CTL_ADD, 4, {events=EPOLLOUT, fd=4}) = 0
+0 epoll_wait(5, {events=EPOLLOUT, fd=4}, 1, 0) = 1
+0 ioctl(4, SIOCOUTQ, [100]) = 0
+0 getsockopt(4, SOL_TCP, TCP_NODELAY, [0], [4]) = 0
+0 getsockopt(4, SOL_TCP, TCP_CONGESTION, "cubic", [16]) = 0
+.1 < . 11:11(0) ack 101 win 257 <nop,nop,TS val 950 ecr 102>
+0 %{ assert tcpi_state == TCP_ESTABLISHED and tcpi_unacked == 0 }%
+0 close(4) = 0
+0 > F. 101:101(0) ack 11 <...>
"""

# Text to replace, its replacement, and the expected failure message.
WRONG = {
    "flags": ("> S. 0:0(0)", "> S 0:0(0)", "tcp_ack: expected: 0"),
    "syn flag": ("> P. 1:101", "> SP. 1:101", "tcp_syn: expected: 1"),
    "push": ("> P. 1:101", "> . 1:101", "tcp_psh: expected: 0"),
    "fin": ("> F. 101:101(0)", "> . 101:101(0)", "tcp_fin: expected: 0"),
    "ece": ("> P. 1:101", "> PE. 1:101", "tcp_ece: expected: 1"),
    "seq": ("> P. 1:101(100)", "> P. 2:102(100)", "tcp_seq: expected: 2"),
    "length": ("> P. 1:101(100)", "> P. 1:100(99)", "expected 99 bytes vs actual 100"),
    "ack": (
        "ack 11 <nop,nop,TS val 102",
        "ack 12 <nop,nop,TS val 102",
        "tcp_ack_seq: expected: 12",
    ),
    "window": ("win 65535 <mss 1460", "win 65534 <mss 1460", "tcp_window: expected: 65534"),
    "urgent": ("ack 11 <nop,nop,TS val 102", "ack 11 urg 5 <nop,nop,TS val 102", "tcp_urg_ptr"),
    "mss": ("<mss 1460", "<mss 1461", "bad value outbound TCP option 2"),
    "wscale": ("nop,wscale 8>", "nop,wscale 9>", "bad value outbound TCP option 3"),
    "missing option": ("mss 1460,sackOK,TS", "mss 1460,nop,nop,TS", "bad outbound TCP options"),
    "echo": ("TS val 102 ecr 900", "TS val 102 ecr 901", "timestamp echo reply: expected 901"),
    "ecr unknown": ("TS val 900 ecr 100", "TS val 900 ecr 99", "unable to infer live TS ecr"),
    "ecn": ("> P. 1:101", "> [ect0] P. 1:101", "ip_ecn: expected: 2"),
    "tos": ("> P. 1:101", "> [tos 0x4] P. 1:101", "tos: expected: 4"),
    "ttl": ("> P. 1:101", "> [ttl 3] P. 1:101", "ttl: expected: 3"),
    "too early": ("+0 > P. 1:101", "+.2 > P. 1:101", "timing error: expected outbound packet"),
    "too late": (
        "+0~+.04 > . 1:1(0) ack 11",
        "+.02~+.04 > . 1:1(0) ack 11",
        "relative time range +0.020000~+0.040000",
    ),
    "none sent": ("+0 accept", "+0 > . 1:1(0) ack 1 <...>\n+0 accept", "but none was sent"),
    "result": ("100) = 100", "100) = 99", "Expected result 99 but got 100"),
    "errno": (
        "100) = 100",
        "100) = -1 EAGAIN (x)",
        "Expected result -1 but got 100",
    ),
    "wrong errno": (
        "+0 ioctl",
        "+0 read(4, ..., 1) = -1 EPIPE (x)\n+0 ioctl",
        "blocked",
    ),
    "returns early": ("+0...0.1 read", "+0...0.2 read", "expected system call return at 0.400000"),
    "returns late": ("+0...0.1 read", "+0...0.05 read", "expected system call return at 0.250000"),
    "revents": (
        "revents=POLLOUT}",
        "revents=POLLIN}",
        "Expected revents of POLLIN but got POLLOUT",
    ),
    "epoll events": (
        "{events=EPOLLOUT, fd=4}, 1, 0)",
        "{events=EPOLLIN, fd=4}, 1, 0)",
        "0x1 actual",
    ),
    "epoll data": ("{events=EPOLLOUT, fd=4}, 1, 0)", "{events=EPOLLOUT, fd=5}, 1, 0)", "data does"),
    "ioctl": ("SIOCOUTQ, [100]", "SIOCOUTQ, [99]", "expected: 99 actual: 100"),
    "option": ("TCP_NODELAY, [0]", "TCP_NODELAY, [1]", "Bad getsockopt optval: expected: 1"),
    "option text": ('"cubic"', '"reno"', "Bad getsockopt optval: expected: 'reno'"),
    "assert": ("tcpi_unacked == 0", "tcpi_unacked == 1", "tcpi_unacked = 0"),
    "code": ("%{ assert", "%{ nonsense; assert", "NameError"),
    "fd": ("write(4,", "write(9,", "unable to find fd with script fd 9"),
    "duplicate fd": ("epoll_create(1) = 5", "epoll_create(1) = 4", "duplicate fd 4"),
    "unknown call": ("write(4, ..., 100)", "wrong(4, ..., 100)", "Unknown system call: 'wrong'"),
    "unknown symbol": ("SO_REUSEADDR", "SO_REUSEWHAT", "unknown symbol: 'SO_REUSEWHAT'"),
    "arguments": ("write(4, ..., 100)", "write(4, ...)", "Expected 3 args but got 2"),
    "shell": ("+0 ioctl", "+0 `rm -rf x`\n+0 ioctl", "there is no shell"),
    "sysctl": ("+0 ioctl", "+0 `sysctl -q net.ipv4.tcp_what=1`\n+0 ioctl", "no knob 'tcp_what'"),
    "sysctl too late": (
        "+0 ioctl",
        "+0 `sysctl net.ipv4.tcp_sack=0`\n+0 ioctl",
        "before the first",
    ),
}

SYNTAX = {
    "no packet": ("0 > ", "expected TCP flags"),
    "flags": ("0 > X 0:0(0)", "Invalid TCP flag: 'X'"),
    "length": ("0 > . 0:5(4)", "inconsistent TCP sequence numbers"),
    "window": ("0 < S 0:0(0)", "window must be specified for inbound"),
    "wild options": ("0 < S 0:0(0) win 1 <...>", "can only be used with outbound"),
    "range": ("0~1 < S 0:0(0) win 1", "time range can only be used with outbound"),
    "any": ("* socket(..., SOCK_STREAM, IPPROTO_TCP) = 3", "can only be used with outbound"),
    "backwards": ("+2~+1 > . 0:0(0)", "time range is backwards"),
    "ect01": ("0 < [ect01] S 0:0(0) win 1", "[ect01] can only be used with outbound"),
    "number": ("0 > . 0:4294967296(0)", "out of range"),
    "option": ("0 > S 0:0(0) <what 1>", "expected a TCP option"),
    "sack": ("0 > . 0:0(0) <sack>", "expected a SACK block"),
    "call": ("0 socket(..., = 3", "expected an expression"),
    "no result": ("0 close(3)", "the script ends too early"),
    "string": ('0 setsockopt(3, 1, 2, "x, 4) = 0', "never closed"),
    "nothing": ("// nothing", "there is no event"),
    "trailing": ("0 close(3) = 0\n`x`\n0 close(3) = 0", "nothing follows the clean-up"),
    "encapsulated": ("0 > ipv4 1.2.3.4 > 5.6.7.8: . 0:0(0)", "not supported"),
}


DIFFERENCES = ROOT / "tests" / "packetdrill" / "core-differences"


def differences() -> dict[str, tuple[str, str]]:
    """Returns words and message of each line of core-differences. A reason stands above lines."""
    found, reason = {}, ""
    for line in DIFFERENCES.read_text().splitlines():
        if line.startswith("["):
            reason = line
        elif line and not line.startswith("#"):
            assert reason, f"no reason for: {line}"
            what, words, said = line.split(" | ")
            assert what not in found, f"listed twice: {what}"
            found[what] = words, said
    return found


@pytest.fixture(scope="module")
def core():
    with Worker("core") as worker:
        yield worker


def run(worker: Worker, folder: Path, text: str, *options: tuple[str, str]):
    path = folder / "script.pkt"
    path.write_text(text)
    return worker.run(path, list(options))


def test_good(core: Worker, tmp_path: Path) -> None:
    result = run(core, tmp_path, GOOD)
    assert result.kind == "ok", result.message


@pytest.mark.parametrize("case", WRONG)
def test_wrong(core: Worker, tmp_path: Path, case: str) -> None:
    old, new, said = WRONG[case]
    assert GOOD.count(old) == 1
    text = GOOD.replace(old, new)
    result = run(core, tmp_path, text)
    assert result.kind in ("failed", "error", "unsupported"), case
    assert said in result.message
    changed = text[: text.index(new)].count("\n") + 1
    line = int(result.message.split(":")[1])
    assert changed <= line <= changed + new.count("\n"), result.message


@pytest.mark.parametrize("what", differences())
def test_what_core_does_not_pass_is_listed(core: Worker, tmp_path: Path, what: str) -> None:
    words, said = differences()[what]
    first = words.startswith(("`sysctl", "--"))
    events = "".join(f"+0 {event}\n" for event in words.split("; "))
    text = f"{words}\n{GOOD}" if first else GOOD.replace("+0 close(4)", f"{events}+0 close(4)")
    result = run(core, tmp_path, text)
    assert result.kind != "ok" and said in result.message, result.message


@pytest.mark.parametrize("case", SYNTAX)
def test_syntax(case: str) -> None:
    text, said = SYNTAX[case]
    with pytest.raises(ScriptError) as e:
        parse(text, "x.pkt")
    assert said in str(e.value)
    assert str(e.value).startswith("x.pkt")


def test_failure_shows_both_packets(core: Worker, tmp_path: Path) -> None:
    result = run(core, tmp_path, GOOD.replace("> P. 1:101(100)", "> P. 2:102(100)"))
    first, script, actual = result.message.splitlines()
    assert first.endswith("live packet field tcp_seq: expected: 2 (0x2) vs actual: 1 (0x1)")
    assert script.startswith("script packet:  0.300000 P. 2:102(100) ack 11 <")
    assert actual.startswith("actual packet:  0.300000 P. 1:101(100) ack 11 win ")


def test_tolerance(core: Worker, tmp_path: Path) -> None:
    text = GOOD.replace("+0 > P. 1:101", "+.02 > P. 1:101")
    assert run(core, tmp_path, text).kind == "failed"
    assert run(core, tmp_path, text, ("tolerance_usecs", "20000")).kind == "ok"
    assert run(core, tmp_path, "--tolerance_usecs=20000\n" + text).kind == "ok"


# Runs a script on core/ with the payload of each packet to the stack in reverse order.
REVERSED = """
import sys
from tests.packetdrill import api, packet
from tests.packetdrill.core import Core
class Reversed(Core):
    def send(self, raw):
        p = packet.parse(raw, 0)
        p.payload = p.payload[::-1]
        super().send(p.bytes())
api.own_network()
print(api.run_file(sys.argv[1], Reversed()).message)
"""


def test_payload_is_a_pattern(tmp_path: Path) -> None:
    """Bytes read must match the stream at their offset."""
    path = tmp_path / "script.pkt"
    path.write_text(GOOD)
    argv = [PYTHON, "-B", "-c", REVERSED, path]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "read" in done.stdout and "payload" in done.stdout


@pytest.mark.parametrize(
    ("most", "shift"), [(16777216, 9), (15728640, 8), (1048576, 5), (65536, 1), (4096, 0)]
)
def test_buffer_sizes_decide_the_window_scale(
    core: Worker, tmp_path: Path, most: int, shift: int
) -> None:
    """As on Linux, where rmem_max is not larger: the most that tcp_rmem allows."""
    text = GOOD.replace("wscale 8>", f"wscale {shift}>").replace(" win 65535", "")
    text = f'`sysctl -q net.ipv4.tcp_rmem="4096 {min(most, 131072)} {most}"`\n{text}'
    result = run(core, tmp_path, text)
    assert result.kind == "ok", result.message


def test_same_again(core: Worker, tmp_path: Path) -> None:
    """A stack keeps no state of the previous one, and the same seed gives the same numbers."""
    logs = [run(core, tmp_path, GOOD).log for _ in range(2)]
    other = run(core, tmp_path, GOOD, ("so_flags", "seed=2")).log
    assert logs[0] == logs[1] != other
