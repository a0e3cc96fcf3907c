"""String interning: the table that assigns a number to each string.

A tensor of strings is a tensor of i64; equal strings have equal numbers. So operators that move or compare strings are
operators on integers. Operators that create or read strings are routines (``string_routines.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class StringTable:
    """A string table: strings by number, in the order of insertion. Number 0 is the empty string."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.known: list[str] = []
        self._numbers: dict[str, int] = {}
        for string in ("", *known):
            self.number(string)

    def number(self, string: str) -> int:
        """Return the number of a string; a new string is inserted."""
        if string not in self._numbers:
            self._numbers[string] = len(self.known)
            self.known.append(string)
        return self._numbers[string]

    def numbers(self, strings: Any) -> Array:
        """Return the numbers of an array of strings, as an i64 array of its shape."""
        array = np.asarray(strings, dtype=object)
        return np.array([self.number(str(t)) for t in array.flat], np.int64).reshape(array.shape)

    def of(self, numbers: Array) -> Array:
        """Return the strings of an array of numbers, as an object array."""
        found = np.empty(numbers.shape, dtype=object)
        found[...] = np.array([self.known[n] for n in numbers.flat], dtype=object).reshape(numbers.shape)
        return found


def escaped(string: str) -> str:
    """Return a string escaped to ASCII, for attributes of the IR."""
    return string.encode("unicode_escape").decode("ascii")


def unescaped(string: str) -> str:
    """Return the inverse of ``escaped``."""
    return string.encode("ascii").decode("unicode_escape")
