"""Meshes, and shardings by the names of their axes (GSPMD; JAX: ``Mesh``, ``PartitionSpec``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, StringAttr
from xdsl.ir import ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from mlc.dialects.comm.base import Group
from mlc.dialects.dist.states import WHOLE, SplitAttr, State
from mlc.dialects.graph.base import ints, ints_of


@irdl_attr_definition
class MeshAttr(ParametrizedAttribute):
    """The ranks as an array with named axes, the last of which varies fastest: ``#dist.mesh<["data", "model"],
    array<i64: 2, 4>>``."""

    name = "dist.mesh"
    names: ArrayAttr[StringAttr]
    sizes: DenseArrayBase

    @staticmethod
    def of(axes: Mapping[str, int]) -> MeshAttr:
        return MeshAttr(ArrayAttr(map(StringAttr, axes)), ints(axes.values()))

    @property
    def axes(self) -> dict[str, int]:
        return dict(zip((name.data for name in self.names), ints_of(self.sizes), strict=True))

    @property
    def ranks(self) -> int:
        return prod(self.axes.values())

    def group(self, axis: str) -> Group:
        """Return the groups of ranks along an axis."""
        names, sizes = list(self.axes), list(self.axes.values())
        return Group(self.axes[axis], prod(sizes[names.index(axis) + 1 :]), self.ranks)

    def verify(self) -> None:
        sizes = ints_of(self.sizes)
        if len(self.names) != len(sizes) or len(set(self.names)) != len(sizes) or min(sizes, default=1) < 1:
            raise VerifyException(f"{self.name}: axes {self.names} of sizes {list(sizes)}")


@irdl_attr_definition
class ShardingAttr(ParametrizedAttribute):
    """For each dimension of a tensor the mesh axes that divide it, the outer one first: ``#dist.sharding<[["data"],
    []]>``. Along an axis that it does not name the tensor is whole."""

    name = "dist.sharding"
    dims: ArrayAttr[ArrayAttr[StringAttr]]

    @staticmethod
    def of(dims: Iterable[Sequence[str]]) -> ShardingAttr:
        return ShardingAttr(ArrayAttr(ArrayAttr(map(StringAttr, axes)) for axes in dims))

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(name.data for name in dim) for dim in self.dims)

    def state(self, axis: str) -> State:
        """Return the state along one mesh axis."""
        found = [n for n, names in enumerate(self.axes) if axis in names]
        return SplitAttr.of(found[0]) if found else WHOLE

    def divided(self, dim: int, axis: str) -> ShardingAttr:
        """Return the sharding in which ``axis`` also divides a dimension, after the axes that do."""
        dims = [*self.axes, *[()] * (dim + 1 - len(self.axes))]
        return ShardingAttr.of([(*names, axis) if n == dim else names for n, names in enumerate(dims)])

    def verify(self) -> None:
        names = [name for dim in self.axes for name in dim]
        if len(set(names)) != len(names):
            raise VerifyException(f"{self.name}: {self.axes} names an axis twice")
