"""Syntax tree of regular expressions in RE2's syntax, and the character classes that they name.

Reference: https://github.com/google/re2/wiki/Syntax.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

Ranges = tuple[tuple[int, int], ...]  # of code points, both ends included

LAST = 0x10FFFF
DIGITS: Ranges = ((48, 57),)
WORD: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
SPACE: Ranges = ((9, 10), (12, 13), (32, 32))
CLASSES = {"d": DIGITS, "w": WORD, "s": SPACE}
POSIX: dict[str, Ranges] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": DIGITS,
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "word": WORD,
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}


class RegexError(ValueError):
    """A pattern is not valid, or has something that is not supported."""


@dataclass(frozen=True)
class Set:
    """One character out of some ranges of code points."""

    ranges: Ranges


@dataclass(frozen=True)
class Assertion:
    """A zero-width assertion: ``begin`` or ``end`` of the string, ``line begin`` or ``line end``, a word ``boundary``,
    or ``inside`` (none)."""

    kind: str


@dataclass(frozen=True)
class Sequence:
    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Choice:
    parts: tuple[Tree, ...]


@dataclass(frozen=True)
class Repeat:
    """A repetition: at least ``low`` times and at most ``high`` times (None: without limit)."""

    part: Tree
    low: int
    high: int | None


Tree = Set | Assertion | Sequence | Choice | Repeat


def complement(ranges: Ranges) -> Ranges:
    """The code points that are not in the set."""
    found, start = [], 0
    for low, high in sorted(ranges):
        if low > start:
            found.append((start, low - 1))
        start = max(start, high + 1)
    return (*found, (start, LAST)) if start <= LAST else tuple(found)


@cache
def category(name: str) -> Ranges:
    """The characters of a general category of Unicode, such as L or Nd.

    Raises:
        RegexError: there is none of this name; scripts are not read.
    """
    found: list[tuple[int, int]] = []
    if name == "Any":
        return ((0, LAST),)
    for code in range(LAST + 1 if re.fullmatch("[LMNPSZC][a-z]?", name) else 0):
        if unicodedata.category(chr(code)).startswith(name) and unicodedata.category(chr(code)) != "Cn":
            last = found.pop() if found and found[-1][1] == code - 1 else (code, code)
            found.append((last[0], code))
    if not found:
        raise RegexError(f"\\p{{{name}}} is no general category of Unicode; scripts are not read")
    return tuple(found)


def both_cases(ranges: Ranges) -> Ranges:
    """The code points, in upper case and in lower case."""
    chars = {chr(c) for low, high in ranges for c in range(low, min(high, 0x1FFFF) + 1)}
    others = {o for c in chars for o in (c.lower(), c.upper()) if len(o) == 1} - chars
    return (*ranges, *((ord(c), ord(c)) for c in sorted(others)))
