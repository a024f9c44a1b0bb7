#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a register header of device/include/toe/ from its .rdl with PeakRDL
(device/requirements.txt): regs.h from toe.rdl, rtt_regs.h from rtt.rdl,
hyb_regs.h from hyb.rdl, hyb_host_regs.h from hyb_host.rdl, chip_regs.h from chip.rdl.

usage: gen_regs.py [--check] SOURCE.RDL HEADER.H
  --check   change nothing; exit 1 when the header is not what the description gives. Without
            PeakRDL the digests that the header carries are compared instead: of the description
            it was made from, and of its own text, so that neither can be changed alone.
"""

import hashlib
import os
import re
import sys
import tempfile

HEAD = """\
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * {header} - {title}. Made by device/gen_regs.py from device/{rdl}:
 * change that, not this file. The fields are described there. Values are little endian.
 *
 * source sha256 {source}
 * text sha256   {text}
 */
/* clang-format off */
"""
DIGESTS = re.compile(r"source sha256 ([0-9a-f]{64})\n \* text sha256 +([0-9a-f]{64})\n")


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def source_of(rdl_path):
    """What the description says, with the files that it includes."""
    text = read(rdl_path)
    for name in re.findall(r'^`include "([^"]+)"', text, re.MULTILINE):
        text += source_of(os.path.join(os.path.dirname(rdl_path), name))
    return text


def title_of(rdl_path):
    return re.search(r'^    name = "([^"]+)"', read(rdl_path), re.MULTILINE).group(1)


def quote(text):
    """As a C string."""
    return '"' + " ".join((text or "").split()).replace("\\", "\\\\").replace('"', '\\"') + '"'


def walk(node, prefix="", count=1, stride=0):
    """Registers and memories below: name, offset from the top, bytes of one, how many of it, bytes
    from one to the next, and the node. An array of registers is one entry; so is an array of groups
    for each register of the group."""
    from systemrdl.node import MemNode, RegNode

    for child in node.children(unroll=False):
        n, step = count, stride
        if child.is_array:
            if n != 1 or len(child.array_dimensions) != 1:
                sys.exit(f"gen_regs.py: {child.get_path()}: an array of arrays")
            n, step = child.array_dimensions[0], child.array_stride
        name = prefix + child.inst_name
        if isinstance(child, RegNode):
            size = child.get_property("regwidth") // 8
            yield name, offset_of(child), size, n, step or size, child
        elif isinstance(child, MemNode):
            size = child.get_property("memwidth") // 8
            yield name, offset_of(child), size, child.get_property("mementries"), size, child
        else:
            yield from walk(child, name + ".", n, step)


def offset_of(node):
    """Of the first element of all arrays on the way."""
    offset = 0
    while node.parent is not None and hasattr(node, "raw_address_offset"):
        offset += node.raw_address_offset
        node = node.parent
    return offset


def access_of(node):
    from systemrdl.node import RegNode

    if not isinstance(node, RegNode):
        return node.get_property("sw").name
    said = {f.get_property("sw").name for f in node.fields()}
    return "rw" if len(said) > 1 else said.pop()


def table(top):
    """All registers by name, as X macros: for tools that read registers by name."""
    from systemrdl.node import RegNode

    name = top.inst_name.upper()
    regs, fields = [], []
    for path, offset, size, count, stride, node in walk(top):
        text = quote(node.get_property("desc"))
        place = f'"{path}", {offset:#x}, {size}, {count}, {stride:#x}'
        regs.append(f'    REG({place}, "{access_of(node)}", {text})')
        if isinstance(node, RegNode) and len(found := list(node.fields())) > 1:
            for f in found:
                text = quote(f.get_property("desc"))
                fields.append(f'    FIELD("{path}", "{f.inst_name}", {f.low}, {f.width}, {text})')
    return "\n".join(
        [
            "/* REG(name, offset, bytes, count, stride, access, text): an array has its count */",
            f"#define {name}_TABLE(REG) \\",
            " \\\n".join(regs),
            "",
            "/* FIELD(register, name, low bit, bits, text), of registers with more than one */",
            f"#define {name}_FIELDS(FIELD) \\",
            " \\\n".join(fields),
            "",
        ]
    )


def export(rdl_path):
    """The C text as PeakRDL writes it, then the table; None without PeakRDL."""
    try:
        from peakrdl_cheader.c_standards import CStandard
        from peakrdl_cheader.exporter import CHeaderExporter
        from systemrdl import RDLCompiler
    except ImportError:
        return None
    compiler = RDLCompiler()
    compiler.compile_file(rdl_path)
    root = compiler.elaborate()
    with tempfile.TemporaryDirectory() as d:
        out = os.path.join(d, f"{root.top.inst_name}.h")
        CHeaderExporter().export(root, out, std=CStandard.gnu11, reuse_typedefs=False)
        text = read(out)
    # the first comment names the tool and its place; the head above says what matters
    text = text[text.index("#ifndef") :].rstrip() + "\n"
    body, endif = text[: text.rindex("#endif")], text[text.rindex("#endif") :]
    return f"{body}{table(root.top)}\n{endif}"


def generate(rdl_path, header_path, body):
    head = HEAD.format(
        header=os.path.basename(header_path),
        title=title_of(rdl_path),
        rdl=os.path.basename(rdl_path),
        source=sha(source_of(rdl_path)),
        text=sha(body),
    )
    return head + body


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def check(rdl_path, body, header_path):
    header = read(header_path)
    if body is not None:
        if generate(rdl_path, header_path, body) == header:
            return 0
    else:
        m = DIGESTS.search(header)
        text = header.partition("/* clang-format off */\n")[2]
        if m and m.group(1) == sha(source_of(rdl_path)) and m.group(2) == sha(text):
            return 0
    print(f"{header_path} is not current; run device/gen_regs.py", file=sys.stderr)
    return 1


def main(argv):
    checking = "--check" in argv
    paths = [a for a in argv if a != "--check"]
    if len(paths) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    body = export(paths[0])
    if checking:
        return check(paths[0], body, paths[1])
    if body is None:
        print(
            "gen_regs.py: PeakRDL is missing: pip install -r device/requirements.txt",
            file=sys.stderr,
        )
        return 1
    with open(paths[1], "w", encoding="utf-8") as f:
        f.write(generate(*paths, body))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
