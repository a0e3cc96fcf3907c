"""Products, convolutions and reductions of windows by the names and parameters of ``jax.lax``."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from string import ascii_letters
from typing import Any, NamedTuple

import mlc.numpy as mnp
from mlc.errors import InputError
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.nn import convolutions
from mlc.lax.layouts import pad


class ConvDimensionNumbers(NamedTuple):
    """Where the batch, the channels and the spatial dimensions are: in the image, the kernel and the result."""

    lhs_spec: Sequence[int]
    rhs_spec: Sequence[int]
    out_spec: Sequence[int]


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """The orders of dimensions that three strings such as ``("NHWC", "HWIO", "NHWC")`` name; NCHW, OIHW for None.

    Raises:
        InputError: a text that does not name each dimension once.
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    rank = len(lhs_shape)
    if dimension_numbers is None:
        return ConvDimensionNumbers(*[tuple(range(rank))] * 3)
    strings = [str(each) for each in dimension_numbers]
    spatial = [letter for letter in strings[0] if letter not in "NC"]
    orders = [[*start, *spatial] for start in ("NC", "OI", "NC")]
    good = [sorted(text) == sorted(order) for text, order in zip(strings, orders, strict=True)]
    if not all(good) or len(strings[0]) != rank:
        what = f"A convolution of {rank} dimensions cannot have the dimension numbers {tuple(strings)}"
        raise InputError(what, hint='Give three strings such as ("NHWC", "HWIO", "NHWC"), with each letter once')
    return ConvDimensionNumbers(*[tuple(map(text.index, order)) for text, order in zip(strings, orders, strict=True)])


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """The convolution (cross-correlation) of an image ``lhs`` with a kernel ``rhs``.

    ``padding`` is "SAME", "VALID" or a pair (before, after) for each spatial dimension, negative ones cut;
    ``lhs_dilation`` puts zeros between the elements of the image, ``rhs_dilation`` between those of the kernel.
    ``precision`` has no effect.

    Raises:
        InputError: dimension numbers, shapes or channels do not fit.
    """
    x, w = as_array(lhs), as_array(rhs)
    numbers = conv_dimension_numbers(x.shape, w.shape, dimension_numbers)  # type: ignore[arg-type]
    x, w = mnp.transpose(x, numbers.lhs_spec), mnp.transpose(w, numbers.rhs_spec)
    spread = [1] * (x.ndim - 2) if lhs_dilation is None else [*lhs_dilation]
    pads: Any = padding.lower() if isinstance(padding, str) else [tuple(pair) for pair in padding]
    if any(n > 1 for n in spread) or (not isinstance(pads, str) and any(n < 0 for pair in pads for n in pair)):
        sides = [(0, 0)] * len(spread) if isinstance(pads, str) else pads
        x = pad(x, 0, [(0, 0, 0)] * 2 + [(a, b, n - 1) for (a, b), n in zip(sides, spread, strict=True)])
        pads = pads if isinstance(pads, str) else 0
    steps, apart = tuple(window_strides), tuple(rhs_dilation or [1] * len(spread))
    found = convolutions.conv(x, w, strides=steps, padding=pads, dilations=apart, groups=feature_group_count)
    found = mnp.transpose(found, [numbers.out_spec.index(n) for n in range(found.ndim)])
    return found if preferred_element_type is None else mnp.astype(found, preferred_element_type)


def conv(
    lhs: Any, rhs: Any, window_strides: Sequence[int], padding: str, precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:  # fmt: skip
    """``conv_general_dilated`` of an image NCHW with a kernel OIHW."""
    return conv_general_dilated(lhs, rhs, window_strides, padding, preferred_element_type=preferred_element_type)


def conv_with_general_padding(
    lhs: Any, rhs: Any, window_strides: Sequence[int], padding: Any, lhs_dilation: Any, rhs_dilation: Any,
    precision: Any = None, preferred_element_type: Any = None,
) -> Array:  # fmt: skip
    """``conv_general_dilated`` of an image NCHW with a kernel OIHW, with both dilations."""
    kind = preferred_element_type
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, preferred_element_type=kind
    )


def dot_general(
    lhs: Any, rhs: Any, dimension_numbers: Any, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """Products summed over the contracted dimensions: ``((of lhs, of rhs), (batch of lhs, batch of rhs))``. The result
    has the batch, then what is left of ``lhs``, then of ``rhs``. ``precision`` has no effect."""
    (over_x, over_y), (batch_x, batch_y) = dimension_numbers
    x, y = as_array(lhs), as_array(rhs)
    of_x, of_y = [*ascii_letters[: x.ndim]], [*ascii_letters[x.ndim : x.ndim + y.ndim]]
    for a, b in zip((*over_x, *batch_x), (*over_y, *batch_y), strict=True):
        of_y[b] = of_x[a]
    batch = [of_x[n] for n in batch_x]
    left = [[t for n, t in enumerate(each) if n not in (*over, *those)]
            for each, over, those in ((of_x, over_x, batch_x), (of_y, over_y, batch_y))]  # fmt: skip
    text = f"{''.join(of_x)},{''.join(of_y)}->{''.join([*batch, *left[0], *left[1]])}"
    found = mnp.einsum(text, x, y)
    return found if preferred_element_type is None else mnp.astype(found, preferred_element_type)


def dot(lhs: Any, rhs: Any, precision: Any = None, preferred_element_type: Any = None) -> Array:
    """The product of vectors or matrices; ``precision`` has no effect."""
    found = mnp.dot(lhs, rhs)
    return found if preferred_element_type is None else mnp.astype(found, preferred_element_type)


def batch_matmul(lhs: Any, rhs: Any, precision: Any = None) -> Array:
    """Products of matrices, one for each of the leading indices."""
    return mnp.matmul(lhs, rhs)


def reduce_window(
    operand: Any,
    init_value: Any,
    computation: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "VALID",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
) -> Array:
    """The elements of each window combined by ``computation``, beginning with ``init_value``, which also pads. Of equal
    extremes the first one gets the derivative."""
    x = as_array(operand)
    ones = [1] * x.ndim
    steps, spread, apart = ([*(each or ones)] for each in (window_strides, base_dilation, window_dilation))
    reach = [(n - 1) * d + 1 for n, d in zip(window_dimensions, apart, strict=True)]
    whole = [(int(n) - 1) * d + 1 for n, d in zip(x.shape, spread, strict=True)]  # type: ignore[arg-type]
    pads = _window_pads(padding, whole, reach, steps)
    padded = pad(x, init_value, [(a, b, d - 1) for (a, b), d in zip(pads, spread, strict=True)])
    counts = [(int(n) - r) // s + 1 for n, r, s in zip(padded.shape, reach, steps, strict=True)]  # type: ignore[arg-type]
    combine = FIRST.get(computation, computation)
    parts = [
        padded[
            tuple(slice(i * d, i * d + (c - 1) * s + 1, s) for i, d, c, s in zip(at, apart, counts, steps, strict=True))
        ]
        for at in itertools.product(*map(range, window_dimensions))
    ]
    return functools.reduce(combine, parts, mnp.full(counts, init_value, dtype=x.dtype))


def _along(index: int, apart: int, count: int, step: int) -> slice:
    """One element of each of ``count`` windows along an axis."""
    first = index * apart
    return slice(first, first + (count - 1) * step + 1, step)


def _window_pads(padding: Any, extents: list[int], reach: list[int], steps: list[int]) -> list[tuple[int, int]]:
    if not isinstance(padding, str):
        return [(int(a), int(b)) for a, b in padding]
    if padding.upper() == "VALID":
        return [(0, 0)] * len(extents)
    missing = [max((math.ceil(n / s) - 1) * s + r - n, 0) for n, r, s in zip(extents, reach, steps, strict=True)]
    return [(n // 2, n - n // 2) for n in missing]


def _first_greatest(a: Any, b: Any) -> Array:
    return mnp.where((b > a) | (b != b), b, a)


def _first_least(a: Any, b: Any) -> Array:
    return mnp.where((b < a) | (b != b), b, a)


FIRST: dict[Any, Callable[[Any, Any], Any]] = {mnp.maximum: _first_greatest, mnp.minimum: _first_least}
"""Extremes whose derivative goes to the first of equal elements, as JAX's of windows does."""

PUBLIC = (
    *("ConvDimensionNumbers", "batch_matmul", "conv", "conv_dimension_numbers", "conv_general_dilated"),
    *("conv_with_general_padding", "dot", "dot_general", "reduce_window"),
)
