# SPDX-License-Identifier: Apache-2.0
"""The measuring module behind a PCI function, as a driver sees it: a guest with an IOMMU reads and
writes its registers by VFIO, by UIO and by the function's resource file. Each access of the guest's
CPU is one on the AXI4-Lite port of the Verilated module (gateware/sim/pci.h); the same process
reports the resulting state on its own socket."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from tests.lab import guest as guests
from tests.lab import paths, proc

pytestmark = [pytest.mark.toehold_only, pytest.mark.long]

TOEHOLD = paths.built("toehold")
FUNCTION = "0000:00:05.0"
SYS = f"/sys/bus/pci/devices/{FUNCTION}"
BOX = "@0x100000"  # as in OpenNIC's shell and in the emulated function
MODULES = "irqbypass vfio vfio_virqfd vfio_iommu_type1 vfio-pci-core vfio-pci uio uio_pci_generic"
TAG_LOOPED = 0x130
# The path: 3 m of cable, MACs of 400 ns.
TRUTH_NS, TICK_NS = 415, 4


class Module:
    """rtt_sim, its own view of its registers, and the socket that serves a guest's function."""

    def __init__(self, folder: Path) -> None:
        sim = os.environ.get("TOEHOLD_RTT_SIM")
        if not sim:
            subprocess.run(
                [paths.ROOT / "scripts" / "gateware", "sim"], check=True, timeout=proc.seconds(900)
            )
            sim = str(paths.OUT / "gateware" / "live" / "rtt_sim" / "rtt_sim")
        self.bar = f"sim:{folder}/regs"
        command = [sim, "--path", "cable=3,mac=400", "--probes", "4000000000", "--gap", "5000"]
        command += ["--regs", f"{folder}/regs", "--pci", f"{folder}/pci"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.socket = socket.socket(socket.AF_UNIX)
        with contextlib.ExitStack() as failed:
            failed.callback(self.close)
            proc.wait_until(lambda: self._connected(f"{folder}/pci"), "rtt_sim", timeout=30)
            failed.pop_all()

    def _connected(self, path: str) -> bool:
        return self.process.poll() is None and self.socket.connect_ex(path) == 0

    def reg(self, *argv: str) -> str:
        command = [TOEHOLD, "reg", argv[0], "--bar", self.bar, *argv[1:]]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=proc.seconds(60)
        ).stdout

    def read(self, name: str) -> int:
        return values(self.reg("read", name, "--json"))[f"rtt.{name}"]

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(30)
        self.socket.close()


def values(text: str) -> dict[str, int]:
    return {r["name"]: r["value"] for r in json.loads(text)}


class Machine:
    def __init__(self, folder: Path) -> None:
        why = guests.missing()
        if why:
            pytest.fail(why)
        self.module = Module(folder)
        device = f"x-pci-proxy-dev,id=rtt,addr={FUNCTION[8:10]},fd="
        try:
            self.guest = guests.Guest(
                [TOEHOLD],
                MODULES.split(),
                ["-device", "intel-iommu", "-device", device, self.module.socket],
            )
        except BaseException:
            self.module.close()
            raise
        self.run = self.guest.run

    def close(self) -> None:
        self.guest.close()
        self.module.close()

    def bind(self, driver: str) -> None:
        """The function's driver; "": none. Without one its memory space is enabled by hand."""
        self.run(f"[ ! -e {SYS}/driver ] || echo {FUNCTION} > {SYS}/driver/unbind")
        self.run(f"echo '{driver}' > {SYS}/driver_override")
        self.run(f"echo {FUNCTION} > /sys/bus/pci/drivers_probe", None)
        assert self.run(f"basename $(readlink {SYS}/driver)", None).stdout.strip() == driver
        if not driver:
            self.run(f"[ $(cat {SYS}/enable) != 0 ] || echo 1 > {SYS}/enable")

    def way(self, name: str) -> str:
        """The argument of --bar, once the function is bound to the driver."""
        self.bind({"vfio": "vfio-pci", "uio": "uio_pci_generic", "pci": ""}[name])
        return {"vfio": f"vfio:{FUNCTION}/2", "uio": "uio:0", "pci": f"pci:{FUNCTION}"}[name] + BOX

    def said(self, command: str, code: int) -> str:
        done = self.run(command, code)
        assert done.stdout == ""
        return done.stderr


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    m = Machine(tmp_path_factory.mktemp("driver"))
    yield m
    m.close()


each_way = pytest.mark.parametrize("way", ["vfio", "uio", "pci"])


def test_the_kernel_finds_the_function(machine):
    ids = machine.run(f"cat {SYS}/vendor {SYS}/device {SYS}/class").stdout.split()
    assert ids == ["0x10ee", "0x903f", "0x058000"]
    first, last, _flags = machine.run(f"sed -n 3p {SYS}/resource").stdout.split()
    assert int(last, 16) - int(first, 16) + 1 == 4 << 20
    assert machine.run(f"ls {SYS}/iommu_group/devices").stdout.split() == [FUNCTION]
    assert machine.run(f"ls {SYS}").stdout.split().count("resource2") == 1


@each_way
def test_a_dump_is_what_the_module_has(machine, way):
    bar = machine.way(way)
    assert "round-trip measurement" in machine.run(f"toehold reg blocks --bar {bar}").stdout
    machine.module.reg("write", "HIST_BASE=77", "PORTS=0x1f900050", "SCRATCH=0x12345678")
    seen = values(machine.run(f"toehold reg dump --bar {bar} --json").stdout)
    own = values(machine.module.reg("dump", "--json"))
    before, after = seen.pop("rtt.NOW"), own.pop("rtt.NOW")
    assert before != after  # the counter runs; nothing else changes while nothing is measured
    assert seen == own
    assert len(seen) > 3000 and seen["rtt.SCRATCH"] == 0x12345678
    listed = machine.run("toehold reg list --json").stdout
    assert {f"rtt.{n}" for n in ("NOW", "RING", "HIST")} <= {r["name"] for r in json.loads(listed)}


@each_way
def test_writes_reach_the_module_once_each(machine, way):
    bar = machine.way(way)
    for value in (0, 0xFFFFFFFF, 0xA5A50F0F):
        machine.run(f"toehold reg write --bar {bar} SCRATCH={value}")
        assert machine.module.read("SCRATCH") == value
    machine.module.reg("write", "SCRATCH=99")
    read = machine.run(f"toehold reg read --bar {bar} SCRATCH --json").stdout
    assert values(read) == {"rtt.SCRATCH": 99}
    # a field leaves the others as they are
    machine.module.reg("write", "CONTROL=0x100")
    machine.run(f"toehold reg write --bar {bar} CONTROL.mode=2")
    assert machine.module.read("CONTROL") == 0x120
    # writing 1 to COMMAND triggers an action and reads as zero: plain memory would keep it
    for times in (1, 3):
        taken = machine.module.read("SNAPSHOTS")
        for _ in range(times):
            machine.run(f"toehold reg write --bar {bar} COMMAND.snapshot=1")
            wait = f"until toehold reg read --bar {bar} STATUS.busy | grep -q 0x0; do :; done"
            machine.run(wait)
        assert machine.module.read("SNAPSHOTS") == taken + times
        command = machine.run(f"toehold reg read --bar {bar} COMMAND --json").stdout
        assert values(command) == {"rtt.COMMAND": 0}
    # a register that can only be read
    assert "read-only" in machine.said(f"toehold reg write --bar {bar} S_COUNT=1", 2)


@each_way
def test_watch_tells_what_the_module_changes(machine, way):
    bar = machine.way(way)
    machine.module.reg("write", "SCRATCH=1")
    watch = f"toehold reg watch --bar {bar} --every-ms 50 --json SCRATCH"
    machine.run(f"{watch} >/tmp/watch 2>&1 & echo $! >/tmp/pid")

    def told() -> list[int]:
        lines = machine.run("cat /tmp/watch").stdout.splitlines()
        return [json.loads(line)["value"] for line in lines]

    for value in (2, 3):
        proc.wait_until(lambda v=value: told() == list(range(1, v)), "the watch", timeout=30)
        machine.module.reg("write", f"SCRATCH={value}")
    proc.wait_until(lambda: told() == [1, 2, 3], "the watch", timeout=30)
    machine.run(
        "kill $(cat /tmp/pid); while kill -0 $(cat /tmp/pid) 2>/dev/null; do sleep 0.1; done"
    )


@each_way
def test_round_trips_are_measured_through_the_function(machine, way):
    bar = machine.way(way)
    machine.module.reg("write", f"CONTROL={TAG_LOOPED}", "COMMAND.flush=1", "TAG_OFFSET=0")
    machine.module.reg("write", f"CONTROL={TAG_LOOPED | 1}", "PORTS=0")
    try:
        command = f"toehold rtt --source registers --bar {bar} --duration 2 --json"
        result = json.loads(machine.run(command).stdout)
    finally:
        machine.module.reg("write", "CONTROL=0")
    assert result["samples"] > 10
    assert result["source"]["resolution_ns"] == TICK_NS
    # truth, up to the tick in which an arrival is seen
    times = result["rtt_ns"]
    assert TRUTH_NS <= times["min"] <= times["max"] < TRUTH_NS + TICK_NS
    assert result["counts"]["module_unmatched"] == 0


def test_what_is_not_ready_is_refused_with_the_reason(machine):
    # nothing is in the BAR but the box
    vfio = machine.way("vfio").replace(BOX, "")
    assert "all ones" in machine.said(f"toehold reg blocks --bar {vfio}", 7)
    assert "no BAR 1" in machine.said(f"toehold reg blocks --bar vfio:{FUNCTION}/1", 7)
    # VFIO without its driver
    machine.bind("")
    said = machine.said(f"toehold reg blocks --bar vfio:{FUNCTION}{BOX}", 7)
    assert "vfio" in said and ("No such" in said or "viable" in said), said
    machine.bind("uio_pci_generic")
    assert "no map 3" in machine.said(f"toehold reg blocks --bar uio:0/3{BOX}", 7)
    # memory space off
    machine.bind("")
    command = rf"printf '\%d\0' | dd of={SYS}/config bs=1 seek=4 conv=notrunc"
    machine.run(command % 0)
    said = machine.said(f"toehold reg blocks --bar pci:{FUNCTION}{BOX}", 7)
    machine.run(command % 2)
    assert "memory space is disabled" in said


def test_a_function_that_is_gone_is_said(machine):
    """The process ends: the guest reads all ones, as of a card without power."""
    machine.bind("")
    machine.module.close()
    assert "off the bus" in machine.said(f"toehold reg blocks --bar pci:{FUNCTION}{BOX}", 7)
