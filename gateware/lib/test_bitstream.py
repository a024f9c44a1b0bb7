# SPDX-License-Identifier: Apache-2.0
"""Images of the chip as $readmemh() reads them; what a run of place-and-route is summed up as; the
pins of the board are those of the design."""

import json
import re
from pathlib import Path

import pytest

from . import bitstream
from .chip import words
from .tools import GATEWARE


def test_words_are_little_endian_and_padded():
    assert words(bytes([1, 2, 3, 4, 5])) == "04030201\n00000005\n"
    assert words(b"") == ""


def results(folder: Path, achieved: float) -> None:
    cells = {"a": {"type": "LUT4"}, "b": {"type": "LUT4"}, "c": {"type": "DP16KD"}}
    netlist = {"modules": {bitstream.TOP: {"cells": cells}}}
    (folder / "netlist.json").write_text(json.dumps(netlist))
    timing = {
        "utilization": {
            "DP16KD": {"used": 1, "available": 208},
            "DCUA": {"used": 0, "available": 2},
        },
        "fmax": {"$glbnet$core_clk": {"achieved": achieved, "constraint": 50.0}},
    }
    (folder / "timing.json").write_text(json.dumps(timing))


@pytest.mark.parametrize(("achieved", "slow"), [(49.9, True), (50.0, False), (61.2, False)])
def test_summary(tmp_path: Path, achieved: float, slow: bool):
    results(tmp_path, achieved)
    lines = bitstream.summary(tmp_path, 15).splitlines()
    assert "LUT4             2" in lines
    assert "DP16KD           1 of 208" in lines
    assert not any("DCUA" in line for line in lines)
    assert f"clock core_clk: {achieved} MHz of 50.0 wanted" in lines
    assert lines[-1] == "the processors run at 50.0 MHz"
    assert bitstream.slow(tmp_path) == slow


def test_each_port_has_a_pin_of_its_own():
    source = (GATEWARE / "src/chip/rtl/chip_ecpix5.sv").read_text()
    ports = set()
    for width, name in re.findall(r"^  (?:in|out)put  ?wire(?: \[(\d):0\])? +(\w+)", source, re.M):
        ports |= {f"{name}[{i}]" for i in range(int(width) + 1)} if width else {name}
    sites = dict(
        re.findall(r'^LOCATE COMP "(\S+)" SITE "(\w+)";', bitstream.PINS.read_text(), re.M)
    )
    assert len(ports) == 17
    assert set(sites) == ports
    assert len(set(sites.values())) == len(sites)
