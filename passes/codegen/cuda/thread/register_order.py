"""Register order: what is computed of results, and their writes, is printed one register after another.

    v1_0 = x_0 / c;  v1_1 = x_1 / c;                 v1_0 = x_0 / c;  v2_0 = erf(v1_0);  y[0] = v2_0;
    v2_0 = erf(v1_0);  v2_1 = erf(v1_1);      →      v1_1 = x_1 / c;  v2_1 = erf(v1_1);  y[1] = v2_1;
    y[0] = v2_0;  y[1] = v2_1;

So a thread that has 64 sums holds the intermediate values of one of them: the compiler, which keeps the order of
branches, would hold those of all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import BlockArgument, Operation, SSAValue

from mlc.dialects import kernel


@dataclass
class RegisterOrder:
    """Lines of consecutive operations on registers, each with the register whose element it is about."""

    lines: list[tuple[int, str]] = field(default_factory=list)
    made: set[SSAValue] = field(default_factory=set)  # what they compute
    writes: bool = False  # whether they write some of it
    active: bool = False  # while such an operation is printed

    def begin(self, op: Operation) -> bool:
        """Note the operation that is printed next; False where the lines must come before its own."""
        self.active = is_pointwise(op) or is_write(op)
        if is_pointwise(op):
            self.made.add(op.results[0])
        elif is_write(op):
            self.writes |= op.operands[0] in self.made
        return self.active or is_scalar(op)

    def take(self) -> list[str]:
        """The lines, which are then done: register by register where computed results are written, else as printed."""
        ordered = sorted(self.lines, key=lambda each: each[0]) if self.writes else self.lines
        self.lines, self.writes = [], False
        self.made.clear()
        return [text for _, text in ordered]


def is_write(op: Operation) -> bool:
    """Whether an operation writes elements of a vector to an argument of the kernel."""
    found = isinstance(op, kernel.WriteOp | kernel.ScatterOp) and isinstance(op.buffer, BlockArgument)
    return found and isinstance(op.operands[0].type, VectorType)


def is_pointwise(op: Operation) -> bool:
    """Whether each element of a vector is computed from elements at its place, or is the place."""
    own = isinstance(op, kernel.LanewiseOp | kernel.StepOp) or op.dialect_name() in ("arith", "math")
    return own and not isinstance(op, arith.ConstantOp) and isinstance(op.results[0].type, VectorType)


def is_scalar(op: Operation) -> bool:
    """Whether an operation computes a scalar of others, or has no text: it may come before the lines that wait."""
    scalar = op.dialect_name() in ("arith", "math") and not isinstance(op.results[0].type, VectorType)
    return scalar or isinstance(op, arith.ConstantOp | kernel.SymbolOp | vector.BroadcastOp)
