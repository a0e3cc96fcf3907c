"""The ranks along one mesh axis, as the code of one of them sees them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import Block, SSAValue

from mlc.dialects.comm import Group, RankOp
from mlc.dialects.graph import MapOp
from mlc.passes.op_builder import OpBuilder


@dataclass
class Ranks:
    """``block``: that of the main function, at whose start the number of this rank is computed once."""

    group: Group
    block: Block

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
