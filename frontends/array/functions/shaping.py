"""Data movement: reshape, transposition, broadcasting, concatenation. Source: Array API 2025.12."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlc.dialects.semantics.dims import DimLike, floordiv, product
from mlc.errors import InputError
from mlc.frontends.array import dtypes
from mlc.frontends.array.array import Array, apply, as_array, linear
from mlc.frontends.array.functions.elementwise import broadcast, convert, operands
from mlc.frontends.array.functions.reductions import axes_of
from mlc.frontends.array.functions.shapes import Extents, extents, of_matrices, sizes
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.tensors import Tensor


@linear
def reshaped(build: Builder, xs: Sequence[Tensor], shape: tuple[DimLike, ...]) -> Tensor:
    return build.reshape(xs[0], shape)


def reshape(x: Any, /, shape: Extents, order: str = "C", *, copy: bool | None = None) -> Array:
    """The elements in row-major order in another shape; one extent may be -1: what the others leave. Order F is
    column-major.

    Raises:
        InputError: the shapes have different numbers of elements.
    """
    given, wanted = as_array(x), list(extents(shape))
    if order == "F":
        flipped = permute_dims(given, range(given.ndim)[::-1])
        return permute_dims(reshape(flipped, wanted[::-1]), range(len(wanted))[::-1])
    if wanted.count(-1) > 1:
        what = f"A shape {tuple(wanted)} with two unknown extents: one alone follows from the others"
        raise InputError(what, hint="Give one -1")
    if -1 in wanted:
        rest = product(d for d in wanted if d != -1)
        wanted[wanted.index(-1)] = _quotient(given, rest)
    if product(wanted) != product(given.shape):
        raise InputError(
            f"An array of shape {given.shape} cannot become one of shape {tuple(wanted)}",
            hint="Give a shape of as many elements",
        )
    return apply(reshaped, [given], (tuple(wanted),), given.element, wanted)


def _quotient(x: Array, rest: DimLike) -> DimLike:
    whole = product(x.shape)
    found = 0 if rest == 0 else floordiv(whole, rest)
    if found * rest != whole or rest == 0:
        raise InputError(f"An array of shape {x.shape} has no extent for -1 beside {rest} elements")
    return found


@linear
def transposed(build: Builder, xs: Sequence[Tensor], perm: tuple[int, ...]) -> Tensor:
    return build.transpose(xs[0], perm)


def permute_dims(x: Any, /, axes: Sequence[int]) -> Array:
    """Dimension ``n`` of the result is dimension ``axes[n]`` of ``x``."""
    given = as_array(x)
    if len(axes) != given.ndim:
        what = f"{len(axes)} axes do not order an array of shape {given.shape}"
        raise InputError(what, hint="Give each axis once")
    axes_of(given, tuple(axes))
    perm = tuple(a % given.ndim for a in axes)
    return apply(transposed, [given], (perm,), given.element, [given.shape[a] for a in perm])


def matrix_transpose(x: Any, /) -> Array:
    """The last two dimensions exchanged."""
    given = of_matrices("matrix_transpose", x)
    return permute_dims(given, [*range(given.ndim - 2), given.ndim - 1, given.ndim - 2])


def moveaxis(x: Any, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> Array:
    """Dimensions moved to other positions; the others keep their order."""
    given = as_array(x)
    sources, positions = ((a,) if isinstance(a, int) else tuple(a) for a in (source, destination))
    axes_of(given, sources), axes_of(given, positions)
    order = [n for n in range(given.ndim) if n not in [a % given.ndim for a in sources]]
    for place, axis in sorted((p % given.ndim, a % given.ndim) for p, a in zip(positions, sources, strict=True)):
        order.insert(place, axis)
    return permute_dims(given, order)


@linear
def expanded(build: Builder, xs: Sequence[Tensor], shape: tuple[DimLike, ...]) -> Tensor:
    return build.broadcast(xs[0], shape)


def broadcast_to(x: Any, /, shape: Extents) -> Array:
    """``x`` repeated along new dimensions and along those of 1."""
    given, wanted = as_array(x), sizes(shape)
    if broadcast(given.shape, wanted) != wanted:
        raise InputError(f"An array of shape {given.shape} does not broadcast to {wanted}")
    return given if given.shape == wanted else apply(expanded, [given], (wanted,), given.element, wanted)


def broadcast_arrays(*arrays: Any) -> tuple[Array, ...]:
    """Arrays in their common shape."""
    given = [as_array(x) for x in arrays]
    shape = broadcast(*(x.shape for x in given))
    return tuple(broadcast_to(x, shape) for x in given)


def expand_dims(x: Any, /, axis: int | tuple[int, ...]) -> Array:
    """New dimensions of 1 at ``axis`` of the result."""
    given = as_array(x)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    rank = given.ndim + len(axes)
    if any(not -rank <= a < rank for a in axes) or len({a % rank for a in axes}) < len(axes):
        raise IndexError(f"an array of shape {given.shape} can get no new dimension {axis}")
    dims = iter(given.shape)
    new = {a % rank for a in axes}
    return reshape(given, [1 if n in new else next(dims) for n in range(rank)])


def squeeze(x: Any, /, axis: int | tuple[int, ...] | None = None) -> Array:
    """``x`` without dimensions of 1: all of them, or those at ``axis``.

    Raises:
        ValueError: one of them is not 1 (the standard's error).
    """
    given = as_array(x)
    gone = [n for n, d in enumerate(given.shape) if d == 1] if axis is None else axes_of(given, axis)
    if any(given.shape[a] != 1 for a in gone):
        raise ValueError(f"axis {axis} of an array of shape {given.shape} is not 1")
    return reshape(given, [d for n, d in enumerate(given.shape) if n not in gone])


@linear
def joined(build: Builder, xs: Sequence[Tensor], axis: int) -> Tensor:
    return build.concat(xs, axis)


def concat(arrays: Sequence[Any], /, axis: int | None = 0, dtype: Any = None) -> Array:
    """Arrays one after the other along ``axis``, in their common type or ``dtype``; flat for None."""
    if not len(arrays):
        raise InputError("mlc.numpy.concat and stack need an array", hint="Give one array at least")
    given = operands(*arrays)
    if dtype is not None:
        given = [convert(x, dtypes.element(dtype)) for x in given]
    if axis is None:
        given, axis = [reshape(x, (-1,)) for x in given], 0
    (at,) = axes_of(given[0], axis)
    first = given[0].shape
    for x in given[1:]:
        if (*x.shape[:at], *x.shape[at + 1 :]) != (*first[:at], *first[at + 1 :]):
            raise InputError(
                f"Arrays of shapes {first} and {x.shape} do not concatenate along axis {axis}",
                hint="The other extents must be equal",
            )
    total: DimLike = 0
    for x in given:
        total = total + x.shape[at]
    shape = [total if n == at else d for n, d in enumerate(first)]
    return apply(joined, given, (at,), given[0].element, shape)


def stack(arrays: Sequence[Any], /, axis: int = 0, dtype: Any = None) -> Array:
    """Arrays of one shape along a new dimension."""
    return concat([expand_dims(x, axis=axis) for x in arrays], axis=axis, dtype=dtype)


def unstack(x: Any, /, axis: int = 0) -> tuple[Array, ...]:
    """The arrays along ``axis``, without it."""
    return tuple(moveaxis(as_array(x), axis, 0))


def flip(x: Any, /, axis: int | tuple[int, ...] | None = None) -> Array:
    """The elements along ``axis`` in the opposite order."""
    given = as_array(x)
    axes = axes_of(given, axis)
    return given[tuple(slice(None, None, -1) if n in axes else slice(None) for n in range(given.ndim))]


def roll(x: Any, /, shift: int | tuple[int, ...], axis: int | tuple[int, ...] | None = None) -> Array:
    """The elements along ``axis`` shifted; those that leave come in at the other end."""
    given = as_array(x)
    if axis is None:
        return reshape(roll(reshape(given, (-1,)), shift, axis=0), given.shape)
    shifts, axes = ((n,) if isinstance(n, int) else tuple(n) for n in (shift, axis))
    for by, a in zip(shifts, axes, strict=True) if len(shifts) == len(axes) else ((shifts[0], a) for a in axes):
        given = _rolled(given, by, axes_of(given, a)[0])
    return given


def _rolled(x: Array, by: int, axis: int) -> Array:
    extent = x.shape[axis]
    if extent == 0 or by == 0 or (isinstance(extent, int) and by % extent == 0):
        return x
    if not isinstance(extent, int):
        return apply(rolled, [x], (by, axis), x.element, x.shape)
    cut, before = -by % extent, (slice(None),) * axis
    return concat([x[(*before, slice(cut, None))], x[(*before, slice(None, cut))]], axis=axis)


@linear
def rolled(build: Builder, xs: Sequence[Tensor], by: int, axis: int) -> Tensor:
    """A roll of an open dimension, which may have fewer elements than the shift, or none."""
    reads = [f"(i{n} + {-by}) % max({d}, 1)" if n == axis else f"i{n}" for n, d in enumerate(xs[0].shape)]
    return build.compute(f"x0[{', '.join(reads)}]", xs, xs[0].shape)


def tile(x: Any, repetitions: int | Sequence[int], /) -> Array:
    """``x`` repeated as a whole along each dimension; one number is for the last one."""
    given, wanted = as_array(x), extents(repetitions)
    rank = max(given.ndim, len(wanted))
    times = [*[1] * (rank - len(wanted)), *wanted]
    shape = [*[1] * (rank - given.ndim), *given.shape]
    pairs = [d for pair in zip([1] * rank, shape, strict=True) for d in pair]
    wide = [d for pair in zip(times, shape, strict=True) for d in pair]
    whole = broadcast_to(reshape(given, pairs), wide)
    return reshape(whole, [n * d for n, d in zip(times, shape, strict=True)])


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[DimLike, ...]:
    """The shape of arrays of these shapes together.

    Raises:
        InputError: they do not fit.
    """
    return broadcast(*shapes)


PUBLIC = (
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
)
