"""Arrays of which each rank has a part, and ``mlc.shard``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mlc.comm.mesh import Mesh, P
from mlc.comm.process import gathered
from mlc.frontends.array import trees
from mlc.frontends.array.array import Array, apply, as_array
from mlc.frontends.array.collectives import emits
from mlc.runtime.arrays import as_numpy
from mlc.runtime.communicators import current

Data = np.ndarray[Any, Any]
_traced_on: list[Mesh] = []


class Sharded:
    """An array of ``shape`` of which this rank has ``part``, as ``spec`` says. Arguments and results of functions that
    ``mlc.jit`` makes for a mesh are such arrays where they stay divided."""

    def __init__(self, part: Data, shape: tuple[int, ...], spec: P, mesh: Mesh) -> None:
        self.part, self.shape, self.spec, self.mesh = part, tuple(shape), spec, mesh

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.part.dtype

    def whole(self) -> Data:
        """The whole array, on all ranks, which call this together."""
        table = current().table
        self.mesh.check_ranks(1 if table is None else table.ranks)
        boxes = [self.spec.box(self.shape, self.mesh, rank) for rank in range(self.mesh.ranks)]
        shapes = [tuple(each.stop - each.start for each in box) for box in boxes]
        parts = [self.part] if table is None else gathered(table, self.part, f"the whole of {self}", shapes)
        return assembled(parts, self.shape, self.spec, self.mesh)

    def __repr__(self) -> str:
        return f"Sharded({self.dtype}{list(self.shape)}, {self.spec}, {self.mesh})"


def assembled(parts: list[Data], shape: tuple[int, ...], spec: P, mesh: Mesh) -> Data:
    """The whole array of the parts of all ranks."""
    found = np.empty(shape, parts[0].dtype)
    for rank, part in enumerate(parts):
        found[spec.box(shape, mesh, rank)] = part
    return found


def shard(x: Any, spec: P, mesh: Mesh | None = None) -> Any:
    """``x``, an array or a tree of them, divided as ``spec`` says.

        h = mlc.shard(mnp.tanh(x @ w), P("data", None))      # in a function that is compiled for a mesh
        w = mlc.shard(w, P(None, "model"), mesh)             # the part of this rank, as an argument of such a function

    In a function that is compiled without a mesh it is ``x``.

    Raises:
        InputError: the mesh has no such axis, the array fewer dimensions, or an extent does not divide.
    """
    if mesh is not None:
        return trees.tree_map(lambda each: _part(each, spec, mesh), x)
    if not _traced_on:
        return x
    return trees.tree_map(lambda each: _constrained(as_array(each), spec, _traced_on[-1]), x)


def _part(x: Any, spec: P, mesh: Mesh) -> Sharded:
    value = x.numpy() if isinstance(x, Array) else as_numpy("x", x)
    spec.check_shape(value.shape, mesh)
    mesh.check_ranks(current().ranks)
    return Sharded(np.ascontiguousarray(value[spec.box(value.shape, mesh, current().rank)]), value.shape, spec, mesh)


def _constrained(x: Array, spec: P, mesh: Mesh) -> Array:
    spec.check(x, mesh)
    return apply(emits.shard, [x], (spec.axes,), x.element, x.shape)


@contextmanager
def traced_on(mesh: Mesh) -> Iterator[None]:
    """Within it, functions are traced for a mesh."""
    _traced_on.append(mesh)
    try:
        yield
    finally:
        _traced_on.pop()
