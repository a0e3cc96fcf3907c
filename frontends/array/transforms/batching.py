"""``vmap``: a function of one element as a function of a batch. Source: JAX's function of this name.

The function is traced once, on arguments without the batch's dimension. When the trace is lowered, its graph operators
become operators on batches (dialects/batching).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mlc.dialects.batching import Batch, Batching, NotBatched
from mlc.dialects.graph import YieldOp
from mlc.dialects.semantics.dims import DimLike
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.functions.shaping import moveaxis
from mlc.frontends.array.public import publish
from mlc.frontends.array.record import Body, Unique, new_argument
from mlc.frontends.array.transforms.bodies import results_of, traced_on
from mlc.frontends.array.transforms.captured import with_tables
from mlc.frontends.array.transforms.regions import inside
from mlc.frontends.build.builder import Builder
from mlc.frontends.build.errors import NotSupported
from mlc.frontends.build.tensors import Tensor

Axes = Any  # an axis, None, or a tree of them


def vmap(f: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0) -> Callable[..., Any]:
    """A function that applies ``f`` to each element of a batch, all at once.

    ``in_axes`` says along which axis the elements of each argument are: one for all arguments, or a tuple with one for
    each, which may be a tree with one for each array; None for what all elements share. ``out_axes`` likewise says
    where results get the axis of the batch. Arguments by name have it first.

    Raises:
        InputError: arguments of different lengths along these axes, or (with its line) an operator of which no batch
            exists: dimensions that depend on data.
    """

    if not callable(f):
        raise InputError(f"mlc.vmap cannot take a {type(f).__name__}", hint="Give a function")

    @functools.wraps(f)
    def batched(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = trees.flatten((args, kwargs))
        axes = [*_axes("in_axes", in_axes, args), *(0 for _ in trees.leaves(kwargs))]
        xs = [as_array(x) for x in leaves]
        size = _size(xs, axes)
        moved = [x if a is None else moveaxis(x, a, 0) for x, a in zip(xs, axes, strict=True)]
        flags = tuple(a is not None for a in axes)
        shapes = [x.shape[1:] if flag else x.shape for x, flag in zip(moved, flags, strict=True)]
        arguments = [new_argument(x.element, shape, True) for x, shape in zip(xs, shapes, strict=True)]
        body, out = traced_on(lambda args, kwargs: with_tables(f)(*args, **kwargs), tree, arguments)
        types = [(y.element, (size, *y.shape)) for y in body.outputs]
        made = results_of(mapped, moved, (body, flags, size), types)
        return _placed(trees.unflatten(out, made), out_axes)

    return batched


def _axes(what: str, axes: Axes, values: Any) -> list[int | None]:
    """The axis of each array of a tuple of arguments, or of a result."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(trees.leaves(values))
    if not isinstance(values, list | tuple | dict) or len(axes) != len(values):
        raise InputError(
            f"vmap: {what}={axes} does not fit {len(trees.leaves(values))} arrays", hint="Give one for each"
        )
    if isinstance(values, dict):
        return [found for key in sorted(values) for found in _axes(what, axes[key], values[key])]
    return [found for each, value in zip(axes, values, strict=True) for found in _axes(what, each, value)]


def _size(xs: Sequence[Array], axes: Sequence[int | None]) -> DimLike:
    """The number of elements."""
    for x, axis in zip(xs, axes, strict=True):
        if axis is not None and not -x.ndim <= axis < x.ndim:
            raise InputError(
                f"vmap: an array of shape {x.shape} has no axis {axis}", hint="Name what is shared by None"
            )
    sizes = [x.shape[axis] for x, axis in zip(xs, axes, strict=True) if axis is not None]
    if len(set(sizes)) != 1:
        hint = "All arrays need the same length there; name what is shared by None in in_axes"
        raise InputError(f"vmap cannot go over axes of lengths {sizes}", hint=hint)
    return sizes[0]


def _placed(results: Any, axes: Axes) -> Any:
    leaves, tree = trees.flatten(results)
    found = _axes("out_axes", axes, results)
    if any(a is None for a in found):
        raise InputError("vmap: out_axes cannot be None", hint="Take one element of the result instead")
    return trees.unflatten(tree, [moveaxis(x, 0, a) if a else x for x, a in zip(leaves, found, strict=True)])


def mapped(
    build: Builder, operands: Sequence[Tensor], body: Body, flags: tuple[bool, ...], size: DimLike, unique: Unique
) -> list[Tensor]:
    """The results of a body for a batch of those arguments that ``flags`` tell."""
    given, captured = operands[: len(flags)], operands[len(flags) :]
    with build.region(*(Tensor(x.element, x.shape) for x in body.arguments)) as scope, build.detached():
        made = inside(build, body, [Tensor.of(a) for a in scope.block.args], captured)
        scope.block.add_op(YieldOp(build.values(*made)))
    values = [Batch(build.value(x), flag) for x, flag in zip(given, flags, strict=True)]
    values += [Batch(value, False) for value in scope.captured]
    batching = Batching(size, lambda op: build.value(build.emit(op)), build.loop_index)
    try:
        return [Tensor.of(batching.whole(y)) for y in batching.block(scope.block, values)]
    except NotBatched as e:
        raise NotSupported(f"vmap: {e}") from e


publish(globals(), ("vmap",), "mlc")
