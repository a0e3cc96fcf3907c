"""Central differences in float64: the reference for every derivative that the tests check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def central_differences(of: Callable[[Array], float], x: Array, step: float) -> Array:
    """The derivatives of the number ``of(x)``, an array of the shape of ``x``, float64."""
    slopes = np.zeros(x.shape)
    for at in np.ndindex(x.shape):
        ends = []
        for move in (step, -step):
            moved = x.copy()
            moved[at] += move
            ends.append(of(moved))
        slopes[at] = (ends[0] - ends[1]) / (2 * step)
    return slopes
