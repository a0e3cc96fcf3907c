"""Running products with a derivative, which is a linear recurrence: it has no divisions, so zeros are no exception."""

from __future__ import annotations

from mlc.frontends.array.array import Array, apply
from mlc.frontends.array.functions.running import running
from mlc.frontends.array.functions.shaping import concat
from mlc.frontends.array.transforms.custom import custom_jvp
from mlc.frontends.array.transforms.scans import associative_scan

Line = tuple[Array, Array]


def running_product(x: Array, axis: int) -> Array:
    """The products of the elements up to each one along ``axis``."""

    @custom_jvp
    def product(x: Array) -> Array:
        return apply(running, [x], ("mul", axis), x.element, x.shape)

    @product.defjvp
    def rule(primals: tuple[Array], tangents: tuple[Array]) -> Line:
        (given,), (along,) = primals, tangents
        value = product(given)
        return value, _tangent(given, value, along, axis)

    found: Array = product(x)
    return found


def _tangent(x: Array, value: Array, along: Array, axis: int) -> Array:
    """``t_n = t_{n-1} x_n + y_{n-1} dx_n`` of the products y: lines ``t -> a t + b`` one after the other."""
    at = tuple(slice(0, -1) if n == axis else slice(None) for n in range(x.ndim))
    first = tuple(slice(0, 1) if n == axis else slice(None) for n in range(x.ndim))
    before = concat([x[first] * 0 + 1, value[at]], axis)

    def after(one: Line, two: Line) -> Line:
        return one[0] * two[0], two[0] * one[1] + two[1]

    return associative_scan(after, (x, before * along), axis=axis)[1]
