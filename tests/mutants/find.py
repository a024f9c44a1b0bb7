# SPDX-License-Identifier: Apache-2.0
"""The mutants of a C source: the small faults that one change within a function makes.

    relation   < and <=, > and >=, == and !=; the same of TOEC_SEQ_LT and its like; MIN and MAX
    constant   an integer, plus and minus 1
    logic      && and ||
    condition  of an if, while or do: negated
    removed    a statement that assigns, counts or calls
    result     of a return: 0, or 1 where it is 0

Comments, strings, preprocessor lines and all that is outside functions stay as they are.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

TOKEN = re.compile(
    r"""
    (?P<space>\s+|\\\n|//[^\n]*|/\*.*?\*/)
    |(?P<hash>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
    |(?P<string>[LuU]?"(?:\\.|[^"\\])*"|[LuU]?'(?:\\.|[^'\\])*')
    |(?P<number>\.?[0-9](?:[eEpP][+-]|[\w.])*)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<sign>->|\+\+|--|<<=|>>=|\.\.\.|<<|>>|[-+*/%&|^!=<>]=|&&|\|\||[^\w\s])
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)$")
RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
for _one, _other in (
    ("TOEC_SEQ_LT", "TOEC_SEQ_LE"),
    ("TOEC_SEQ_GT", "TOEC_SEQ_GE"),
    ("TOEC_MIN", "TOEC_MAX"),
):
    RELATIONS |= {_one: _other, _other: _one}
LOGIC = {"&&": "||", "||": "&&"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"}
CONDITIONS = {"if", "while"}
HEADS = {"if", "while", "for", "switch"}
# Statements that begin with one of these stay; so do declarations, without which nothing compiles.
KEPT = HEADS | {"do", "return", "break", "continue", "goto", "case", "default", "else"}
KEPT |= {"static", "const", "struct", "union", "enum", "unsigned", "int", "char", "long", "short"}


class Unreadable(Exception):
    """The text is not C as this module reads it."""


@dataclass
class Token:
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True)
class Mutant:
    """One change: the text from start to end becomes `text`."""

    file: str
    function: str
    kind: str
    start: int
    end: int
    text: str
    line: int
    before: str  # the lines that change, white space folded
    after: str
    nth: int  # of this change of an equal line in the function, from 1
    id: str

    def apply(self, source: str) -> str:
        return source[: self.start] + self.text + source[self.end :]

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """What distinguishes this change, wherever the lines of the file move."""
        return self.file, self.function, self.before, self.after, self.nth


def tokens(source: str) -> list[Token]:
    found = []
    at = 0
    while at < len(source):
        match = TOKEN.match(source, at)
        if not match:
            raise Unreadable(f"cannot read: {source[at : at + 40]!r}")
        # "#" begins a preprocessor line only where the line begins: `space` ate what precedes it.
        if match.lastgroup not in ("space", "hash"):
            found.append(Token(match.lastgroup, match.group(), at))
        at = match.end()
    return found


def closing(found: list[Token], at: int) -> int:
    """The index of the bracket that closes the one at `at`."""
    pair = {"(": ")", "[": "]", "{": "}"}[found[at].text]
    depth = 0
    for i in range(at, len(found)):
        if found[i].text == found[at].text:
            depth += 1
        elif found[i].text == pair:
            depth -= 1
            if depth == 0:
                return i
    raise Unreadable(f"nothing closes the {found[at].text} at {found[at].start}")


def functions(found: list[Token]) -> Iterator[tuple[str, int, int]]:
    """Each function's name and the indices of its braces."""
    at = begin = 0
    while at < len(found):
        text = found[at].text
        if text in (";", "}"):
            begin = at + 1
        elif text == "{":
            end = closing(found, at)
            if found[at - 1].text == ")":
                yield name_of(found[begin:at]), at, end
            at = begin = end
            if found[at - 1].text != "}":
                begin += 1
        at += 1


def name_of(head: list[Token]) -> str:
    """The name in the head of a function: the first that has parameters."""
    for word, following in pairwise(head):
        if word.kind == "word" and following.text == "(" and word.text != "__attribute__":
            return word.text
    raise Unreadable(f"no function: {' '.join(t.text for t in head)}")


def integers(token: Token) -> Iterator[str]:
    match = INTEGER.match(token.text)
    if not match:
        return
    digits, suffix = match.groups()
    octal = digits.startswith("0") and digits.isdigit() and len(digits) > 1
    value = int(digits, 8 if octal else 0)
    for changed in (value + 1, value - 1):
        if changed >= 0:
            yield (hex(changed) if digits[:2] in ("0x", "0X") else str(changed)) + suffix


def truth(found: list[Token], at: int) -> bool:
    """A 1 that is assigned, or negative, mostly says "true" or "none": 2 would say the same."""
    before, previous = found[at - 1].text, found[at - 2]
    negative = before == "-" and previous.kind == "sign" and previous.text not in (")", "]")
    return negative or previous.text == "return" or (before == "=" and found[at + 1].text == ";")


def removable(statement: list[Token]) -> bool:
    """It assigns, counts or calls, and declares nothing."""
    head = statement[0]
    if head.text in KEPT or (head.kind != "word" and head.text not in ("*", "(", "++", "--")):
        return False
    name = statement[2:3] if [t.text for t in statement[1:2]] == ["*"] else statement[1:2]
    if head.kind == "word" and name and name[0].kind == "word":
        return False  # a type and a name
    return statement[-1].text == ")" or any(t.text in ASSIGNMENTS for t in statement)


def changes(found: list[Token], begin: int, end: int) -> Iterator[tuple[str, int, int, str]]:
    """Kind, first and last token, and the new text, of each change between two braces. The text of
    a negated condition is "!": what precedes it in brackets."""
    first = begin + 1  # where a statement begins
    header = begin  # the end of a for's header
    for at in range(begin + 1, end):
        token = found[at]
        if token.text in RELATIONS:
            yield "relation", at, at, RELATIONS[token.text]
        elif token.text in LOGIC:
            yield "logic", at, at, LOGIC[token.text]
        elif token.kind == "number" and found[at - 1].text != "return":
            for text in integers(token):
                if not (text == "2" and truth(found, at)):
                    yield "constant", at, at, text
        elif token.text in CONDITIONS:
            yield "condition", at + 2, closing(found, at + 1) - 1, "!"
        elif token.text == "return" and found[at + 1].text != ";":
            last = next(i for i in range(at, end) if found[i].text == ";") - 1
            zero = last == at + 1 and found[last].text in ("0", "NULL")
            yield "result", at + 1, last, "1" if zero else "0"
        if at == first and at > header:
            last = statement_end(found, at)
            if last > at and found[last].text == ";" and removable(found[at:last]):
                yield "removed", at, last, "{}"
        if token.text == "for":
            header = closing(found, at + 1)
        if at >= header or token.text == "for":
            first = following(found, at, first)


def statement_end(found: list[Token], at: int) -> int:
    """The index of what ends the statement, label or block that begins at `at`."""
    while found[at].text not in (";", "{", "}", ":"):
        at = closing(found, at) + 1 if found[at].text in ("(", "[") else at + 1
    return at


def following(found: list[Token], at: int, first: int) -> int:
    """The index where the next statement begins, if one does after the token at `at`."""
    text = found[at].text
    if text in (";", "{", "}", "else", "do") or (text == ":" and label(found, at)):
        return at + 1
    if text in HEADS:
        return closing(found, at + 1) + 1
    return first


def label(found: list[Token], at: int) -> bool:
    """Not the colon of a conditional expression."""
    for i in range(at - 1, -1, -1):
        if found[i].text in ("case", "default"):
            return True
        if found[i].text in (";", "{", "}", "?"):
            break
    return found[at - 1].kind == "word" and found[at - 2].text in (";", "{", "}")


def without_comments(source: str) -> str:
    """The text with blanks in place of comments."""

    def blank(match: re.Match) -> str:
        text = match.group()
        comment = match.lastgroup == "space" and text.startswith("/")
        return re.sub(r"[^\n]", " ", text) if comment else text

    return TOKEN.sub(blank, source)


def folded(text: str) -> str:
    return " ".join(text.split())


def mutants(source: str, file: str) -> list[Mutant]:
    """All mutants of a source, in its order."""
    found = tokens(source)
    plain = without_comments(source)
    made = []
    seen: Counter[tuple] = Counter()
    known = set()
    for function, begin, end in functions(found):
        for kind, first, last, text in changes(found, begin, end):
            start, stop = found[first].start, found[last].end
            if kind == "condition":
                text = f"!({source[start:stop]})"
            if (start, stop, text) in known:
                continue
            known.add((start, stop, text))
            head = plain.rfind("\n", 0, start) + 1
            tail = plain.find("\n", stop)
            before = folded(plain[head:tail])
            after = folded(plain[head:start] + without_comments(text) + plain[stop:tail])
            key = (file, function, kind, before, after)
            seen[key] += 1
            nth = seen[key]
            name = hashlib.sha256(repr((*key, nth)).encode()).hexdigest()[:8]
            line = source.count("\n", 0, start) + 1
            place = (start, stop, text, line)
            made.append(Mutant(file, function, kind, *place, before, after, nth, name))
    return made
