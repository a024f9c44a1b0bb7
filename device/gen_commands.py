#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes device/include/toe/cmd.h from device/commands.json (docs/device-contract.md, Command).

usage: gen_commands.py [--check] COMMANDS.JSON CMD.H
  --check   change nothing; exit 1 when the header is not what the description gives
"""

import json
import re
import sys
import textwrap

NAME = re.compile(r"^[A-Z][A-Z0-9_]*$")
FLAG_BITS = 7  # bits 8-14 of a command

HEAD = """\
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd.h - the 128-bit command of the device contract (docs/device-contract.md, Command; S1.11).
 * Made by device/gen_commands.py from device/commands.json; change those, not this file.
 *
 *   bits   0-7 type, 8-14 flags, 15 phase, 16-31 aux, 32-63 flow, 64-95 arg0, 96-127 arg1
 *
 * A command is little endian in memory. Ports and addresses are numbers: port 80 is 80, IPv4
 * 10.0.0.1 is 0x0a000001 (toe_ip4_number()). Flags that a type does not name must be 0.
 */
/* clang-format off */
#ifndef TOE_CMD_H
#define TOE_CMD_H

#include <stdint.h>

#define TOE_CMD_VERSION {version}u
"""

ACCESSORS = """\
struct toe_cmd {
    uint64_t w[2]; /* little endian; w[0] carries the phase and is stored last (ring.h) */
} __attribute__((aligned(16)));
_Static_assert(sizeof(struct toe_cmd) == 16, "a command is 128 bits");
_Static_assert(_Alignof(struct toe_cmd) == 16, "no command crosses a cache line");

#define TOE_CMD_FLAGS 0x7fu          /* the seven flag bits, as flags are passed below */
#define TOE_CMD_PHASE (1ull << 15)   /* in the host's order of w[0] */

static inline uint64_t toe_le64(uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(v);
#else
    return v;
#endif
}

/* A command with phase 0; the ring sets the phase. */
static inline struct toe_cmd toe_cmd_make(uint8_t type, uint8_t flags, uint16_t aux, uint32_t flow,
                                          uint32_t arg0, uint32_t arg1)
{
    struct toe_cmd c;

    c.w[0] = toe_le64((uint64_t)type | (uint64_t)(flags & TOE_CMD_FLAGS) << 8 |
                      (uint64_t)aux << 16 | (uint64_t)flow << 32);
    c.w[1] = toe_le64((uint64_t)arg0 | (uint64_t)arg1 << 32);
    return c;
}

static inline uint8_t toe_cmd_type(const struct toe_cmd *c)
{
    return (uint8_t)toe_le64(c->w[0]);
}
static inline uint8_t toe_cmd_flags(const struct toe_cmd *c)
{
    return (uint8_t)(toe_le64(c->w[0]) >> 8) & TOE_CMD_FLAGS;
}
static inline unsigned toe_cmd_phase(const struct toe_cmd *c)
{
    return (unsigned)(toe_le64(c->w[0]) >> 15) & 1u;
}
static inline uint16_t toe_cmd_aux(const struct toe_cmd *c)
{
    return (uint16_t)(toe_le64(c->w[0]) >> 16);
}
static inline uint32_t toe_cmd_flow(const struct toe_cmd *c)
{
    return (uint32_t)(toe_le64(c->w[0]) >> 32);
}
static inline uint32_t toe_cmd_arg0(const struct toe_cmd *c)
{
    return (uint32_t)toe_le64(c->w[1]);
}
static inline uint32_t toe_cmd_arg1(const struct toe_cmd *c)
{
    return (uint32_t)(toe_le64(c->w[1]) >> 32);
}

/* IPv4 address: four bytes in network order to and from the number commands carry. */
static inline uint32_t toe_ip4_number(const uint8_t b[4])
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}
static inline void toe_ip4_bytes(uint32_t number, uint8_t b[4])
{
    b[0] = (uint8_t)(number >> 24);
    b[1] = (uint8_t)(number >> 16);
    b[2] = (uint8_t)(number >> 8);
    b[3] = (uint8_t)number;
}
"""


def fail(why):
    sys.exit(f"gen_commands.py: {why}")


def check(desc):
    """Refuses a description that could not mean one thing."""
    for key in ("version", "sw", "hw", "options", "reasons"):
        if key not in desc:
            fail(f"'{key}' is missing")
    for key in ("sw", "hw", "options", "reasons"):
        names = [e["name"] for e in desc[key]]
        for name in names:
            if not NAME.match(name):
                fail(f"{key}: '{name}' is not a name")
        if len(set(names)) != len(names):
            fail(f"{key}: a name appears twice")
        codes = [e["code"] for e in desc[key]]
        if len(set(codes)) != len(codes):
            fail(f"{key}: a code appears twice")
    for e in desc["sw"]:
        if not 1 <= e["code"] <= 127:
            fail(f"SW command {e['name']}: code {e['code']} is not in 1..127")
    for e in desc["hw"]:
        if not 129 <= e["code"] <= 255:
            fail(f"HW command {e['name']}: code {e['code']} is not in 129..255")
    for e in desc["sw"] + desc["hw"]:
        if len(e.get("flags", [])) > FLAG_BITS:
            fail(f"{e['name']}: more than {FLAG_BITS} flags")


def comment(text, indent="    "):
    lines = textwrap.wrap(text, 100 - len(indent) - 6)
    if len(lines) == 1:
        return f"{indent}/* {lines[0]} */\n"
    body = f"\n{indent} * ".join(lines)
    return f"{indent}/* {body} */\n"


def enum(name, prefix, entries):
    out = [f"enum {name} {{\n"]
    for e in entries:
        if e.get("meaning"):
            out.append(comment(e["meaning"]))
        out.append(f"    {prefix}{e['name']} = {e['code']},\n")
    out[-1] = out[-1].rstrip(",\n") + "\n"
    out.append("};\n")
    return "".join(out)


def flags(entries):
    lines = []
    for e in entries:
        for bit, flag in enumerate(e.get("flags", [])):
            lines.append(f"#define TOE_F_{e['name']}_{flag} 0x{1 << bit:02x}u\n")
        mask = (1 << len(e.get("flags", []))) - 1
        lines.append(f"#define TOE_F_{e['name']}_ALL 0x{mask:02x}u\n")
    return "".join(lines)


def names(what, entries, prefix):
    cases = "".join(f'    case {prefix}{e["name"]}: return "{e["name"]}";\n' for e in entries)
    return (
        f"/* The name for people; 0 for a number that has none. */\n"
        f"static inline const char *{what}(unsigned number)\n{{\n    switch (number) {{\n"
        f"{cases}    default: return 0;\n    }}\n}}\n"
    )


def generate(desc):
    check(desc)
    asserts = "".join(
        f'_Static_assert((TOE_F_{e["name"]}_ALL & ~TOE_CMD_FLAGS) == 0, "{e["name"]} flags");\n'
        for e in desc["sw"] + desc["hw"]
    )
    return "\n".join(
        [
            HEAD.replace("{version}", str(desc["version"])),
            "/* SW: host to TOE (1..127). HW: TOE to host (129..255). */\n"
            + enum("toe_cmd_type", "TOE_CMD_", desc["sw"] + desc["hw"]),
            "/* Flags, as toe_cmd_make() takes them. _ALL: every flag the type knows. */\n"
            + flags(desc["sw"] + desc["hw"]),
            "/* Option numbers of OPTION (aux). */\n"
            + enum("toe_option", "TOE_OPT_", desc["options"]),
            "/* Reasons of CONNECT_FAILED, CLOSE_EVENT, ERROR and status.halted: Linux's errno numbers. */\n"
            + enum("toe_reason", "TOE_R_", desc["reasons"]),
            ACCESSORS,
            asserts,
            names("toe_cmd_name", desc["sw"] + desc["hw"], "TOE_CMD_"),
            names("toe_reason_name", desc["reasons"], "TOE_R_"),
            "#endif\n",
        ]
    )


def main(argv):
    checking = "--check" in argv
    paths = [a for a in argv if a != "--check"]
    if len(paths) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with open(paths[0], encoding="utf-8") as f:
        text = generate(json.load(f))
    if not checking:
        with open(paths[1], "w", encoding="utf-8") as f:
            f.write(text)
        return 0
    with open(paths[1], encoding="utf-8") as f:
        if f.read() == text:
            return 0
    print(f"{paths[1]} is not what {paths[0]} gives; run device/gen_commands.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
