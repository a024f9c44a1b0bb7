# SPDX-License-Identifier: Apache-2.0
"""`toehold reg`: registers by name, in files, a simulation, a PCI function's resource and toed."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import threading
from pathlib import Path

import pytest

from tests.lab import paths, proc
from tests.lab.registers import RTT, Simulation, header, image

pytestmark = pytest.mark.toehold_only

TOE = 0x31454F54
OTHER = int.from_bytes(b"ABCD", "little")
ONES = b"\xff" * 4096


def reg(*argv: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [paths.built("toehold"), "reg", *map(str, argv)],
        capture_output=True,
        text=True,
        timeout=proc.seconds(30),
    )
    assert done.returncode == code, (argv, done.stdout, done.stderr)
    return done


def said(*argv: object, code: int) -> str:
    """Returns its message on stderr; stdout is empty."""
    done = reg(*argv, code=code)
    assert done.stdout == ""
    return done.stderr


def values(*argv: object) -> dict[str, int]:
    return {r["name"]: r["value"] for r in json.loads(reg(*argv, "--json").stdout)}


@pytest.fixture
def bar(tmp_path):
    """A BAR of three blocks: two of the RTT module, one unknown between them."""
    path = tmp_path / "bar"
    path.write_bytes(
        image(
            {
                0x0000: header(RTT, 0x4000, 0x4000),
                0x0014: struct.pack("<I", 64 << 16 | 512),
                0x4000: header(OTHER, 0x100, 0x5000),
                0x5000: header(RTT, 0x4000, 0),
                0x5010: struct.pack("<I", 250_000_000),
            }
        )
    )
    return path


# ---- names


def test_names_and_fields_come_from_the_register_descriptions():
    listed = {r["name"]: r for r in json.loads(reg("list", "--json").stdout)}
    folder = Path(__file__).resolve().parents[2] / "device"
    for block in ("toe", "rtt"):
        description = (folder / f"{block}.rdl").read_text()
        mine = [n for n in listed if n.startswith(f"{block}.")]
        assert len(mine) > 20
        assert all(n.split(".")[-1] in description or ".BLOCK." in n for n in mine)
    control = listed["rtt.CONTROL"]
    assert (control["address"], control["width"], control["access"]) == (0x40, 32, "rw")
    fields = [(f["name"], f["lsb"], f["width"]) for f in control["fields"]]
    assert fields == [("enable", 0, 1), ("mode", 4, 3), ("looped", 8, 1)]
    assert listed["toe.COUNTERS"]["count"] == 256 and listed["toe.COUNTERS"]["width"] == 64


def test_list_takes_beginnings_of_names():
    names = [r["name"] for r in json.loads(reg("list", "--json", "rtt.S_SUM", "mac_").stdout)]
    assert names == [
        *("toe.MAC_LO", "toe.MAC_HI"),
        *("rtt.S_SUM_LO", "rtt.S_SUM_HI", "rtt.S_SUMSQ_LO", "rtt.S_SUMSQ_MID", "rtt.S_SUMSQ_HI"),
    ]
    assert "begins with" in said("list", "nothing", code=1)


# ---- blocks


def test_a_bar_discovers_itself(bar):
    blocks = json.loads(reg("blocks", "--bar", f"file:{bar}", "--json").stdout)
    found = [(b["name"], b["address"], b["known"]) for b in blocks]
    assert found == [("rtt", 0, True), ("ABCD", 0x4000, False), ("rtt1", 0x5000, True)]
    assert values("read", "--bar", f"file:{bar}", "rtt1.CLOCK_HZ") == {"rtt1.CLOCK_HZ": 250_000_000}
    # a name that exists in two blocks must be qualified
    assert "in 2 blocks" in said("read", "--bar", f"file:{bar}", "CLOCK_HZ", code=1)
    text = reg("blocks", "--bar", f"file:{bar}").stdout
    assert "ABCD" in text and "does not know" in text


def test_a_block_of_another_major_version_is_passed_over(tmp_path):
    path = tmp_path / "bar"
    path.write_bytes(image({0: header(RTT, 0x4000, 0, version=0x20000)}))
    (block,) = json.loads(reg("blocks", "--bar", f"file:{path}", "--json").stdout)
    assert (block["known"], block["version"]) == (False, 0x20000)
    assert "no register" in said("read", "--bar", f"file:{path}", "CONTROL", code=1)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (image({0: header(RTT, 0x4000, 0)}, 0x1000), "not within the window"),
        (image({0: header(RTT, 8, 0)}), "not within the window"),
        (image({0: header(RTT, 0x4000, 0x4002)}), "not within the window"),
        (image({0: header(RTT, 0x4000, 0x9000)}), "not within the window"),
        (image({0: header(RTT, 0x4000, 0x4000), 0x4000: header(OTHER, 64, 0x4000)}), "no end"),
        (image({0: struct.pack("<2I", 0xDEADBEEF, 7)}), "check the BAR"),
        (image({}), "check the BAR"),
        (ONES, "all ones"),
    ],
)
def test_a_bar_that_is_not_ours_is_refused(tmp_path, content, word):
    path = tmp_path / "bar"
    path.write_bytes(content)
    for command in (["blocks"], ["dump"], ["read", "rtt.CONTROL"], ["write", "CONTROL=1"]):
        assert word in said(*command, "--bar", f"file:{path}", code=7)
    assert path.read_bytes() == bytes(content)


def test_registers_may_begin_at_an_offset(tmp_path):
    path = tmp_path / "bar"
    path.write_bytes(ONES + image({0: header(RTT, 0x4000, 0), 0x74: b"\x78\x56\x34\x12"}))
    assert values("read", "--bar", f"file:{path}@0x1000", "SCRATCH") == {"rtt.SCRATCH": 0x12345678}
    assert "all ones" in said("read", "--bar", f"file:{path}", "SCRATCH", code=7)
    assert "beyond" in said("blocks", "--bar", f"file:{path}@0xf0000", code=7)
    assert "offset" in said("blocks", "--bar", f"file:{path}@two", code=2)


# ---- reading and writing


def test_registers_fields_and_addresses_are_read_and_written(bar):
    at = ["--bar", f"file:{bar}"]
    reg("write", *at, "rtt.CONTROL.mode=4", "rtt.ports=0x1f900050", "0x74=7")
    assert bar.read_bytes()[0x40:0x48] == struct.pack("<2I", 4 << 4, 0x1F900050)
    # a field leaves the others as they are
    reg("write", *at, "rtt.CONTROL.enable=1")
    (control,) = json.loads(reg("read", *at, "rtt.CONTROL", "--json").stdout)
    assert control["value"] == 0x41
    assert control["fields"] == {"enable": 1, "mode": 4, "looped": 0}
    assert values("read", *at, "RTT.control.MODE", "0x74", "rtt.HIST[1023]") == {
        "rtt.CONTROL.mode": 4,
        "0x74": 7,
        "rtt.HIST[1023]": 0,
    }
    text = reg("read", *at, "rtt.PORTS").stdout
    assert "0x1f900050" in text and ".remote_port" in text and "8080" in text


def test_a_dry_run_writes_nothing(bar):
    at = ["--bar", f"file:{bar}"]
    reg("write", *at, "rtt.CONTROL.mode=4")
    before = bar.read_bytes()
    words = ["--dry-run", "rtt.CONTROL.mode=2", "rtt.SCRATCH=5", "0x74=7"]
    lines = [line.split() for line in reg("write", *at, *words).stdout.splitlines()]
    assert lines == [
        ["rtt.CONTROL.mode", "0x4", "->", "0x2"],
        ["rtt.SCRATCH", "0x0", "->", "0x5"],
        ["0x74", "->", "0x7"],
    ]
    first, _, last = json.loads(reg("write", *at, "-n", "-j", *words[1:]).stdout)
    assert (first["name"], first["before"], first["value"]) == ("rtt.CONTROL.mode", 4, 2)
    assert (last["name"], last["value"], "before" in last) == ("0x74", 7, False)
    assert "read-only" in said("write", *at, "--dry-run", "rtt.S_COUNT=1", code=2)
    assert "is for write" in said("read", *at, "--dry-run", "rtt.SCRATCH", code=2)
    assert bar.read_bytes() == before


def test_wide_registers_are_of_two_words(tmp_path):
    path = tmp_path / "bar"
    path.write_bytes(
        image({0: struct.pack("<IIQ", TOE, 1, 0x1122334455667788), 0x820: b"\x01" * 8}, 0x1000)
    )
    assert values("read", "--bar", f"file:{path}", "BUILD_ID", "COUNTERS[4]") == {
        "toe.BUILD_ID": 0x1122334455667788,
        "toe.COUNTERS[4]": 0x0101010101010101,
    }


def test_dump_shows_what_is_in_the_window(bar):
    dumped = values("dump", "--bar", f"file:{bar}")
    assert dumped["rtt.BLOCK.TYPE"] == RTT and dumped["rtt1.BLOCK.TYPE"] == RTT
    assert sum(name.startswith("rtt.HIST[") for name in dumped) == 1024
    few = values("dump", "--bar", f"file:{bar}", "rtt1.clock", "rtt.table")
    assert few == {"rtt.TABLE": 64 << 16 | 512, "rtt1.CLOCK_HZ": 250_000_000}
    assert ".slots" in reg("dump", "--bar", f"file:{bar}", "rtt.TABLE").stdout


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ("rtt.CONTROL", "CTRL=1"),
        ("rtt.CONTROL=", "not a whole number"),
        ("rtt.CONTROL=x", "not a whole number"),
        ("rtt.CONTROL.mode=8", "3 bits"),
        ("rtt.SCRATCH=0x100000000", "32 bits"),
        ("rtt.S_COUNT=1", "read-only"),
        ("rtt.NOTHING=1", "no register"),
        ("rtt.CONTROL.nothing=1", "no register"),
        ("rtt.HIST[1024]=1", "counted from 0"),
        ("rtt.CONTROL[0]=1", "not an array"),
        ("rtt.HIST[x]=1", "not the name"),
    ],
)
def test_a_wrong_write_changes_nothing(bar, change, word):
    before = bar.read_bytes()
    assert word in said("write", "--bar", f"file:{bar}", "rtt.SCRATCH=1", change, code=2)
    assert bar.read_bytes() == before


def test_addresses_outside_are_refused(bar):
    assert "beyond" in said("read", "--bar", f"file:{bar}", "0x9000", code=1)
    assert "multiple of 4" in said("read", "--bar", f"file:{bar}", "0x2", code=1)


def test_wrong_usage_exits_2():
    for argv, word in (
        ([], "list"),
        (["frob"], "frob"),
        (["read", "CONTROL"], "--bar"),
        (["read", "--bar", "file:/x"], "a register is missing"),
        (["write", "--bar", "file:/x"], "a register is missing"),
        (["blocks", "--bar", "nonsense:1"], "pci:"),
        (["blocks", "--frob"], "--frob"),
        (["watch", "--bar"], "needs a value"),
        (["watch", "--every-ms", "0", "X"], "--every-ms"),
        (["watch", "--every", "1", "X"], "--every-ms in full"),
        (["watch", "--count", "x", "X"], "--count"),
    ):
        assert word in said(*argv, code=2), argv


def test_what_is_not_there_exits_7_with_a_reason(tmp_path):
    (tmp_path / "empty").touch()
    for spec, word in (
        (f"file:{tmp_path}/no", "No such file"),
        (f"file:{tmp_path}/empty", "not a regular file"),
        (f"file:{tmp_path}", "not a regular file"),
        ("pci:ffff:ff:1f.7/0", "no PCI function"),
        ("pci:1", "lspci"),
        ("pci:00:00.0/9", "0 to 5"),
        ("vfio:ffff:ff:1f.7", "no PCI function"),
        ("uio:255", "/dev/uio255"),
        ("uio:x", "number"),
        (f"sim:{tmp_path}/no", "no simulation"),
    ):
        assert word in said("blocks", "--bar", spec, code=7), spec


# ---- a PCI function's resource


@pytest.fixture
def function(tmp_path):
    """The folder that sysfs has of a function; its BAR 2 reads all ones."""
    (tmp_path / "resource2").write_bytes(ONES)
    config = bytearray(64)
    config[0:6] = struct.pack("<3H", 0x10EE, 0x903F, 2)
    (tmp_path / "config").write_bytes(config)
    return tmp_path


def test_all_ones_of_a_pci_function_are_explained(function):
    at = ["blocks", "--bar", f"pci:{function}/resource2"]
    assert "right function" in said(*at, code=7)
    config = bytearray((function / "config").read_bytes())
    config[4] = 0
    (function / "config").write_bytes(config)
    assert "memory space is disabled" in said(*at, code=7)
    (function / "config").write_bytes(b"\xff" * 64)
    assert "off the bus" in said(*at, code=7)


def test_a_resource_is_read_and_written_as_a_bar(function):
    (function / "resource2").write_bytes(image({0: header(RTT, 0x4000, 0)}))
    at = ["--bar", f"pci:{function}/resource2"]
    reg("write", *at, "SCRATCH=0xabcd")
    assert values("read", *at, "SCRATCH") == {"rtt.SCRATCH": 0xABCD}


# ---- a simulation


@pytest.fixture
def simulation(tmp_path):
    sim = Simulation(tmp_path / "sim.sock", image({0: header(RTT, 0x4000, 0)}, 0x4000))
    yield sim, sim.spec
    sim.close()


def test_a_simulation_is_read_and_written(simulation):
    sim, spec = simulation
    reg("write", "--bar", spec, "TIMEOUT=1000", "CONTROL.enable=1")
    assert struct.unpack_from("<I", sim.content, 0x4C) == (1000,)
    assert values("read", "--bar", spec, "TIMEOUT", "CONTROL") == {
        "rtt.TIMEOUT": 1000,
        "rtt.CONTROL": 1,
    }
    assert "error 3" in said("read", "--bar", spec, "0x4000", code=1)


def test_watch_tells_changes(simulation):
    sim, spec = simulation
    sim.counts[0x70] = 5
    done = reg("watch", "--bar", spec, "--every-ms", 1, "--count", 4, "--json", "NOW", "SCRATCH")
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(t["name"], t["value"], t.get("before")) for t in told] == [
        ("rtt.NOW", 0, None),
        ("rtt.SCRATCH", 0, None),
        ("rtt.NOW", 5, 0),
        ("rtt.NOW", 10, 5),
    ]
    done = reg("watch", "--bar", spec, "--every-ms", 1, "--count", 2, "NOW")
    assert done.stdout.splitlines()[1].endswith("0xf -> 0x14")


def test_a_simulation_that_ends_is_said(tmp_path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.bind(str(tmp_path / "s"))
    s.listen(1)

    def hang_up():
        s.accept()[0].close()

    thread = threading.Thread(target=hang_up)
    thread.start()
    message = said("blocks", "--bar", f"sim:{tmp_path}/s", code=7)
    thread.join()
    s.close()
    assert "ended" in message or "cannot send a request" in message


# ---- the software TOE


def test_registers_of_a_running_toed(tmp_path):
    argv = [paths.built("toed"), "--netif", f"wire:{tmp_path}/w", "--ip", "10.0.0.1/24"]
    with subprocess.Popen(
        [*argv, "--socket", f"{tmp_path}/s", "--max-flows", "100"],
        stderr=subprocess.PIPE,
        text=True,
    ) as toed:
        try:
            assert any(" ready" in line for line in toed.stderr)
            spec = f"toed:{tmp_path}/s"
            got = values("read", "--bar", spec, "ID", "FLOWS", "IPV4", "FEATURES.sack", "MTU")
            assert got == {
                "toe.ID": TOE,
                "toe.FLOWS": 100,
                "toe.IPV4": 0x0A000001,
                "toe.FEATURES.sack": 1,
                "toe.MTU": 1500,
            }
            dumped = values("dump", "--bar", spec)
            assert "toe.COUNTERS[255]" in dumped and "toe.DOORBELLS.SW_HEAD[0]" not in dumped
            assert "read-only" in said("write", "--bar", spec, "TICK_CYCLES=1", code=1)
        finally:
            toed.kill()
    assert "no toed" in said("blocks", "--bar", spec, code=4)
