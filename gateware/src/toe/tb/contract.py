# SPDX-License-Identifier: Apache-2.0
"""The device contract for the tests' models: the commands of device/commands.json, and the packed
structs of the packages."""

import json

from gateware.lib.structs import Structs
from gateware.lib.tools import ROOT

TOE = Structs("src/toe/rtl/toe_pkg.sv", "src/toe/rtl/fpc_pkg.sv", "src/toe/rtl/conn_pkg.sv")
AROUND = 1 << 32
TICK = 1 << 20  # ns

_description = json.loads((ROOT / "device" / "commands.json").read_text())
SW = {entry["name"]: entry["code"] for entry in _description["sw"]}
HW = {entry["name"]: entry["code"] for entry in _description["hw"]}
REASON = {entry["name"]: entry["code"] for entry in _description["reasons"]}
OPTION = {entry["name"]: entry["code"] for entry in _description["options"]}
FLAGS = {
    entry["name"]: {flag: 1 << bit for bit, flag in enumerate(entry.get("flags", []))}
    for entry in _description["sw"] + _description["hw"]
}
NAME = {code: name for name, code in [*SW.items(), *HW.items()]}


def command(kind: int, *, flags=0, phase=0, aux=0, flow=0, arg0=0, arg1=0) -> int:
    whole = 0
    for value, width in [(arg1, 32), (arg0, 32), (flow, 32), (aux, 16)] + [
        (phase, 1),
        (flags, 7),
        (kind, 8),
    ]:
        assert 0 <= value < 1 << width, (value, width)
        whole = whole << width | value
    return whole


def parts(cmd: int) -> dict[str, int]:
    """Splits a command into kind, flags, phase, aux, flow, arg0, arg1."""
    fields = (("kind", 8), ("flags", 7), ("phase", 1), ("aux", 16), ("flow", 32), ("arg0", 32))
    found = {}
    for name, width in (*fields, ("arg1", 32)):
        found[name] = cmd & (1 << width) - 1
        cmd >>= width
    return found


def error(reason: str, cmd: int, position: int) -> int:
    """Returns the ERROR that rejects cmd."""
    c = parts(cmd)
    return command(HW["ERROR"], aux=REASON[reason], flow=c["flow"], arg0=position, arg1=c["kind"])
