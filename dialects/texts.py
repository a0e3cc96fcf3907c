"""Texts as numbers: the table in which each text has one.

A tensor of texts is a tensor of i64, equal where the texts are equal, so that everything that moves or compares texts
is an operator on integers. What makes texts, or looks into them, is a routine (``text_routines.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class Texts:
    """Texts by number, in the order in which they came; number 0 is the empty text."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.known: list[str] = []
        self._numbers: dict[str, int] = {}
        for text in ("", *known):
            self.number(text)

    def number(self, text: str) -> int:
        """The number of a text, which it keeps."""
        if text not in self._numbers:
            self._numbers[text] = len(self.known)
            self.known.append(text)
        return self._numbers[text]

    def numbers(self, texts: Any) -> Array:
        """The numbers of an array of texts, as i64 of its shape."""
        array = np.asarray(texts, dtype=object)
        return np.array([self.number(str(t)) for t in array.flat], np.int64).reshape(array.shape)

    def of(self, numbers: Array) -> Array:
        """The texts of an array of numbers, as objects."""
        found = np.empty(numbers.shape, dtype=object)
        found[...] = np.array([self.known[n] for n in numbers.flat], dtype=object).reshape(numbers.shape)
        return found


def escaped(text: str) -> str:
    """A text in ASCII, as attributes of the IR have it."""
    return text.encode("unicode_escape").decode("ascii")


def unescaped(text: str) -> str:
    """What ``escaped`` made ASCII of."""
    return text.encode("ascii").decode("unicode_escape")
