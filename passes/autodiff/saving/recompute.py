"""Copies of operators just before the readers of what they compute anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects.graph import ConstantOp, ReshapeOp, WeightOp, source_nodes, with_nodes
from mlc.dialects.types import shape_of
from mlc.passes.autodiff.saving.budget import Recomputation
from mlc.passes.autodiff.saving.live_values import LiveValues
from mlc.passes.fuse.grouping.kernel_order import ops_of


@dataclass
class Recompute:
    """Writes recomputations into a block whose operators are in the order of its kernels.

    What is saved is read through a reshape that is a barrier, so that no copy fuses with the first computation.
    """

    block: Block
    live: LiveValues
    made: dict[SSAValue, list[tuple[int, SSAValue]]] = field(default_factory=dict)  # by the step, in order

    def run(self, chosen: Sequence[Recomputation]) -> None:
        """Insert the copies, and let later readers read them; what nobody reads stays. Of those of one step, a value
        that another one reads is first."""
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
        """What a copy reads in place of ``value``: what was computed anew at this step may fuse with it."""
        latest, made = self._latest(value, at, before), self.made.get(self.live.buffer(value), ())
        return latest if made and made[-1][0] == at else self._saved(latest, before)

    def _saved(self, value: SSAValue, before: Operation) -> SSAValue:
        """``value`` after a barrier, unless no kernel computes it."""
        owner = self.live.buffer(value).owner
        if not isinstance(owner, Operation) or isinstance(owner, WeightOp | ConstantOp):
            return value
        barrier = with_nodes(ReshapeOp(value, shape_of(value), barrier=True), source_nodes(before))
        self.block.insert_op_before(barrier, before)
        return barrier.results[0]

    def _latest(self, value: SSAValue, step: int, before: Operation) -> SSAValue:
        """``value``, or the same view of what is computed anew, as of a step."""
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
