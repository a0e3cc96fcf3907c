"""Texts as numbers: the table in which each text has one, and what the routines on texts mean.

A tensor of texts is a tensor of i64, equal where the texts are equal, so that everything that moves or compares texts
is an operator on integers. What makes texts, or looks into them, is a routine: ``graph.text`` in the graph, a function
of ``runtime/c/mlc_text.c`` when the model runs, and one of :data:`ROUTINES` here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlc.dialects.types import TEXT

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


@dataclass(frozen=True)
class Given:
    """What a routine gets beside its operands: the table, the words and numbers of its call, and its result's shape."""

    texts: Texts
    words: tuple[str, ...]
    numbers: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Routine:
    """Elements of operands and result, and ``meaning(given, *operands)`` in NumPy."""

    operands: tuple[str, ...]
    result: str
    meaning: Callable[..., Array]


def _texts(fn: Callable[..., str], *operands: str) -> Routine:
    """A routine that makes a text of the texts at each place."""

    def meaning(given: Given, *arrays: Array) -> Array:
        values = (given.texts.of(a).flat if e == "i64" else a.flat for a, e in zip(arrays, operands, strict=True))
        return given.texts.numbers([fn(*each) for each in zip(*values, strict=True)]).reshape(given.shape)

    return Routine(operands, "i64", meaning)


def _values(fn: Callable[[str], Any], result: str, dtype: Any) -> Routine:
    """A routine that makes a value of each text."""

    def meaning(given: Given, array: Array) -> Array:
        return np.array([fn(t) for t in given.texts.of(array).flat], dtype).reshape(given.shape)

    return Routine(("i64",), result, meaning)


def _printed(fmt: str) -> Callable[[Any], str]:
    def text(value: Any) -> str:
        if math.isnan(value):
            return "NaN"
        return ("INF" if value > 0 else "-INF") if math.isinf(value) else fmt % float(value)

    return text


def _integer(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = int(_real(text))
    return value - (1 << 64) if value >= 1 << 63 else value


def _real(text: str) -> float:
    if "_" in text:
        raise ValueError(f"the text {text!r} is no number")
    return float(text)


def pieces(text: str, delimiter: str, most: int) -> list[str]:
    """StringSplit of one text; without a delimiter at runs of white space (of ASCII). ``most`` splits, -1: all."""
    if delimiter:
        return text.split(delimiter, most)
    return [piece.decode() for piece in text.encode().split(None, most)]


def _split(given: Given, array: Array) -> Array:
    found = np.zeros((array.size, given.shape[-1]), np.int64)
    for n, text in enumerate(given.texts.of(array).flat):
        row = given.texts.numbers(pieces(text, given.words[0], given.numbers[0]))
        found[n, : len(row)] = row
    return found.reshape(given.shape)


def _counted(given: Given, array: Array) -> Array:
    counts = [len(pieces(text, given.words[0], given.numbers[0])) for text in given.texts.of(array).flat]
    if max(counts, default=0) > given.numbers[1]:
        raise ValueError(f"a text of {max(counts)} pieces, more than {given.numbers[1]}")
    return np.array(counts, np.int64).reshape(given.shape)


def _ordered(given: Given, array: Array) -> Array:
    found = [text.encode() for text in given.texts.of(array).flat]
    rank = {text: n for n, text in enumerate(sorted(set(found)))}
    return np.array([rank[text] for text in found], np.int64).reshape(given.shape)


def _matches(given: Given, array: Array, first: Array, table: Array) -> Array:
    def accepted(text: str) -> bool:
        state = 0
        for kind in np.searchsorted(first, [ord(c) for c in text], side="right") - 1:
            state = table[state, kind]
        return bool(table[state, -1])

    return np.array([accepted(t) for t in given.texts.of(array).flat], bool).reshape(given.shape)


def lowered(text: str) -> str:
    """Each character by its one lower one (Unicode's simple mapping, but for those that become several)."""
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def raised(text: str) -> str:
    """Each character by its one upper one."""
    return "".join(c.upper() if len(c.upper()) == 1 else c for c in text)


ROUTINES = {
    "intern": Routine((TEXT,), "i64", lambda given, array: given.texts.numbers(array)),
    "extern": Routine(("i64",), TEXT, lambda given, array: given.texts.of(array)),
    "concat": _texts(lambda a, b: a + b, "i64", "i64"),
    "lower": _texts(lowered, "i64"),
    "upper": _texts(raised, "i64"),
    "order": Routine(("i64",), "i64", _ordered),
    "pieces": Routine(("i64",), "i64", _counted),
    "split": Routine(("i64",), "i64", _split),
    "match": Routine(("i64", "i32", "i32"), "i1", _matches),
    "to_f64": _values(_real, "f64", np.float64),
    "to_i64": _values(_integer, "i64", np.int64),
    "of_f32": _texts(_printed("%.8g"), "f32"),
    "of_f64": _texts(_printed("%.17g"), "f64"),
    "of_i64": Routine(("i64",), "i64", lambda given, array: given.texts.numbers(array.astype(str))),
    "of_ui64": Routine(("ui64",), "i64", lambda given, array: given.texts.numbers(array.astype(str))),
}
"""By name. Results have the shape of the first operand; that of ``split`` has a dimension more, for the pieces."""
