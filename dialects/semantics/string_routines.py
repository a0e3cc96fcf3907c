"""The routines on strings in Python, the reference of ``runtime/c/strings/mlc_string.c``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mlc.dialects.semantics.routine import Array, Given, Routine
from mlc.dialects.semantics.token_routines import TOKEN_ROUTINES
from mlc.dialects.types import STRING


def _strings(fn: Callable[..., str], *operands: str) -> Routine:
    """Return an elementwise routine whose result is a string."""

    def meaning(given: Given, *arrays: Array) -> Array:
        values = (given.strings.of(a).flat if e == "i64" else a.flat for a, e in zip(arrays, operands, strict=True))
        return given.strings.numbers([fn(*each) for each in zip(*values, strict=True)]).reshape(given.shape)

    return Routine(operands, "i64", meaning)


def _values(fn: Callable[[str], Any], result: str, dtype: Any) -> Routine:
    """Return an elementwise routine whose result is a number."""

    def meaning(given: Given, array: Array) -> Array:
        return np.array([fn(t) for t in given.strings.of(array).flat], dtype).reshape(given.shape)

    return Routine(("i64",), result, meaning)


def _printed(fmt: str) -> Callable[[Any], str]:
    def string(value: Any) -> str:
        if math.isnan(value):
            return "NaN"
        return ("INF" if value > 0 else "-INF") if math.isinf(value) else fmt % float(value)

    return string


def _integer(string: str) -> int:
    try:
        value = int(string)
    except ValueError:
        value = int(_real(string))
    return value - (1 << 64) if value >= 1 << 63 else value


def _real(string: str) -> float:
    if "_" in string:
        raise ValueError(f"the string {string!r} is not a number")
    return float(string)


def pieces(string: str, delimiter: str, most: int) -> list[str]:
    """Return StringSplit of one string: at most ``most`` splits (-1: no limit); without a delimiter at ASCII white
    space."""
    if delimiter:
        return string.split(delimiter, most)
    return [piece.decode() for piece in string.encode().split(None, most)]


def _split(given: Given, array: Array) -> Array:
    found = np.zeros((array.size, given.shape[-1]), np.int64)
    for n, string in enumerate(given.strings.of(array).flat):
        row = given.strings.numbers(pieces(string, given.words[0], given.numbers[0]))
        found[n, : len(row)] = row
    return found.reshape(given.shape)


def _counted(given: Given, array: Array) -> Array:
    counts = [len(pieces(string, given.words[0], given.numbers[0])) for string in given.strings.of(array).flat]
    if max(counts, default=0) > given.numbers[1]:
        raise ValueError(f"a string has {max(counts)} pieces, more than {given.numbers[1]}")
    return np.array(counts, np.int64).reshape(given.shape)


def _ordered(given: Given, array: Array) -> Array:
    found = [string.encode() for string in given.strings.of(array).flat]
    rank = {string: n for n, string in enumerate(sorted(set(found)))}
    return np.array([rank[string] for string in found], np.int64).reshape(given.shape)


def _matches(given: Given, array: Array, first: Array, table: Array) -> Array:
    def accepted(string: str) -> bool:
        state = 0
        for kind in np.searchsorted(first, [ord(c) for c in string], side="right") - 1:
            state = table[state, kind]
        return bool(table[state, -1])

    return np.array([accepted(t) for t in given.strings.of(array).flat], bool).reshape(given.shape)


def lowered(string: str) -> str:
    """Return lower case by Unicode's simple mapping of one character to one; other characters are unchanged."""
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in string)


def raised(string: str) -> str:
    """Return upper case by the mapping of one character to one."""
    return "".join(c.upper() if len(c.upper()) == 1 else c for c in string)


STRING_ROUTINES = {
    "intern": Routine((STRING,), "i64", lambda given, array: given.strings.numbers(array)),
    "extern": Routine(("i64",), STRING, lambda given, array: given.strings.of(array)),
    "concat": _strings(lambda a, b: a + b, "i64", "i64"),
    "lower": _strings(lowered, "i64"),
    "upper": _strings(raised, "i64"),
    "order": Routine(("i64",), "i64", _ordered),
    "pieces": Routine(("i64",), "i64", _counted),
    "split": Routine(("i64",), "i64", _split, widens=True),
    "match": Routine(("i64", "i32", "i32"), "i1", _matches),
    "to_f64": _values(_real, "f64", np.float64),
    "to_i64": _values(_integer, "i64", np.int64),
    "of_f32": _strings(_printed("%.8g"), "f32"),
    "of_f64": _strings(_printed("%.17g"), "f64"),
    "of_i64": Routine(("i64",), "i64", lambda given, array: given.strings.numbers(array.astype(str))),
    "of_ui64": Routine(("ui64",), "i64", lambda given, array: given.strings.numbers(array.astype(str))),
    **TOKEN_ROUTINES,
}
"""Routines by name; the results of ``split`` and ``tokens`` have an additional dimension, for the pieces."""
