"""How far rounding alone can move a result: the same computation on operands that move by one rounding error each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mlc.tools.difference import Difference, difference

Array = np.ndarray[Any, Any]
AMPLIFIED = 10.0  # a difference up to so many times what rounding moves is rounding


def moved(x: Array, random: np.random.Generator) -> Array:
    """Each float as its neighbour above or below; other elements, and floats that NumPy lacks, as they are."""
    if x.dtype.kind != "f":
        return x
    toward = np.where(random.integers(0, 2, x.shape), np.inf, -np.inf).astype(x.dtype)
    return np.nextafter(x, toward)


def sensitivity(
    compute: Callable[[Sequence[Array]], Sequence[Array]], operands: Sequence[Array], results: Sequence[Array]
) -> float:
    """The largest error of ``results`` where each operand moves by a rounding error; 0 where another shape results."""
    random = np.random.default_rng(0)
    try:
        found = compute([moved(x, random) for x in operands])
        errors = [difference(x, y).error for x, y in zip(found, results, strict=True)]
    except (ArithmeticError, IndexError, ValueError):  # an operand that must be exact, as an index
        return 0.0
    return max((each for each in errors if np.isfinite(each)), default=0.0)


def is_rounding(found: Difference, moves: float) -> bool:
    """Whether a difference is no more than rounding, where the results move by so much."""
    return found.error <= AMPLIFIED * moves
