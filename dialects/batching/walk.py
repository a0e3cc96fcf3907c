"""The walk over a region's operators: an operator that reads a batched value becomes an operator on a batch.

    %y = graph.map "x0 * x1"(%x, %w) : (8xf32, 8xf32)   →   … : (?xnx8xf32, 8xf32), where %x is batched and %w is not

An operator that reads no batched value runs once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.graph import BroadcastOp, GraphOp, ReshapeOp, YieldOp, source_nodes, with_nodes
from mlc.dialects.graph.sizes import SizedOp
from mlc.dialects.semantics.dims import DimLike
from mlc.dialects.types import shape_of


class NotBatched(Exception):
    """An error: an operator has no batched form."""


@dataclass(frozen=True)
class Batch:
    """A value. ``batched``: its first dimension counts the elements of the batch."""

    value: SSAValue
    batched: bool = True


@dataclass(frozen=True)
class Batching:
    """A batch of ``size`` elements. ``emit`` adds an operator; ``loop_index`` returns a name for a new loop."""

    size: DimLike
    emit: Callable[[Operation], SSAValue]
    loop_index: Callable[[DimLike], str]

    def block(self, block: Block, given: Sequence[Batch]) -> list[Batch]:
        """Return the values that a region yields for the values ``given`` of its arguments.

        Raises:
            NotBatched: names an operator and its source nodes.
        """
        values: dict[SSAValue, Batch] = dict(zip(block.args, given, strict=True))
        for op in block.ops:
            xs = [values[x] for x in op.operands]
            if isinstance(op, YieldOp):
                return xs
            try:
                values.update(zip(op.results, self._results(op, xs), strict=True))
            except NotBatched as e:
                raise e if "at node" in str(e) else NotBatched(f"{e}, at node '{', '.join(source_nodes(op))}'") from e
        return []

    def _results(self, op: Operation, xs: Sequence[Batch]) -> list[Batch]:
        if not any(x.batched for x in xs):
            return self._once(op, [x.value for x in xs])
        if type(op) in REGIONS:
            return REGIONS[type(op)](op, xs, self)
        if isinstance(op, SizedOp):
            raise NotBatched(f"{op.name} of a batch: each element would have other dimensions")
        assert isinstance(op, GraphOp)
        return [Batch(RULES.get(type(op), self.otherwise)(op, xs, self))]

    def _once(self, op: Operation, operands: Sequence[SSAValue]) -> list[Batch]:
        copy = op.clone()
        copy.operands = operands
        self.emit(copy)
        return [Batch(result, False) for result in copy.results]

    def otherwise(self, op: Any, xs: Sequence[Batch], batching: Batching) -> SSAValue:
        return OTHERWISE[0](op, xs, batching)

    def whole(self, x: Batch) -> SSAValue:
        """Return a value with the batch's dimension, broadcast if it has none."""
        return x.value if x.batched else self.emit(BroadcastOp(x.value, (self.size, *shape_of(x.value))))

    def of_rank(self, x: Batch, rank: int) -> SSAValue:
        """Return a value whose elements have ``rank`` dimensions: those of fewer get leading dimensions of extent 1."""
        if not x.batched:
            return x.value
        size, *shape = shape_of(x.value)
        return self.reshape(x.value, (size, *[1] * (rank - len(shape)), *shape))

    def reshape(self, x: SSAValue, shape: Sequence[DimLike]) -> SSAValue:
        return x if shape_of(x) == tuple(shape) else self.emit(ReshapeOp(x, shape))

    def into(self, block: Block, op: Operation) -> Batching:
        """Return a copy of this object that emits into a region's block, with the source nodes of ``op``."""

        def emit(made: Operation) -> SSAValue:
            block.add_op(made if source_nodes(made) else with_nodes(made, source_nodes(op)))
            return made.results[0]

        return replace(self, emit=emit)


Rule = Callable[[Any, Sequence[Batch], Batching], SSAValue]
RULES: dict[type[Operation], Rule] = {}
REGIONS: dict[type[Operation], Callable[[Any, Sequence[Batch], Batching], list[Batch]]] = {}
OTHERWISE: list[Rule] = []  # the rule of operators without one of their own
