"""Trees of floats as one vector, for solvers that work on vectors. Source: ``jax.flatten_util.ravel_pytree``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array

Unraveled = Callable[[Array], Any]


def raveled(tree: Any) -> tuple[Array, Unraveled]:
    """The leaves of a tree of real arrays in one vector, and the function that makes a tree of such a vector.

    Integers count as float32, and leaves of different types as the wider one.

    Raises:
        InputError: no leaf, a complex array, or an open dimension.
    """
    leaves, structure = trees.flatten(tree)
    given = [as_array(x) for x in leaves]
    shapes = [_fixed(x) for x in given]
    if not given:
        raise InputError("A tree without arrays is no vector", hint="Give at least one array of floats")
    kind = np.result_type(*(x.dtype if x.dtype.kind == "f" else np.dtype(np.float32) for x in given))
    ends = np.cumsum([math.prod(shape) for shape in shapes]).tolist()

    def unravel(vector: Array) -> Any:
        starts = [0, *ends[:-1]]
        parts = [mnp.reshape(vector[a:b], s) for a, b, s in zip(starts, ends, shapes, strict=True)]
        return trees.unflatten(structure, parts)

    return mnp.concat([mnp.reshape(x, (-1,)).astype(kind) for x in given]), unravel


def norm(x: Array) -> Array:
    """The Euclidean length of a vector."""
    return mnp.sqrt(mnp.sum(x * x))


def _fixed(x: Array) -> tuple[int, ...]:
    if x.dtype.kind == "c" or not all(isinstance(n, int) for n in x.shape):
        what = f"A vector cannot be made of an array {x.dtype}{list(x.shape)}"
        raise InputError(what, hint="Give real arrays of fixed shapes; split complex ones by real and imag")
    return tuple(int(n) for n in x.shape)  # type: ignore[arg-type]
