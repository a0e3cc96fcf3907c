"""Meshes, and shardings by the names of their axes (JAX: ``Mesh``, ``PartitionSpec``)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from mlc.errors import InputError
from mlc.frontends.array.array import Array
from mlc.frontends.array.collectives.functions import size


class Mesh:
    """The ranks of a job as an array with named axes: ``Mesh(data=4)``. Meshes of one axis work so far.

    Raises:
        InputError: no axis or several, or another number of ranks than the job has.
    """

    def __init__(self, **axes: int) -> None:
        self.axes = dict(axes)
        shown = ", ".join(f"{name}={count}" for name, count in axes.items())
        if len(axes) != 1 or not all(isinstance(count, int) and count > 0 for count in axes.values()):
            raise InputError(f"Mesh({shown}) is no mesh", hint="Give one axis, such as Mesh(data=2)")
        if prod(axes.values()) != size():
            raise InputError(f"Mesh({shown}) does not fit {size()} ranks", hint="Start as many ranks as the mesh has")

    @property
    def ranks(self) -> int:
        return prod(self.axes.values())

    def __repr__(self) -> str:
        return f"Mesh({', '.join(f'{name}={count}' for name, count in self.axes.items())})"


@dataclass(frozen=True, init=False)
class P:
    """How an array is divided: for each axis the name of a mesh axis, or None; ``P()`` is whole on all ranks."""

    names: tuple[str | None, ...]

    def __init__(self, *names: str | None) -> None:
        object.__setattr__(self, "names", names)

    def divided(self, mesh: Mesh) -> int | None:
        """The axis that is divided among the ranks.

        Raises:
            InputError: a name that the mesh does not have, or twice.
        """
        found = [n for n, name in enumerate(self.names) if name is not None]
        unknown = [name for name in self.names if name is not None and name not in mesh.axes]
        if unknown or len(found) > 1:
            what = f"{self} on {mesh}: " + (f"there is no axis '{unknown[0]}'" if unknown else "a name twice")
            raise InputError(what, hint=f"Give {', '.join(map(repr, mesh.axes))} once, or None")
        return found[0] if found else None

    def check(self, x: Array) -> None:
        """Raises InputError where the array has fewer axes than names."""
        if len(self.names) > len(x.shape):
            raise InputError(
                f"{self} does not fit an array of shape {list(x.shape)}", hint="Give a name for each axis at most"
            )

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
