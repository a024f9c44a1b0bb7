# SPDX-License-Identifier: Apache-2.0
"""The commands of the device contract as a SystemVerilog package, from device/commands.json."""

import json
from pathlib import Path

from .tools import OUT, ROOT, alone

FOLDER = OUT / "commands"

HEAD = """\
// Made by gateware/lib/commands.py from device/commands.json; change those, not this file.
`resetall
`default_nettype none

package toe_cmd_pkg;

"""

ACCESSORS = """
  // type 7:0, flags 14:8, phase 15, aux 31:16, flow 63:32, arg0 95:64, arg1 127:96
  function automatic logic [127:0] command(
      input logic [7:0] kind, input logic [6:0] flags, input logic [15:0] aux,
      input logic [31:0] flow, input logic [31:0] arg0, input logic [31:0] arg1);
    return {arg1, arg0, flow, aux, 1'b0, flags, kind};
  endfunction

  function automatic logic [7:0] cmd_type(input logic [127:0] c);
    return c[7:0];
  endfunction
  function automatic logic [6:0] cmd_flags(input logic [127:0] c);
    return c[14:8];
  endfunction
  function automatic logic cmd_phase(input logic [127:0] c);
    return c[15];
  endfunction
  function automatic logic [15:0] cmd_aux(input logic [127:0] c);
    return c[31:16];
  endfunction
  function automatic logic [31:0] cmd_flow(input logic [127:0] c);
    return c[63:32];
  endfunction
  function automatic logic [31:0] cmd_arg0(input logic [127:0] c);
    return c[95:64];
  endfunction
  function automatic logic [31:0] cmd_arg1(input logic [127:0] c);
    return c[127:96];
  endfunction

endpackage

`resetall
"""


def camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def constant(width: int, name: str, value: int) -> str:
    return f"  localparam logic [{width - 1}:0] {name} = {width}'d{value};\n"


def text() -> str:
    desc = json.loads((ROOT / "device" / "commands.json").read_text())
    out = [HEAD]
    for prefix, entries in (("Sw", desc["sw"]), ("Hw", desc["hw"])):
        for entry in entries:
            out.append(constant(8, prefix + camel(entry["name"]), entry["code"]))
    for entry in desc["sw"] + desc["hw"]:
        known = entry.get("flags", [])
        for bit, flag in enumerate(known):
            out.append(constant(7, camel(entry["name"]) + camel(flag), 1 << bit))
        out.append(constant(7, camel(entry["name"]) + "Flags", (1 << len(known)) - 1))
    out += [constant(16, "Opt" + camel(e["name"]), e["code"]) for e in desc["options"]]
    out += [constant(8, "Reason" + camel(e["name"]), e["code"]) for e in desc["reasons"]]
    out.append(ACCESSORS)
    return "".join(out)


def generate() -> Path:
    """Returns the package's file, rebuilt when the description changes."""
    with alone(FOLDER):
        FOLDER.mkdir(parents=True, exist_ok=True)
        path = FOLDER / "toe_cmd_pkg.sv"
        made = text()
        if not path.exists() or path.read_text() != made:
            path.write_text(made)
        return path
