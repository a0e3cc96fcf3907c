"""Products along axes of complex arrays, by logarithmically many elementwise products."""

from __future__ import annotations

from mlc.errors import InputError
from mlc.frontends.array.array import Array
from mlc.frontends.array.complex.formulas import multiply
from mlc.frontends.array.functions.creation import ones_like
from mlc.frontends.array.functions.reductions import sum
from mlc.frontends.array.functions.shaping import concat, squeeze


def product(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """Products along ``axes``, by multiplying the first half by the second until one element is left. The extents are
    numbers.
    """
    for axis in reversed(axes):
        before = (slice(None),) * axis
        if x.shape[axis] == 0:
            x = ones_like(sum(x, axis=axis, keepdims=True))
        while (extent := x.shape[axis]) != 1:
            half = extent // 2
            pairs = multiply(x[(*before, slice(half))], x[(*before, slice(half, 2 * half))])
            x = concat([pairs, x[(*before, slice(2 * half, None))]], axis=axis)
    return x if keepdims else squeeze(x, axes)


def running_products(x: Array, axis: int) -> Array:
    """Prefix products by doubling: after step n each element is the product of up to 2 ** n. The extent is fixed."""
    before, step, extent = (slice(None),) * axis, 1, x.shape[axis]
    if not isinstance(extent, int):
        what = f"Running products of complex numbers over the open dimension '{extent}' are not translated"
        raise InputError(what, hint="Fix the dimension")
    while step < extent:
        pairs = multiply(x[(*before, slice(None, -step))], x[(*before, slice(step, None))])
        x, step = concat([x[(*before, slice(step))], pairs], axis=axis), 2 * step
    return x
