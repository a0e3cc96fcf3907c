"""Register order: what is computed of results, and their writes, is printed one register after another.

    v1_0 = x_0 / c;  v1_1 = x_1 / c;                 v1_0 = x_0 / c;  v2_0 = erf(v1_0);  y[0] = v2_0;
    v2_0 = erf(v1_0);  v2_1 = erf(v1_1);      →      v1_1 = x_1 / c;  v2_1 = erf(v1_1);  y[1] = v2_1;
    y[0] = v2_0;  y[1] = v2_1;

So a thread that has 64 sums holds the intermediate values of one of them: the compiler, which keeps the order of
branches, would hold those of all. What no argument gets stays where it is: the compiler serializes products of
warpgroups where index arithmetic is moved between the wait for them and the conversion of their sums.
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
    written: dict[Operation, bool] = field(default_factory=dict)  # whether what follows from a result is written
    active: bool = False  # while such an operation is printed

    def begin(self, op: Operation) -> bool:
        """Note the operation that is printed next; False where the lines must come before its own."""
        self.active = is_write(op) or is_pointwise(op) and self._is_written(op)
        if self.active and is_pointwise(op):
            self.made.add(op.results[0])
        elif is_write(op):
            self.writes |= op.operands[0] in self.made
        return self.active or is_scalar(op)

    def _is_written(self, op: Operation) -> bool:
        """Whether an argument gets what the operation computes, or what others compute of it element by element."""
        if op not in self.written:
            users = [use.operation for use in op.results[0].uses]
            self.written[op] = any(is_write(o) or is_pointwise(o) and self._is_written(o) for o in users)
        return self.written[op]

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
