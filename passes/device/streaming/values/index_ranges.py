"""Ranges of index arithmetic in a loop: linear in the loop's variable, with the least and the largest rest over the
points of a vector."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from mlc.dialects import kernel
from mlc.dialects.semantics.dims import Dim, DimLike
from mlc.passes.device.distribution.value_classes import extents
from mlc.passes.device.loops.coefficients import constant_of, depends

Range = tuple[int, DimLike, DimLike]
"""The factor of the loop's variable, and the least and the largest rest."""
Condition = tuple[int, DimLike]
"""factor · variable + rest >= 0, at all points of a vector."""
COMPARISONS = {2: (1, 1), 3: (1, 0), 4: (-1, 1), 5: (-1, 0)}
"""For predicates of arith.cmpi: whether the left side is the lesser one (1, otherwise -1), and by how much at least."""


@dataclass
class IndexRanges:
    """The ranges of index arithmetic in ``loop``. ``env``: the values, defined before the loop, that symbols of rests
    name."""

    loop: scf.ForOp
    env: dict[str, SSAValue] = field(default_factory=dict)

    def conditions(self, value: SSAValue) -> tuple[Condition, ...]:
        """Return the conditions on the loop's variable that hold exactly if ``value`` does; () if it is no conjunction
        of comparisons that all depend on the variable."""
        op = value.owner
        if isinstance(op, arith.AndIOp):
            left, right = self.conditions(op.lhs), self.conditions(op.rhs)
            return (*left, *right) if left and right else ()
        if isinstance(op, vector.BroadcastOp):
            return self.conditions(op.source)
        compares = isinstance(op, kernel.LanewiseOp) and op.op.data == "arith.cmpi"
        if not compares:
            return ()
        assert isinstance(op, kernel.LanewiseOp)
        predicate = op.of.data["predicate"]
        assert isinstance(predicate, IntegerAttr)
        sides = [self.of(v) for v in op.args]
        order, least = COMPARISONS.get(predicate.value.data, (0, 0))
        if not order or None in sides:
            return ()
        less, more = sides[::order]
        assert less is not None and more is not None
        factor = more[0] - less[0]
        return ((factor, more[1] - less[2] - least),) if factor else ()

    def of(self, value: SSAValue) -> Range | None:
        """Return the range of index arithmetic; None if it is not linear."""
        if value is self.loop.body.block.args[0]:
            return 1, 0, 0
        constant = constant_of(value)
        if constant is not None:
            return 0, constant, constant
        match value.owner:
            case kernel.StepOp():
                return 0, 0, prod(extents(value)) - 1
            case vector.BroadcastOp() | arith.IndexCastOp():
                return self.of(value.owner.operands[0])
            case arith.AddiOp() | arith.SubiOp() | arith.MuliOp() as op if extents(value) or self._inside(value):
                return self._combined(op, *map(self.of, op.operands))
        if extents(value) or self._inside(value):
            return None
        symbol = self.symbol(value)
        return 0, symbol, symbol

    def symbol(self, value: SSAValue) -> DimLike:
        """Return the number that a value is, or its symbol."""
        constant = constant_of(value)
        if constant is not None:
            return constant
        name = next((n for n, known in self.env.items() if known is value), f"v{len(self.env)}")
        self.env[name] = value
        return Dim.symbol(name)

    def _inside(self, value: SSAValue) -> bool:
        return depends(value, self.loop.body.block)

    @staticmethod
    def _combined(op: Operation, a: Range | None, b: Range | None) -> Range | None:
        if a is None or b is None:
            return None
        match op:
            case arith.AddiOp():
                return a[0] + b[0], a[1] + b[1], a[2] + b[2]
            case arith.SubiOp():
                return a[0] - b[0], a[1] - b[2], a[2] - b[1]
        for one, (factor, number, most) in ((a, b), (b, a)):
            if factor == 0 and isinstance(number, int) and number == most:
                ends = one[1] * number, one[2] * number
                return one[0] * number, ends[number < 0], ends[number >= 0]
        return None
