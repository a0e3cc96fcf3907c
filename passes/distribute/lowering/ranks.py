"""The ranks along one mesh axis, as the code of one of them sees them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.comm import Group, RankOp
from mlc.dialects.dist import State
from mlc.dialects.graph import ComputeOp, MapOp, SizeOp
from mlc.dialects.semantics.dims import Dim, DimLike, ceildiv
from mlc.dialects.types import Shape
from mlc.dialects.weights import WeightStore
from mlc.passes.distribute.rules.extents import expr_of, symbol
from mlc.passes.distribute.rules.local_form import renamed
from mlc.passes.distribute.rules.strategy import local_shape
from mlc.passes.op_builder import OpBuilder


@dataclass
class Ranks:
    """``block``: that of the main function, at whose start the number of this rank is computed once."""

    group: Group
    block: Block
    weights: WeightStore | None = None
    """Of a program whose weights may be in parts."""
    sizes: dict[str, DimLike] = field(default_factory=dict)
    """The program's names of the sizes of blocks that are not equal, by those that rules give."""

    @property
    def blocks(self) -> int:
        return self.group.size

    @cached_property
    def number(self) -> SSAValue:
        """The number of this rank along the axis, an i64 of rank 0."""
        assert self.block.first_op is not None
        start = OpBuilder(self.block.first_op)
        rank = start.emit(RankOp())
        return start.emit(MapOp(f"(x0 // {self.group.stride}) % {self.group.size}", [rank]))

    def define(self, units: DimLike, name: str) -> None:
        """Compute the size of a block that no argument has."""
        number, least, rest = self.number, units // self.blocks, units % self.blocks
        assert isinstance(number.owner, Operation) and number.owner.next_op is not None
        start = OpBuilder(number.owner.next_op)
        size = start.emit(ComputeOp(f"{expr_of(least)} + i64(x0[()] < {expr_of(rest)})", [number], ()))
        most = least + 1 if isinstance(units, int) else ceildiv(units, self.blocks)
        start.emit(SizeOp(name, size, most, f"A rank of {self.blocks} has another part of {units}"))
        self.sizes[symbol(units)] = Dim.symbol(name)

    def local(self, shape: Shape, state: State) -> Shape:
        """Return the shape of what a rank has of a tensor."""
        return renamed(local_shape(shape, state, self.blocks), self.sizes)
