#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes device/include/toe/regs.h from device/toe.rdl with PeakRDL (device/requirements.txt).

usage: gen_regs.py [--check] TOE.RDL REGS.H
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
 * regs.h - BAR 0 of a TOE. Made by device/gen_regs.py from device/toe.rdl; change that, not this
 * file. The fields are described there. Values are little endian.
 *
 * source sha256 {source}
 * text sha256   {text}
 */
/* clang-format off */
"""
DIGESTS = re.compile(r"source sha256 ([0-9a-f]{64})\n \* text sha256 +([0-9a-f]{64})\n")


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def export(rdl_path):
    """The C text as PeakRDL writes it; None without PeakRDL."""
    try:
        from peakrdl_cheader.c_standards import CStandard
        from peakrdl_cheader.exporter import CHeaderExporter
        from systemrdl import RDLCompiler
    except ImportError:
        return None
    compiler = RDLCompiler()
    compiler.compile_file(rdl_path)
    with tempfile.TemporaryDirectory() as d:
        out = os.path.join(d, "toe_regs.h")
        CHeaderExporter().export(compiler.elaborate(), out, std=CStandard.gnu11)
        with open(out, encoding="utf-8") as f:
            text = f.read()
    # the first comment names the tool and its place; the head above says what matters
    return text[text.index("#ifndef") :].rstrip() + "\n"


def generate(source, body):
    return HEAD.format(source=sha(source), text=sha(body)) + body


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def check(source, body, header, header_path):
    if body is not None:
        if generate(source, body) == header:
            return 0
    else:
        m = DIGESTS.search(header)
        text = header.partition("/* clang-format off */\n")[2]
        if m and m.group(1) == sha(source) and m.group(2) == sha(text):
            return 0
    print(f"{header_path} is not current; run device/gen_regs.py", file=sys.stderr)
    return 1


def main(argv):
    checking = "--check" in argv
    paths = [a for a in argv if a != "--check"]
    if len(paths) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    source, body = read(paths[0]), export(paths[0])
    if checking:
        return check(source, body, read(paths[1]), paths[1])
    if body is None:
        print(
            "gen_regs.py: PeakRDL is missing: pip install -r device/requirements.txt",
            file=sys.stderr,
        )
        return 1
    with open(paths[1], "w", encoding="utf-8") as f:
        f.write(generate(source, body))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
