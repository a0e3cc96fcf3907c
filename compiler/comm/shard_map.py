"""``mlc.shard_map``: a function of the parts of arrays that each rank has, as a function of whole arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlc
import mlc.numpy as mnp
from mlc.comm.mesh import Mesh, specs_of
from mlc.errors import InputError
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, as_array
from mlc.frontends.array.collectives.functions import all_gather, all_reduce, rank, size


def shard_map(f: Callable[..., Any], mesh: Mesh, in_specs: Any, out_specs: Any) -> Callable[..., Any]:
    """``f`` on the part of each array that this rank has, with whole arrays as arguments and results.

        product = mlc.shard_map(lambda x, w: comm.all_reduce(x @ w), mesh, (P(None, "model"), P("model")), P())

    The whole arrays are equal on all ranks, and so is a result of ``f`` with ``P()``. ``in_specs``: a tuple with a
    ``P``, or a tree of them, for each argument. Derivatives are those of the whole arrays.

    Raises:
        InputError: the mesh has several axes; when called: the job has other ranks, a name that the mesh does not have,
            an extent that does not divide, or a sharding that does not fit the arrays.
    """

    if len(mesh.axes) != 1:
        hint = "Give a mesh of one axis, or shardings to mlc.jit"
        raise InputError(f"shard_map does not divide by the axes of {mesh}", hint=hint)

    def run(*args: Any) -> Any:
        mesh.check_ranks(size())
        if not isinstance(in_specs, tuple) or len(in_specs) != len(args):
            hint = "Give a tuple with one P, or tree of them, for each argument"
            raise InputError(f"shard_map has {len(args)} arguments and in_specs {in_specs!r}", hint=hint)
        result = f(*_each(_entered, args, in_specs, mesh))
        return _each(_left, result, out_specs, mesh)

    return run


def _each(move: Callable[[Array, int | None, int], Array], tree: Any, specs: Any, mesh: Mesh) -> Any:
    leaves, structure = trees.flatten(tree)
    moved = []
    for x, spec in zip(map(as_array, leaves), specs_of(tree, specs), strict=True):
        spec.check(x, mesh)
        divided = [n for n, axes in enumerate(spec.axes) if axes]
        moved.append(move(x, divided[0] if divided else None, mesh.ranks))
    return trees.unflatten(structure, moved)


def part_of(x: Array, axis: int, ranks: int) -> Array:
    """The part of this rank along an axis."""
    extent = x.shape[axis]
    if extent % ranks != 0:
        hint = "Pad the array, or choose another axis"
        raise InputError(f"An axis of {extent} elements, which {ranks} ranks do not divide evenly", hint=hint)
    shape = (*x.shape[:axis], ranks, extent // ranks, *x.shape[axis + 1 :])
    return mnp.take(mnp.reshape(x, shape), rank(), axis=axis)


def _entered(x: Array, axis: int | None, ranks: int) -> Array:
    """A whole array as the part of this rank; its cotangent is put together, or summed where it is whole."""
    backward = (lambda bar: all_reduce(bar)) if axis is None else (lambda bar: all_gather(bar, axis, ranks))
    return _with_pullback(lambda x: x if axis is None else part_of(x, axis, ranks), backward)(x)


def _left(y: Array, axis: int | None, ranks: int) -> Array:
    """The result of this rank as a whole array; of one that is equal on all ranks each has a share of the cotangent."""
    backward = (lambda bar: bar / ranks) if axis is None else (lambda bar: part_of(bar, axis, ranks))
    return _with_pullback(lambda y: y if axis is None else all_gather(y, axis, ranks), backward)(y)


def _with_pullback(f: Callable[[Array], Array], backward: Callable[[Array], Array]) -> Callable[[Array], Array]:
    made: Any = mlc.custom_vjp(f)
    made.defvjp(lambda x: (f(x), None), lambda residuals, bar: (backward(bar),))
    found: Callable[[Array], Array] = made
    return found
