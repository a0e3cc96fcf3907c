"""Insertion of recomputations: operators are copied to just before the readers of the values that they compute anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.graph import ConstantOp, ReshapeOp, WeightOp, source_nodes, with_nodes
from mlc.dialects.types import shape_of
from mlc.passes.fuse.autodiff.saving.budget import Recomputation
from mlc.passes.fuse.autodiff.saving.live_values import LiveValues
from mlc.passes.fuse.grouping.kernel_order import ops_of


@dataclass
class Recompute:
    """The insertion of recomputations into a block whose operators are in the order of its kernels.

    Copies read saved values through a reshape that is a barrier, so that no copy fuses with the first computation.
    """

    block: Block
    live: LiveValues
    made: dict[SSAValue, list[tuple[int, SSAValue]]] = field(default_factory=dict)  # by the step, in order

    def run(self, chosen: Sequence[Recomputation]) -> None:
        """Insert the copies, and let later readers read them; operators without readers are not erased. Of the
        recomputations at one step, a value that another one reads is inserted first."""
        rank = {op: n for n, op in enumerate(self.live.step)}
        for each in sorted(chosen, key=lambda each: (each.at, rank[each.ops[-1]])):
            self._copy(each)
        for op, step in self.live.step.items():
            if op not in self.live.views:
                op.operands = [self._latest(x, step, op) for x in op.operands]

    def _copy(self, each: Recomputation) -> None:
        before = ops_of(self.live.order[each.at])[0]
        copies: dict[SSAValue, SSAValue] = {}
        for op in each.ops:
            outside = [x for x in op.operands if x not in copies]
            values = copies | {x: self._operand(x, each.at, before) for x in outside}
            copy = op.clone(dict(values))
            self.block.insert_op_before(copy, before)
            copies[op.results[0]] = copy.results[0]
        self.made.setdefault(each.value, []).append((each.at, copies[each.value]))

    def _operand(self, value: SSAValue, at: int, before: Operation) -> SSAValue:
        """Return the value that a copy reads in place of ``value``. A value that was computed anew at the same step has
        no barrier, so that it may fuse with the copy."""
        latest, made = self._latest(value, at, before), self.made.get(self.live.buffer(value), ())
        return latest if made and made[-1][0] == at else self._saved(latest, before)

    def _saved(self, value: SSAValue, before: Operation) -> SSAValue:
        """Return ``value`` read through a barrier; ``value`` itself if no kernel computes it."""
        owner = self.live.buffer(value).owner
        if not isinstance(owner, Operation) or isinstance(owner, WeightOp | ConstantOp):
            return value
        barrier = with_nodes(ReshapeOp(value, shape_of(value), barrier=True), source_nodes(before))
        self.block.insert_op_before(barrier, before)
        return barrier.results[0]

    def _latest(self, value: SSAValue, step: int, before: Operation) -> SSAValue:
        """Return ``value`` as it is at ``step``: the same view of its latest recomputation, or ``value`` if there is
        none."""
        buffer = self.live.buffer(value)
        found = [anew for at, anew in self.made.get(buffer, ()) if at <= step]
        if not found:
            return value
        return self._view(value, buffer, found[-1], before)

    def _view(self, value: SSAValue, buffer: SSAValue, anew: SSAValue, before: Operation) -> SSAValue:
        if value is buffer:
            return anew
        view = value.owner
        assert isinstance(view, Operation)
        copy = view.clone({view.operands[0]: self._view(view.operands[0], buffer, anew, before)})
        self.block.insert_op_before(copy, before)
        return copy.results[0]
