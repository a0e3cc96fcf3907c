"""Meshes, and shardings by the names of their axes (JAX: ``Mesh``, ``PartitionSpec``)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from mlc.dialects.dist import MeshAttr, ShardingAttr
from mlc.dialects.semantics import blocks
from mlc.errors import InputError
from mlc.frontends.array.array import Array

Name = str | tuple[str, ...] | None


class Mesh:
    """The ranks of a job as an array with named axes, the last of which varies fastest: ``Mesh(data=2, model=4)``.

    Raises:
        InputError: no axis, or a size that is no number above 0.
    """

    def __init__(self, **axes: int) -> None:
        self.axes = dict(axes)
        if not axes or not all(isinstance(count, int) and count > 0 for count in axes.values()):
            raise InputError(f"{self} is no mesh", hint="Give sizes of axes, such as Mesh(data=2, model=4)")

    @property
    def ranks(self) -> int:
        return prod(self.axes.values())

    @property
    def attribute(self) -> MeshAttr:
        return MeshAttr.of(self.axes)

    def positions(self, rank: int) -> dict[str, int]:
        """The number of a rank along each axis."""
        found = np.unravel_index(rank, tuple(self.axes.values()))
        return dict(zip(self.axes, map(int, found), strict=True))

    def check_ranks(self, ranks: int) -> None:
        """Raises InputError where the job has another number of ranks."""
        if self.ranks != ranks:
            hint = f"Start {self.ranks} ranks, such as by 'mlc run --ranks {self.ranks}', or simulate them"
            raise InputError(f"{self} does not fit {ranks} ranks", hint=hint)

    def __repr__(self) -> str:
        return f"Mesh({', '.join(f'{name}={count}' for name, count in self.axes.items())})"


@dataclass(frozen=True, init=False)
class P:
    """How an array is divided: for each dimension the name of a mesh axis, a tuple of names, of which the first divides
    first, or None; ``P()`` is whole on all ranks."""

    names: tuple[Name, ...]

    def __init__(self, *names: Name) -> None:
        object.__setattr__(self, "names", names)

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        """The mesh axes of each dimension."""
        return tuple(() if each is None else (each,) if isinstance(each, str) else tuple(each) for each in self.names)

    @property
    def attribute(self) -> ShardingAttr:
        return ShardingAttr.of(self.axes)

    def check(self, x: Array, mesh: Mesh) -> None:
        """Raises InputError where the array has fewer dimensions than names, or the mesh not these axes once."""
        self.check_shape(x.shape, mesh)

    def check_shape(self, shape: tuple[Any, ...], mesh: Mesh) -> None:
        named = [name for each in self.axes for name in each]
        unknown = [name for name in named if name not in mesh.axes]
        if unknown or len(set(named)) < len(named):
            what = f"{self} on {mesh}: " + (f"there is no axis '{unknown[0]}'" if unknown else "a name twice")
            raise InputError(what, hint=f"Give {', '.join(map(repr, mesh.axes))} once, or None")
        if len(self.names) > len(shape):
            hint = "Give a name for each axis at most"
            raise InputError(f"{self} does not fit an array of shape {list(shape)}", hint=hint)

    def box(self, shape: tuple[int, ...], mesh: Mesh, rank: int) -> tuple[slice, ...]:
        """The part of a whole array that a rank has: of each dimension a block, and blocks differ by one at most."""
        positions, found = mesh.positions(rank), []
        for extent, axes in zip(shape, (*self.axes, *[()] * len(shape)), strict=False):
            first, size = 0, extent
            for axis in axes:
                start = blocks.first(size, mesh.axes[axis], positions[axis])
                first, size = first + start, blocks.count(size, mesh.axes[axis], positions[axis])
            found.append(slice(first, first + size))
        return tuple(found)

    def __repr__(self) -> str:
        return f"P({', '.join(map(repr, self.names))})"


def specs_of(tree: Any, specs: Any) -> list[P]:
    """The sharding of each leaf of a tree; one ``P`` is that of all leaves below it.

    Raises:
        InputError: the specs are of another structure.
    """
    from mlc.frontends.array import trees

    if isinstance(specs, P):
        return [specs] * len(trees.leaves(tree))
    children = trees.children(tree)
    below = dict(enumerate(specs)) if isinstance(specs, tuple | list) else specs
    if children is None or not isinstance(below, dict) or {key for key, _ in children} != set(below):
        what = f"Shardings {specs!r} do not fit a {type(tree).__name__} of {len(trees.leaves(tree))} arrays"
        raise InputError(what, hint="Give a P, or one for each part of the tree")
    return [spec for key, child in children for spec in specs_of(child, below[key])]
