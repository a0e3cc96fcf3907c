"""Shapes that users give, and ranks that functions need."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array

Extents = DimLike | Sequence[DimLike]


def extents(shape: Extents) -> tuple[DimLike, ...]:
    """A shape as a tuple; one number is a shape of rank 1."""
    given = shape if isinstance(shape, Sequence) and not isinstance(shape, str) else (shape,)
    wrong = next((d for d in given if not isinstance(d, Dim) and not hasattr(d, "__index__")), None)
    if wrong is not None:
        raise InputError(f"{shape!r} is no shape", hint="Give integers, such as (2, 3)")
    return tuple(d if isinstance(d, Dim) else operator.index(d) for d in given)


def sizes(shape: Extents) -> tuple[DimLike, ...]:
    """The extents of a new array.

    Raises:
        InputError: one is negative.
    """
    wanted = extents(shape)
    if any(isinstance(d, int) and d < 0 for d in wanted):
        raise InputError(f"An array of shape {wanted} has a negative extent", hint="Give extents from 0 on")
    return wanted


def of_matrices(name: str, x: Any) -> Array:
    """``x`` [..., m, n], for the function ``name``.

    Raises:
        InputError: fewer dimensions than two.
    """
    given = as_array(x)
    if given.ndim < 2:
        what = f"mlc.numpy.{name} takes two dimensions or more, not an array of shape {given.shape}"
        raise InputError(what, hint="x[:, None] has one dimension more")
    return given
