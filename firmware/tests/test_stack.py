#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""firmware/stack.py on listings of a few instructions: what it adds, and what it refuses."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import stack


def listing(**functions: list[str]) -> str:
    """Returns functions at 0x100, 0x200, ... with these instructions."""
    lines = []
    for i, (name, instructions) in enumerate(functions.items(), 1):
        lines.append(f"{i << 8:08x} <{name}>:")
        lines += [f"{(i << 8) + 2 * n:8x}:\t{text}" for n, text in enumerate(instructions)]
    return "\n".join(lines) + "\n"


def chain(text: str, words: dict[int, int] | None = None, **objects: set[int]) -> list[str]:
    found = stack.functions(text)
    stack.resolve(found, words or {}, objects)
    return stack.deepest(found, "_start")


class Stack(unittest.TestCase):
    def test_the_deepest_chain_is_found(self) -> None:
        text = listing(
            _start=["auipc\tsp,0x20040", "jal\t200 <main>"],
            main=["add\tsp,sp,-16", "jal\t300 <small>", "jal\t400 <large>", "add\tsp,sp,16"],
            small=["add\tsp,sp,-32", "ret"],
            large=["addi\tsp,sp,-512", "add\tsp,sp,-64", "ret"],
        )
        found = chain(text)
        self.assertEqual(found, ["_start", "main", "large"])
        self.assertEqual(stack.depth(stack.functions(text), found), 16 + 512 + 64)

    def test_tail_calls_and_branches_to_functions_count(self) -> None:
        self.assertEqual(chain(listing(_start=["j\t200 <f>"], f=["ret"])), ["_start", "f"])
        self.assertEqual(chain(listing(_start=["beqz\ta0,200 <f>"], f=["ret"])), ["_start", "f"])

    def test_a_loop_to_the_start_is_no_recursion(self) -> None:
        self.assertEqual(chain(listing(_start=["bnez\ta0,100 <_start>"])), ["_start"])

    def test_recursion_is_refused(self) -> None:
        direct = listing(_start=["jal\t200 <f>"], f=["jal\t200 <f>"])
        turns = listing(_start=["jal\t200 <f>"], f=["jal\t300 <g>"], g=["j\t200 <f>"])
        for text in (direct, turns):
            with self.assertRaisesRegex(stack.Unbounded, "recursion: f > "):
                chain(text)

    def test_a_stack_of_variable_size_is_refused(self) -> None:
        for text in ("sub\tsp,sp,a0", "add\tsp,sp,a0", "mv\tsp,s0"):
            with self.assertRaisesRegex(stack.Unbounded, "f changes its stack by a variable"):
                chain(listing(_start=["jal\t200 <f>"], f=[text]))

    def test_an_indirect_call_reaches_each_congestion_control(self) -> None:
        text = listing(
            _start=["jal\t200 <f>"], f=["jalr\ta5"], cubic=["add\tsp,sp,-48"], bbr=["ret"]
        )
        self.assertEqual(chain(text, toec_cc_cubic={0x300}), ["_start", "f", "cubic"])
        self.assertEqual(chain(text, other={0x300}), ["_start", "f"])

    def test_a_switch_is_no_call(self) -> None:
        text = listing(_start=["jr\ta5", "nop"], cubic=["add\tsp,sp,-48"])
        self.assertEqual(chain(text, toec_cc_cubic={0x200}), ["_start", "cubic"])
        inside = {0x1000: 0x102}
        self.assertEqual(chain(text, inside, toec_cc_cubic={0x200}), ["_start"])

    def test_a_passed_function_is_reached(self) -> None:
        functions = {
            "_start": ["add\ta3,a3,-4 # 400 <expire>", "jal\t200 <toec_wheel_run>"],
            "toec_wheel_run": ["j\t300 <run>"],
            "run": ["jalr\ts5"],
            "expire": ["add\tsp,sp,-80"],
        }
        self.assertEqual(chain(listing(**functions)), ["_start", "toec_wheel_run", "run", "expire"])
        functions["_start"][0] = "li\ta3,1024"
        self.assertEqual(chain(listing(**functions))[-1], "expire")
        functions["_start"][0] = "nop"
        with self.assertRaisesRegex(stack.Unbounded, "none loads an address"):
            chain(listing(**functions))

    def test_an_indirect_call_of_unknown_kind_is_refused(self) -> None:
        names = ["toec_text", "soc_interrupt", "report_one"]
        places = ["/b/core/toe_core.c:9", "/f/soc.c:70", "/f/report.c:60"]
        stack.check_kinds(names[:2], places[:2])
        with self.assertRaisesRegex(stack.Unbounded, r"report_one \(/f/report.c:60\)"):
            stack.check_kinds(names, places)

    def test_functions_of_one_name_are_two(self) -> None:
        text = "00000100 <f>:\n  100:\tret\n00000200 <f>:\n  200:\tadd\tsp,sp,-16\n"
        found = stack.functions(text)
        self.assertEqual([f.frame for f in found.values()], [0, 16])

    def test_objects_have_the_words_of_the_image(self) -> None:
        symbols = "00001000 00000008 r toec_cc_cubic\n00001008 00000004 T main\n"
        words = {0x1000: 0x300, 0x1004: 0, 0x1008: 0x400}
        self.assertEqual(stack.pointers(words, symbols), {"toec_cc_cubic": {0, 0x300}})

    def test_words_for_the_stack(self) -> None:
        symbols = "20040000 B stack_top\n2003e000 B noinit_end\n00001000 A stack_size\n"
        self.assertEqual(stack.room(symbols), (0x2000, 0x1000))


if __name__ == "__main__":
    unittest.main()
