# SPDX-License-Identifier: Apache-2.0
"""Writes a file as a C array: embed.py INPUT OUTPUT NAME."""

import sys

source, target, name = sys.argv[1:]
with open(source, "rb") as f:
    data = f.read()
lines = [", ".join(str(b) for b in data[i : i + 24]) for i in range(0, len(data), 24)]
with open(target, "w", encoding="ascii") as f:
    f.write("#include <stddef.h>\n")
    f.write(f"const unsigned char {name}[] __attribute__((aligned(8))) = {{\n")
    f.write(",\n".join(lines))
    f.write(f"}};\nconst size_t {name}_size = sizeof({name});\n")
