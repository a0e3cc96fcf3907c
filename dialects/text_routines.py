"""What the routines on texts mean (``runtime/c/mlc_text.c``)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mlc.dialects.routine import Array, Given, Routine
from mlc.dialects.types import TEXT


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


TEXT_ROUTINES = {
    "intern": Routine((TEXT,), "i64", lambda given, array: given.texts.numbers(array)),
    "extern": Routine(("i64",), TEXT, lambda given, array: given.texts.of(array)),
    "concat": _texts(lambda a, b: a + b, "i64", "i64"),
    "lower": _texts(lowered, "i64"),
    "upper": _texts(raised, "i64"),
    "order": Routine(("i64",), "i64", _ordered),
    "pieces": Routine(("i64",), "i64", _counted),
    "split": Routine(("i64",), "i64", _split, widens=True),
    "match": Routine(("i64", "i32", "i32"), "i1", _matches),
    "to_f64": _values(_real, "f64", np.float64),
    "to_i64": _values(_integer, "i64", np.int64),
    "of_f32": _texts(_printed("%.8g"), "f32"),
    "of_f64": _texts(_printed("%.17g"), "f64"),
    "of_i64": Routine(("i64",), "i64", lambda given, array: given.texts.numbers(array.astype(str))),
    "of_ui64": Routine(("ui64",), "i64", lambda given, array: given.texts.numbers(array.astype(str))),
}
"""By name; the result of ``split`` has a dimension more, for the pieces."""
