# SPDX-License-Identifier: Apache-2.0
"""The chip (gateware/src/chip): images of its two processors' programs."""

from pathlib import Path

from .hybrid import binary

# The parameter of the design, and the program.
PROGRAMS = {
    "ToeImage": "firmware/toe_chip.elf",
    "HostImage": "examples/bare_http/bare_http.elf",
}


def words(image: bytes) -> str:
    """Returns an image as $readmemh() reads it."""
    image += bytes(-len(image) % 4)
    found = (int.from_bytes(image[at : at + 4], "little") for at in range(0, len(image), 4))
    return "".join(f"{word:08x}\n" for word in found)


def images(folder: Path) -> dict[str, Path]:
    """Writes the images into the folder, and returns their files by the design's parameter."""
    made = {}
    for parameter, target in PROGRAMS.items():
        made[parameter] = folder / f"{Path(target).stem}.hex"
        text = words(binary(target).read_bytes())
        if not made[parameter].exists() or made[parameter].read_text() != text:
            made[parameter].write_text(text)
    return made
