"""What a routine is: its operands, its result, and what it means in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlc.dialects.texts import Texts

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Given:
    """What a routine gets beside its operands: the table, the words and numbers of its call, and its result's shape."""

    texts: Texts
    words: tuple[str, ...]
    numbers: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Routine:
    """Elements of operands and result, and ``meaning(given, *operands)`` in NumPy.

    ``pointwise``: the result has the dimensions of the first operand; ``widens``: it has others (behind these).
    """

    operands: tuple[str, ...]
    result: str
    meaning: Callable[..., Array]
    pointwise: bool = True
    widens: bool = False
