"""The definition of a routine: its operands, its result, and its reference implementation in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlc.dialects.semantics.strings import StringTable

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Given:
    """The arguments of a routine other than operands: string table, constant strings and integers, result shape."""

    strings: StringTable
    words: tuple[str, ...]
    numbers: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Routine:
    """A routine: the element types of operands and result, and the reference implementation ``meaning(given,
    *operands)``.

    ``pointwise``: the result has the dimensions of the first operand. ``widens``: it has further dimensions after
    these.
    """

    operands: tuple[str, ...]
    result: str
    meaning: Callable[..., Array]
    pointwise: bool = True
    widens: bool = False
