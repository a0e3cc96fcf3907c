"""Register order: the computation of results, and their writes, are printed one register after another.

    v1_0 = x_0 / c;  v1_1 = x_1 / c;                 v1_0 = x_0 / c;  v2_0 = erf(v1_0);  y[0] = v2_0;
    v2_0 = erf(v1_0);  v2_1 = erf(v1_1);      →      v1_1 = x_1 / c;  v2_1 = erf(v1_1);  y[1] = v2_1;
    y[0] = v2_0;  y[1] = v2_1;

A thread that has 64 sums then holds the intermediate values of one of them at a time; the compiler, which keeps the
order of branches, would otherwise hold those of all. Operations whose results are not written to arguments are not
moved: the compiler serializes products of warpgroups if index arithmetic comes between the wait for them and the
conversion of their sums.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import BlockArgument, Operation, SSAValue

from mlc.dialects import kernel


@dataclass
class RegisterOrder:
    """The collected lines of consecutive operations on registers, each with its register."""

    lines: list[tuple[int, str]] = field(default_factory=list)
    made: set[SSAValue] = field(default_factory=set)  # what they compute
    writes: bool = False  # whether they write some of it
    written: dict[Operation, bool] = field(default_factory=dict)  # whether what follows from a result is written
    active: bool = False  # while such an operation is printed

    def begin(self, op: Operation) -> bool:
        """Note the operation that is printed next; return False if the collected lines must be printed before it."""
        self.active = is_write(op) or is_pointwise(op) and self._is_written(op)
        if self.active and is_pointwise(op):
            self.made.add(op.results[0])
        elif is_write(op):
            self.writes |= op.operands[0] in self.made
        return self.active or is_scalar(op)

    def _is_written(self, op: Operation) -> bool:
        """Return whether the result of an operation, or what others compute from it element by element, is written to
        an argument."""
        if op not in self.written:
            users = [use.operation for use in op.results[0].uses]
            self.written[op] = any(is_write(o) or is_pointwise(o) and self._is_written(o) for o in users)
        return self.written[op]

    def take(self) -> list[str]:
        """Return and clear the lines: register by register if computed results are written, otherwise as collected."""
        ordered = sorted(self.lines, key=lambda each: each[0]) if self.writes else self.lines
        self.lines, self.writes = [], False
        self.made.clear()
        return [text for _, text in ordered]


def is_write(op: Operation) -> bool:
    """Return whether an operation writes elements of a vector to an argument of the kernel."""
    found = isinstance(op, kernel.WriteOp | kernel.ScatterOp) and isinstance(op.buffer, BlockArgument)
    return found and isinstance(op.operands[0].type, VectorType)


def is_pointwise(op: Operation) -> bool:
    """Return whether each element of a vector is computed from elements at the same position, or is its position."""
    own = isinstance(op, kernel.LanewiseOp | kernel.StepOp) or op.dialect_name() in ("arith", "math")
    return own and not isinstance(op, arith.ConstantOp) and isinstance(op.results[0].type, VectorType)


def is_scalar(op: Operation) -> bool:
    """Return whether an operation computes a scalar from scalars, or prints nothing: it may be printed before the
    collected lines."""
    scalar = op.dialect_name() in ("arith", "math") and not isinstance(op.results[0].type, VectorType)
    return scalar or isinstance(op, arith.ConstantOp | kernel.SymbolOp | vector.BroadcastOp)
