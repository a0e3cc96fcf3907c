"""Widening of index arithmetic: the values of several steps of a loop as one vector, whose first axis is that of the
steps.

%q = arith.floordivsi %k, %c9              %k' = %b + (0, 1, …, 15)
%v = vector.broadcast %q : 1x128      →    %q' = arith.floordivsi %k', (9) : 16x1x1
%o = arith.addi %v, %p                     %o' = %q' + %p : 16x1x128
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, VectorType
from xdsl.ir import Block, Operation, SSAValue

from mlc.dialects import kernel
from mlc.passes.device.loops.coefficients import depends

BINARY = (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.FloorDivSIOp, arith.MaxSIOp, arith.MinSIOp)
ARITHMETIC = (*BINARY, arith.IndexCastOp, arith.ConstantOp, vector.BroadcastOp, kernel.StepOp)


def can_widen(value: SSAValue, loop: scf.ForOp) -> bool:
    """Return whether ``value`` is index arithmetic on the loop's variable and on values from before the loop."""
    block = loop.body.block
    if value is block.args[0] or not depends(value, block):
        return True
    op = value.owner
    return isinstance(op, ARITHMETIC) and all(can_widen(v, loop) for v in op.operands)


@dataclass
class Widening:
    """The computation of values of ``loop`` for ``steps`` steps from ``start`` on, at the end of ``block``.

    ``element`` is the integer type of the results, and ``rank`` the rank of the loop's vectors. ``before`` inserts
    values that are equal for all steps before the loop.
    """

    loop: scf.ForOp
    block: Block
    start: SSAValue
    steps: int
    element: IntegerType
    rank: int
    before: Callable[[Operation], Operation]
    made: dict[SSAValue, SSAValue] = field(default_factory=dict)

    def value(self, old: SSAValue, extents: Sequence[int]) -> SSAValue:
        """Return a value as a vector of steps × ``extents``."""
        return self._spread(self._widened(old), extents)

    def points(self, axis: int, extents: Sequence[int], stride: int) -> SSAValue:
        """Return the offsets along an axis of ``extents``, which are equal in all steps."""
        step = self.before(kernel.StepOp(VectorType(self.element, [extents[axis], *[1] * (self.rank - axis - 1)])))
        whole = VectorType(self.element, list(extents))
        constant = self.before(arith.ConstantOp(IntegerAttr(stride, IndexType()))).results[0]
        factor = self.before(arith.IndexCastOp(constant, self.element)).results[0]
        at, by = (self.before(vector.BroadcastOp(v, whole)).results[0] for v in (step.results[0], factor))
        return self._spread(self.before(arith.MuliOp(at, by)).results[0], extents)

    def _widened(self, old: SSAValue) -> SSAValue:
        """Return a vector with the steps first if the value differs from step to step, otherwise the value itself."""
        if old not in self.made:
            self.made[old] = self._varying(old) if self._varies(old) else self._invariant(old)
        return self.made[old]

    def _varies(self, value: SSAValue) -> bool:
        block = self.loop.body.block
        if value is block.args[0] or not depends(value, block):
            return value is block.args[0]
        return any(map(self._varies, value.owner.operands))  # type: ignore[union-attr]

    def _invariant(self, old: SSAValue) -> SSAValue:
        if not depends(old, self.loop.body.block):
            return old
        assert isinstance(old.owner, Operation)
        known = {v: self._widened(v) for v in old.owner.operands}
        return self.before(old.owner.clone(known)).results[0]

    def _varying(self, old: SSAValue) -> SSAValue:
        if old is self.loop.body.block.args[0]:
            one = [1] * self.rank
            step = self._emit(kernel.StepOp(VectorType(self.element, [self.steps, *one])))
            return self._emit(arith.AddiOp(self._spread(self.start, one), step))
        op = old.owner
        if isinstance(op, arith.IndexCastOp):
            return self._widened(op.operands[0])
        extents = list(old.type.get_shape()) if isinstance(old.type, VectorType) else [1] * self.rank
        sides = [self.value(v, extents) for v in op.operands]  # type: ignore[union-attr]
        return sides[0] if isinstance(op, vector.BroadcastOp) else self._emit(type(op)(*sides))  # type: ignore[arg-type]

    def _spread(self, value: SSAValue, extents: Sequence[int]) -> SSAValue:
        """Return a scalar or vector broadcast to steps × ``extents``."""
        if isinstance(value.type, IndexType):
            value = self._emit(arith.IndexCastOp(value, self.element))
        type_ = VectorType(self.element, [self.steps, *extents])
        return value if value.type == type_ else self._emit(vector.BroadcastOp(value, type_))

    def _emit(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]
